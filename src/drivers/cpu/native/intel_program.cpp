// SPDX-License-Identifier: MIT
// Takes native binaries of Intel's compiler.
#include "drivers/cpu/native/intel_program.hpp"

#include <elf.h>

#include <cstddef>
#include <cstring>
#include <deque>
#include <utility>

#include "xe/native/module.hpp"

namespace kiln::cpu {
namespace {

class IntelProgram final : public Program {
 public:
  IntelProgram(std::vector<std::byte> binary, std::shared_ptr<const xe::NativeModule> module,
               ModuleFacts facts)
      : binary_(std::move(binary)) {
    const auto payloads = module->kernels();
    for (std::size_t i = 0; i < payloads.size(); ++i) {
      const KernelFacts* const known = facts.find(payloads[i].name);
      if (!known) continue;
      CompiledKernel kernel;
      kernel.facts = *known;
      kernel.group_size_hint = known->group_size_hint;
      if (!payloads[i].unsupported.empty())
        kernel.refused = "its native code asks for " + payloads[i].unsupported +
                         ", which the execution unit does not have; SPIR-V of the kernel may run here";
      else if (!known->malformed.empty())
        kernel.refused = known->malformed;
      else if (!known->arguments_known)
        kernel.refused = "its native binary does not list its arguments";
      own_.push_back({module, i});
      kernel.intel = &own_.back();
      kernels_.push_back(std::move(kernel));
    }
  }

  [[nodiscard]] std::span<const CompiledKernel> kernels() const override { return kernels_; }
  BuildStatus make_ready(const CompiledKernel* kernel, std::string& log) const override {
    if (!kernel) return BuildStatus::ok;
    const auto code = kernel->intel->module->code(kernel->intel->index);
    if (code) return BuildStatus::ok;
    log.append("its native code cannot be decoded: ").append(code.error());
    return BuildStatus::build_failure;
  }
  [[nodiscard]] std::span<const std::byte> native_binary() const override { return binary_; }
  [[nodiscard]] Symbol global_variable(std::string_view) const override { return {}; }
  [[nodiscard]] void* function(std::string_view) const override { return nullptr; }
  [[nodiscard]] Callable callable(std::string_view) const override { return {}; }
  [[nodiscard]] std::vector<Import> imports() const override { return {}; }
  void link(std::string_view, void*) const override {}

 private:
  std::vector<std::byte> binary_;
  std::deque<IntelKernel> own_;
  std::vector<CompiledKernel> kernels_;
};

/// Whether code of `file` runs on the product. Releases of an architecture differ in their instructions'
/// details.
bool fits(const Target& file, const Target& device) {
  return file.architecture == device.architecture && file.release == device.release;
}

std::string product_text(const Target& target) {
  return std::string(target.name) + " (" + std::to_string(target.architecture) + "." +
         std::to_string(target.release) + ")";
}

}  // namespace

bool is_intel_native(std::span<const std::byte> file) {
  const BinaryFormat format = identify(file);
  if (format == BinaryFormat::archive) return true;
  constexpr std::size_t kMachine = offsetof(Elf64_Ehdr, e_machine);
  std::uint16_t machine = EM_X86_64;
  if (file.size() >= sizeof(Elf64_Ehdr)) std::memcpy(&machine, file.data() + kMachine, sizeof machine);
  return format == BinaryFormat::elf && machine != EM_X86_64;
}

BuildResult build_from_intel_native(std::span<const std::byte> file, std::uint32_t ip_version) {
  BuildResult result{BuildStatus::invalid_native_binary, nullptr, {}};
  const auto refuse = [&](std::string why) {
    result.log = "error: native binary: " + std::move(why) + "\n";
    return std::move(result);
  };
  const Target* const device = find_target(ip_version);
  if (!device) return refuse("this device has the limits of no product that executes native code");
  std::string others, unread;
  auto parts = read_parts(file);
  std::vector<std::span<const std::byte>> codes{file};  // of each part
  if (const auto members = read_archive(file); members && !members->empty()) {
    codes.clear();
    for (const ArchiveMember& member : *members) codes.push_back(member.content);
  }
  for (std::size_t i = 0; i < parts.size() && i < codes.size(); ++i) {
    BinaryPart& part = parts[i];
    if (part.format != BinaryFormat::elf || part.name == kCpuMember) {
      if (!part.facts && unread.empty()) unread = part.facts.error().message;
      continue;
    }
    if (!part.facts) return refuse(part.facts.error().message);
    const Target* const made_for = target_of(part);
    if (!made_for || !fits(*made_for, *device)) {
      others +=
          (others.empty() ? "" : ", ") + (made_for ? product_text(*made_for) : "no product that is known");
      continue;
    }
    auto module = xe::NativeModule::read(*device, codes[i]);
    if (!module)
      return refuse("code for " + product_text(*made_for) + " cannot be executed here: " + module.error());
    result.program = std::make_shared<IntelProgram>(std::vector(codes[i].begin(), codes[i].end()),
                                                    std::move(*module), std::move(*part.facts));
    result.status = BuildStatus::ok;
    return result;
  }
  if (others.empty() && !unread.empty()) return refuse(unread);
  // As driver 26.27, which has no words for it.
  result.status = BuildStatus::build_failure;
  if (others.empty()) return refuse("it has no code for Intel's GPUs");
  return refuse("it is for " + others + "; this device executes code for " + product_text(*device) +
                ": KILN_CPU_PROFILE chooses the product");
}

}  // namespace kiln::cpu
