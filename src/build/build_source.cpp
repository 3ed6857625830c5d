// SPDX-License-Identifier: MIT
// Tries the driver, then libocloc, when the cache has nothing.
#include "build/build_source.hpp"

#include <mutex>
#include <optional>
#include <set>

#include "build/compile_out_of_process.hpp"
#include "build/compiler_identity.hpp"
#include "identity/library_files.hpp"
#include "kiln/log.hpp"
#include "level_zero/observe.hpp"
#include "level_zero/source.hpp"

namespace kiln::detail {
namespace {

constexpr std::uint32_t kIntel = 0x8086;  // PCI

/// With the zero at its end, which compilers want.
std::span<const std::byte> bytes_of(const SourceText& source) {
  return std::as_bytes(std::span(source.text.c_str(), source.text.size() + 1));
}

/// Drivers that said that they take no OpenCL C. Thread-safe.
class Refusers {
 public:
  bool has(const Api& api) {
    const std::lock_guard lock(mutex_);
    return all_.contains(&api);
  }
  void add(const Api& api) {
    const std::lock_guard lock(mutex_);
    all_.insert(&api);
  }

 private:
  std::mutex mutex_;
  std::set<const Api*> all_;
};

Refusers& refusers() {
  static auto* all = new Refusers;  // outlives whoever asks while the process ends
  return *all;
}

/// Neither a module nor a word about the source: another compiler may do better.
bool takes_none(const ModuleBuild& build) {
  switch (build.code()) {
    case ZE_RESULT_ERROR_INVALID_ENUMERATION:
    case ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION:
    case ZE_RESULT_ERROR_UNSUPPORTED_FEATURE:
    case ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE:
      return true;
    case ZE_RESULT_ERROR_MODULE_BUILD_FAILURE:
      // Driver 26.27 without its front end.
      return build.log.empty() && !build.compiler_died;
    default:
      return false;
  }
}

/// The driver's front end gets all options, and knows few of Level Zero's: not -ze-take-global-address or
/// -library-compilation (26.27). libocloc gets its own alone.
bool knows_not_all_options(const ModuleBuild& build) {
  return build.code() == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE &&
         build.log.find("Unrecognized build options") != build.log.npos;
}

class SourceBuilder {
 public:
  SourceBuilder(const OpenDevice& device, const SourceText& source, const BuildOptions& options)
      : device_(device), source_(source), options_(options) {}

  MadeModule make(const std::string& flags) {
    const Api& api = device_.device.api();
    front_end_ = FrontEndEnd::compiled;
    // The format is Intel's own; who does not know it might take the text for SPIR-V.
    if (device_.properties.vendor_id == kIntel && !refusers().has(api)) {
      const ModuleInput input{ModuleFormat::opencl_c, bytes_of(source_), flags};
      MadeModule made{build({&input, 1}), {}, source_.not_kept};
      if (knows_not_all_options(made.build)) {
        MadeModule other = by_front_end(flags);
        if (front_end_ == FrontEndEnd::compiled || front_end_ == FrontEndEnd::refused) return other;
        front_end_ = FrontEndEnd::compiled;  // there is no other compiler: the driver's word holds
        return made;
      }
      if (!takes_none(made.build)) return made;
      if (made.build.code() != ZE_RESULT_ERROR_MODULE_BUILD_FAILURE) refusers().add(api);
      log(LogLevel::debug, "OpenCL C goes to libocloc: the driver gave " + result_name(made.build.code()));
    }
    return by_front_end(flags);
  }

  [[nodiscard]] FrontEndEnd front_end() const { return front_end_; }

 private:
  [[nodiscard]] ModuleBuild build(std::span<const ModuleInput> inputs) const {
    return build_module(device_.driver, device_.context.get(), device_.device, inputs, options_);
  }

  [[nodiscard]] FrontEndOutOfProcess run(const FrontEndRequest& request, const std::stop_token* stop) const {
    auto apart = compiles_apart(options_)
                     ? front_end_out_of_process(device_.device.api(), request, options_, stop)
                     : std::optional<FrontEndOutOfProcess>();
    return apart ? *std::move(apart) : FrontEndOutOfProcess{run_front_end(request)};
  }

  MadeModule by_front_end(const std::string& flags) {
    const cache::FrontEndIdentity identity = cache::front_end_identity(device_.device.api());
    const auto module = device_.device.module_properties();
    const SplitOptions split = split_options(flags);
    const FrontEndRequest request{identity.library, source_.text, split.front_end,
                                  front_end_targets(device_.properties, module && module->fp64)};
    // Built again with other registers, it is the same SPIR-V.
    if (!spirv_ || spirv_options_ != split.front_end) {
      WatchedCompilation watched(CompilationStep::front_end, options_.name);
      if (!watched.is_cancelled()) spirv_ = run(request, watched.stop());
      if (watched.is_cancelled()) {
        MadeModule made{cancelled_build(), {}};
        watched.ends(made.build.code(), made.build.log);
        return made;
      }
      const bool compiled = spirv_->result.end == FrontEndEnd::compiled;
      watched.ends(compiled ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, spirv_->result.log);
      spirv_options_ = split.front_end;
    }
    const FrontEndOutOfProcess& apart = *spirv_;
    const FrontEndResult& result = apart.result;
    MadeModule made{{}, {}, source_.not_kept};
    if (made.not_kept.empty()) made.not_kept = cache::other_front_end(identity.fields, result.libraries);
    if (result.end != FrontEndEnd::compiled) {
      made.build = ModuleBuild(
          apart.killed ? ZE_RESULT_ERROR_NOT_AVAILABLE : ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, result.log);
      made.build.compiler_died = apart.died;
      if (result.end == FrontEndEnd::refused || apart.died || apart.killed) return made;
      front_end_ = result.end;
      // Another time one may be there.
      made.not_kept = "no compiler for OpenCL C was found";
      return made;
    }
    const ModuleInput input{ModuleFormat::spirv, result.spirv, split.back_end};
    if (auto facts = read_spirv(result.spirv)) made.source = *std::move(facts);
    made.build = build({&input, 1});
    if (!result.log.empty())
      made.build.log = result.log + (made.build.log.empty() ? "" : "\n" + made.build.log);
    return made;
  }

  const OpenDevice& device_;
  const SourceText& source_;
  const BuildOptions& options_;
  FrontEndEnd front_end_ = FrontEndEnd::compiled;
  std::optional<FrontEndOutOfProcess> spirv_;
  std::string spirv_options_;
};

}  // namespace

CacheQuestion source_question(const OpenDevice& device, const SourceText& source, const std::string& flags) {
  const ModuleInput input{ModuleFormat::opencl_c, bytes_of(source), flags};
  CacheQuestion question = cache_question(device, {&input, 1});
  // Whether the driver or libocloc compiles hangs on these alone, and need not be known before.
  cache::FrontEndIdentity front_end = cache::front_end_identity(device.device.api());
  question.manifest.merge(std::move(front_end.fields));
  if (question.unusable.empty()) question.unusable = front_end.unusable;
  if (question.unusable.empty()) question.unusable = source.not_kept;
  return question;
}

SourceBuild build_source(Cache* cache, const OpenDevice& device, const SourceText& source,
                         const std::string& flags, const BuildOptions& options,
                         const RegisterPolicy& registers) {
  SourceBuilder builder(device, source, options);
  SourceBuild result;
  result.built = build_with_registers(
      cache, device, registers, flags,
      [&](const std::string& given) { return source_question(device, source, given); },
      [&](const std::string& given) {
        MadeModule made = builder.make(given);
        made.inputs = {bytes_of(source)};
        return made;
      });
  result.front_end = builder.front_end();
  return result;
}

}  // namespace kiln::detail
