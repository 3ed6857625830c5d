// SPDX-License-Identifier: MIT
// The kernels of a bundle.
#include "kiln/bundle.hpp"

#include "kiln/log.hpp"
#include "kiln/needs.hpp"
#include "kiln/refusal.hpp"
#include "level_zero/call.hpp"
#include "level_zero/observe.hpp"
#include "level_zero/survey.hpp"

namespace kiln {
namespace {

/// Drivers before 24.45 end the process, when the kernel is made or launched, if that much cannot be
/// allocated.
Result<void> fits_all_threads(const KernelFacts& kernel, const ThreadMemory& memory) {
  auto finding = check_thread_memory(kernel, memory);
  if (finding && finding->severity == Severity::error)
    return tl::unexpected(Error(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "zeKernelCreate", *std::move(finding)));
  if (finding) log(LogLevel::warning, to_text(*finding));
  return {};
}

}  // namespace

const char* to_string(BinaryOrigin origin) {
  switch (origin) {
    case BinaryOrigin::native:
      return "native";
    case BinaryOrigin::cache:
      return "cache";
    case BinaryOrigin::jit:
      return "jit";
  }
  return "?";
}

const char* to_string(BinaryFit fit) {
  switch (fit) {
    case BinaryFit::exact:
      return "exact";
    case BinaryFit::compatible:
      return "compatible";
    case BinaryFit::spirv:
      return "spirv";
  }
  return "?";
}

Result<CheckedKernel*> Bundle::kernel(const std::string& name) {
  for (const auto& kernel : code_.kernels)
    if (kernel->checked_.facts().name == name) return &kernel->checked_;
  KILN_TRY(auto kernel, detail::told(Refused::kernel, make_own(name)));
  code_.kernels.push_back(std::make_unique<OwnKernel>(std::move(kernel)));
  return &code_.kernels.back()->checked_;
}

Result<OwnKernel> Bundle::make_kernel(const std::string& name) const {
  return detail::told(Refused::kernel, make_own(name));
}

Result<OwnKernel> Bundle::make_own(const std::string& name) const {
  if (!code_.module) return tl::unexpected(detail::empty_handle("zeKernelCreate"));
  const KernelFacts* known = facts_.find(name);
  KernelFacts facts;
  if (known) {
    KILN_TRY(fits_all_threads(*known, memory_));
    facts = *known;
  }
  facts.name = name;
  const std::string text_before = home_.driver.last_error_description();
  auto kernel = code_.module->kernel(name.c_str());
  if (!kernel) {
    if (kernel.error().code() == ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED)
      return tl::unexpected(detail::explained(std::move(kernel).error(), explain_unlinked({})));
    if (kernel.error().code() != ZE_RESULT_ERROR_INVALID_KERNEL_NAME) {
      Refusal refusal = detail::survey(kernel.error().code(), kernel.error().call(), home_.device);
      // Asked again, the same text is this question's when it names the kernel, as that of Kiln's own driver
      // does.
      if (std::string text = home_.driver.last_error_description();
          text != text_before || text.starts_with("kernel '" + name + "': "))
        refusal.driver_text = std::move(text);
      return tl::unexpected(detail::explained(std::move(kernel).error(), explain_kernel(refusal, facts)));
    }
    Diagnostic diagnostic{"K0208", "`" + file_ + "` has no kernel `" + name + "`", {}, {}};
    if (const auto names = code_.module->kernel_names())
      for (const std::string& known : *names) diagnostic.rows.push_back({"kernel", known});
    diagnostic.help = {"use one of these names"};
    diagnostic.answer = {AnsweredBy::driver};
    return tl::unexpected(
        Error(ZE_RESULT_ERROR_INVALID_KERNEL_NAME, "zeKernelCreate", std::move(diagnostic)));
  }
  KernelHome home = home_;
  home.largest_buffer = largest_buffer(facts, flags_, largest_allocation_);
  auto checked = CheckedKernel::create(kernel->get(), std::move(facts), compute_, home);
  KILN_TRY(checked);
  if (!known || known->simd_size == 0) KILN_TRY(fits_all_threads(checked->facts(), memory_));
  return OwnKernel(*std::move(kernel), *std::move(checked));
}

}  // namespace kiln
