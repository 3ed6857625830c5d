// SPDX-License-Identifier: MIT
// Names of targets: IP versions and product families as ocloc and Intel's driver count them.
#include <algorithm>
#include <array>

#include "kiln/product.hpp"
#include "support/digits.hpp"

namespace kiln {
namespace {

// Source: `ocloc ids` of releases 22.43 and 26.27. Several products share one IP version; the first stands
// for them, and the others are aliases.
constexpr Target kTargets[] = {
    {12, 0, "tgllp", "xe-lp"},     {12, 1, "rkl", "xe-lp"},         {12, 2, "adl-s", "xe-lp"},
    {12, 3, "adl-p", "xe-lp"},     {12, 4, "adl-n", "xe-lp"},       {12, 10, "dg1", "xe-lp"},
    {12, 55, "dg2-g10", "xe-hpg"}, {12, 56, "dg2-g11", "xe-hpg"},   {12, 57, "dg2-g12", "xe-hpg"},
    {12, 60, "pvc", "xe-hpc"},     {12, 61, "pvc-vg", "xe-hpc-vg"}, {12, 70, "mtl-u", "xe-lpg"},
    {12, 71, "mtl-h", "xe-lpg"},   {12, 74, "arl-h", "xe-lpgplus"}, {20, 1, "bmg-g21", "xe2-hpg"},
    {20, 2, "bmg-g31", "xe2-hpg"}, {20, 4, "lnl-m", "xe2-lpg"},     {30, 0, "ptl-h", "xe3-lpg"},
    {30, 1, "ptl-u", "xe3-lpg"},   {30, 3, "wcl", "xe3-lpg"},       {30, 4, "nvl-s", "xe3-lpg"},
    {30, 5, "nvl-u", "xe3-lpg"},   {35, 10, "nvl-p", "xe3p-lpg"},   {35, 11, "cri", "xe3p-xpc"},
};

struct Alias {
  std::string_view name, target;
};
constexpr Alias kAliases[] = {
    {"tgl", "tgllp"},        {"rpl-s", "adl-s"},     {"rpl-p", "adl-p"},     {"acm-g10", "dg2-g10"},
    {"ats-m150", "dg2-g10"}, {"acm-g11", "dg2-g11"}, {"ats-m75", "dg2-g11"}, {"acm-g12", "dg2-g12"},
    {"pvc-sdv", "pvc"},      {"mtl-s", "mtl-u"},     {"mtl-m", "mtl-u"},     {"arl-s", "mtl-u"},
    {"arl-u", "mtl-u"},      {"mtl-p", "mtl-h"},     {"nvl-hx", "nvl-s"},    {"nvl-ul", "nvl-s"},
    {"nvl-h", "nvl-u"},
};

/// ocloc takes "adlp", "adl_p" and "adl-p" for the same.
bool same_name(std::string_view a, std::string_view b) {
  const auto skip = [](std::string_view& text) {
    while (!text.empty() && (text[0] == '-' || text[0] == '_')) text.remove_prefix(1);
  };
  for (skip(a), skip(b); !a.empty() && !b.empty(); skip(a), skip(b)) {
    if (a[0] != b[0]) return false;
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.empty() && b.empty();
}

std::string_view family_of(const Target& target) {
  switch (target.architecture) {
    case 12:
      return "xe";
    case 20:
      return "xe2";
    case 30:
      return "xe3";
    default:
      return "xe3p";
  }
}

/// "12.60" or "12.60.7".
std::optional<std::uint32_t> parse_version(std::string_view text) {
  constexpr std::array<std::uint64_t, 3> kLargest{0x3ff, 0xff, 0x3fff};
  std::array<std::uint64_t, 3> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto dot = text.find('.');
    const auto number = detail::parse_digits(text.substr(0, dot));
    if (!number || *number > kLargest[i]) return std::nullopt;
    numbers[i] = *number;
    if (dot == text.npos) {
      if (i == 0) return std::nullopt;
      return static_cast<std::uint32_t>(numbers[0] << 22 | numbers[1] << 14 | numbers[2]);
    }
    text.remove_prefix(dot + 1);
  }
  return std::nullopt;
}

const Target* by_version(std::string_view text) {
  const auto version = parse_version(text);
  return version ? find_target(*version) : nullptr;
}

/// A product, or all of a release or a family; empty when there is none.
std::span<const Target> find_run(std::string_view name) {
  if (const Target* target = find_target(name)) return {target, 1};
  if (name.empty()) return {};
  if (same_name(name, "gen12lp")) name = "xe-lp";
  // The table is in the order of IP versions, so that a release and a family stand together.
  const auto is_member = [&](const Target& target) {
    return same_name(name, target.release_name) || same_name(name, family_of(target));
  };
  const auto first = std::ranges::find_if(kTargets, is_member);
  return {first, std::find_if_not(first, std::end(kTargets), is_member)};
}

}  // namespace

std::string ip_version_text(std::uint32_t ip_version) {
  return std::to_string(ip_version >> 22) + "." + std::to_string(ip_version >> 14 & 0xff) + "." +
         std::to_string(ip_version & 0x3fff);
}

std::optional<std::uint32_t> member_ip_version(std::string_view name) {
  constexpr std::string_view kAddressBits = "64.";
  if (!name.starts_with(kAddressBits)) return std::nullopt;
  return parse_version(name.substr(kAddressBits.size()));
}

std::span<const Target> targets() { return kTargets; }

std::vector<std::string_view> target_aliases(const Target& target) {
  std::vector<std::string_view> names;
  for (const Alias& alias : kAliases)
    if (alias.target == target.name) names.push_back(alias.name);
  return names;
}

const Target* find_target(std::uint32_t ip_version) {
  for (const Target& target : kTargets)
    if (target.architecture == ip_version >> 22 && target.release == (ip_version >> 14 & 0xff))
      return &target;
  return nullptr;
}

const Target* find_target(std::string_view name) {
  if (name.empty()) return nullptr;
  for (const Alias& alias : kAliases)
    if (same_name(alias.name, name)) name = alias.target;
  for (const Target& target : kTargets)
    if (same_name(target.name, name)) return &target;
  // A family stands for its first member: "dg2" for "dg2-g10".
  for (const Target& target : kTargets)
    if (target.name.starts_with(name) && target.name.substr(name.size()).starts_with('-')) return &target;
  return by_version(name);
}

std::span<const Target> find_targets(std::string_view pattern) {
  const auto colon = pattern.find(':');
  if (colon == pattern.npos) return find_run(pattern);
  const std::string_view from = pattern.substr(0, colon), to = pattern.substr(colon + 1);
  if (from.empty() && to.empty()) return {};
  const std::span<const Target> all = kTargets, first = from.empty() ? all : find_run(from),
                                last = to.empty() ? all : find_run(to);
  if (first.empty() || last.empty() || &first.front() > &last.back()) return {};
  return {&first.front(), &last.back() + 1};
}

std::string_view target_name(std::uint32_t ip_version) {
  const Target* target = find_target(ip_version);
  return target ? target->name : std::string_view{};
}

std::string_view family_name(std::uint32_t product_family) {
  switch (product_family) {  // seen in binaries of ocloc 22.43
    case 29:
      return "tgllp";
    case 1270:
      return "dg2";
    case 1271:
      return "pvc";
    default:
      return {};
  }
}

}  // namespace kiln
