// SPDX-License-Identifier: MIT
// Reads a module's description as the library's inputs, and asks the library's cache for it.
#include "drivers/layer/cache/module.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <optional>
#include <set>
#include <vector>

#include "binary/constant_sizes.hpp"
#include "build/cached_build.hpp"
#include "drivers/layer/hooks.hpp"
#include "drivers/layer/settings.hpp"
#include "drivers/layer/tell.hpp"
#include "identity/environment_snapshot.hpp"
#include "kiln/binary.hpp"
#include "kiln/log.hpp"
#include "kiln/structures.hpp"
#include "level_zero/create_module.hpp"
#include "level_zero/source.hpp"

namespace kiln::layer {
namespace {

/// For another process that compiles the same. When that one ends, however it does, nobody waits any more.
constexpr std::chrono::seconds kLongestWait(20);

std::atomic<std::uint64_t> built = 0, from_cache = 0, stored = 0;

/// Threads that use the cache, in this process.
std::atomic<std::uint32_t> inside = 0;
std::atomic<bool> forbidden = false;

class Inside {
 public:
  Inside() { ++inside; }
  Inside(Inside&&) = delete;
  ~Inside() { --inside; }
};

/// What the driver found when it was loaded; null: not noted, since no cache is asked.
const detail::EnvironmentSnapshot* at_loading = nullptr;

void say_of_cache(void*, LogLevel level, std::string_view line) {
  if (level >= LogLevel::warning || line.starts_with("kernel cache: "))
    quietly([&] { say_once(std::string(line)); });
}

/// The options of the cache; null: what the environment says is wrong, which is told once.
const CacheOptions* cache_settings() {
  static const auto* const options = []() -> const CacheOptions* {
    set_log_sink(&say_of_cache, nullptr);
    auto read = cache_options();
    if (!read) {
      if (const Diagnostic* why = read.error().diagnostic()) tell_once(*why);
      return nullptr;
    }
    if (settings().cache != "on") read->folder = settings().cache;
    read->memory_size = 0;  // it is the program's memory
    read->longest_wait = std::min<std::chrono::milliseconds>(read->longest_wait, kLongestWait);
    if (read->mode == CacheMode::off) say_once("kernel cache: it is off: KILN_CACHE");
    return new CacheOptions(*std::move(read));
  }();
  return options;
}

/// One input; nothing: a driver may see more in it than the cache's key says.
std::optional<ModuleInput> input_of(const std::uint8_t* code, std::size_t size, const char* flags,
                                    const ze_module_constants_t* constants) {
  if (!code) return std::nullopt;
  ModuleInput input;
  input.code = {reinterpret_cast<const std::byte*>(code), size};
  if (!detail::starts_as_spirv(input.code)) return std::nullopt;
  if (flags) input.flags = flags;
  // Drivers read options of tools when they make the module, and native code is given to them without any.
  if (input.flags.find("-zet-") != input.flags.npos) return std::nullopt;
  if (!constants || constants->numConstants == 0) return input;
  if (!constants->pConstantIds || !constants->pConstantValues) return std::nullopt;
  const auto sizes = detail::constant_sizes(input.code);
  std::set<std::uint32_t> known;
  for (std::uint32_t i = 0; i < constants->numConstants; ++i) {
    SpecializationConstant constant{constants->pConstantIds[i], 0};
    const void* const value = constants->pConstantValues[i];
    const auto wide = sizes.find(constant.id);
    if (!value || wide == sizes.end() || wide->second > sizeof constant.value ||
        !known.insert(constant.id).second)
      return std::nullopt;
    std::memcpy(&constant.value, value, wide->second);
    input.constants.push_back(constant);
  }
  return input;
}

template <class T>
T place_of(const T* list, std::uint32_t index) {
  return list ? list[index] : T();
}

/// What is linked, in its order; empty: nothing that a cache could have.
std::vector<ModuleInput> program_inputs(const ze_module_program_exp_desc_t& program) {
  std::vector<ModuleInput> inputs;
  if (program.stype != ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC || program.pNext || program.count < 2 ||
      !program.inputSizes || !program.pInputModules)
    return {};
  for (std::uint32_t i = 0; i < program.count; ++i) {
    auto input = input_of(program.pInputModules[i], program.inputSizes[i], place_of(program.pBuildFlags, i),
                          place_of(program.pConstants, i));
    if (!input) return {};
    inputs.push_back(*std::move(input));
  }
  return inputs;
}

std::vector<ModuleInput> inputs_of(const ze_module_desc_t& description) {
  if (description.stype != ZE_STRUCTURE_TYPE_MODULE_DESC || description.format != ZE_MODULE_FORMAT_IL_SPIRV)
    return {};
  if (description.pNext)
    return program_inputs(*static_cast<const ze_module_program_exp_desc_t*>(description.pNext));
  auto input = input_of(description.pInputModule, description.inputSize, description.pBuildFlags,
                        description.pConstants);
  if (!input) return {};
  return {*std::move(input)};
}

bool has_device(DriverRef driver, ze_device_handle_t device) {
  const auto is_it = [&](DeviceRef each) { return each.raw() == device; };
  const auto roots = driver.devices();
  return roots && std::ranges::any_of(*roots, [&](DeviceRef root) {
           if (is_it(root)) return true;
           const auto parts = root.sub_devices();
           return parts && std::ranges::any_of(*parts, is_it);
         });
}

bool links_programs(DriverRef driver) {
  const auto extensions = driver.extensions();
  return extensions && std::ranges::find(*extensions, ZE_MODULE_PROGRAM_EXP_NAME) != extensions->end();
}

std::optional<LentDevice> lent(const ModuleCall& call, const Api& api, std::size_t inputs) {
  const auto all = drivers(api);
  if (!all) return std::nullopt;
  for (const DriverRef driver : *all) {
    if (!has_device(driver, call.device)) continue;
    if (inputs > 1 && !links_programs(driver)) return std::nullopt;
    auto device =
        lend_device({driver, DeviceRef(call.device, api)}, ContextRef(call.context, api), DeviceKind::driver);
    if (device) return *std::move(device);
  }
  return std::nullopt;
}

/// Not empty: the driver is not as the library saw it, and why.
std::string changed_environment(const Api& api) {
  const detail::Source* const source = detail::source_of(api);
  if (!source || !at_loading) return "no driver is loaded";
  const detail::EnvironmentSnapshot& seen = source->snapshot;
  const bool same = at_loading->shaping == seen.shaping && at_loading->driver_files == seen.driver_files;
  return same ? "" : "variables or files that shape code were changed after the driver was loaded";
}

/// One call of the program's.
class CachedModule {
 public:
  CachedModule(const ModuleCall& call, const Api& api, OwnLog& log) : call_(call), api_(api), log_(log) {}

  /// Nothing: the cache has no part in it.
  std::optional<ze_result_t> create(const CacheOptions& options) {
    const std::vector<ModuleInput> inputs = inputs_of(*call_.description);
    if (inputs.empty()) return std::nullopt;
    const auto device = lent(call_, api_, inputs.size());
    if (!device) return std::nullopt;
    CacheQuestion question = cache_question(*device, inputs);
    if (question.unusable.empty()) question.unusable = changed_environment(api_);
    const detail::ModuleMaker maker{[&] { return compile(inputs); },
                                    [&](std::span<const std::byte> native) { return take(native); }};
    // Opened for each module: a program may close files that it does not know, and open its own by their
    // numbers.
    Cache cache = Cache::open(options);
    detail::CachedBuild made = detail::build_cached(cache, *device, question, maker);
    stored += cache.counts().stored;
    if (made.build.code() != ZE_RESULT_SUCCESS) {
      if (made.from_cache) return std::nullopt;  // a refusal that somebody remembered: without the real log
      return finish(refused_);
    }
    from_cache += made.from_cache;
    *call_.module = made.build.module.release();
    return finish(ZE_RESULT_SUCCESS);
  }

 private:
  ze_result_t ask(const ze_module_desc_t& description, ze_module_handle_t* module) {
    log_.drop();
    const ze_result_t code =
        real.zeModuleCreate(call_.context, call_.device, &description, module, log_.place());
    errno_ = errno;
    return code;
  }
  ze_result_t finish(ze_result_t code) const {
    errno = errno_;
    return code;
  }
  ModuleBuild result(ze_result_t code, ze_module_handle_t module) const {
    ModuleBuild build = code == ZE_RESULT_SUCCESS ? ModuleBuild(Module::adopt(module, api_))
                                                  : ModuleBuild(code, std::string());
    build.log = log_.text();
    return build;
  }

  detail::MadeModule compile(const std::vector<ModuleInput>& inputs) {
    refused_ = ask(*call_.description, call_.module);
    detail::MadeModule made{result(refused_, *call_.module), {}};
    made.build.compiled = true;
    made.keeps_refusal = false;  // its log is the driver's to give
    made.inputs = detail::codes_of(inputs);
    if (inputs.size() == 1)
      if (auto facts = read_spirv(inputs[0].code)) made.source = *std::move(facts);
    return made;
  }
  ModuleBuild take(std::span<const std::byte> native) {
    auto description = make<ze_module_desc_t>();
    description.format = ZE_MODULE_FORMAT_NATIVE;
    description.inputSize = native.size();
    description.pInputModule = reinterpret_cast<const std::uint8_t*>(native.data());
    ze_module_handle_t module = nullptr;
    const ze_result_t code = ask(description, &module);
    return result(code, module);
  }

  const ModuleCall& call_;
  const Api& api_;
  OwnLog& log_;
  ze_result_t refused_ = ZE_RESULT_ERROR_UNKNOWN;  ///< what the program's own description gave last
  int errno_ = 0;
};

std::optional<ze_result_t> from_cache_or_driver(const ModuleCall& call, OwnLog& log) {
  if (forbidden || !call.context || !call.device || !call.description || !call.module) return std::nullopt;
  const Inside counted;
  try {
    const Api* const api = real_api();
    const CacheOptions* const options = api ? cache_settings() : nullptr;
    if (!options || options->mode == CacheMode::off) return std::nullopt;
    return CachedModule(call, *api, log).create(*options);
  } catch (const std::exception&) {  // no memory is left for it
    return std::nullopt;
  }
}

}  // namespace

ze_result_t create_module(const ModuleCall& call, OwnLog& log) {
  if (!settings().cache.empty()) {
    const auto answer = from_cache_or_driver(call, log);
    if (answer) {
      built += *answer == ZE_RESULT_SUCCESS;
      return *answer;
    }
    log.drop();
  }
  const ze_result_t code =
      real.zeModuleCreate(call.context, call.device, call.description, call.module, log.place());
  if (code == ZE_RESULT_SUCCESS && call.description->format == ZE_MODULE_FORMAT_IL_SPIRV) ++built;
  return code;
}

void prepare_cache() {
  if (!settings().cache.empty())
    quietly([] { at_loading = new detail::EnvironmentSnapshot(detail::take_snapshot()); });
}

void forget_cache() {
  if (inside != 0) forbidden = true;
  inside = 0;
  built = from_cache = stored = 0;
}

std::string cache_summary() {
  if (settings().cache.empty()) return {};
  const std::uint64_t all = built, hits = from_cache, kept = stored;
  return std::to_string(all) + (all == 1 ? " module" : " modules") +
         " made of SPIR-V: " + std::to_string(hits) + " from the cache, " + std::to_string(kept) +
         " compiled and stored, " + std::to_string(all - std::min(all, hits + kept)) +
         " compiled and not stored";
}

}  // namespace kiln::layer
