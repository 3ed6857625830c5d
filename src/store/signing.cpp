// SPDX-License-Identifier: MIT
// Ed25519 by OpenSSL.
#include "store/signing.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

#include "support/descriptor.hpp"

namespace kiln::store {
namespace {

constexpr std::size_t kLargestFile = 16 << 10;  // bytes

/// A password that is asked for stops a program that has no terminal.
int no_password(char*, int, int, void*) { return -1; }

using Bio = std::unique_ptr<BIO, int (*)(BIO*)>;

tl::expected<std::string, std::string> read_private(const std::filesystem::path& path) {
  const detail::Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0) return tl::unexpected(detail::error_text(errno));
  if (!S_ISREG(status.st_mode)) return tl::unexpected(std::string("it is no regular file"));
  if (status.st_uid != geteuid() && status.st_uid != 0)
    return tl::unexpected(std::string("it belongs to another user"));
  if ((status.st_mode & 077) != 0) return tl::unexpected(std::string("others may read it: chmod 600"));
  std::string text(kLargestFile, '\0');
  const ssize_t count = read(file.get(), text.data(), text.size());
  if (count < 0) return tl::unexpected(detail::error_text(errno));
  text.resize(static_cast<std::size_t>(count));
  return text;
}

}  // namespace

SigningKey::SigningKey(EVP_PKEY* key) : key_(key, &EVP_PKEY_free) {
  std::size_t size = public_.size();
  EVP_PKEY_get_raw_public_key(key, public_.data(), &size);
}

tl::expected<SigningKey, std::string> SigningKey::make() {
  EVP_PKEY* key = nullptr;
  const std::unique_ptr<EVP_PKEY_CTX, void (*)(EVP_PKEY_CTX*)> context(
      EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nullptr), &EVP_PKEY_CTX_free);
  if (!context || EVP_PKEY_keygen_init(context.get()) != 1 || EVP_PKEY_keygen(context.get(), &key) != 1)
    return tl::unexpected(std::string("OpenSSL makes no Ed25519 keys here"));
  return SigningKey(key);
}

tl::expected<SigningKey, std::string> SigningKey::read(const std::filesystem::path& path) {
  const auto fault = [&](const std::string& why) { return tl::unexpected(path.string() + ": " + why); };
  auto text = read_private(path);
  if (!text) return fault(text.error());
  const Bio memory(BIO_new_mem_buf(text->data(), static_cast<int>(text->size())), &BIO_free);
  EVP_PKEY* key = memory ? PEM_read_bio_PrivateKey(memory.get(), nullptr, &no_password, nullptr) : nullptr;
  std::fill(text->begin(), text->end(), '\0');
  if (!key) return fault("it has no private key without a password");
  if (EVP_PKEY_get_id(key) != EVP_PKEY_ED25519) {
    EVP_PKEY_free(key);
    return fault("its key is none of Ed25519");
  }
  return SigningKey(key);
}

std::string SigningKey::pem() const {
  const Bio memory(BIO_new(BIO_s_mem()), &BIO_free);
  if (!memory ||
      PEM_write_bio_PKCS8PrivateKey(memory.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1)
    return {};
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

tl::expected<cache::Seal, std::string> SigningKey::sign(std::span<const std::byte> entry,
                                                        std::chrono::sys_seconds now) const {
  const auto decoded = cache::decode_entry(entry);
  if (!decoded) return tl::unexpected(decoded.error().message);
  cache::Seal seal{public_, static_cast<std::uint64_t>(now.time_since_epoch().count()), {}};
  const auto message = cache::signed_message(key_of(decoded->manifest), seal.signed_at, entry);
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  std::size_t size = seal.signature.size();
  if (!context || EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) != 1 ||
      EVP_DigestSign(context.get(), seal.signature.data(), &size, message.data(), message.size()) != 1)
    return tl::unexpected(std::string("OpenSSL does not sign"));
  return seal;
}

}  // namespace kiln::store
