// SPDX-License-Identifier: MIT
// Private keys, and what they sign.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "cache/format/seal.hpp"
#include "kiln/result.hpp"

typedef struct evp_pkey_st EVP_PKEY;

namespace kiln::store {

/// An Ed25519 private key. Thread-safe.
class SigningKey {
 public:
  /// A new one.
  [[nodiscard]] static tl::expected<SigningKey, std::string> make();
  /// From a PEM file as `openssl genpkey -algorithm ed25519` writes it, without a password, that this user or
  /// root owns and nobody else may read. The error says why not.
  [[nodiscard]] static tl::expected<SigningKey, std::string> read(const std::filesystem::path& file);

  [[nodiscard]] const cache::PublicKey& public_key() const { return public_; }
  [[nodiscard]] std::string pem() const;
  /// `entry` without a seal.
  [[nodiscard]] tl::expected<cache::Seal, std::string> sign(std::span<const std::byte> entry,
                                                            std::chrono::sys_seconds now) const;

 private:
  explicit SigningKey(EVP_PKEY* key);
  std::shared_ptr<EVP_PKEY> key_;
  cache::PublicKey public_{};
};

}  // namespace kiln::store
