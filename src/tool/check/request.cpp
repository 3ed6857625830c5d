// SPDX-License-Identifier: MIT
// Options of `kiln check` turned into values.
#include "tool/check/request.hpp"

#include "support/digits.hpp"
#include "tool/common/output.hpp"
#include "tool/common/table.hpp"

namespace kiln::tool {
namespace {

/// "16,4" and the like; nothing when it is none.
std::optional<Extent> parse_extent(std::string_view text) {
  std::uint32_t sizes[3]{1, 1, 1};
  for (std::size_t i = 0;; ++i) {
    const auto comma = text.find(',');
    const auto size = detail::parse_digits(text.substr(0, comma));
    if (i == 3 || !size || *size == 0 || *size > UINT32_MAX) return std::nullopt;
    sizes[i] = static_cast<std::uint32_t>(*size);
    if (comma == text.npos) return Extent{sizes[0], sizes[1], sizes[2]};
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

Error check_usage(std::string message, std::vector<std::string> help) {
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "check", {"K0404", std::move(message), {}, std::move(help)});
}

Result<CheckRequest> parse_check_request(const CheckOptions& options) {
  CheckRequest request;
  if (!options.group.empty() && !(request.group_size = parse_extent(options.group)))
    return tl::unexpected(check_usage("--group is no size of a work-group: `" + options.group + "`",
                                      {"give --group X or X,Y or X,Y,Z, each from 1 to 4294967295"}));
  // No product takes more than 32 bits can count (maxGroupCountX and so on).
  if (!options.groups.empty() && !(request.groups = parse_extent(options.groups)))
    return tl::unexpected(check_usage("--groups is no number of work-groups: `" + options.groups + "`",
                                      {"give --groups X or X,Y or X,Y,Z, each from 1 to 4294967295"}));
  for (const std::string& text : options.locals) {
    const auto equals = text.find('=');
    const auto bytes =
        equals == text.npos ? std::nullopt : detail::parse_digits(std::string_view(text).substr(equals + 1));
    if (!bytes || equals == 0)
      return tl::unexpected(
          check_usage("--local is no size of a `__local` argument: `" + text + "`",
                      {"give --local ARGUMENT=BYTES, by index or name; a whole number of bytes"}));
    request.locals.emplace_back(text.substr(0, equals), *bytes);
  }
  return request;
}

void print_targets(bool json) {
  Json list = Json::array();
  std::vector<std::vector<std::string>> table{{"TARGET", "VERSION", "RELEASE", "ALIASES", "SLM", "GROUP"}};
  for (const Target& target : targets()) {
    const TargetLimits limits = target_limits(target);
    const std::string version = std::to_string(target.architecture) + "." + std::to_string(target.release);
    const auto aliases = target_aliases(target);
    std::string all;
    for (const std::string_view alias : aliases) all += (all.empty() ? "" : ", ") + std::string(alias);
    list.push_back({{"target", target.name},
                    {"ip_version", version},
                    {"release", target.release_name},
                    {"aliases", aliases},
                    {"slm_per_group", limits.slm_per_group},
                    {"max_group_size", limits.max_group_size}});
    table.push_back({std::string(target.name), version, std::string(target.release_name), all,
                     std::to_string(limits.slm_per_group), std::to_string(limits.max_group_size)});
  }
  if (json) return print({{"targets", list}});
  print_table(table, 4);
  say("\nAlso a family (dg2, arl, bmg, lnl, ptl: its first member), a release, an architecture (xe, xe2, "
      "xe3, xe3p), a version (12.60.7), and a range (tgllp:pvc, xe2:).\n"
      "SLM: bytes a work-group; GROUP: most work-items of a group.\n");
}

}  // namespace kiln::tool
