// SPDX-License-Identifier: MIT
// check_fit(): reads, compiles, compares, and keeps of it what a caller can use when the files are gone.
#include "kiln/fit.hpp"

#include <algorithm>

#include "offline/fit/matrix.hpp"
#include "offline/parallel.hpp"
#include "offline/targets.hpp"

namespace kiln {
namespace {

KernelFit fit_of(offline::Cell& cell, const Target& target) {
  return {std::string(target.name),
          cell.by(),
          cell.part ? cell.part->file : std::string(),
          cell.part ? cell.part->part.name : std::string(),
          cell.fits(),
          std::move(cell.findings),
          std::move(cell.note),
          cell.occupancy};
}

/// OpenCL C that nothing else of its family speaks for.
void leave_out_sources(offline::PartSet& set) {
  for (const offline::OpenClSource& source : set.sources)
    if (std::ranges::none_of(set.parts, [&](const auto& part) { return part.family == source.family; }))
      set.errors.emplace_back(
          ZE_RESULT_ERROR_INVALID_ARGUMENT, "check_fit",
          Diagnostic{"K0406",
                     "`" + source.file +
                         "` was left out: OpenCL C says nothing of its kernels before it is compiled",
                     {},
                     {"set FitOptions::compile, or give the SPIR-V that was made of it"}});
}

}  // namespace

KernelRequest FitLaunch::of(const KernelFacts& kernel) const {
  KernelRequest request;
  request.group_size = group_size;
  request.groups = groups;
  request.local_bytes.resize(kernel.arguments.size());
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i)
    for (const auto& [argument, bytes] : locals)
      if (names(kernel, i, argument)) request.local_bytes[i] = bytes;
  return request;
}

bool FitLaunch::names(const KernelFacts& kernel, std::size_t index, const std::string& argument) {
  return kernel.arguments[index].kind == ArgumentKind::local_pointer &&
         (argument == std::to_string(index) || argument == kernel.arguments[index].name);
}

const char* to_string(FitBasis basis) {
  constexpr const char* kNames[] = {"none", "native", "compiled", "spirv"};
  return kNames[static_cast<std::size_t>(basis)];
}

bool FitReport::all_fit() const {
  return errors.empty() && !rows.empty() && std::ranges::all_of(rows, [](const FitRow& row) {
           return std::ranges::all_of(row.targets, &KernelFit::fits);
         });
}

Result<FitReport> check_fit(const FitOptions& options) {
  KILN_TRY(auto targets, offline::parse_targets(options.targets));
  offline::PartSet set = offline::read_files(options.files);
  for (const KernelFile& each : options.sources) offline::add_file(set, each);
  if (targets.empty()) targets = offline::default_targets(set);
  if (options.compile)
    offline::compile_missing(set, targets, options.flags, options.time_limit, options.work);
  else
    leave_out_sources(set);
  if (options.work.stop.stop_requested())
    return tl::unexpected(offline::stopped("check", "the comparison of kernels with targets"));
  if (auto error = offline::unknown_local(options.launch, set)) return tl::unexpected(*std::move(error));
  offline::Matrix matrix = offline::check_all(set, targets, options.launch);
  FitReport report;
  for (const Target* target : targets) report.targets.emplace_back(target->name);
  for (offline::Row& row : matrix.rows) {
    FitRow& made = report.rows.emplace_back(FitRow{row.family, row.kernel, {}});
    for (std::size_t i = 0; i < row.cells.size(); ++i)
      made.targets.push_back(fit_of(row.cells[i], *targets[i]));
  }
  report.errors = std::move(set.errors);
  return report;
}

}  // namespace kiln
