// SPDX-License-Identifier: MIT
// Asks the cache, and tells it what a compilation gave and whether that may be kept.
#include "build/cached_build.hpp"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <optional>
#include <set>

#include "build/build_source.hpp"
#include "build/compiler_identity.hpp"
#include "cache/format/facts.hpp"
#include "kiln/build.hpp"
#include "kiln/log.hpp"
#include "level_zero/create_module.hpp"

namespace kiln {
namespace detail {
namespace {

/// The driver's word for native code that it did not take as it is. Source: module_imp.cpp of Intel's driver.
constexpr std::string_view kRecompiled = "-Wrecompiled-from-ir";
constexpr const char* kCompiledAgain = "the driver compiled an entry again";

CompilationEnd end_of(const ModuleBuild& build) {
  if (build.compiler_died) return CompilationEnd::died;
  const bool refused = build.code() == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE ||
                       build.code() == ZE_RESULT_ERROR_MODULE_LINK_FAILURE;
  return refused ? CompilationEnd::failed : CompilationEnd::transient;
}

/// What the SPIR-V inside native code says. Where a driver compiles OpenCL C, that has the names of
/// arguments.
ModuleFacts facts_inside(std::span<const std::byte> native) {
  const auto spirv = identify(native) == BinaryFormat::elf ? embedded_spirv(native) : native.first(0);
  auto facts = read_spirv(spirv);
  return facts ? *std::move(facts) : ModuleFacts();
}

/// What a successful build leaves for the next process.
Compilation harvest(const ModuleBuild& build, const ModuleFacts& source, ModuleFacts& facts) {
  Compilation result;
  result.log = build.log;
  result.payload = build.native;
  if (result.payload.empty())
    if (auto binary = build.module->native_binary()) result.payload = *std::move(binary);
  facts = compiled_facts(result.payload, source.kernels.empty() ? facts_inside(result.payload) : source);
  result.end = CompilationEnd::built;
  if (result.payload.empty())
    result.not_kept = "the driver gives no native binary of it";
  else
    result.facts = cache::encode_facts(facts);
  return result;
}

/// Texts that are remembered until the process ends. Thread-safe.
class Memory {
 public:
  /// False when it was there.
  bool add(const std::string& text) {
    const std::lock_guard lock(mutex_);
    return texts_.insert(text).second;
  }
  bool empty() {
    const std::lock_guard lock(mutex_);
    return texts_.empty();
  }
  bool has(const std::string& text) {
    const std::lock_guard lock(mutex_);
    return texts_.contains(text);
  }

 private:
  std::mutex mutex_;
  std::set<std::string> texts_;
};

/// They outlive whoever asks while the process ends.
struct Remembered {
  Memory warnings;
  Memory repaired;  ///< keys of entries that the driver compiled again
  Memory hopeless;  ///< of those, what it would not have even when it was new
};
Remembered& remembered() {
  static auto* all = new Remembered;
  return *all;
}

/// One line a file and process, however often it is asked.
void warn(const cache::Identity& identity) {
  for (const Diagnostic& warning : identity.warnings) {
    const std::string line = warning.code + ": " + warning.message + ": " + warning.rows.front().text;
    if (remembered().warnings.add(line)) log(LogLevel::warning, line + "; the kernel cache is not used");
  }
}

class Build {
 public:
  Build(Cache& cache, const OpenDevice& device, const ModuleMaker& maker)
      : cache_(cache), device_(device), maker_(maker) {}

  CachedBuild run(const CacheQuestion& question) {
    warn(cache::identity(api()));
    if (!question.unusable.empty()) log(LogLevel::info, "kernel cache: " + question.unusable);
    const auto compile = [this] { return this->compile(); };
    const auto key = [&] { return cache_.folder().string() + '/' + key_of(encode(question.manifest)).hex(); };
    Memory& hopeless = remembered().hopeless;
    const bool asked = question.unusable.empty() && (hopeless.empty() || !hopeless.has(key()));
    keeps_ = asked && !cache_.is_off();
    CacheAnswer answer = cache_.get(question.manifest, asked, compile);
    const std::string wrong = take(answer);
    if (wrong.empty()) return std::move(result_);
    Memory& repaired = remembered().repaired;
    if (wrong == kCompiledAgain && repaired.has(key())) {
      hopeless.add(key());
      log(LogLevel::warning, "kernel cache: " + wrong + ", a new one too; from now on it is not asked");
      (void)this->compile();
      return std::move(result_);
    }
    log(LogLevel::warning, "kernel cache: " + wrong + "; compiled anew");
    answer = cache_.replace(question.manifest, compile, wrong);
    if (wrong == kCompiledAgain) repaired.add(key());  // not before: other threads may hold the old one
    // Another thread's or process's compilation of this very moment is as good as ours, or we do without.
    if (take(answer).empty()) return std::move(result_);
    (void)this->compile();
    return std::move(result_);
  }

 private:
  Compilation compile() {
    const cache::Identity& before = cache::identity(api());
    result_ = {};
    MadeModule made = maker_.compile();
    result_.build = std::move(made.build);
    Compilation compilation;
    if (result_.build.code() == ZE_RESULT_SUCCESS) {
      if (keeps_)
        compilation = harvest(result_.build, made.source, result_.facts);
      else
        result_.facts = facts_of(device_.driver, result_.build.module.get(), made.source);
    } else {
      if (made.keeps_refusal) compilation.end = end_of(result_.build);
      compilation.log = result_.build.log;
    }
    compilation.code = result_.build.code();
    compilation.inputs = std::move(made.inputs);
    if (compilation.not_kept.empty()) compilation.not_kept = std::move(made.not_kept);
    if (compilation.not_kept.empty()) compilation.not_kept = why_not_kept(before);
    return compilation;
  }

  /// The key names the compiler of before. Empty: it is the one that compiled.
  std::string why_not_kept(const cache::Identity& before) const {
    if (!result_.build.other_compiler.empty()) return result_.build.other_compiler;
    std::string changed = cache::first_difference(before, encode(cache::identity(api())));
    if (!changed.empty()) changed += " after it was compiled";
    return changed.empty() ? cache::changed_since(before) : changed;
  }

  [[nodiscard]] const Api& api() const { return device_.device.api(); }

  /// Makes the module of a hit. Not empty: why the answer is of no use. What the driver compiles by itself
  /// from the code inside is none: it knows neither specialization constants nor all options.
  std::string take(const CacheAnswer& answer) {
    if (answer.source == CacheSource::compiled) return {};
    result_ = {};
    result_.from_cache = true;
    if (answer.end != CompilationEnd::built) {
      result_.build = ModuleBuild(answer.code, std::string(answer.log));
      result_.build.compiler_died = answer.end == CompilationEnd::died;
      return {};
    }
    auto facts = cache::decode_facts(answer.facts);
    if (!facts) return "the facts of an entry cannot be read: " + facts.error().message;
    // The compiler's own output behind a checksum: it need not be read again before the driver sees it.
    ModuleBuild build = maker_.take(answer.payload);
    if (build.code() != ZE_RESULT_SUCCESS) return "the driver refuses an entry: " + result_name(build.code());
    if (build.log.find(kRecompiled) != build.log.npos) return kCompiledAgain;
    result_.build = std::move(build);
    result_.build.log = answer.log;
    result_.facts = *std::move(facts);
    return {};
  }

  Cache& cache_;
  const OpenDevice& device_;
  const ModuleMaker& maker_;
  /// Else nobody wants the native binary, for which the CPU device compiles kernels that nobody has made.
  bool keeps_ = true;
  CachedBuild result_;
};

ModuleFacts with_source(ModuleFacts compiled, const ModuleFacts& source) {
  complete(compiled, source);
  // What the source cannot do, its compilation cannot.
  for (KernelFacts& kernel : compiled.kernels)
    if (const KernelFacts* known = source.find(kernel.name))
      kernel.may_follow_pointers &= known->may_follow_pointers;
  return compiled;
}

/// The number that `text` begins with, and the space behind it, which go.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data() + text.size() || *end != ' ') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return number;
}

/// The text of `zexKilnModuleGetInfo`, with what `source` knows of the same kernels.
std::optional<ModuleFacts> read_info(std::string_view text, const ModuleFacts& source) {
  ModuleFacts facts;
  while (!text.empty()) {
    const auto width = take_number(text), barriers = take_number(text), slm = take_number(text),
               size = take_number(text);
    if (!size || *size > text.size()) return std::nullopt;
    const KernelFacts* known = source.find(text.substr(0, *size));
    if (!known) return std::nullopt;
    text.remove_prefix(*size);
    facts.kernels.push_back(*known);
    KernelFacts& kernel = facts.kernels.back();
    kernel.simd_size = static_cast<std::uint32_t>(*width);
    kernel.barrier_count = static_cast<std::uint32_t>(*barriers);
    kernel.static_slm = *slm;
    kernel.grf_count = 128, kernel.has_4gb_buffers = true;  // as its native binaries say
  }
  return facts;
}

/// What Kiln's own driver says of a module without compiling kernels that nobody has asked for: for its
/// native binary it would.
std::optional<ModuleFacts> told_facts(DriverRef driver, ModuleRef module, const ModuleFacts& source) {
  using GetInfo = ze_result_t(ZE_APICALL*)(ze_module_handle_t, std::size_t*, char*);
  const auto get_info = driver.entry_point<GetInfo>("zexKilnModuleGetInfo");
  std::size_t size = 0;
  if (!get_info || (*get_info)(module.raw(), &size, nullptr) != ZE_RESULT_SUCCESS || size == 0)
    return std::nullopt;
  std::string text(size, '\0');
  if ((*get_info)(module.raw(), &size, text.data()) != ZE_RESULT_SUCCESS) return std::nullopt;
  text.resize(size - 1);
  return read_info(text, source);
}

}  // namespace

void complete(ModuleFacts& facts, const ModuleFacts& source) {
  for (const KernelFacts& known : source.kernels) {
    const auto kernel = std::ranges::find(facts.kernels, known.name, &KernelFacts::name);
    if (kernel == facts.kernels.end()) {
      facts.kernels.push_back(known);
      continue;
    }
    if (!known.arguments_known || known.arguments.size() < kernel->arguments.size()) continue;
    const std::size_t have = kernel->arguments.size();
    kernel->arguments.resize(known.arguments.size());
    for (std::size_t i = 0; i < known.arguments.size(); ++i) {
      const std::uint32_t alignment = kernel->arguments[i].local_alignment;
      const bool laid_out = i < have && kernel->arguments[i].kind == ArgumentKind::local_pointer;
      kernel->arguments[i] = known.arguments[i];
      if (laid_out) kernel->arguments[i].local_alignment = alignment;
    }
    kernel->arguments_known = true;
  }
}

ModuleFacts compiled_facts(std::span<const std::byte> binary, const ModuleFacts& source) {
  if (identify(binary) != BinaryFormat::elf) return source;
  auto compiled = read_zebin(binary);
  return compiled ? with_source(*std::move(compiled), source) : source;
}

ModuleFacts facts_of(DriverRef driver, ModuleRef module, const ModuleFacts& source) {
  if (auto told = told_facts(driver, module, source)) return with_source(*std::move(told), source);
  const auto binary = module.native_binary();
  if (!binary) return source;
  return compiled_facts(*binary, source.kernels.empty() ? facts_inside(*binary) : source);
}

std::vector<std::span<const std::byte>> codes_of(std::span<const ModuleInput> inputs) {
  std::vector<std::span<const std::byte>> codes;
  for (const ModuleInput& each : inputs) codes.push_back(each.code);
  return codes;
}

CachedBuild build_cached(Cache& cache, const OpenDevice& device, std::span<const ModuleInput> inputs,
                         const ModuleFacts& source, const BuildOptions& options) {
  const auto make = [&]() -> MadeModule {
    return {build_module(device.driver, device.context.get(), device.device, inputs, options),
            source,
            {},
            true,
            codes_of(inputs)};
  };
  return build_cached(cache, device, cache_question(device, inputs), make);
}

CachedBuild without_cache(MadeModule made, const OpenDevice& device) {
  CachedBuild result;
  result.build = std::move(made.build);
  result.facts = std::move(made.source);
  if (result.build.code() != ZE_RESULT_SUCCESS || !result.build.compiled) return result;
  result.facts = facts_of(device.driver, result.build.module.get(), result.facts);
  return result;
}

CachedBuild build_cached(Cache& cache, const OpenDevice& device, const CacheQuestion& question,
                         const std::function<MadeModule()>& make) {
  const auto take = [&](std::span<const std::byte> native) {
    const ModuleInput input{ModuleFormat::native, native};
    return create_module(device.driver, device.context.get(), device.device, {&input, 1});
  };
  return build_cached(cache, device, question, ModuleMaker{make, take});
}

CachedBuild build_cached(Cache& cache, const OpenDevice& device, const CacheQuestion& question,
                         const ModuleMaker& maker) {
  return Build(cache, device, maker).run(question);
}

}  // namespace detail

CacheQuestion cache_question(const OpenDevice& device, std::span<const ModuleInput> inputs) {
  std::vector<cache::InputFacts> facts;
  for (const ModuleInput& input : inputs) {
    const char* format = input.format == ModuleFormat::opencl_c ? "opencl_c" : "spirv";
    cache::InputFacts each{format, input.code, input.flags, {}};
    for (const SpecializationConstant& constant : input.constants)
      each.constants.emplace_back(constant.id, constant.value);
    facts.push_back(std::move(each));
  }
  const cache::Identity& identity = cache::identity(device.device.api());
  CacheQuestion question{cache::input_fields(facts),
                         identity.bypass.empty() ? identity.unknown : identity.bypass};
  question.manifest.merge(cache::device_fields(device.driver, device.device, device.properties));
  question.manifest.merge(identity.fields);
  return question;
}

}  // namespace kiln
