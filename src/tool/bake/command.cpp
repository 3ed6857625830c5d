// SPDX-License-Identifier: MIT
// `kiln bake`: sources compiled for every target, into one file.
#include "tool/bake/command.hpp"

#include <algorithm>

#include "tool/check/request.hpp"
#include "tool/common/output.hpp"
#include "tool/common/parallel.hpp"
#include "tool/common/table.hpp"

namespace kiln::tool {
namespace {

using std::chrono::milliseconds;
using Kind = offline::CompileFailure::Kind;

constexpr const char* kAnyTarget = "pvc";  // all releases of ocloc know it, and it has every type

Error usage(std::string message, std::string help) {
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "bake",
               {"K0404", std::move(message), {}, {std::move(help)}});
}

/// A product that is named twice is more often a mistake than meant.
Result<std::vector<const Target*>> distinct_targets(const std::vector<std::string>& names) {
  std::vector<const Target*> all;
  for (const std::string& name : names) {
    auto found = parse_targets({name});
    if (!found) return found;
    for (const Target* target : *found) {
      if (std::ranges::find(all, target) != all.end())
        return tl::unexpected(
            usage("target " + std::string(target->name) + " is named twice, by `" + name + "` too",
                  "name each product once; `kiln check --target help` lists aliases"));
      all.push_back(target);
    }
  }
  return all;
}

Result<void> check_outputs(const BakeOptions& options) {
  const auto same = [](const std::string& a, const std::string& b) {
    std::error_code ignored;
    const auto whole = [&](const std::string& path) {
      return std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
    };
    return whole(a) == whole(b);
  };
  if (!options.depfile.empty() && same(options.output, options.depfile))
    return tl::unexpected(usage("-o and --depfile name the same file", "give each its own"));
  for (const std::string& file : options.files)
    if (same(file, options.output) || (!options.depfile.empty() && same(file, options.depfile)))
      return tl::unexpected(usage("source `" + file + "` would be written over", "name another output"));
  if (auto checked = check_output(options.output); !checked) return checked;
  return options.depfile.empty() ? Result<void>() : check_output(options.depfile);
}

/// One cause, one error: what differs in the target alone is told once.
std::vector<Error> told_once(std::vector<offline::CompileFailure> failures) {
  std::vector<offline::CompileFailure> told;
  for (offline::CompileFailure& failure : failures) {
    const auto same = std::ranges::find_if(told, [&](const offline::CompileFailure& each) {
      return each.kind == failure.kind && each.diagnostic.code == failure.diagnostic.code &&
             std::ranges::equal(each.diagnostic.rows, failure.diagnostic.rows, {}, &DiagnosticRow::text,
                                &DiagnosticRow::text);
    });
    if (same == told.end())
      told.push_back(std::move(failure));
    else
      same->target += ", " + failure.target;
  }
  std::vector<Error> errors;
  for (offline::CompileFailure& failure : told) {
    if (failure.kind == Kind::interrupted) continue;
    if (failure.target.find(',') != std::string::npos)
      failure.diagnostic.rows.push_back({"targets", failure.target});
    errors.emplace_back(ZE_RESULT_ERROR_INVALID_ARGUMENT, "ocloc", std::move(failure.diagnostic));
  }
  return errors;
}

struct Baked {
  std::vector<BakedKernel> kernels;
  std::vector<BakedMember> members;
  std::vector<Error> errors;
};

/// SPIR-V is that of the first target: what is left out for the others is left out there.
Baked compile_all(const std::vector<BakeSource>& sources, const std::vector<const Target*>& targets,
                  const BakeFlags& flags, const BakeOptions& options) {
  const milliseconds time_limit(static_cast<std::int64_t>(options.timeout * 1000));
  Baked baked;
  FrontEnd first;
  std::vector<offline::CompileFailure> failures;
  std::vector<tl::expected<BakedTarget, offline::CompileFailure>> results(targets.size());
  in_parallel(targets.size(), "baking",
              [&](std::size_t i) { results[i] = bake_target(sources, *targets[i], flags, time_limit); });
  for (auto& result : results) {
    if (!result) {
      failures.push_back(std::move(result).error());
      continue;
    }
    baked.members.push_back(std::move(result->native));
    if (first.spirv.empty()) first = std::move(result->front_end);
  }
  if (targets.empty()) {
    auto spirv = compile_front_end(sources, kAnyTarget, flags, time_limit);
    spirv ? void(first = *std::move(spirv)) : failures.push_back(std::move(spirv).error());
  }
  baked.errors = told_once(std::move(failures));
  baked.kernels = std::move(first.kernels);
  if (!baked.errors.empty() || InterruptGuard::interrupted()) return baked;
  if (options.cpu) {
    auto cpu = bake_cpu(first.spirv, flags);
    if (!cpu) return baked.errors.push_back(cpu.error()), baked;
    baked.members.push_back(*std::move(cpu));
  }
  baked.members.push_back({"generic_ir", "", wrap_spirv(first.spirv)});
  return baked;
}

std::vector<std::string> dependencies_of(const std::vector<BakeSource>& sources, const BakeFlags& flags) {
  std::vector<std::string> all;
  const auto add = [&](const std::string& file) {
    if (std::ranges::find(all, file) == all.end()) all.push_back(file);
  };
  for (const BakeSource& source : sources) {
    add(source.file);
    std::ranges::for_each(included_files(source, flags), add);
  }
  return all;
}

Result<std::size_t> write_all(const Baked& baked, const BakeOptions& options,
                              const std::vector<std::string>& dependencies) {
  std::vector<ArchiveMember> members;
  for (const BakedMember& each : baked.members) members.push_back({each.name, each.content});
  const auto archive = write_archive(members);
  if (!archive)
    return tl::unexpected(bad_output(options.output, archive.error().message, "give fewer sources"));
  // The rule first: a build tool that finds the bundle finds its rule too.
  if (!options.depfile.empty()) {
    const std::string rule = make_rule(options.output, dependencies);
    if (auto written = write_output(options.depfile, std::as_bytes(std::span(rule))); !written)
      return tl::unexpected(written.error());
  }
  if (auto written = write_output(options.output, *archive); !written) return tl::unexpected(written.error());
  return archive->size();
}

Json manifest(const Baked& baked, const BakeOptions& options, std::size_t bytes,
              const std::vector<std::string>& dependencies) {
  Json json{{"bundle", options.output}, {"bytes", bytes}, {"options", options.flags}};
  json["members"] = json["kernels"] = Json::array();
  for (const BakedMember& each : baked.members)
    json["members"].push_back({{"member", each.name},
                               {"format", each.target.empty() ? "spirv" : "native"},
                               {"target", each.target.empty() ? Json() : Json(each.target)},
                               {"bytes", each.content.size()}});
  for (const BakedKernel& each : baked.kernels)
    json["kernels"].push_back({{"name", each.name}, {"source", each.file}});
  json["dependencies"] = dependencies;
  json["errors"] = Json::array();
  return json;
}

void print_text(const Baked& baked, const BakeOptions& options, std::size_t bytes) {
  say("%s: %zu bytes, kernels", options.output.c_str(), bytes);
  for (const BakedKernel& each : baked.kernels) say(" %s", each.name.c_str());
  say("\n");
  std::vector<std::vector<std::string>> rows{{"MEMBER", "FOR", "BYTES"}};
  for (const BakedMember& each : baked.members)
    rows.push_back({each.name, each.target.empty() ? "any other device (SPIR-V)" : each.target,
                    std::to_string(each.content.size())});
  print_table(rows, 2, 2);
}

}  // namespace

int bake(const BakeOptions& options) {
  const auto fail = [&](const std::vector<Error>& errors) {
    Json list = Json::array();
    for (const Error& error : errors) {
      complain("%s", error.text().c_str());
      list.push_back(to_json(error));
    }
    if (options.json) print({{"bundle", nullptr}, {"errors", list}});
    return errors.empty() ? kDriverError : exit_code(errors.front());
  };
  const auto targets = distinct_targets(options.targets);
  if (!targets) return fail({targets.error()});
  if (const auto checked = check_outputs(options); !checked) return fail({checked.error()});
  const auto sources = read_sources(options.files);
  if (!sources) return fail({sources.error()});
  const BakeFlags flags = parse_flags(options.flags);

  const InterruptGuard guard;  // goes last: then every child is gone, and every folder
  const Baked baked = compile_all(*sources, *targets, flags, options);
  if (InterruptGuard::interrupted()) return kDriverError;
  if (!baked.errors.empty()) return fail(baked.errors);
  const auto dependencies = dependencies_of(*sources, flags);
  const auto bytes = write_all(baked, options, dependencies);
  if (!bytes) return fail({bytes.error()});
  if (options.json)
    print(manifest(baked, options, *bytes, dependencies));
  else
    print_text(baked, options, *bytes);
  return kOk;
}

}  // namespace kiln::tool
