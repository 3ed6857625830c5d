// SPDX-License-Identifier: MIT
// Every kernel held against every target.
#include "offline/fit/matrix.hpp"

#include <algorithm>
#include <map>

#include "kiln/needs.hpp"

namespace kiln::offline {
namespace {

bool is_error(const Diagnostic& finding) { return finding.severity == Severity::error; }

/// Native code that was given, then what ocloc made, then the SPIR-V, which the driver would compile.
Cell find_source(const PartSet& set, const Row& row, const Target& target) {
  Cell best;
  const auto rank = [](const Part* part) {
    return !part ? 0 : part->is_spirv() ? 1 : part->compiled_for ? 2 : 3;
  };
  for (const Part& each : set.parts) {
    if (each.family != row.family || !(each.is_spirv() || each.is_for(target))) continue;
    const KernelFacts* kernel = each.part.facts->find(row.kernel);
    if (!kernel || rank(&each) <= rank(best.part)) continue;
    best.part = &each;
    best.kernel = kernel;
  }
  return best;
}

/// Why there is no native binary: the SPIR-V speaks for itself, or ocloc has refused the code.
void add_failure(Cell& cell, const PartSet& set, const std::string& family, const Target& target) {
  std::string file = cell.part ? cell.part->file : "";
  for (const OpenClSource& source : set.sources)
    if (file.empty() && source.family == family) file = source.file;
  const CompileFailure* failure = set.failure(file, target);
  if (!failure) return;
  switch (failure->kind) {
    case CompileFailure::Kind::no_ocloc:
      cell.note = "ocloc is not installed";
      break;
    case CompileFailure::Kind::no_front_end:
      cell.note = "this ocloc does not compile OpenCL C";
      break;
    case CompileFailure::Kind::unknown_target:
      cell.note = "this release of ocloc does not know the target";
      break;
    case CompileFailure::Kind::refused:
    case CompileFailure::Kind::broken:
      cell.not_compiled = true;
      cell.findings = {failure->diagnostic};
      break;
    case CompileFailure::Kind::interrupted:
      break;
  }
}

/// What a whole module takes for granted; worked out once for all its kernels and targets.
class Needs {
 public:
  void add_findings(std::vector<Diagnostic>& findings, const Part& part, const Target& target) {
    const Known& known = of(part);
    const auto add = [&](std::optional<Diagnostic> finding) {
      if (finding) findings.push_back(*std::move(finding));
    };
    add(explain_symbols(known.missing, part.part.format));
    add(check_info_version(*part.part.facts, 0));
    add(check_features(known.features, target_features(target)));
  }

  /// Why a compiler may have refused it.
  void add_lacking(std::vector<Diagnostic>& findings, const Part& part, const Target& target) {
    if (auto lacking = check_features(of(part).features, target_features(target)))
      findings.insert(findings.begin(), *std::move(lacking));
  }

 private:
  struct Known {
    std::vector<MissingSymbol> missing;
    std::vector<NeededFeature> features;
  };
  const Known& of(const Part& part) {
    const auto [place, fresh] = known_.try_emplace(&part);
    if (fresh) {
      place->second.missing = missing_symbols(part.code);
      if (part.is_spirv()) place->second.features = needed_features(part.code);
    }
    return place->second;
  }
  std::map<const Part*, Known> known_;
};

/// Another kernel of the module with too much static SLM is a reason too: the driver refuses them all.
std::vector<Diagnostic> findings_of(const Cell& cell, const Target& target, const FitLaunch& launch,
                                    Needs& needs) {
  const KernelFacts& kernel = *cell.kernel;
  const TargetLimits limits = target_limits(target);
  auto findings = check_kernel(kernel, limits, launch.of(kernel));
  if (kernel.static_slm <= limits.slm_per_group)
    if (const KernelFacts* culprit = static_slm_over_limit(*cell.part->part.facts, limits.slm_per_group))
      findings.push_back(explain_static_slm(*culprit, limits.slm_per_group));
  needs.add_findings(findings, *cell.part, target);
  std::stable_partition(findings.begin(), findings.end(), is_error);
  return findings;
}

std::optional<Occupancy> occupancy_of(const KernelFacts& kernel, const Target& target,
                                      const FitLaunch& launch) {
  const auto& required = kernel.required_group_size;
  const KernelRequest asked = launch.of(kernel);
  if (kernel.simd_size == 0 || (!asked.group_size && required[0] == 0)) return std::nullopt;
  const Extent size = asked.group_size.value_or(Extent{required[0], required[1], required[2]});
  std::vector<LaunchArgument> arguments;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i)
    arguments.push_back(
        {kernel.arguments[i].kind, i < asked.local_bytes.size() ? asked.local_bytes[i] : 0, nullptr});
  return occupancy(kernel, core_limits(target), std::uint64_t{size.x} * size.y * size.z,
                   total_slm(kernel, arguments));
}

}  // namespace

bool Cell::fits() const { return kernel && std::ranges::none_of(findings, is_error); }

std::string_view Cell::known_difference() const {
  const bool kept_low_bits =
      differs() && driver->fits && truncated && std::ranges::count(findings, "K0101", &Diagnostic::code) != 0;
  return kept_low_bits ? "drivers keep the low 32 bits of a `__local` argument's size, and launch with that"
                       : std::string_view();
}

FitBasis Cell::by() const {
  if (!kernel || not_compiled) return FitBasis::none;
  return part->is_spirv() ? FitBasis::spirv : part->compiled_for ? FitBasis::compiled : FitBasis::native;
}

bool Matrix::all_fit() const {
  return std::ranges::all_of(rows, [](const Row& row) {
    return std::ranges::all_of(row.cells, [](const Cell& cell) {
      return cell.fits() && (!cell.driver || !cell.driver->asked || cell.driver->fits);
    });
  });
}

Matrix check_all(const PartSet& set, const std::vector<const Target*>& targets, const FitLaunch& launch) {
  Matrix matrix{targets, {}};
  Needs needs;
  for (const Part& each : set.parts)
    for (const KernelFacts& kernel : each.part.facts->kernels) {
      const auto same = [&](const Row& row) {
        return row.family == each.family && row.kernel == kernel.name;
      };
      if (std::ranges::find_if(matrix.rows, same) != matrix.rows.end()) continue;
      Row row{each.family, kernel.name, {}};
      for (const Target* target : targets) {
        Cell cell = find_source(set, row, *target);
        if (!cell.part || cell.part->is_spirv()) add_failure(cell, set, each.family, *target);
        if (cell.kernel)
          cell.truncated = std::ranges::any_of(launch.of(*cell.kernel).local_bytes,
                                               [](std::uint64_t bytes) { return bytes > UINT32_MAX; });
        if (cell.kernel && !cell.not_compiled) cell.findings = findings_of(cell, *target, launch, needs);
        if (cell.not_compiled && cell.part) needs.add_lacking(cell.findings, *cell.part, *target);
        if (cell.fits()) cell.occupancy = occupancy_of(*cell.kernel, *target, launch);
        row.cells.push_back(std::move(cell));
      }
      matrix.rows.push_back(std::move(row));
    }
  return matrix;
}

std::optional<Error> unknown_local(const FitLaunch& launch, const PartSet& set) {
  for (const auto& entry : launch.locals) {
    bool known = false;
    for (const Part& each : set.parts)
      for (const KernelFacts& kernel : each.part.facts->kernels)
        for (std::size_t i = 0; i < kernel.arguments.size(); ++i)
          known |= FitLaunch::names(kernel, i, entry.first);
    if (!known)
      return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "check",
                   {"K0404",
                    "no kernel of these files has a `__local` argument `" + entry.first + "`",
                    {},
                    {"`kiln inspect --json` lists the arguments by index and name"}});
  }
  return std::nullopt;
}

}  // namespace kiln::offline
