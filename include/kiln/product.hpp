// SPDX-License-Identifier: MIT
// Intel's products: names and IP versions. Their limits are in target.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

/// An IP version as it is written: "12.60.7". Pure; thread-safe.
[[nodiscard]] std::string ip_version_text(std::uint32_t ip_version);

/// A product, as far as its IP version tells it from others.
struct Target {
  std::uint32_t architecture, release;
  std::string_view name;          ///< ocloc's name
  std::string_view release_name;  ///< ocloc's name for all products of that generation: "xe-hpg"
};
/// All that are known, in the order of their IP versions.
[[nodiscard]] std::span<const Target> targets();
/// By IP version, whatever its revision; by name or alias ("acm-g10"), by family ("dg2" is "dg2-g10") or by
/// version in text ("12.60.7"). Null: not known. Pure; thread-safe.
[[nodiscard]] const Target* find_target(std::uint32_t ip_version);
[[nodiscard]] const Target* find_target(std::string_view name);
/// Other names of the product, and of products with the same IP version. Pure; thread-safe.
[[nodiscard]] std::vector<std::string_view> target_aliases(const Target& target);
/// What find_target finds, or all of a release ("xe-hpg", "gen12lp") or of an architecture ("xe2"), or a
/// range with both ends ("tgllp:pvc", "xe2:", ":dg1"). Empty: not known. Pure; thread-safe.
[[nodiscard]] std::span<const Target> find_targets(std::string_view pattern);

/// The name by which ocloc knows a target of that IP version ("pvc"), or nothing. Revisions are not told
/// apart. Pure; thread-safe.
[[nodiscard]] std::string_view target_name(std::uint32_t ip_version);

/// The name for a product family, as far as known. Pure; thread-safe.
[[nodiscard]] std::string_view family_name(std::uint32_t product_family);

/// The IP version in the name of a fat binary's member: "64.12.60.7"; with revision 0 where the name has
/// none. Pure; thread-safe.
[[nodiscard]] std::optional<std::uint32_t> member_ip_version(std::string_view name);

}  // namespace kiln
