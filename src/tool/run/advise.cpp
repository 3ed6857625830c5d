// SPDX-License-Identifier: MIT
// What advice on files and on samples have in common: native code, its limits, and how to get it.
#include "tool/run/advise.hpp"

#include <algorithm>

#include "offline/ocloc.hpp"
#include "support/process.hpp"

namespace kiln::tool {
namespace {

constexpr std::chrono::minutes kNativeTime{2};

}  // namespace

std::optional<NativeUse> NativeCodes::find(const std::string& key, std::span<const std::byte> spirv,
                                           const std::string& flags) {
  if (!target_ || spirv.empty()) return std::nullopt;
  const auto [found, is_new] = known_.try_emplace(key);
  if (!is_new) return found->second;
  const InterruptGuard guard;  // ocloc, which has a process of its own, goes with this one
  const auto made = offline::compile_native_checked(
      {path_, spirv, offline::SourceLanguage::spirv, std::string(target_->name), flags}, kNativeTime);
  const auto facts = made ? read_zebin(made->bytes) : tl::unexpected(BinaryError());
  if (const KernelFacts* kernel = facts ? facts->find(kernel_) : nullptr)
    found->second = NativeUse{*kernel, core_limits(*target_)};
  return found->second;
}

std::vector<std::uint32_t> other_sub_groups(const OpenDevice& device, std::uint32_t own) {
  std::vector<std::uint32_t> sizes = device.compute.sub_group_sizes;
  std::erase(sizes, own);
  return sizes;
}

Advice no_advice() {
  return Advice{.not_tried = {{"alternatives", "what was given is wrong: mend what was found first"}}};
}

bool may_have_more_registers(const std::optional<NativeUse>& native, const std::string& flags,
                             std::vector<NotTried>& not_tried) {
  const char* why = nullptr;
  if (!native)
    why = "there is no native code for the product that the device stands for";
  else if (native->limits.generation == Generation::gen12lp)
    why = "the product has one number of them";
  else if (native->facts.grf_count != 128 || flags.find("register-file") != flags.npos ||
           flags.find("GRF") != flags.npos)
    why = "their number is chosen already";
  if (why) not_tried.push_back({"256 registers", why});
  return !why;
}

void add_how(const Alternative& what, std::vector<std::string>& how) {
  if (what.sub_group_size)
    how.push_back("`__attribute__((intel_reqd_sub_group_size(" + std::to_string(what.sub_group_size) +
                  ")))` before the kernel");
  if (what.large_registers) how.push_back(std::string("build native code with ") + kLargeRegisters);
}

std::string refusal_of(const std::optional<NativeUse>& given, const std::optional<NativeUse>& native,
                       const Target* target, const KernelRequest& request) {
  if (!given || !target) return {};
  if (!native) return "no native code";
  for (const Diagnostic& each : check_kernel(native->facts, target_limits(*target), request))
    if (each.severity == Severity::error) return each.code;
  return {};
}

std::string basis_of(const NativeCodes& natives, const std::optional<NativeUse>& native) {
  return native ? "the native code that ocloc makes for " + std::string(natives.target()->name) : "";
}

}  // namespace kiln::tool
