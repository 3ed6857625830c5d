// SPDX-License-Identifier: MIT
// `kiln check`: does each kernel of these files fit each target? A matrix, and a reason for each no.
#include <algorithm>
#include <cstdio>

#include "binary/digits.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"

namespace kiln::cli {
namespace {

/// Where the facts of a kernel for one target come from.
struct Source {
  std::string file, member;
  BinaryFormat format = BinaryFormat::unknown;
  const ModuleFacts* module = nullptr;
  const KernelFacts* kernel = nullptr;
};

struct Part {
  std::string family, file;  // "saxpy" of "saxpy.pvc.bin"
  BinaryPart part;
};

struct Cell {
  Source source;  ///< no kernel: nothing for this target
  std::vector<Diagnostic> reasons;

  [[nodiscard]] bool fits() const { return source.kernel && reasons.empty(); }
};

struct Row {
  std::string family, kernel;
  std::vector<Cell> cells;  ///< one for each target
};

Error usage(std::string message, std::string help) {
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "check",
               {"K0404", std::move(message), {}, {std::move(help)}});
}

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

struct Request {
  std::optional<Extent> group_size;
  std::vector<std::pair<std::string, std::uint64_t>> locals;  // index or name, bytes

  [[nodiscard]] KernelRequest of(const KernelFacts& kernel) const {
    KernelRequest request{group_size, std::vector<std::uint64_t>(kernel.arguments.size())};
    for (std::size_t i = 0; i < kernel.arguments.size(); ++i)
      for (const auto& [argument, bytes] : locals)
        if (names(kernel, i, argument)) request.local_bytes[i] = bytes;
    return request;
  }
  static bool names(const KernelFacts& kernel, std::size_t index, const std::string& argument) {
    return kernel.arguments[index].kind == ArgumentKind::local_pointer &&
           (argument == std::to_string(index) || argument == kernel.arguments[index].name);
  }
};

Result<Request> parse_request(const CheckOptions& options) {
  Request request;
  if (!options.group.empty()) {
    request.group_size = parse_extent(options.group);
    if (!request.group_size)
      return tl::unexpected(
          usage("`" + options.group + "` is no group size", "give X or X,Y or X,Y,Z, each at least 1"));
  }
  for (const std::string& text : options.locals) {
    const auto equals = text.find('=');
    const auto bytes =
        equals == text.npos ? std::nullopt : detail::parse_digits(std::string_view(text).substr(equals + 1));
    if (!bytes || equals == 0)
      return tl::unexpected(usage("`" + text + "` is no size of a `__local` argument",
                                  "give ARGUMENT=BYTES, by index or name"));
    request.locals.emplace_back(text.substr(0, equals), *bytes);
  }
  return request;
}

Result<std::vector<const Target*>> parse_targets(const std::vector<std::string>& names) {
  std::vector<const Target*> found;
  for (const std::string& name : names) {
    const Target* target = find_target(std::string_view(name));
    if (!target) {
      std::string known;
      for (const Target& each : targets()) known += (known.empty() ? "" : ", ") + std::string(each.name);
      return tl::unexpected(usage("`" + name + "` is no target that is known here", "known: " + known));
    }
    if (std::ranges::find(found, target) == found.end()) found.push_back(target);
  }
  return found;
}

bool is_for(const BinaryPart& part, const Target& target) {
  const Target* own = target_of(part);
  if (own == &target) return true;
  const std::string_view family = family_name(part.facts->product_family);  // its members are not told apart
  return !part.facts->ip_version && part.name.empty() && !family.empty() && target.name.starts_with(family);
}

std::string family_name_of(const std::string& file) {
  const auto slash = file.rfind('/');
  const std::string name = slash == file.npos ? file : file.substr(slash + 1);
  return name.substr(0, name.find('.'));
}

/// Native code for the target before SPIR-V, which the driver would compile.
Source find_source(const std::vector<Part>& parts, const std::string& family, const std::string& kernel,
                   const Target& target) {
  Source spirv;
  for (const Part& each : parts) {
    if (each.family != family) continue;
    const KernelFacts* facts = each.part.facts->find(kernel);
    if (!facts) continue;
    const Source source{each.file, each.part.name, each.part.format, &*each.part.facts, facts};
    if (each.part.format == BinaryFormat::elf && is_for(each.part, target)) return source;
    if (each.part.format == BinaryFormat::spirv && !spirv.kernel) spirv = source;
  }
  return spirv;
}

/// Another kernel of the module with too much static SLM is a reason too: the driver refuses them all.
std::vector<Diagnostic> reasons_of(const Source& source, const TargetLimits& limits, const Request& request) {
  const KernelFacts& kernel = *source.kernel;
  auto reasons = check_kernel(kernel, limits, request.of(kernel));
  if (kernel.static_slm <= limits.slm_per_group)
    if (const KernelFacts* culprit = static_slm_over_limit(*source.module, limits.slm_per_group))
      reasons.push_back(explain_static_slm(*culprit, limits.slm_per_group));
  return reasons;
}

std::vector<Row> check_all(const std::vector<Part>& parts, const std::vector<const Target*>& targets,
                           const Request& request) {
  std::vector<Row> rows;
  for (const Part& each : parts)
    for (const KernelFacts& kernel : each.part.facts->kernels) {
      const auto same = [&](const Row& row) {
        return row.family == each.family && row.kernel == kernel.name;
      };
      if (std::ranges::find_if(rows, same) != rows.end()) continue;
      Row row{each.family, kernel.name, {}};
      for (const Target* target : targets) {
        Cell cell{find_source(parts, each.family, kernel.name, *target), {}};
        if (cell.source.kernel) cell.reasons = reasons_of(cell.source, target_limits(*target), request);
        row.cells.push_back(std::move(cell));
      }
      rows.push_back(std::move(row));
    }
  return rows;
}

std::string text_of(const Cell& cell) {
  if (!cell.source.kernel) return "none";
  if (!cell.reasons.empty()) return "no " + cell.reasons.front().code;
  return cell.source.format == BinaryFormat::spirv ? "yes*" : "yes";
}

void print_text(const std::vector<Row>& rows, const std::vector<const Target*>& targets) {
  std::vector<std::vector<std::string>> table{{"FILES", "KERNEL"}};
  for (const Target* target : targets) table[0].emplace_back(target->name);
  bool from_spirv = false, missing = false;
  for (const Row& row : rows) {
    table.push_back({row.family, row.kernel});
    for (const Cell& cell : row.cells) {
      table.back().push_back(text_of(cell));
      from_spirv |= cell.source.kernel && cell.source.format == BinaryFormat::spirv;
      missing |= !cell.source.kernel;
    }
  }
  print_table(table, 2);
  if (from_spirv)
    std::printf("* by the SPIR-V alone: registers and scratch memory show only in a native binary\n");
  if (missing) std::printf("none: neither a native binary for this target nor SPIR-V\n");
  for (const Row& row : rows)
    for (std::size_t i = 0; i < targets.size(); ++i)
      for (const Diagnostic& reason : row.cells[i].reasons) {
        const Source& source = row.cells[i].source;
        std::printf("\n%s on %s, by %s%s:\n%s", row.kernel.c_str(), std::string(targets[i]->name).c_str(),
                    source.file.c_str(), source.member.empty() ? "" : (", member " + source.member).c_str(),
                    to_text(reason).c_str());
      }
}

ordered_json to_json(const std::vector<Row>& rows, const std::vector<const Target*>& targets) {
  ordered_json kernels = ordered_json::array();
  for (const Row& row : rows) {
    ordered_json results = ordered_json::array();
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const Cell& cell = row.cells[i];
      ordered_json result{{"target", targets[i]->name}, {"fits", cell.fits()}};
      result["by"] = !cell.source.kernel                         ? "none"
                     : cell.source.format == BinaryFormat::spirv ? "spirv"
                                                                 : "native";
      if (cell.source.kernel) result["file"] = cell.source.file;
      if (!cell.source.member.empty()) result["member"] = cell.source.member;
      result["reasons"] = ordered_json::array();
      for (const Diagnostic& reason : cell.reasons)
        result["reasons"].push_back(ordered_json::parse(kiln::to_json(reason)));
      results.push_back(std::move(result));
    }
    kernels.push_back({{"files", row.family}, {"kernel", row.kernel}, {"results", results}});
  }
  return kernels;
}

/// Those that the files were compiled for; for SPIR-V alone one of each generation.
std::vector<const Target*> default_targets(const std::vector<Part>& parts) {
  std::vector<const Target*> found;
  for (const Part& each : parts)
    if (each.part.format == BinaryFormat::elf)
      if (const Target* target = target_of(each.part);
          target && std::ranges::find(found, target) == found.end())
        found.push_back(target);
  if (found.empty())
    for (const char* name : {"tgllp", "dg2", "pvc", "bmg", "lnl", "ptl"})
      found.push_back(find_target(std::string_view(name)));
  return found;
}

/// An argument that no kernel has is a mistake in the command.
std::optional<Error> unknown_local(const Request& request, const std::vector<Part>& parts) {
  for (const auto& entry : request.locals) {
    bool known = false;
    for (const Part& each : parts)
      for (const KernelFacts& kernel : each.part.facts->kernels)
        for (std::size_t i = 0; i < kernel.arguments.size(); ++i)
          known |= Request::names(kernel, i, entry.first);
    if (!known)
      return usage("no kernel of these files has a `__local` argument `" + entry.first + "`",
                   "`kiln inspect --json` lists the arguments by index and name");
  }
  return std::nullopt;
}

}  // namespace

int check(const CheckOptions& options) {
  int code = kOk;
  ordered_json errors = ordered_json::array();
  const auto report = [&](const Error& error) {
    errors.push_back(to_json(error));
    std::fprintf(stderr, "%s", error.text().c_str());
    code = exit_code(error);
    return code;
  };
  const auto request = parse_request(options);
  if (!request) return report(request.error());
  auto wanted = parse_targets(options.targets);
  if (!wanted) return report(wanted.error());

  std::vector<Part> parts;
  for (const std::string& path : options.files) {
    const auto file = read_kernel_file(path);
    if (!file) {
      report(file.error());
      continue;
    }
    for (BinaryPart& part : read_parts(file->bytes)) {
      if (part.facts)
        parts.push_back({family_name_of(path), path, std::move(part)});
      else
        report(unreadable_part(path, part));
    }
  }
  if (const auto error = unknown_local(*request, parts); error && code == kOk) return report(*error);
  const auto& targets = wanted->empty() ? *(wanted = default_targets(parts)) : *wanted;
  const std::vector<Row> rows = check_all(parts, targets, *request);
  bool all_fit = true;
  for (const Row& row : rows)
    for (const Cell& cell : row.cells) all_fit &= cell.fits();
  if (options.json)
    print({{"fits", all_fit && code == kOk}, {"kernels", to_json(rows, targets)}, {"errors", errors}});
  else if (!rows.empty())
    print_text(rows, targets);
  if (code != kOk) return code;
  return all_fit ? kOk : kRefused;
}

}  // namespace kiln::cli
