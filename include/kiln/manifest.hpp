// SPDX-License-Identifier: MIT
// Everything that shapes a compiled binary, as named fields, and the key that they hash to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/binary.hpp"

namespace kiln {

/// One input of a compilation: "library.libigc.so.1" and its build-id, "input.0.flags" and the flags.
struct ManifestField {
  std::string name;
  std::string value;
  friend bool operator==(const ManifestField&, const ManifestField&) = default;
};

/// Named fields in the order of their names. A value; pure.
class Manifest {
 public:
  /// Adds a field, or replaces the one of that name.
  void set(ManifestField field);
  void set(std::string_view name, std::string value) { set({std::string(name), std::move(value)}); }
  /// Adds all fields of `other`, which win.
  void merge(Manifest other);
  /// Makes room for so many fields.
  void reserve(std::size_t count) { fields_.reserve(count); }
  /// Null when there is no such field.
  [[nodiscard]] const std::string* find(std::string_view name) const;
  [[nodiscard]] std::span<const ManifestField> fields() const { return fields_; }
  friend bool operator==(const Manifest&, const Manifest&) = default;

 private:
  std::vector<ManifestField> fields_;
};

/// The canonical bytes: every name and value behind its length, so that no two manifests are written alike.
/// Pure. Format: docs/cache-format.md.
[[nodiscard]] std::string encode(const Manifest& manifest);

/// Refuses what encode() would not have written: disorder, doubles, trailing bytes. Bounded by the bytes'
/// size. Pure; thread-safe.
[[nodiscard]] tl::expected<Manifest, BinaryError> decode_manifest(std::string_view bytes);

/// SHA-256 of the canonical bytes: the name of a cache entry.
struct CacheKey {
  std::array<std::uint8_t, 32> bytes{};

  [[nodiscard]] std::string hex() const;
  /// 64 lower-case digits. Pure.
  [[nodiscard]] static std::optional<CacheKey> parse(std::string_view hex);
  friend auto operator<=>(const CacheKey&, const CacheKey&) = default;
};
/// Pure; thread-safe.
[[nodiscard]] CacheKey key_of(std::string_view encoded_manifest);

/// SHA-256 of the bytes in hexadecimal: how manifests name the content of inputs and files. Pure.
[[nodiscard]] std::string digest(std::span<const std::byte> bytes);

/// One field that two manifests do not share; nothing where the field is missing.
struct ManifestDifference {
  std::string name;
  std::optional<std::string> wanted, found;
};
/// In the order of the names. Pure.
[[nodiscard]] std::vector<ManifestDifference> differences(const Manifest& wanted, const Manifest& found);

}  // namespace kiln
