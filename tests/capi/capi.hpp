// SPDX-License-Identifier: MIT
// Owners for the tests of the C interface, and what they expect of an error.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "kiln/kiln.h"

namespace kiln::test {

/// An error that a call fills in.
class Caught {
 public:
  Caught() = default;
  Caught(const Caught&) = delete;
  Caught& operator=(const Caught&) = delete;
  ~Caught() { kiln_error_destroy(error_); }
  kiln_error* out() {
    kiln_error_destroy(std::exchange(error_, nullptr));
    return &error_;
  }
  [[nodiscard]] kiln_error get() const { return error_; }
  [[nodiscard]] std::string code() const { return kiln_error_code(error_); }
  [[nodiscard]] std::string text() const { return kiln_error_text(error_); }

 private:
  kiln_error error_ = nullptr;
};

/// A handle that is destroyed at the end.
template <class Handle, void (*Destroy)(Handle)>
class Owned {
 public:
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { Destroy(handle_); }
  Handle* out() { return &handle_; }
  operator Handle() const { return handle_; }
  void reset() { Destroy(std::exchange(handle_, nullptr)); }

 private:
  Handle handle_ = nullptr;
};
using File = Owned<kiln_file, kiln_file_destroy>;
using Findings = Owned<kiln_findings, kiln_findings_destroy>;
using Meaning = Owned<kiln_meaning, kiln_meaning_destroy>;
using Device = Owned<kiln_device, kiln_device_destroy>;
using BufferHandle = Owned<kiln_buffer, kiln_buffer_destroy>;
using CacheHandle = Owned<kiln_cache, kiln_cache_destroy>;
using BundleHandle = Owned<kiln_bundle, kiln_bundle_destroy>;
using KernelHandle = Owned<kiln_kernel, kiln_kernel_destroy>;
using List = Owned<kiln_list, kiln_list_destroy>;
using Queue = Owned<kiln_queue, kiln_queue_destroy>;
using Pool = Owned<kiln_event_pool, kiln_event_pool_destroy>;
using EventHandle = Owned<kiln_event, kiln_event_destroy>;
using Account = Owned<kiln_account, kiln_account_destroy>;

inline void good(kiln_result result, const Caught& caught) {
  INFO(caught.text());
  REQUIRE(result == KILN_SUCCESS);
  REQUIRE(caught.get() == nullptr);
}

/// What every error has in JSON, whatever is known of it.
inline bool has_all_members(const std::string& json) {
  for (const char* member :
       {"code", "severity", "message", "rows", "help", "call", "result", "result_value", "answered_by"})
    if (json.find(std::string(1, '"') + member + "\":") == json.npos) return false;
  return true;
}

/// The result and Kiln's code ("": the result is all that is known); the texts must be there.
inline void bad(kiln_result result, const Caught& caught, kiln_result wanted, const std::string& code) {
  CAPTURE(caught.text());
  CHECK(result == wanted);
  CHECK(caught.code() == code);
  CHECK(kiln_error_result(caught.get()) == wanted);
  CHECK(caught.text().starts_with(code.empty() ? "error: " : "error[" + code + "]: "));
  CHECK(has_all_members(kiln_error_json(caught.get())));
  CHECK(std::string(kiln_error_json(caught.get())).find("\"code\":\"" + code + "\"") != std::string::npos);
}

}  // namespace kiln::test
