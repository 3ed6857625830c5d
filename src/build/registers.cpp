// SPDX-License-Identifier: MIT
// Builds with more registers where kernels spill, and keeps what spills less.
#include "build/registers.hpp"

#include <algorithm>

#include "build/build_source.hpp"
#include "kiln/log.hpp"
#include "kiln/target.hpp"
#include "level_zero/survey.hpp"

namespace kiln::detail {
namespace {

/// Level Zero's own option, and one of Intel's compiler. Seen to work with 22.43 and 26.27; tgllp has no 256.
constexpr const char* kMore = "-ze-opt-large-register-file";
constexpr const char* kFew = "-cl-intel-128-GRF-per-thread";

RegisterUse use_of(const MadeModule& made, const OpenDevice& device) {
  RegisterUse use;
  const ModuleBuild& build = made.build;
  use.built = build.code() == ZE_RESULT_SUCCESS;
  if (!use.built) {
    use.lacks_scratch =
        build.code() == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE && build.log.find("scratch") != build.log.npos;
    return use;
  }
  const auto add = [&](const std::string& kernel, std::uint64_t bytes, std::uint32_t lanes) {
    if (bytes <= use.spill) return;
    use.kernel = kernel;
    use.spill = bytes;
    use.lanes = lanes;
  };
  ModuleFacts facts = made.source;
  if (!build.native.empty())
    facts = compiled_facts(build.native, made.source);
  else if (const auto native = build.module->native_binary())
    facts = compiled_facts(*native, made.source);
  const auto names = build.module->kernel_names();
  const ThreadMemory memory{device.properties.threads(), memory_of(device.device)};
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    const KernelFacts* known = facts.find(name);
    if (known && known->simd_size != 0) {
      add(name, known->spill_size, known->simd_size);
      continue;
    }
    // The format of driver 22.43 tells nothing, so the driver is asked; not where making the kernel could end
    // the process.
    if (known && check_thread_memory(*known, memory)) continue;
    const auto kernel = build.module->kernel(name.c_str());
    const auto properties = kernel ? kernel->get().properties() : tl::unexpected(kernel.error());
    if (properties) add(name, properties->spill_memory, properties->max_sub_group_size);
    // The codes for scratch above what a thread, or all of them, can have.
    const ze_result_t code = properties ? ZE_RESULT_SUCCESS : properties.error().code();
    use.lacks_scratch |=
        code == ZE_RESULT_ERROR_INVALID_NATIVE_BINARY || code == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  }
  return use;
}

std::string line(std::string_view begin, const std::string& text, const std::string& log) {
  return std::string(begin) + text + (log.empty() ? "" : "\n" + log);
}

MadeModule choose(const MakeWithFlags& make, const std::string& flags, const OpenDevice& device,
                  std::uint32_t limit) {
  MadeModule first = make(flags);
  if (first.build.cancelled) return first;
  const RegisterUse use = use_of(first, device);
  if (!wants_registers(use, limit)) return first;
  if (!has_more_registers(device)) {
    if (use.built)
      first.build.log = line(kRegistersKept, spill_text(use) + "; the device has 128 alone", first.build.log);
    return first;
  }
  MadeModule second = make(with_registers(flags, Registers::r256));
  if (second.build.cancelled) return second;  // else half a decision would be kept
  const RegisterUse more = use_of(second, device);
  const std::string was = use.built ? spill_text(use) : "the compiler lacks scratch memory";
  if (is_better(more, use)) {
    second.build.log = line(kRegistersChosen, spill_text(more) + "; before, " + was, second.build.log);
    return second;
  }
  const std::string with_more = more.built ? spill_text(more) : "the build fails";
  // A failure keeps its own words, by which it is told.
  if (use.built) first.build.log = line(kRegistersKept, was + "; with 256, " + with_more, first.build.log);
  return first;
}

}  // namespace

bool has_more_registers(const OpenDevice& device) {
  return !guards_itself(device.device) && device.properties.threads_per_eu != 7;
}

bool says_registers(std::string_view flags) {
  for (const char* option :
       {"-ze-opt-large-register-file", "GRF-per-thread", "-ze-exp-register-file-size", "auto-large-GRF-mode"})
    if (flags.find(option) != flags.npos) return true;
  return false;
}

std::string with_registers(const std::string& flags, Registers registers) {
  const char* option = registers == Registers::r256 ? kMore : registers == Registers::r128 ? kFew : nullptr;
  if (!option || says_registers(flags)) return flags;
  return flags.empty() ? option : flags + " " + option;
}

bool wants_registers(const RegisterUse& first, std::uint32_t spill_limit) {
  return first.lacks_scratch || (first.built && first.spill > spill_limit);
}

bool is_better(const RegisterUse& more, const RegisterUse& first) {
  if (!more.built || more.lacks_scratch) return more.built && !first.built;
  return !first.built || first.lacks_scratch || more.spill < first.spill;
}

std::string spill_text(const RegisterUse& use) {
  if (use.lacks_scratch) return "a kernel cannot be made for lack of scratch memory";
  if (use.spill == 0) return "nothing is spilled";
  std::string text = "`" + use.kernel + "` spills " + std::to_string(use.spill) + " B a hardware thread";
  constexpr std::uint32_t kRegister = 4;  // bytes
  if (use.lanes != 0)
    text += ", " + std::to_string(use.spill / use.lanes / kRegister) + " registers of 32 bits a lane";
  return text;
}

std::optional<ManifestField> registers_field(const OpenDevice& device, const RegisterPolicy& policy,
                                             std::string_view flags) {
  if (policy.registers != Registers::automatic || guards_itself(device.device) || says_registers(flags))
    return std::nullopt;
  return ManifestField{"registers", "automatic above " + std::to_string(policy.spill_limit) + " B"};
}

CachedBuild build_with_registers(Cache* cache, const OpenDevice& device, const RegisterPolicy& policy,
                                 const std::string& flags,
                                 const std::function<CacheQuestion(const std::string& flags)>& question,
                                 const MakeWithFlags& make) {
  const bool own = guards_itself(device.device);  // it has no such registers
  auto field = registers_field(device, policy, flags);
  const bool decides = field.has_value();
  const bool takes = policy.registers == Registers::r256 ? has_more_registers(device) : !own;
  const std::string given = takes ? with_registers(flags, policy.registers) : flags;
  const auto make_it = [&] {
    return decides ? choose(make, flags, device, policy.spill_limit) : make(given);
  };
  CachedBuild result;
  if (cache) {
    CacheQuestion asked = question(given);
    // The decision is an entry of its own: another time one look gives what was chosen.
    if (field) asked.manifest.set(*std::move(field));
    result = build_cached(*cache, device, asked, make_it);
  } else {
    result = without_cache(make_it(), device);
  }
  const std::string& text = result.build.log;
  if (decides && (text.starts_with(kRegistersChosen) || text.starts_with(kRegistersKept)))
    log(LogLevel::info, text.substr(0, text.find('\n')));
  return result;
}

}  // namespace kiln::detail
