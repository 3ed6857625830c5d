// SPDX-License-Identifier: MIT
// Builds programs: SPIR-V through validation, translation, kernel entries and code, or native binaries by
// linking.
#include <llvm/IR/Constants.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "drivers/cpu/compiler/backend/codegen.hpp"
#include "drivers/cpu/compiler/backend/facts_section.hpp"
#include "drivers/cpu/compiler/backend/native_binary.hpp"
#include "drivers/cpu/compiler/backend/object_loader.hpp"
#include "drivers/cpu/compiler/builtins/builtins.hpp"
#include "drivers/cpu/compiler/child_process.hpp"
#include "drivers/cpu/compiler/frontend/frontend.hpp"
#include "drivers/cpu/compiler/frontend/options.hpp"
#include "drivers/cpu/compiler/instrument/instrument.hpp"
#include "drivers/cpu/compiler/llvm_version.hpp"
#include "drivers/cpu/compiler/lowering/function_pointers.hpp"
#include "drivers/cpu/compiler/lowering/kernel_entry.hpp"
#include "drivers/cpu/compiler/lowering/prepare.hpp"
#include "drivers/cpu/compiler/lowering/slm.hpp"
#include "drivers/cpu/counting/recorder.hpp"
#include "drivers/cpu/program.hpp"
#include "drivers/cpu/runtime/loaded_kernel.hpp"
#include "support/compiler_end.hpp"

namespace kiln::cpu {
namespace {

// Spilled registers, saved registers and the host's functions (printf with doubles is the deepest).
constexpr std::size_t kStackReserve = 64 << 10;
// For functions that are called through pointers, which may be another module's.
constexpr std::size_t kCalledStack = 1 << 20;

bool is_sub_group_size(std::uint32_t size) { return size == 8 || size == 16 || size == 32; }

// What the kernel requires, else the widest, as Intel's compiler does while registers last.
bool choose_sub_group_sizes(std::vector<KernelFacts>& kernels, const BuildOptions& options,
                            std::string& log) {
  for (KernelFacts& kernel : kernels) {
    const std::uint32_t required = kernel.required_sub_group_size;
    kernel.simd_size = required != 0 ? required : *std::ranges::max_element(options.sub_group_sizes);
    if (is_sub_group_size(kernel.simd_size) &&
        std::ranges::find(options.sub_group_sizes, kernel.simd_size) != options.sub_group_sizes.end())
      continue;
    log.append("error: kernel '" + kernel.name + "' requires sub-groups of " + std::to_string(required) +
               " work-items, which this device does not have\n");
    return false;
  }
  return true;
}

constexpr const char* kFactsSection = ".kiln.facts";
constexpr const char* kPlacesSection = ".kiln.places";

class LoadedProgram : public Program {
 public:
  explicit LoadedProgram(std::vector<std::byte> binary) : binary_(std::move(binary)) {}

  /// `object` is the code inside the binary.
  bool load(std::span<const std::byte> object, std::string& log) {
    object_ = load_object(object, log);
    if (object_ == nullptr) return false;
    std::optional<std::vector<DescribedKernel>> kernels = read_facts(object_->section(kFactsSection));
    if (!kernels) {
      log.append("error: native binary: its kernels are not described\n");
      return false;
    }
    loaded_.resize(static_cast<std::size_t>(
        std::ranges::count_if(*kernels, &std::string::empty, &DescribedKernel::refused)));
    std::size_t next = 0;
    for (DescribedKernel& kernel : *kernels) {
      if (!kernel.refused.empty())
        kernels_.push_back({std::move(kernel.facts), nullptr, {}, std::move(kernel.refused), false});
      else if (!add(std::move(kernel), next++, log))
        return false;
    }
    object_->visit([this](std::string_view symbol, void* address) {
      if (const auto import = parse_import(symbol)) {
        imports_.try_emplace(std::string(import->name), static_cast<void**>(address), import->signature);
        return;
      }
      const auto callable = parse_callable(symbol);
      if (!callable) return;
      functions_.emplace(callable->name, Callable{address, callable->signature, callable->exported});
      callable_.emplace_back(address, callable->signature);
    });
    return add_counters(log);
  }

  [[nodiscard]] std::span<const CompiledKernel> kernels() const override { return kernels_; }
  [[nodiscard]] std::span<const std::byte> native_binary() const override { return binary_; }
  [[nodiscard]] Symbol global_variable(std::string_view name) const override {
    return object_->find(std::string(kVariablePrefix).append(name));
  }
  [[nodiscard]] void* function(std::string_view name) const override { return callable(name).address; }
  [[nodiscard]] Callable callable(std::string_view name) const override {
    const auto found = functions_.find(name);
    return found == functions_.end() ? Callable() : found->second;
  }
  [[nodiscard]] std::vector<Import> imports() const override {
    std::vector<Import> all;
    for (const auto& [name, slot] : imports_) all.push_back({name, slot.signature(), slot.linked()});
    return all;
  }
  void link(std::string_view name, void* function) const override {
    const auto found = imports_.find(name);
    if (found != imports_.end()) found->second.link(function);
  }

 private:
  bool add_counters(std::string& log) {
    const std::string_view section = object_->section(kPlacesSection);
    if (section.empty()) return true;
    std::vector<KernelPlaces> places = read_places(section, loaded_.size());
    if (places.empty()) {
      log.append("error: native binary: its counters are not described\n");
      return false;
    }
    for (std::size_t i = 0; i < loaded_.size(); ++i) {
      loaded_[i].counters = std::make_unique<KernelCounters>(std::move(places[i]));
      loaded_[i].variables = object_->memory();
    }
    return true;
  }

  bool add(DescribedKernel described, std::size_t index, std::string& log) {
    KernelFacts& facts = described.facts;
    const Symbol group = object_->find(group_entry_symbol(index)),
                 item = object_->find(item_entry_symbol(index));
    if (group.address == nullptr && item.address == nullptr) {
      log.append("error: object code of kernel '" + facts.name + "' is missing\n");
      return false;
    }
    LoadedKernel& loaded = loaded_[index];
    if (!is_sub_group_size(facts.simd_size)) {
      log.append("error: the sub-group size of kernel '" + facts.name + "' is wrong\n");
      return false;
    }
    loaded.run_group = reinterpret_cast<GroupEntry>(group.address);
    loaded.run_item = reinterpret_cast<ItemEntry>(item.address);
    loaded.sub_group_size = facts.simd_size;
    loaded.argument_offsets = argument_offsets(facts);
    loaded.stack_bytes =
        kStackReserve + 2 * std::size_t{facts.private_size} + (described.calls_pointers ? kCalledStack : 0);
    loaded.calls_pointers = described.calls_pointers;
    kernels_.push_back({std::move(facts), &loaded, described.group_size_hint, {}, described.grid_barrier});
    return true;
  }

  std::vector<std::byte> binary_;
  std::unique_ptr<LoadedObject> object_;
  std::vector<LoadedKernel> loaded_;
  std::vector<CompiledKernel> kernels_;
  std::map<std::string, Callable, std::less<>> functions_;
  std::map<std::string, ImportSlot, std::less<>> imports_;
  std::vector<CallableFunction> callable_;
};

// LLVM's default handler ends the process on errors.
void collect_diagnostic(DiagnosticReference diagnostic, void* log) {
  const llvm::DiagnosticInfo& info = dereference(diagnostic);
  if (info.getSeverity() != llvm::DS_Error && info.getSeverity() != llvm::DS_Warning) return;
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::DiagnosticPrinterRawOStream printer(stream);
  info.print(printer);
  static_cast<std::string*>(log)->append(info.getSeverity() == llvm::DS_Error ? "error: " : "warning: ");
  static_cast<std::string*>(log)->append(stream.str()).append("\n");
}

void add_section(llvm::Module& module, llvm::StringRef section, const std::string& bytes) {
  llvm::Constant* data = llvm::ConstantDataArray::getString(module.getContext(), bytes, false);
  auto* variable = new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::InternalLinkage,
                                            data, ("kiln.section" + section).str());
  variable->setSection(section);
  variable->setAlignment(llvm::Align(1));
  llvm::appendToUsed(module, {variable});
}

/// What a compilation gives, as text for the way from a child process.
struct Compilation {
  bool well = false;
  std::string log;
  std::vector<std::byte> binary;                     // sealed
  BuildStatus failure = BuildStatus::build_failure;  // when it did not go well; no child says it

  [[nodiscard]] std::string to_text() const {
    std::string text(1, well ? 'y' : 'n');
    const std::uint64_t size = log.size();
    text.append(reinterpret_cast<const char*>(&size), sizeof size).append(log);
    return text.append(reinterpret_cast<const char*>(binary.data()), binary.size());
  }

  // The child had hostile input: what it says is checked.
  static Compilation from_text(const std::string& text) {
    Compilation compilation;
    constexpr std::size_t kHead = 1 + sizeof(std::uint64_t);
    std::uint64_t size = 0;
    if (text.size() >= kHead) std::memcpy(&size, text.data() + 1, sizeof size);
    if (text.size() < kHead || size > text.size() - kHead) {
      compilation.log = "error: the compiler's process gave no usable answer\n";
      return compilation;
    }
    compilation.well = text[0] == 'y';
    compilation.log = text.substr(kHead, size);
    const auto binary = std::as_bytes(std::span(text).subspan(kHead + size));
    compilation.binary.assign(binary.begin(), binary.end());
    return compilation;
  }
};

bool compile(std::span<const SpirvModule> modules, const BuildOptions& options, Compilation& compilation) {
  std::string& log = compilation.log;
  const ParsedOptions parsed = parse_options(options.flags, log);
  llvm::LLVMContext context;
  std::string diagnostics, warnings;
  context.setDiagnosticHandlerCallBack(collect_diagnostic, &diagnostics);
  std::vector<KernelPlaces> places;
  Frontend frontend = read_modules(modules, options.fp64, parsed.counters, context, warnings, log);
  // Whatever follows from an invalid module, its own fault is told first.
  const auto fail = [&] {
    log.append(diagnostics);
    if (!warnings.empty()) log.insert(0, "error: " + warnings);
    return false;
  };
  if (frontend.module == nullptr) return fail();
  llvm::Module& module = *frontend.module;
  std::vector<KernelFacts> kernels;
  for (const DescribedKernel& kernel : frontend.kernels)
    if (kernel.refused.empty()) kernels.push_back(kernel.facts);
  if (!choose_sub_group_sizes(kernels, options, log)) return fail();

  const std::unique_ptr<llvm::TargetMachine> machine = make_target_machine(parsed.optimize, log);
  if (machine == nullptr) return fail();
  if (!prepare_module(module, *machine, kernels, parsed.counters ? &places : nullptr, parsed.keep_functions,
                      parsed.library, log))
    return fail();
  std::vector<bool> grid_barriers;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const llvm::Function* entry = module.getFunction(item_entry_symbol(i));
    grid_barriers.push_back(entry != nullptr && has_grid_barrier(*entry));
  }
  // Counters know work-items one by one.
  if (parsed.optimize && !parsed.counters) loop_over_items(module, *machine, kernels);
  apply_fast_math(module, parsed);
  if (!parsed.counters) unlock_slm_atomics(module);
  optimize(module, *machine, parsed);
  if (!measure_private_memory(module, kernels, log)) return fail();
  std::size_t next = 0;
  for (DescribedKernel& kernel : frontend.kernels) {
    if (!kernel.refused.empty()) continue;
    kernel.facts = kernels[next];
    kernel.grid_barrier = grid_barriers[next++];
    kernel.calls_pointers = module.getFunction("kiln_callable") != nullptr;
  }
  add_section(module, ".ze_info", write_ze_info(kernels));
  add_section(module, kFactsSection, write_facts(frontend.kernels));
  if (parsed.counters) add_section(module, kPlacesSection, write_places(places));
  if (!options.flags.empty()) add_section(module, ".misc.buildOptions", flags_for_file(options.flags));
  llvm::SmallVector<char, 0> object;
  const bool emitted = emit_object(module, *machine, object, log);
  if (!emitted || diagnostics.find("error: ") != diagnostics.npos) return fail();
  log.append(diagnostics);
  if (!warnings.empty()) log.append("warning: " + warnings);
  compilation.binary = seal({object.data(), object.size()});
  return true;
}

/// CPU time that modules of a program may take: 1 s a KiB and ten more, twenty times what compilers' output
/// was seen to need. Small modules can be made to explode.
unsigned allowed_seconds(std::span<const SpirvModule> modules) {
  std::size_t bytes = 0;
  for (const SpirvModule& module : modules) bytes += module.bytes.size();
  return 10 + static_cast<unsigned>(std::min<std::size_t>(bytes >> 10, 600));
}

/// The words of LLVM and of C++ for it.
bool lacks_memory(const std::string& end) {
  return end.find("out of memory") != end.npos || end.find("bad_alloc") != end.npos;
}

/// The translator and LLVM assert, exit and abort on some modules that no validation finds: a child may die
/// of them.
Compilation compile_out_of_process(std::span<const SpirvModule> modules, const BuildOptions& options) {
  Compilation compilation;
  const unsigned seconds = allowed_seconds(modules);
  const ChildOutcome outcome = run_in_child(
      [&] {
        compilation.well = compile(modules, options, compilation);
        return compilation.to_text();
      },
      seconds);
  switch (outcome.kind) {
    case ChildOutcome::Kind::finished:
      return Compilation::from_text(outcome.text);
    case ChildOutcome::Kind::ended:
      if (lacks_memory(outcome.text)) {
        compilation.failure = BuildStatus::out_of_memory;
        compilation.log = "error: the compiler ended for want of memory, " + outcome.text + "\n";
      } else {
        compilation.log = std::string(kModuleEndsCompiler) + outcome.text + "\n";
        const ChildOutcome why = run_in_child([&] { return verdicts(modules); });
        if (why.kind == ChildOutcome::Kind::finished && !why.text.empty())
          compilation.log.append("error: " + why.text);
      }
      return compilation;
    case ChildOutcome::Kind::too_slow:
      compilation.log = "error: the compiler was stopped after " + std::to_string(seconds) +
                        " s of CPU time, all that a module of this size may take: make functions smaller, or "
                        "fewer of them inline\n";
      return compilation;
    case ChildOutcome::Kind::killed:
      compilation.failure = BuildStatus::compiler_killed;
      compilation.log = "error: the compiler was ended " + outcome.text + "\n";
      return compilation;
    case ChildOutcome::Kind::not_started:
      break;
  }
  const std::lock_guard lock(fork_mutex());
  compilation.well = compile(modules, options, compilation);
  return compilation;
}

BuildResult load(std::vector<std::byte> binary, BuildStatus otherwise, std::string log) {
  BuildResult result;
  result.log = std::move(log);
  result.status = otherwise;
  auto program = std::make_unique<LoadedProgram>(std::move(binary));
  const std::lock_guard lock(fork_mutex());
  const std::span<const std::byte> object = unseal(program->native_binary(), result.log);
  if (object.empty() || !program->load(object, result.log)) return result;
  result.status = BuildStatus::ok;
  result.program = std::move(program);
  return result;
}

}  // namespace

BuildResult build_from_spirv(std::span<const std::byte> spirv, const BuildOptions& options) {
  const SpirvModule module{spirv, options.constants};
  return build_from_spirv(std::span(&module, 1), options);
}

BuildResult build_from_spirv(std::span<const SpirvModule> modules, const BuildOptions& options) {
  Compilation compilation = compile_out_of_process(modules, options);
  if (!compilation.well) return {compilation.failure, nullptr, std::move(compilation.log)};
  return load(std::move(compilation.binary), BuildStatus::build_failure, std::move(compilation.log));
}

std::string counters_json(const CompiledKernel& kernel) {
  const auto& counters = static_cast<const LoadedKernel*>(kernel.entry)->counters;
  return counters == nullptr ? std::string()
                             : counters->to_json(kernel.facts, counted_sub_group(kernel.facts));
}

void clear_counters(const CompiledKernel& kernel) {
  if (const auto& counters = static_cast<const LoadedKernel*>(kernel.entry)->counters) counters->clear();
}

BuildResult build_from_native(std::span<const std::byte> object) {
  return load({object.begin(), object.end()}, BuildStatus::invalid_native_binary, {});
}

}  // namespace kiln::cpu
