// SPDX-License-Identifier: MIT
// The steps of a compilation, and the child processes that they are done in.
#include "drivers/cpu/compiler/compilation.hpp"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <mutex>
#include <optional>

#include "drivers/cpu/compiler/backend/codegen.hpp"
#include "drivers/cpu/compiler/backend/native_binary.hpp"
#include "drivers/cpu/compiler/child_process.hpp"
#include "drivers/cpu/compiler/frontend/frontend.hpp"
#include "drivers/cpu/compiler/frontend/options.hpp"
#include "drivers/cpu/compiler/instrument/places.hpp"
#include "drivers/cpu/compiler/lanes/lane_loops.hpp"
#include "drivers/cpu/compiler/llvm_version.hpp"
#include "drivers/cpu/compiler/loaded_program.hpp"
#include "drivers/cpu/compiler/lowering/function_pointers.hpp"
#include "drivers/cpu/compiler/lowering/kernel_entry.hpp"
#include "drivers/cpu/compiler/lowering/prepare.hpp"
#include "drivers/cpu/compiler/lowering/slm.hpp"
#include "drivers/cpu/compiler/regions/region_collectives.hpp"
#include "drivers/cpu/counting/recorder.hpp"
#include "support/compiler_end.hpp"

namespace kiln::cpu {
namespace {

// Far below what one may have, so that no kernel of a module is found to have too much when it is compiled.
constexpr std::uint64_t kLatePrivate = 1 << 20;
/// Bytes of constants of a module whose kernels come late: each of them that reads a constant has it for
/// itself.
constexpr std::uint64_t kLateConstants = 64 << 10;
constexpr std::uint64_t kObjectAlignment = 16;  // bytes, for readers of ELF where they stand

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

void add_section(llvm::Module& module, llvm::StringRef section, const std::string& bytes,
                 std::uint64_t alignment = 1) {
  llvm::Constant* data = llvm::ConstantDataArray::getString(module.getContext(), bytes, false);
  auto* variable = new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::InternalLinkage,
                                            data, ("kiln.section" + section).str());
  variable->setSection(section);
  variable->setAlignment(llvm::Align(alignment));
  llvm::appendToUsed(module, {variable});
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::byte> as_vector(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

void append(std::string& text, std::string_view part) {
  const std::uint64_t size = part.size();
  text.append(reinterpret_cast<const char*>(&size), sizeof size).append(part);
}

/// Nothing when `text` does not begin with such a part, which goes from it.
std::optional<std::string_view> take(std::string_view& text) {
  std::uint64_t size = 0;
  if (text.size() < sizeof size) return std::nullopt;
  std::memcpy(&size, text.data(), sizeof size);
  text.remove_prefix(sizeof size);
  if (size > text.size()) return std::nullopt;
  const std::string_view part = text.substr(0, size);
  text.remove_prefix(size);
  return part;
}

std::vector<KernelFacts> with_code(std::span<const DescribedKernel> all) {
  std::vector<KernelFacts> kernels;
  for (const DescribedKernel& kernel : all)
    if (kernel.refused.empty()) kernels.push_back(kernel.facts);
  return kernels;
}

/// The recorder wants each sub-group to end before the next one begins, so lanes must not be of several.
void keep_sub_groups_whole(llvm::Module& module, const std::vector<KernelFacts>& kernels) {
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (llvm::Function* entry = module.getFunction(group_entry_symbol(i));
        entry != nullptr && counted_sub_group(kernels[i]) % kCountedLanes != 0)
      entry->addFnAttr(kNoLanes);
}

/// From entries to code, for those kernels whose entries are in the module.
bool generate(llvm::Module& module, llvm::TargetMachine& machine, const ParsedOptions& parsed,
              std::vector<KernelFacts>& kernels, std::string& log) {
  if (parsed.optimize) loop_over_items(module, machine, kernels, parsed.counters);
  if (parsed.counters) keep_sub_groups_whole(module, kernels);
  apply_fast_math(module, parsed);
  if (!parsed.counters) unlock_slm_atomics(module);
  optimize(module, machine, parsed);
  return measure_private_memory(module, kernels, log);
}

void describe_binary(llvm::Module& module, std::span<const DescribedKernel> all, const std::string& flags) {
  add_section(module, ".ze_info", write_ze_info(with_code(all)));
  add_section(module, kFactsSection, write_facts(all));
  if (!flags.empty()) add_section(module, ".misc.buildOptions", flags_for_file(flags));
}

bool emit(llvm::Module& module, bool optimize, bool sealed, Compilation& compilation) {
  llvm::SmallVector<char, 0> object;
  const auto machine = make_target_machine(MachineUse::code_generator, optimize, compilation.log);
  if (machine == nullptr || !emit_object(module, *machine, object, compilation.log)) return false;
  const auto bytes = std::as_bytes(std::span(object.data(), object.size()));
  compilation.code =
      sealed ? seal({object.data(), object.size()}) : std::vector<std::byte>(bytes.begin(), bytes.end());
  return true;
}

/// Whether a pointer to it goes elsewhere than to collectives, whose values it combines.
bool is_callable(const llvm::Function& function) {
  return llvm::any_of(function.uses(), [](const llvm::Use& use) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(use.getUser());
    return call == nullptr || (!call->isCallee(&use) && !is_exchange(*call));
  });
}

/// Whether each kernel of the module can be compiled on its own, when it is wanted: nothing that they share
/// but constants, of which each has those that it reads, and nothing that a later failure would have to be
/// told with.
bool may_come_late(const llvm::Module& module, const ParsedOptions& parsed, std::size_t kernels) {
  if (kernels < 2 || !parsed.optimize || parsed.counters || parsed.library || parsed.keep_functions)
    return false;
  std::uint64_t constants = 0;
  for (const llvm::GlobalVariable& variable : module.globals()) {
    if (variable.isDeclaration() || !variable.isConstant()) return false;
    constants += module.getDataLayout().getTypeAllocSize(variable.getValueType()).getFixedValue();
  }
  if (constants > kLateConstants) return false;
  for (const llvm::Function& function : module)
    if (is_callable(function) || function.getName() == "kiln_callable" ||
        private_bytes(function, Calls::inlined) > kLatePrivate)
      return false;
  return true;
}

bool exports_constants(const llvm::Module& module) {
  return llvm::any_of(module.globals(),
                      [](const llvm::GlobalVariable& variable) { return !variable.hasLocalLinkage(); });
}

bool compile_wanted(std::span<const std::byte> intermediate, std::span<const DescribedKernel> kernels,
                    std::span<const std::size_t> wanted, const std::string& flags, Compilation& compilation);

/// For kernels that come late. Constants that the host may ask for are ready at once, so that asking for one
/// cannot fail later.
bool leave_for_later(llvm::Module& module, std::span<const DescribedKernel> kernels, const std::string& flags,
                     Compilation& compilation) {
  llvm::SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(module, stream);
  compilation.code = as_vector({bitcode.data(), bitcode.size()});
  compilation.facts = write_facts(kernels);
  if (!exports_constants(module)) return true;
  Compilation constants;
  const bool well = compile_wanted(compilation.code, {}, {}, flags, constants);
  compilation.log.append(constants.log);
  compilation.constants = std::move(constants.code);
  return well;
}

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
  std::vector<KernelFacts> kernels = with_code(frontend.kernels);
  if (!choose_sub_group_sizes(kernels, options, log)) return fail();

  const std::unique_ptr<llvm::TargetMachine> machine =
      make_target_machine(MachineUse::optimizer, parsed.optimize, log);
  if (machine == nullptr) return fail();
  if (!prepare_module(module, *machine, kernels, parsed.counters ? &places : nullptr, parsed.keep_functions,
                      parsed.library, log))
    return fail();
  std::vector<bool> grid_barriers;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const llvm::Function* entry = module.getFunction(item_entry_symbol(i));
    grid_barriers.push_back(entry != nullptr && has_grid_barrier(*entry));
  }
  const bool late = options.late && warnings.empty() && diagnostics.empty() &&
                    may_come_late(module, parsed, kernels.size());
  if (!late && !generate(module, *machine, parsed, kernels, log)) return fail();
  std::size_t next = 0;
  for (DescribedKernel& kernel : frontend.kernels) {
    if (!kernel.refused.empty()) continue;
    kernel.facts = kernels[next];
    kernel.grid_barrier = grid_barriers[next++];
    kernel.calls_pointers = module.getFunction("kiln_callable") != nullptr;
  }
  if (late) return leave_for_later(module, frontend.kernels, options.flags, compilation) || fail();
  describe_binary(module, frontend.kernels, options.flags);
  if (parsed.counters) add_section(module, kPlacesSection, write_places(places));
  if (!emit(module, parsed.optimize, true, compilation) || diagnostics.find("error: ") != diagnostics.npos)
    return fail();
  log.append(diagnostics);
  if (!warnings.empty()) log.append("warning: " + warnings);
  return true;
}

/// Reads the entries of the `wanted` kernels and what they call, of a module that is read as it is needed;
/// the rest goes. Only without kernels are constants kept for others than them.
bool keep_entries(llvm::Module& module, std::span<const std::size_t> wanted, std::string& log) {
  llvm::SmallVector<llvm::Function*, 16> open;
  for (const std::size_t index : wanted) {
    llvm::Function* entry = module.getFunction(group_entry_symbol(index));
    if (entry == nullptr) entry = module.getFunction(item_entry_symbol(index));
    if (entry != nullptr) open.push_back(entry);
  }
  const auto well = [&](llvm::Error error) {
    if (!error) return true;
    log.append("error: intermediate code: ").append(llvm::toString(std::move(error))).append("\n");
    return false;
  };
  while (!open.empty()) {
    llvm::Function* function = open.pop_back_val();
    if (!function->isMaterializable()) continue;
    if (!well(function->materialize())) return false;
    for (const llvm::Instruction& instruction : llvm::instructions(*function))
      for (llvm::Value* operand : instruction.operands())
        if (auto* called = llvm::dyn_cast<llvm::Function>(operand)) open.push_back(called);
  }
  llvm::SmallVector<llvm::Function*, 16> unwanted;
  for (llvm::Function& function : module)
    if (function.isMaterializable()) unwanted.push_back(&function);
  for (llvm::Function* function : unwanted) function->deleteBody();  // which may call another of them
  for (llvm::Function* function : unwanted) function->eraseFromParent();
  if (!wanted.empty())
    for (llvm::GlobalVariable& variable : module.globals())
      variable.setLinkage(llvm::GlobalValue::InternalLinkage);
  return well(module.materializeAll());
}

bool compile_wanted(std::span<const std::byte> intermediate, std::span<const DescribedKernel> kernels,
                    std::span<const std::size_t> wanted, const std::string& flags, Compilation& compilation) {
  std::string& log = compilation.log;
  std::string unused;  // told when the module was made
  const ParsedOptions parsed = parse_options(flags, unused);
  llvm::LLVMContext context;
  use_opaque_pointers(context, true);
  std::string diagnostics;
  context.setDiagnosticHandlerCallBack(collect_diagnostic, &diagnostics);
  const std::unique_ptr<llvm::TargetMachine> machine =
      make_target_machine(MachineUse::optimizer, parsed.optimize, log);
  if (machine == nullptr) return false;
  auto module =
      llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(as_text(intermediate), "intermediate"), context);
  if (!module) {
    log.append("error: intermediate code: ").append(llvm::toString(module.takeError())).append("\n");
    return false;
  }
  std::vector<KernelFacts> facts = with_code(kernels);
  const bool well = keep_entries(**module, wanted, log) && generate(**module, *machine, parsed, facts, log) &&
                    emit(**module, parsed.optimize, false, compilation);
  log.append(diagnostics);
  std::vector<DescribedKernel> described;
  for (const std::size_t index : wanted) {
    described.push_back(kernels[index]);
    described.back().facts = facts[index];
  }
  compilation.facts = write_facts(described);
  return well && diagnostics.find("error: ") == diagnostics.npos;
}

bool bind(std::span<const std::span<const std::byte>> objects, std::span<const DescribedKernel> kernels,
          const std::string& flags, Compilation& compilation) {
  llvm::LLVMContext context;
  use_opaque_pointers(context, true);
  const std::unique_ptr<llvm::TargetMachine> machine =
      make_target_machine(MachineUse::code_generator, true, compilation.log);
  if (machine == nullptr) return false;
  llvm::Module module("binary", context);
  set_target_triple(module, machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  describe_binary(module, kernels, flags);
  for (std::size_t i = 0; i < objects.size(); ++i)
    add_section(module, part_section(i), std::string(as_text(objects[i])), kObjectAlignment);
  return emit(module, true, true, compilation);
}

/// The words of LLVM and of C++ for it.
bool lacks_memory(const std::string& end) {
  return end.find("out of memory") != end.npos || end.find("bad_alloc") != end.npos;
}

}  // namespace

std::string Compilation::to_text() const {
  std::string text(1, well ? 'y' : 'n');
  append(text, log);
  append(text, facts);
  append(text, as_text(constants));
  return text.append(as_text(code));
}

// The child had hostile input: what it says is checked.
Compilation Compilation::from_text(const std::string& text) {
  Compilation compilation;
  std::string_view rest(text);
  if (!rest.empty()) rest.remove_prefix(1);
  const auto log = take(rest);
  const auto facts = log ? take(rest) : std::nullopt;
  const auto constants = facts ? take(rest) : std::nullopt;
  if (!constants) {
    compilation.log = "error: the compiler's process gave no usable answer\n";
    return compilation;
  }
  compilation.well = text[0] == 'y';
  compilation.log = *log;
  compilation.facts = *facts;
  compilation.constants = as_vector(*constants);
  compilation.code = as_vector(rest);
  return compilation;
}

Compilation compile_in_child(const CompilerWork& steps) {
  Compilation compilation;
  const auto in_child = [&](const auto& work) {
    return run_in_child(
        [&] {
          tune_own_process();
          compilation.well = work(compilation);
          return compilation.to_text();
        },
        steps.seconds);
  };
  const ChildOutcome outcome = in_child(steps.work);
  switch (outcome.kind) {
    case ChildOutcome::Kind::finished:
      return Compilation::from_text(outcome.text);
    case ChildOutcome::Kind::ended:
      if (lacks_memory(outcome.text)) {
        compilation.failure = BuildStatus::out_of_memory;
        compilation.log = "error: the compiler ended for want of memory, " + outcome.text + "\n";
      } else {
        const ChildOutcome again = steps.plainer ? in_child(steps.plainer) : ChildOutcome();
        if (again.kind == ChildOutcome::Kind::finished) {
          Compilation plain = Compilation::from_text(again.text);
          if (plain.well) {
            plain.log.insert(
                0, "warning: compiled without optimization, since with it LLVM ends " + outcome.text + "\n");
            return plain;
          }
        }
        compilation.log = std::string(kModuleEndsCompiler) + outcome.text + "\n";
        const ChildOutcome why = steps.more ? run_in_child(steps.more) : ChildOutcome();
        if (why.kind == ChildOutcome::Kind::finished && !why.text.empty())
          compilation.log.append("error: " + why.text);
      }
      return compilation;
    case ChildOutcome::Kind::too_slow:
      compilation.log = "error: the compiler was stopped after " + std::to_string(steps.seconds) +
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
  if (steps.without_child == WithoutChild::leave) {
    compilation.begun = false;
    compilation.failure = BuildStatus::out_of_memory;
    compilation.log = "error: no process could be started for the compiler, " + outcome.text + "\n";
    return compilation;
  }
  const std::lock_guard lock(fork_mutex());
  compilation.well = steps.work(compilation);
  return compilation;
}

// 1 s a KiB and ten more, twenty times what compilers' output was seen to need. Small modules can be made to
// explode.
unsigned allowed_seconds(std::span<const SpirvModule> modules) {
  std::size_t bytes = 0;
  for (const SpirvModule& module : modules) bytes += module.bytes.size();
  return 10 + static_cast<unsigned>(std::min<std::size_t>(bytes >> 10, 600));
}

namespace {

/// Nothing where they ask for it already.
std::optional<std::string> without_optimization(const std::string& flags) {
  std::string unused;
  if (!parse_options(flags, unused).optimize) return std::nullopt;
  return flags.empty() ? "-cl-opt-disable" : flags + " -cl-opt-disable";
}

}  // namespace

Compilation compile_module(std::span<const SpirvModule> modules, const BuildOptions& options) {
  CompilerWork steps;
  steps.work = [&](Compilation& out) { return compile(modules, options, out); };
  if (const auto flags = without_optimization(options.flags))
    steps.plainer = [&, flags](Compilation& out) {
      BuildOptions plain = options;
      plain.flags = *flags;
      return compile(modules, plain, out);
    };
  steps.more = [&] { return verdicts(modules); };
  steps.seconds = allowed_seconds(modules);
  return compile_in_child(steps);
}

Compilation compile_kernels(std::span<const std::byte> intermediate, std::span<const DescribedKernel> kernels,
                            std::span<const std::size_t> wanted, const std::string& flags, unsigned seconds,
                            WithoutChild without_child) {
  const auto with_flags = [=](const std::string& used) {
    return [=](Compilation& out) { return compile_wanted(intermediate, kernels, wanted, used, out); };
  };
  CompilerWork steps{with_flags(flags), {}, {}, seconds, without_child};
  if (const auto plain = without_optimization(flags)) steps.plainer = with_flags(*plain);
  return compile_in_child(steps);
}

Compilation bind_objects(std::span<const std::span<const std::byte>> objects,
                         std::span<const DescribedKernel> kernels, const std::string& flags) {
  return compile_in_child({[&](Compilation& out) { return bind(objects, kernels, flags, out); }, {}, {}, 0});
}

}  // namespace kiln::cpu
