// SPDX-License-Identifier: MIT
// Manifests: canonical bytes, their SHA-256, and what two of them do not share.
#include "kiln/manifest.hpp"

#ifdef KILN_LOW_LEVEL_SHA256
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#else
#include <openssl/evp.h>
#endif

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "support/hex.hpp"

namespace kiln {
namespace {

constexpr std::string_view kMagic = "KILNMAN1";

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

void append(std::string& bytes, std::string_view text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  bytes.append(reinterpret_cast<const char*>(&size), sizeof size).append(text);
}

bool take_number(std::string_view& bytes, std::uint32_t& number) {
  if (bytes.size() < sizeof number) return false;
  std::memcpy(&number, bytes.data(), sizeof number);
  bytes.remove_prefix(sizeof number);
  return true;
}

bool take_text(std::string_view& bytes, std::string& text) {
  std::uint32_t size = 0;
  if (!take_number(bytes, size) || size > bytes.size()) return false;
  text = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return true;
}

std::array<std::uint8_t, 32> sha256(const void* data, std::size_t size) {
  std::array<std::uint8_t, 32> result{};
#ifdef KILN_LOW_LEVEL_SHA256
  // The first use of EVP in a process reads OpenSSL's configuration and loads providers: 0.8 ms, as much as a
  // module of 50 kernels takes from a native binary.
  SHA256_CTX state;
  SHA256_Init(&state);
  SHA256_Update(&state, data, size);
  SHA256_Final(result.data(), &state);
#else
  // Fetched once: EVP_sha256() would be looked up again by every call.
  static const EVP_MD* const kSha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  EVP_Digest(data, size, result.data(), nullptr, kSha256, nullptr);
#endif
  return result;
}

}  // namespace

// What is hot lies side by side: src/meson.build says why.
[[gnu::hot]] void Manifest::set(ManifestField field) {
  const auto place = std::ranges::lower_bound(fields_, field.name, {}, &ManifestField::name);
  if (place != fields_.end() && place->name == field.name)
    place->value = std::move(field.value);
  else
    fields_.insert(place, std::move(field));
}

[[gnu::hot]] void Manifest::merge(Manifest other) {
  reserve(fields_.size() + other.fields_.size());
  for (ManifestField& field : other.fields_) set(std::move(field));
}

[[gnu::hot]] const std::string* Manifest::find(std::string_view name) const {
  const auto place = std::ranges::lower_bound(fields_, name, {}, &ManifestField::name);
  return place != fields_.end() && place->name == name ? &place->value : nullptr;
}

std::string encode(const Manifest& manifest) {
  std::size_t size = kMagic.size();
  for (const ManifestField& field : manifest.fields())
    size += 2 * sizeof(std::uint32_t) + field.name.size() + field.value.size();
  std::string bytes;
  bytes.reserve(size);
  bytes = kMagic;
  for (const ManifestField& field : manifest.fields()) {
    append(bytes, field.name);
    append(bytes, field.value);
  }
  return bytes;
}

tl::expected<Manifest, BinaryError> decode_manifest(std::string_view bytes) {
  const auto refuse = [&, size = bytes.size()](const char* why) {
    return tl::unexpected(BinaryError{why, size - bytes.size()});
  };
  if (!bytes.starts_with(kMagic)) return refuse("not a manifest");
  bytes.remove_prefix(kMagic.size());
  Manifest manifest;
  std::string last;
  while (!bytes.empty()) {
    std::string name, value;
    if (!take_text(bytes, name) || !take_text(bytes, value)) return refuse("manifest is cut short");
    if (!manifest.fields().empty() && name <= last) return refuse("fields of the manifest are out of order");
    manifest.set(name, std::move(value));
    last = std::move(name);
  }
  return manifest;
}

std::string CacheKey::hex() const { return kiln::hex(std::as_bytes(std::span(bytes))); }

std::optional<CacheKey> CacheKey::parse(std::string_view hex) {
  CacheKey key;
  if (hex.size() != 2 * key.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < key.bytes.size(); ++i) {
    const char* at = hex.data() + 2 * i;
    if (std::from_chars(at, at + 2, key.bytes[i], 16).ptr != at + 2) return std::nullopt;
  }
  if (key.hex() != hex) return std::nullopt;  // upper case
  return key;
}

CacheKey key_of(std::string_view encoded_manifest) {
  return {sha256(encoded_manifest.data(), encoded_manifest.size())};
}

std::string digest(std::span<const std::byte> bytes) {
  return CacheKey{sha256(bytes.data(), bytes.size())}.hex();
}

std::vector<ManifestDifference> differences(const Manifest& wanted, const Manifest& found) {
  std::vector<ManifestDifference> result;
  auto left = wanted.fields(), right = found.fields();
  while (!left.empty() || !right.empty()) {
    const bool take_left = right.empty() || (!left.empty() && left[0].name <= right[0].name);
    const bool take_right = left.empty() || (!right.empty() && right[0].name <= left[0].name);
    if (take_left && take_right) {
      if (left[0].value != right[0].value) result.push_back({left[0].name, left[0].value, right[0].value});
    } else if (take_left) {
      result.push_back({left[0].name, left[0].value, std::nullopt});
    } else {
      result.push_back({right[0].name, std::nullopt, right[0].value});
    }
    if (take_left) left = left.subspan(1);
    if (take_right) right = right.subspan(1);
  }
  return result;
}

}  // namespace kiln
