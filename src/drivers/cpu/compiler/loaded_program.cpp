// SPDX-License-Identifier: MIT
// Finds kernels, variables and functions in what was linked.
#include "drivers/cpu/compiler/loaded_program.hpp"

#include <algorithm>
#include <map>
#include <new>
#include <optional>
#include <utility>

#include "drivers/cpu/compiler/backend/facts_section.hpp"
#include "drivers/cpu/compiler/backend/native_binary.hpp"
#include "drivers/cpu/compiler/backend/object_loader.hpp"
#include "drivers/cpu/compiler/child_process.hpp"
#include "drivers/cpu/compiler/instrument/places.hpp"
#include "drivers/cpu/compiler/lowering/function_pointers.hpp"
#include "drivers/cpu/compiler/lowering/kernel_entry.hpp"
#include "drivers/cpu/compiler/lowering/prepare.hpp"
#include "drivers/cpu/runtime/loaded_kernel.hpp"

namespace kiln::cpu {
namespace {

// Spilled registers, saved registers and the host's functions (printf with doubles is the deepest).
constexpr std::size_t kStackReserve = 64 << 10;
// For the vectors of lanes, of which each spilled one takes 128 bytes, and what lanes do alone.
constexpr std::size_t kLaneStack = 192 << 10;
// For functions that are called through pointers, which may be another module's.
constexpr std::size_t kCalledStack = 1 << 20;

bool has_kernel(const LoadedObject& object, std::size_t index) {
  return object.find(group_entry_symbol(index)).address != nullptr ||
         object.find(item_entry_symbol(index)).address != nullptr;
}

class LoadedProgram : public Program {
 public:
  explicit LoadedProgram(std::vector<std::byte> binary) : binary_(std::move(binary)) {}

  /// `object` is the code inside the binary.
  bool load(std::span<const std::byte> object, std::string& log) {
    parts_.push_back(load_object(object, log));
    if (parts_[0] == nullptr) return false;
    for (;;) {
      const std::string_view part = parts_[0]->section(part_section(parts_.size() - 1));
      if (part.empty()) break;
      parts_.push_back(load_object(std::as_bytes(std::span(part)), log));
      if (parts_.back() == nullptr) return false;
    }
    std::optional<std::vector<DescribedKernel>> kernels = read_facts(parts_[0]->section(kFactsSection));
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
    parts_[0]->visit([this](std::string_view symbol, void* address) {
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
  BuildStatus make_ready(const CompiledKernel*, std::string&) const override { return BuildStatus::ok; }
  [[nodiscard]] Symbol global_variable(std::string_view name) const override {
    Symbol found;
    for (auto part = parts_.begin(); part != parts_.end() && found.address == nullptr; ++part)
      found = (*part)->find(variable_symbol(name));
    return found;
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
    const std::string_view section = parts_[0]->section(kPlacesSection);
    if (section.empty()) return true;
    std::vector<KernelPlaces> places = read_places(section, loaded_.size());
    if (places.empty()) {
      log.append("error: native binary: its counters are not described\n");
      return false;
    }
    for (std::size_t i = 0; i < loaded_.size(); ++i) {
      loaded_[i].counters = std::make_unique<KernelCounters>(std::move(places[i]));
      loaded_[i].variables = parts_[0]->memory();
    }
    return true;
  }

  bool add(DescribedKernel described, std::size_t index, std::string& log) {
    std::size_t part = 0;
    while (part + 1 < parts_.size() && !has_kernel(*parts_[part], index)) ++part;
    LoadedKernel& loaded = loaded_[index];
    if (!find_kernel(*parts_[part], described, index, loaded, log)) return false;
    kernels_.push_back(
        {std::move(described.facts), &loaded, described.group_size_hint, {}, described.grid_barrier});
    return true;
  }

  std::vector<std::byte> binary_;
  std::vector<std::unique_ptr<LoadedObject>> parts_;  // the first describes all
  std::vector<LoadedKernel> loaded_;
  std::vector<CompiledKernel> kernels_;
  std::map<std::string, Callable, std::less<>> functions_;
  std::map<std::string, ImportSlot, std::less<>> imports_;
  std::vector<CallableFunction> callable_;
};

}  // namespace

std::string part_section(std::size_t index) { return ".kiln.part." + std::to_string(index); }

bool is_sub_group_size(std::uint32_t size) { return size == 8 || size == 16 || size == 32; }

bool find_kernel(const LoadedObject& object, const DescribedKernel& described, std::size_t index,
                 LoadedKernel& loaded, std::string& log) {
  const KernelFacts& facts = described.facts;
  const Program::Symbol group = object.find(group_entry_symbol(index)),
                        item = object.find(item_entry_symbol(index));
  if (group.address == nullptr && item.address == nullptr) {
    log.append("error: object code of kernel '" + facts.name + "' is missing\n");
    return false;
  }
  if (!is_sub_group_size(facts.simd_size)) {
    log.append("error: the sub-group size of kernel '" + facts.name + "' is wrong\n");
    return false;
  }
  loaded.run_group = reinterpret_cast<GroupEntry>(group.address);
  loaded.run_item = reinterpret_cast<ItemEntry>(item.address);
  loaded.sub_group_size = facts.simd_size;
  loaded.argument_offsets = argument_offsets(facts);
  loaded.stack_bytes = kStackReserve + 2 * std::size_t{facts.private_size} +
                       (described.calls_pointers ? kCalledStack : 0) +
                       (loaded.run_group != nullptr ? kLaneStack : 0);
  loaded.calls_pointers = described.calls_pointers;
  return true;
}

BuildResult load_program(std::vector<std::byte> binary, BuildStatus otherwise, std::string log) {
  BuildResult result;
  result.log = std::move(log);
  result.status = otherwise;
  auto program = std::make_shared<LoadedProgram>(std::move(binary));
  const std::lock_guard lock(fork_mutex());
  const std::span<const std::byte> object = unseal(program->native_binary(), result.log);
  try {
    if (object.empty() || !program->load(object, result.log)) return result;
  } catch (const std::bad_alloc&) {
    result.status = BuildStatus::out_of_memory;
    return result;
  }
  result.status = BuildStatus::ok;
  result.program = std::move(program);
  return result;
}

}  // namespace kiln::cpu
