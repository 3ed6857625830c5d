// SPDX-License-Identifier: MIT
// Why a lookup missed: the entry that is nearest to what was wanted, and what tells the two apart.
#include "tool/cache/compare.hpp"

#include <algorithm>
#include <charconv>

namespace kiln::tool {
namespace {

constexpr std::size_t kShortDigits = 8, kLongDigits = 16;

/// Of the files, in no order.
std::vector<std::string_view> digests_of(const Manifest& manifest) {
  std::vector<std::string_view> digests;
  for (const ManifestField& field : manifest.fields())
    if (field.name.starts_with("input.") && field.name.ends_with(".digest")) digests.push_back(field.value);
  std::ranges::sort(digests);
  return digests;
}

std::string_view after(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

/// Does the text begin with so many hexadecimal digits that nobody reads them all?
bool is_hash(std::string_view text) {
  const auto digits = text.find_first_not_of("0123456789abcdef");
  return std::min(digits, text.size()) >= kLongDigits;
}

}  // namespace

std::string brief_value(std::string_view value) {
  const std::string_view digits = after(value, "sha256:");
  return is_hash(digits) ? std::string(digits.substr(0, kShortDigits)) + "…" : std::string(value);
}

std::optional<NearestEntry> nearest_entry(const Manifest& wanted,
                                          std::span<const Manifest* const> manifests) {
  const auto digests = digests_of(wanted);
  std::optional<NearestEntry> nearest;
  for (std::size_t i = 0; i < manifests.size(); ++i) {
    NearestEntry entry{i, digests_of(*manifests[i]) == digests, differences(wanted, *manifests[i])};
    const auto rank = [](const NearestEntry& each) {
      return std::pair(!each.same_input, each.differences.size());
    };
    if (!nearest || rank(entry) < rank(*nearest)) nearest = std::move(entry);
  }
  return nearest;
}

std::string difference_text(const ManifestDifference& difference) {
  const auto& [name, wanted, found] = difference;
  if (!found) return name + ": " + brief_value(*wanted) + ", was not set";
  if (!wanted) return name + ": was " + brief_value(*found) + ", is not set";
  std::string now = brief_value(*wanted), before = brief_value(*found);
  if (now == before) now = *wanted, before = *found;
  const auto quoted = [](const std::string& text) { return text.empty() ? std::string("``") : text; };
  return name + ": " + quoted(before) + " became " + quoted(now);
}

std::string brief_device(const Manifest& manifest) {
  std::string text;
  if (const std::string* ip = manifest.find("device.ip")) {
    std::uint32_t version = 0;
    const std::string_view digits = after(*ip, "0x");
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), version, 16);
    const bool whole = read.ec == std::errc() && read.ptr == digits.data() + digits.size();
    if (whole && !target_name(version).empty()) return std::string(target_name(version));
    text = whole ? ip_version_text(version) : *ip;
  }
  if (const std::string* id = manifest.find("device.id"); id && text.empty()) text = *id;
  return text;
}

std::string shortened(std::string text) {
  constexpr std::size_t kLongestCell = 40;  // bytes
  if (text.size() <= kLongestCell) return text;
  std::size_t end = kLongestCell;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

std::string brief_compiler(const Manifest& manifest) {
  const auto named = [&](std::string_view part) -> const ManifestField* {
    const auto place = std::ranges::find_if(manifest.fields(), [&](const ManifestField& field) {
      return field.name.starts_with("library.") && field.name.find(part) != field.name.npos;
    });
    return place == manifest.fields().end() ? nullptr : &*place;
  };
  for (const char* part : {"libigc", "libze_kiln_cpu", "libze_intel_gpu"})
    if (const ManifestField* field = named(part))
      return std::string(after(field->name, "library.")) + " " + brief_value(field->value);
  return {};
}

std::string brief_flags(const Manifest& manifest) {
  std::string all;
  for (const ManifestField& field : manifest.fields())
    if (field.name.starts_with("input.") && field.name.ends_with(".flags") && !field.value.empty())
      all += (all.empty() ? "" : " ") + field.value;
  return all;
}

}  // namespace kiln::tool
