// SPDX-License-Identifier: MIT
// libcurl's handle with what both kinds of stores set: who asks, whom it believes, no signals.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <string>

#include "cache/remote/frame.hpp"
#include "store/credentials.hpp"

namespace kiln::store {

/// Bytes that are taken at a time: by default answers come in parts of 16 KiB.
inline constexpr long kPart = 128 << 10;

class Curl {
 public:
  Curl() : handle_(curl_easy_init(), &curl_easy_cleanup) {}
  [[nodiscard]] CURL* get() const { return handle_.get(); }
  explicit operator bool() const { return handle_ != nullptr; }

  template <class Value>
  void set(CURLoption option, Value value) {
    curl_easy_setopt(get(), option, value);
  }
  void set_text(CURLoption option, const std::string& value) {
    if (!value.empty()) curl_easy_setopt(get(), option, value.c_str());
  }
  void set_certificates(const Credentials& who) {
    set_text(CURLOPT_CAINFO, who.ca);
    set_text(CURLOPT_SSLCERT, who.certificate);
    set_text(CURLOPT_SSLKEY, who.key);
  }
  void set_deadline(cache::Moment deadline) {
    const long left = std::max(1, cache::left_until(deadline));
    set(CURLOPT_TIMEOUT_MS, left);
    set(CURLOPT_CONNECTTIMEOUT_MS, left);
  }

 private:
  std::unique_ptr<CURL, void (*)(CURL*)> handle_;
};

}  // namespace kiln::store
