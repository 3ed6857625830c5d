// SPDX-License-Identifier: MIT
// Writes, finds and checks the signature behind an entry.
#include "cache/format/seal.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

namespace kiln::cache {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr char kSealMagic[] = {'K', 'I', 'L', 'N', 'S', 'E', 'A', 'L'};
// Nothing else that this key signs begins like that.
constexpr char kPurpose[] = {'k', 'i', 'l', 'n', ' ', 's', 'e', 'a', 'l', ' ', '1', '\n'};

struct Layout {
  char magic[sizeof kSealMagic];
  PublicKey signer;
  std::uint64_t signed_at;
  std::array<std::uint8_t, 64> signature;
};
static_assert(sizeof(Layout) == kSealSize);

}  // namespace

std::chrono::sys_seconds Seal::time() const {
  constexpr std::uint64_t kLatest = 253'402'300'799;  // the end of the year 9999
  return std::chrono::sys_seconds(
      std::chrono::seconds(static_cast<std::int64_t>(std::min(signed_at, kLatest))));
}

std::array<std::byte, kSealSize> encode_seal(const Seal& seal) {
  Layout layout{{}, seal.signer, seal.signed_at, seal.signature};
  std::memcpy(layout.magic, kSealMagic, sizeof kSealMagic);
  return std::bit_cast<std::array<std::byte, kSealSize>>(layout);
}

tl::expected<SealedEntry, BinaryError> decode_sealed(std::span<const std::byte> bytes) {
  Layout layout;
  if (bytes.size() >= kSealSize) {
    const auto body = bytes.first(bytes.size() - kSealSize);
    std::memcpy(&layout, bytes.data() + body.size(), kSealSize);
    if (std::memcmp(layout.magic, kSealMagic, sizeof kSealMagic) == 0)
      if (auto entry = decode_entry(body))
        return SealedEntry{*entry, body, Seal{layout.signer, layout.signed_at, layout.signature}};
  }
  auto entry = decode_entry(bytes);  // by chance the end of a payload begins as a seal does
  if (!entry) return tl::unexpected(std::move(entry).error());
  return SealedEntry{*entry, bytes, std::nullopt};
}

std::array<std::uint8_t, 84> signed_message(const CacheKey& key, std::uint64_t signed_at,
                                            std::span<const std::byte> entry) {
  std::array<std::uint8_t, 84> message{};
  static_assert(sizeof kPurpose + sizeof key.bytes + sizeof signed_at + 32 == sizeof message);
  const CacheKey digest = key_of({reinterpret_cast<const char*>(entry.data()), entry.size()});
  std::uint8_t* to = message.data();
  const auto append = [&](const void* from, std::size_t size) {
    std::memcpy(to, from, size);
    to += size;
  };
  append(kPurpose, sizeof kPurpose);
  append(key.bytes.data(), key.bytes.size());
  append(&signed_at, sizeof signed_at);
  append(digest.bytes.data(), digest.bytes.size());
  return message;
}

bool is_signed(const Seal& seal, const CacheKey& key, std::span<const std::byte> entry) {
  const auto message = signed_message(key, seal.signed_at, entry);
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> signer(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, seal.signer.data(), seal.signer.size()),
      &EVP_PKEY_free);
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  return signer && context &&
         EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, signer.get()) == 1 &&
         EVP_DigestVerify(context.get(), seal.signature.data(), seal.signature.size(), message.data(),
                          message.size()) == 1;
}

}  // namespace kiln::cache
