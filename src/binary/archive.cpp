// SPDX-License-Identifier: MIT
// Reads the ar archive that ocloc writes for several targets, every offset checked against the file's size.
#include <ar.h>

#include <cstring>
#include <optional>

#include "kiln/binary.hpp"
#include "support/digits.hpp"

namespace kiln {
namespace {

using Bytes = std::span<const std::byte>;

// ocloc puts members of this name between the others, so that those start at a multiple of eight.
constexpr std::string_view kPadding = "pad_";

constexpr std::size_t kLongestMember = 255;  // bytes; many members may share one long name in the table

tl::unexpected<BinaryError> broken(std::string message, std::uint64_t offset) {
  return tl::unexpected(BinaryError{std::move(message), offset});
}

template <std::size_t N>
std::string_view field(const char (&text)[N]) {
  const std::string_view all(text, N);
  return all.substr(0, all.find_last_not_of(' ') + 1);
}

/// "name/" as it stands, "/12" as what the table of long names has at 12.
std::optional<std::string> member_name(std::string_view name, std::string_view long_names) {
  if (name.starts_with('/')) {
    const auto at = detail::parse_digits(name.substr(1));
    if (!at || *at >= long_names.size()) return std::nullopt;
    name = long_names.substr(*at, kLongestMember + 1);
    name = name.substr(0, name.find('\n'));
  }
  name = name.substr(0, name.find('/'));
  return name.size() > kLongestMember ? std::nullopt : std::optional(std::string(name));
}

}  // namespace

tl::expected<std::vector<ArchiveMember>, BinaryError> read_archive(std::span<const std::byte> file) {
  if (identify(file) != BinaryFormat::archive) return broken("no ar magic number", 0);
  std::vector<ArchiveMember> members;
  std::string_view long_names;
  for (std::uint64_t at = SARMAG; at < file.size();) {
    ar_hdr header;
    if (file.size() - at < sizeof header)
      return broken("file ends inside a member's header: it is truncated", at);
    std::memcpy(&header, file.data() + at, sizeof header);
    if (std::memcmp(header.ar_fmag, ARFMAG, sizeof header.ar_fmag) != 0)
      return broken("a member's header does not end as it must: the file is damaged", at);
    const auto size = detail::parse_digits(field(header.ar_size));
    if (!size) return broken("the size of a member is no number", at);
    const std::uint64_t start = at + sizeof header;
    if (*size > file.size() - start) return broken("a member goes beyond the file: it is truncated", at);
    const Bytes content = file.subspan(start, *size);
    const std::string_view name = field(header.ar_name);
    if (name == "//") {
      long_names = {reinterpret_cast<const char*>(content.data()), content.size()};
    } else if (name != "/") {  // which would be a symbol index
      auto whole = member_name(name, long_names);
      if (!whole) return broken("the name of a member cannot be found", at);
      if (!whole->starts_with(kPadding)) members.push_back({*std::move(whole), content});
    }
    at = start + *size + *size % 2;  // members start at even places
  }
  return members;
}

}  // namespace kiln
