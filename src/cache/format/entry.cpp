// SPDX-License-Identifier: MIT
// Writes and reads a cache entry: a header of fixed size, four sections, a checksum.
#include "cache/format/entry.hpp"

#include <xxhash.h>

#include <bit>
#include <cstring>

namespace kiln::cache {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr char kMagic[8] = {'K', 'I', 'L', 'N', 'C', 'A', 'C', 'H'};
constexpr std::uint32_t kEntryVersion = 1;
constexpr std::uint32_t kLargestCode = 0x7fffffff;  // ZE_RESULT_FORCE_UINT32

struct Header {
  char magic[8];
  std::uint32_t version, kind;
  std::uint32_t code, attempts;
  std::uint64_t created;
  std::uint64_t manifest, log, facts, payload;  // sizes in bytes
};
static_assert(sizeof(Header) == 64);

using Checksum = XXH128_canonical_t;

Checksum checksum(std::span<const std::byte> bytes) {
  Checksum sum;
  XXH128_canonicalFromHash(&sum, XXH3_128bits(bytes.data(), bytes.size()));
  return sum;
}

tl::unexpected<BinaryError> refuse(const char* why, std::uint64_t offset) {
  return tl::unexpected(BinaryError{why, offset});
}

}  // namespace

std::vector<std::byte> encode_entry(const Entry& entry) {
  Header header{{},
                kEntryVersion,
                static_cast<std::uint32_t>(entry.kind),
                entry.code,
                entry.attempts,
                entry.created,
                entry.manifest.size(),
                entry.log.size(),
                entry.facts.size(),
                entry.payload.size()};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  std::vector<std::byte> bytes;
  bytes.reserve(sizeof header + entry.manifest.size() + entry.log.size() + entry.facts.size() +
                entry.payload.size() + sizeof(Checksum));
  const auto append = [&](const void* from, std::size_t size) {
    const auto* start = static_cast<const std::byte*>(from);
    bytes.insert(bytes.end(), start, start + size);
  };
  append(&header, sizeof header);
  append(entry.manifest.data(), entry.manifest.size());
  append(entry.log.data(), entry.log.size());
  append(entry.facts.data(), entry.facts.size());
  append(entry.payload.data(), entry.payload.size());
  const Checksum sum = checksum(bytes);
  append(&sum, sizeof sum);
  return bytes;
}

tl::expected<Entry, BinaryError> decode_entry(std::span<const std::byte> bytes) {
  Header header;
  if (bytes.size() < sizeof header + sizeof(Checksum))
    return refuse("cache entry is cut short", bytes.size());
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) return refuse("not a cache entry", 0);
  if (header.version != kEntryVersion)
    return refuse("cache entry of another version", offsetof(Header, version));
  std::uint64_t left = bytes.size() - sizeof header - sizeof(Checksum);
  for (const std::uint64_t size : {header.manifest, header.log, header.facts, header.payload}) {
    if (size > left) return refuse("sizes in the cache entry exceed the file", offsetof(Header, manifest));
    left -= size;
  }
  if (left != 0) return refuse("cache entry has bytes that belong to nothing", bytes.size() - left);
  const auto body = bytes.first(bytes.size() - sizeof(Checksum));
  const Checksum sum = checksum(body);
  if (std::memcmp(&sum, bytes.data() + body.size(), sizeof sum) != 0)
    return refuse("checksum of the cache entry is wrong", body.size());
  if (header.kind < 1 || header.kind > 3)
    return refuse("cache entry of no known kind", offsetof(Header, kind));
  if (header.code > kLargestCode)
    return refuse("result code in the cache entry is none", offsetof(Header, code));
  auto rest = body.subspan(sizeof header);
  const auto take = [&](std::uint64_t size) {
    const auto part = rest.first(size);
    rest = rest.subspan(size);
    return part;
  };
  const auto text = [](std::span<const std::byte> part) {
    return std::string_view(reinterpret_cast<const char*>(part.data()), part.size());
  };
  Entry entry{
      static_cast<EntryKind>(header.kind), header.code, header.attempts, header.created, {}, {}, {}, {}};
  entry.manifest = text(take(header.manifest));
  entry.log = text(take(header.log));
  entry.facts = take(header.facts);
  entry.payload = take(header.payload);
  return entry;
}

}  // namespace kiln::cache
