// SPDX-License-Identifier: MIT
// Names of targets: IP versions and product families as ocloc and Intel's driver count them.
#include <charconv>

#include "kiln/binary.hpp"

namespace kiln {
namespace {

// Source: `ocloc ids` of releases 22.43 and 26.27. Several products share one IP version; the first stands
// for them.
constexpr Target kTargets[] = {
    {12, 0, "tgllp"},   {12, 1, "rkl"},      {12, 2, "adl-s"},    {12, 3, "adl-p"},    {12, 4, "adl-n"},
    {12, 10, "dg1"},    {12, 55, "dg2-g10"}, {12, 56, "dg2-g11"}, {12, 57, "dg2-g12"}, {12, 60, "pvc"},
    {12, 61, "pvc-vg"}, {12, 70, "mtl-u"},   {12, 71, "mtl-h"},   {12, 74, "arl-h"},   {20, 1, "bmg-g21"},
    {20, 2, "bmg-g31"}, {20, 4, "lnl-m"},    {30, 0, "ptl-h"},    {30, 1, "ptl-u"},    {30, 3, "wcl"},
    {30, 4, "nvl-s"},   {35, 10, "nvl-p"},   {35, 11, "cri"},
};

}  // namespace

std::string ip_version_text(std::uint32_t ip_version) {
  return std::to_string(ip_version >> 22) + "." + std::to_string(ip_version >> 14 & 0xff) + "." +
         std::to_string(ip_version & 0x3fff);
}

std::span<const Target> targets() { return kTargets; }

const Target* find_target(std::uint32_t ip_version) {
  for (const Target& target : kTargets)
    if (target.architecture == ip_version >> 22 && target.release == (ip_version >> 14 & 0xff))
      return &target;
  return nullptr;
}

const Target* find_target(std::string_view name) {
  for (const Target& target : kTargets)
    if (target.name == name) return &target;
  // A family stands for its first member: "dg2" for "dg2-g10".
  for (const Target& target : kTargets)
    if (target.name.starts_with(name) && target.name.substr(name.size()).starts_with('-')) return &target;
  // "12.60.7" or "12.60".
  std::uint32_t numbers[2]{};
  for (std::uint32_t& number : numbers) {
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc{} || number > 1023) return nullptr;
    name.remove_prefix(static_cast<std::size_t>(end - name.data()));
    if (name.starts_with('.')) name.remove_prefix(1);
  }
  return name.find_first_not_of("0123456789") == name.npos ? find_target(numbers[0] << 22 | numbers[1] << 14)
                                                           : nullptr;
}

const Target* target_of(const BinaryPart& part) {
  if (part.facts->ip_version) return find_target(part.facts->ip_version);
  // ocloc names the members of a fat binary by address bits and IP version: "64.12.60.7".
  if (const auto dot = part.name.find('.'); dot != part.name.npos)
    if (const Target* target = find_target(std::string_view(part.name).substr(dot + 1))) return target;
  const std::string_view family = family_name(part.facts->product_family);
  return family.empty() ? nullptr : find_target(family);
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
