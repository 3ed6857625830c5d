// SPDX-License-Identifier: MIT
// SLM against the device's limit, and what a core's work-groups share: occupancy by resource.
#include "tool/report/html.hpp"
#include "tool/report/report.hpp"

namespace kiln::tool {
namespace {

std::string bytes_text(std::uint64_t bytes) {
  return bytes >= 1024 && bytes % 1024 == 0 ? number(bytes / 1024) + " KiB" : number(bytes) + " B";
}

std::string amount(const ResourceUse& use, std::uint64_t value) {
  return use.resource == Resource::slm ? bytes_text(value) : number(value);
}

}  // namespace

CoreUse core_use(const KernelFacts& kernel, const Target& target, std::uint64_t group_size, std::uint64_t slm,
                 std::string basis) {
  const CoreLimits limits = core_limits(target);
  CoreUse use{std::string(target.name),
              std::move(basis),
              limits.generation,
              occupancy(kernel, limits, group_size, slm),
              {}};
  const auto add = [&](Resource resource, std::uint64_t of_group, std::uint64_t of_core) {
    if (of_group > 0) use.uses.push_back({resource, of_group, of_core, of_core / of_group});
  };
  add(Resource::threads, use.occupancy.threads_per_group, use.occupancy.threads_per_core);
  add(Resource::slm, use.occupancy.slm_per_group, limits.slm_per_core);
  add(Resource::barriers, kernel.barrier_count, limits.barriers_per_core);
  return use;
}

std::string core_section(const ReportFacts& facts) {
  std::string html = "<section id=\"occupancy\"><h2>Shared local memory and occupancy</h2>\n";
  const double share = percent(static_cast<double>(facts.slm), static_cast<double>(facts.slm_limit));
  html += "<p>A work-group asks for <strong>" + bytes_text(facts.slm) + "</strong> of SLM; the device has " +
          bytes_text(facts.slm_limit) + " for one (" + number(share) + " %).</p>" + bar(share, "wide") + "\n";
  if (!facts.core || facts.core->uses.empty())
    return html + "<p class=\"missing\">Occupancy is not known of this device.</p></section>\n";
  const CoreUse& core = *facts.core;
  const Occupancy& full = core.occupancy;
  if (full.groups_per_core == 0)
    html += "<p>Not even one work-group fits a core of " + code(core.product) + ".</p>";
  else
    html += "<p>A core of " + code(core.product) + " holds <strong>" +
            count(full.groups_per_core, "work-group", "work-groups") + "</strong> at a time; then " +
            number(std::uint64_t{full.percent()}) +
            " % of its hardware threads have work. What stops it from holding more: <strong>" +
            to_string(full.limit) + "</strong>.</p>\n";
  std::vector<std::vector<std::string>> rows;
  for (const ResourceUse& use : core.uses) {
    const bool limit = use.resource == full.limit;
    const std::uint64_t used = full.groups_per_core * use.of_group;
    const double part = percent(static_cast<double>(used), static_cast<double>(use.of_core));
    rows.push_back({std::string(to_string(use.resource)) + (limit ? " <b class=\"tag warn\">limit</b>" : ""),
                    bar(part, limit ? "limit" : ""), number(part) + " %", amount(use, use.of_group),
                    amount(use, use.of_core), number(use.groups)});
  }
  html +=
      table("Occupancy of one core by resource",
            {"Resource", "In use", "Share", "A group takes", "A core has", "Groups that would fit"}, rows, 2);
  return html + "<p class=\"note\">Known by " + escaped(core.basis) + ".</p></section>\n";
}

}  // namespace kiln::tool
