// SPDX-License-Identifier: MIT
// Writes archives of entries, and decides what of an archive may be imported.
#include "offline/cache/archive.hpp"

#include <ar.h>

#include "build/native_input.hpp"
#include "cache/format/facts.hpp"

namespace kiln::offline {
namespace {

/// The header of a member: no times, no owners, so that the same entries make the same archive.
std::string header(std::string name, std::size_t size) {
  const auto padded = [](std::string text, std::size_t width) {
    text.resize(width, ' ');
    return text;
  };
  return padded(std::move(name), sizeof ar_hdr::ar_name) + padded("0", sizeof ar_hdr::ar_date) +
         padded("0", sizeof ar_hdr::ar_uid) + padded("0", sizeof ar_hdr::ar_gid) +
         padded("644", sizeof ar_hdr::ar_mode) + padded(std::to_string(size), sizeof ar_hdr::ar_size) +
         ARFMAG;
}

constexpr std::size_t kNameSize = 2 * sizeof(CacheKey) + 2;  // in the table: digits, slash, newline

}  // namespace

std::string archive_start(std::span<const CacheKey> keys) {
  std::string bytes = ARMAG + header("//", keys.size() * kNameSize);
  for (const CacheKey& key : keys) bytes += key.hex() + "/\n";
  return bytes;
}

bool is_exported(std::span<const std::byte> file) {
  const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
  return bytes.starts_with(std::string(ARMAG) + "// ");
}

std::string archive_member_start(std::size_t index, std::size_t size) {
  return header("/" + std::to_string(index * kNameSize), size);
}

tl::expected<ImportedEntry, std::string> check_member(const ArchiveMember& member) {
  const auto refuse = [](std::string why) { return tl::unexpected(std::move(why)); };
  const auto key = CacheKey::parse(member.name);
  if (!key) return refuse("its name is no key");
  const auto sealed = cache::decode_sealed(member.content);
  if (!sealed) return refuse(sealed.error().message);
  const cache::Entry* const entry = &sealed->entry;
  const auto manifest = decode_manifest(entry->manifest);
  if (!manifest) return refuse(manifest.error().message);
  if (key_of(entry->manifest) != *key) return refuse("its name is not the key of its manifest");
  if (entry->kind != cache::EntryKind::binary || entry->payload.empty())
    return refuse("it is no native binary");
  // What Bundle::load would refuse as well.
  if (const auto native = detail::read_native(entry->payload, 0); native.code.empty())
    return refuse(native.refusal);
  if (!entry->facts.empty())
    if (const auto facts = cache::decode_facts(entry->facts); !facts) return refuse(facts.error().message);
  return ImportedEntry{*key, *entry, sealed->seal, sealed->bytes};
}

}  // namespace kiln::offline
