// SPDX-License-Identifier: MIT
// Sources compiled for every target, into one bundle.
#include "kiln/bake.hpp"

#include <algorithm>

#include "offline/bake/parts.hpp"
#include "offline/compiler_messages.hpp"
#include "offline/parallel.hpp"
#include "offline/targets.hpp"

namespace kiln::offline {
namespace {

constexpr const char* kAnyTarget = "pvc";  // all releases of ocloc know it, and it has every type

Error bake_usage(std::string message, std::string help) {
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "bake",
               {"K0404", std::move(message), {}, {std::move(help)}});
}

/// A product that is named twice is more often a mistake than meant.
Result<std::vector<const Target*>> distinct_targets(const std::vector<std::string>& names) {
  std::vector<const Target*> all;
  for (const std::string& name : names) {
    KILN_TRY(const auto found, parse_targets({name}));
    for (const Target* target : found) {
      if (std::ranges::find(all, target) != all.end())
        return tl::unexpected(
            bake_usage("target " + std::string(target->name) + " is named twice, by `" + name + "` too",
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
    return !a.empty() && !b.empty() && whole(a) == whole(b);
  };
  if (!options.depfile.empty() && options.output.empty())
    return tl::unexpected(bake_usage("the depfile would name no bundle", "name an output too"));
  if (same(options.output, options.depfile))
    return tl::unexpected(bake_usage("bundle and depfile would be the same file", "give each its own"));
  for (const std::string& file : options.files)
    if (same(file, options.output) || same(file, options.depfile))
      return tl::unexpected(bake_usage("source `" + file + "` would be written over", "name another output"));
  for (const std::string& path : {options.output, options.depfile})
    if (!path.empty()) KILN_TRY(check_output(path));
  return {};
}

/// One cause, one error: what differs in the target alone is told once.
std::vector<Error> told_once(std::vector<CompileFailure> failures) {
  using Kind = CompileFailure::Kind;
  std::vector<CompileFailure> told;
  for (CompileFailure& failure : failures) {
    const auto same = std::ranges::find_if(told, [&](const CompileFailure& each) {
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
  for (CompileFailure& failure : told) {
    if (failure.kind == Kind::interrupted) continue;
    if (failure.target.find(',') != std::string::npos)
      failure.diagnostic.rows.push_back({"targets", failure.target});
    errors.emplace_back(ZE_RESULT_ERROR_INVALID_ARGUMENT, "ocloc", std::move(failure.diagnostic));
  }
  return errors;
}

using Baked = tl::expected<BakeResult, BakeFailure>;

tl::unexpected<BakeFailure> failed(Error error, std::vector<CompilerMessage> messages = {}) {
  return tl::unexpected(BakeFailure{{std::move(error)}, std::move(messages)});
}

/// SPIR-V is that of the first target: what is left out for the others is left out there.
Baked compile_all(const std::vector<BakeSource>& sources, const std::vector<const Target*>& targets,
                  const BakeFlags& flags, const BakeOptions& options) {
  const Bounds bounds{options.time_limit, options.work.stop};
  BakeResult baked;
  std::vector<CompileFailure> failures;
  std::vector<tl::expected<BakedTarget, CompileFailure>> results(
      targets.size(), tl::unexpected(CompileFailure{CompileFailure::Kind::interrupted, {}, {}}));
  in_parallel(targets.size(), options.threads, options.work,
              [&](std::size_t i) { results[i] = bake_target(sources, *targets[i], flags, bounds); });
  const auto take = [&](FrontEnd& front_end) {
    add_messages(baked.messages, std::move(front_end.messages));
    if (!baked.spirv.empty()) return;
    baked.spirv = std::move(front_end.spirv);
    baked.kernels = std::move(front_end.kernels);
  };
  const auto note = [&](CompileFailure& failure) {
    add_messages(baked.messages, std::move(failure.messages));
    failures.push_back(std::move(failure));
  };
  for (auto& result : results) {
    if (!result) {
      note(result.error());
      continue;
    }
    baked.members.push_back(std::move(result->native));
    take(result->front_end);
  }
  if (targets.empty()) {
    auto spirv = compile_front_end(sources, kAnyTarget, flags, bounds);
    spirv ? take(*spirv) : note(spirv.error());
  }
  if (auto errors = told_once(std::move(failures)); !errors.empty())
    return tl::unexpected(BakeFailure{std::move(errors), std::move(baked.messages)});
  if (InterruptGuard::interrupted() || options.work.stop.stop_requested())
    return failed(stopped("bake", "baking"), std::move(baked.messages));
  if (options.cpu) {
    auto cpu = bake_cpu(baked.spirv, flags);
    if (!cpu) return failed(std::move(cpu).error(), std::move(baked.messages));
    baked.members.push_back(*std::move(cpu));
  }
  baked.members.push_back({"generic_ir", "", wrap_spirv(baked.spirv)});
  return baked;
}

/// Of a source in memory there is no file.
std::vector<std::string> dependencies_of(const std::vector<BakeSource>& sources, std::size_t files,
                                         const BakeFlags& flags) {
  std::vector<std::string> all;
  const auto add = [&](const std::string& file) {
    if (std::ranges::find(all, file) == all.end()) all.push_back(file);
  };
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (i < files) add(sources[i].file);
    std::ranges::for_each(included_files(sources[i], flags), add);
  }
  return all;
}

Result<void> write_all(const BakeResult& baked, const BakeOptions& options) {
  // The rule first: a build tool that finds the bundle finds its rule too.
  if (!options.depfile.empty()) {
    const std::string rule = make_rule(options.output, baked.dependencies);
    KILN_TRY(write_output(options.depfile, std::as_bytes(std::span(rule))));
  }
  if (!options.output.empty()) KILN_TRY(write_output(options.output, baked.bundle));
  return {};
}

}  // namespace
}  // namespace kiln::offline

namespace kiln {

tl::expected<BakeResult, BakeFailure> bake(const BakeOptions& options) {
  using namespace offline;
  const auto targets = distinct_targets(options.targets);
  if (!targets) return failed(targets.error());
  if (const auto checked = check_outputs(options); !checked) return failed(checked.error());
  const auto sources = read_sources(options.files, options.sources);
  if (!sources) return failed(sources.error());
  const BakeFlags flags = parse_flags(options.flags);

  auto baked = compile_all(*sources, *targets, flags, options);
  if (!baked) return baked;
  baked->dependencies = dependencies_of(*sources, options.files.size(), flags);
  std::vector<ArchiveMember> members;
  for (const BakedMember& each : baked->members) members.push_back({each.name, each.content});
  auto archive = write_archive(members);
  if (!archive)
    return failed(bad_output(options.output, archive.error().message, "give fewer sources"),
                  std::move(baked->messages));
  baked->bundle = *std::move(archive);
  if (const auto written = write_all(*baked, options); !written)
    return failed(written.error(), std::move(baked->messages));
  return baked;
}

}  // namespace kiln
