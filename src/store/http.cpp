// SPDX-License-Identifier: MIT
// A store behind HTTP: GET, HEAD and PUT of BASE/KEY, by libcurl.
#include <cstdio>
#include <cstring>

#include "cache/remote/message.hpp"
#include "store/connection.hpp"
#include "store/curl.hpp"

namespace kiln::store {
namespace {

/// Keeps what comes, and stops the transfer where it is too much.
struct Taken {
  std::vector<std::byte> bytes;
  static std::size_t take(char* data, std::size_t one, std::size_t count, void* self) {
    std::vector<std::byte>& bytes = static_cast<Taken*>(self)->bytes;
    const auto* from = reinterpret_cast<const std::byte*>(data);
    if (bytes.size() + one * count > cache::kLargestOnWire) return 0;
    bytes.insert(bytes.end(), from, from + one * count);
    return one * count;
  }
};

struct Given {
  std::span<const std::byte> all, left = all;
  /// A store that redirects an upload has it sent again.
  static int seek(void* self, curl_off_t offset, int origin) {
    auto& given = *static_cast<Given*>(self);
    if (origin != SEEK_SET || offset < 0 || static_cast<std::size_t>(offset) > given.all.size())
      return CURL_SEEKFUNC_FAIL;
    given.left = given.all.subspan(static_cast<std::size_t>(offset));
    return CURL_SEEKFUNC_OK;
  }
  static std::size_t give(char* to, std::size_t one, std::size_t count, void* self) {
    auto& left = static_cast<Given*>(self)->left;
    const std::size_t size = std::min(one * count, left.size());
    if (size) std::memcpy(to, left.data(), size);
    left = left.subspan(size);
    return size;
  }
};

using Headers = std::unique_ptr<curl_slist, void (*)(curl_slist*)>;

/// SHA-256 of no bytes.
constexpr std::string_view kOfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

class Http : public Connection {
 public:
  explicit Http(const cache::RemoteUrl& url) : url_(url), who_(credentials_of(url)) {}

  Reply get(const CacheKey& key, Moment deadline) override {
    const auto owner = std::make_shared<Taken>();
    Taken& taken = *owner;
    taken.bytes.reserve(kPart);
    const long status = perform(key, deadline, kOfNothing, [&] {
      curl_.set(CURLOPT_HTTPGET, 1L);
      curl_.set(CURLOPT_WRITEFUNCTION, &Taken::take);
      curl_.set(CURLOPT_WRITEDATA, &taken);
    });
    if (status == 200) return {Reply::End::found, {}, taken.bytes, 0, owner};
    return ended(status);
  }

  Reply has(const CacheKey& key, Moment deadline) override {
    const long status = perform(key, deadline, kOfNothing, [&] { curl_.set(CURLOPT_NOBODY, 1L); });
    return status == 200 ? Reply{Reply::End::found, {}} : ended(status);
  }

  Reply put(const CacheKey& key, std::span<const std::byte> bytes, const Put&, Moment deadline) override {
    Given given{bytes};
    const auto* const text = reinterpret_cast<const char*>(bytes.data());
    const std::string digest = is_s3() ? key_of({text, bytes.size()}).hex() : std::string();
    const long status = perform(key, deadline, digest, [&] {
      curl_.set(CURLOPT_UPLOAD, 1L);
      curl_.set(CURLOPT_READFUNCTION, &Given::give);
      curl_.set(CURLOPT_READDATA, &given);
      curl_.set(CURLOPT_SEEKFUNCTION, &Given::seek);
      curl_.set(CURLOPT_SEEKDATA, &given);
      curl_.set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(bytes.size()));
    });
    if (status >= 200 && status < 300) return {Reply::End::found, {}};
    // It answers, so it may be asked for entries. 507: it is full.
    if ((status >= 400 && status < 500) || status == 507)
      return {Reply::End::refused, "it does not take what is put there (" + std::to_string(status) + ")"};
    return ended(status);
  }

 private:
  [[nodiscard]] bool is_s3() const { return !url_.s3_region.empty(); }

  /// 0: failed_ says why. `digest`: the SHA-256 of what is sent, for S3.
  template <class Prepare>
  long perform(const CacheKey& key, Moment deadline, std::string_view digest, Prepare prepare) {
    unreached_ = false;
    if (!who_) {
      failed_ = who_.error();
      return 0;
    }
    if (!curl_) {
      failed_ = "no memory";
      return 0;
    }
    curl_easy_reset(curl_.get());  // keeps the connection
    curl_.set(CURLOPT_NOSIGNAL, 1L);
    curl_.set(CURLOPT_BUFFERSIZE, kPart);
    curl_.set(CURLOPT_PROTOCOLS_STR, "http,https");
    curl_.set(CURLOPT_REDIR_PROTOCOLS_STR, url_.is_encrypted() ? "https" : "http,https");
    curl_.set(CURLOPT_FOLLOWLOCATION, 1L);
    curl_.set(CURLOPT_MAXREDIRS, 3L);
    curl_.set(
        CURLOPT_WRITEFUNCTION, +[](char*, std::size_t one, std::size_t count, void*) { return one * count; });
    curl_.set(CURLOPT_USERAGENT, "kiln-store");
    // Without the wait of a second before a larger PUT. Where the header `Expect` is taken away instead, curl
    // 7.88 signs it nevertheless.
    curl_.set(CURLOPT_EXPECT_100_TIMEOUT_MS, 1L);
    curl_.set_certificates(*who_);
    if (is_s3()) {
      if (who_->user.empty() || who_->password.empty()) {
        failed_ = "S3 wants an access key as user, and its secret as password";
        return 0;
      }
      curl_.set_text(CURLOPT_AWS_SIGV4, "aws:amz:" + url_.s3_region + ":s3");
      curl_.set_text(CURLOPT_USERNAME, who_->user);
      curl_.set_text(CURLOPT_PASSWORD, who_->password);
    } else if (!who_->bearer.empty()) {
      curl_.set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BEARER));
      curl_.set_text(CURLOPT_XOAUTH2_BEARER, who_->bearer);
    } else if (!who_->user.empty()) {
      curl_.set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
      curl_.set_text(CURLOPT_USERNAME, who_->user);
      curl_.set_text(CURLOPT_PASSWORD, who_->password);
    }
    // Which curl makes itself only in later releases.
    const std::string hash = "x-amz-content-sha256: " + std::string(digest);
    const Headers headers(is_s3() ? curl_slist_append(nullptr, hash.c_str()) : nullptr, &curl_slist_free_all);
    curl_.set(CURLOPT_HTTPHEADER, headers.get());
    const std::string place = url_.name() + '/' + key.hex();
    curl_.set_text(CURLOPT_URL, place);
    curl_.set_deadline(deadline);
    prepare();
    const CURLcode code = curl_easy_perform(curl_.get());
    curl_.set(CURLOPT_HTTPHEADER, static_cast<curl_slist*>(nullptr));
    long status = 0;
    curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_OK && status != 0) return status;
    long asked = 0;  // bytes
    curl_off_t connected_after = 0;
    curl_easy_getinfo(curl_.get(), CURLINFO_REQUEST_SIZE, &asked);
    curl_easy_getinfo(curl_.get(), CURLINFO_CONNECT_TIME_T, &connected_after);
    unreached_ = code == CURLE_COULDNT_CONNECT || (asked == 0 && connected_after == 0);
    failed_ = code == CURLE_OK ? "it gives no answer of HTTP" : curl_easy_strerror(code);
    return 0;
  }

  Reply ended(long status) const {
    if (status == 404 || status == 410) return {Reply::End::absent, {}};
    if (status == 0) return {Reply::End::failed, failed_, {}, 0, {}, unreached_};
    const bool refused = status == 401 || status == 403;
    return {Reply::End::failed,
            (refused ? "it does not let this user in (" : "it answers (") + std::to_string(status) + ")"};
  }

  const cache::RemoteUrl url_;
  const tl::expected<Credentials, std::string> who_;
  Curl curl_;
  std::string failed_;
  bool unreached_ = false;
};

}  // namespace

std::unique_ptr<Connection> make_http(const cache::RemoteUrl& url) { return std::make_unique<Http>(url); }

}  // namespace kiln::store
