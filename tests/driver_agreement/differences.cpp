// SPDX-License-Identifier: MIT
// The differences between Kiln's answers and the driver's that are known, each with its reason.
#include <algorithm>
#include <iterator>

#include "driver_agreement/examiner.hpp"

namespace kiln::agreement {
namespace {

/// Bytes that the driver sets aside for a kernel, at least.
std::uint64_t memory_of_threads(const Setting& setting, const KernelFacts& kernel) {
  const std::uint64_t a_thread =
      kernel.private_per_thread + kernel.scratch_per_thread[0] + kernel.scratch_per_thread[1];
  return a_thread * setting.device->properties.threads();
}

bool is_22_43(const Setting& setting) { return setting.driver_build == 24595; }

constexpr Difference kDifferences[] = {
    {"group-size-22.43", "drivers before 24.13 let every kernel have the device's largest group",
     [](const Setting& setting, const Answers& answers) {
       return is_22_43(setting) && answers.driver_fits &&
              (answers.kiln == "K0102" || answers.kiln == "K0110");
     }},
    {"thread-memory-22.43",
     "drivers before 22.49 look neither at a thread's scratch memory nor whether that of all threads fits",
     [](const Setting& setting, const Answers& answers) {
       return is_22_43(setting) && answers.driver_fits &&
              (answers.kiln == "K0115" || answers.kiln == "K0111");
     }},
    {"forgotten-group-size",
     "drivers from 22.53 on take a size other than the required one when it is set twice in a row",
     [](const Setting& setting, const Answers& answers) {
       if (is_22_43(setting) || !answers.launch || !answers.kernel) return false;
       if (!answers.driver_fits && answers.kind != "code") return false;
       const auto& required = answers.kernel->required_group_size;
       return required[0] != 0 &&
              answers.launch->shape.group_size != Extent{required[0], required[1], required[2]};
     }},
    {"cooperative-one",
     "since 25.18 the driver suggests one group for a cooperative launch on Gen12 and Xe-HPG",
     [](const Setting& setting, const Answers& answers) {
       return (answers.kind == "cooperative" || answers.kind == "concurrent") && answers.driver == "1" &&
              setting.driver_build >= 33578 &&
              target_limits(*setting.target).generation <= Generation::xe_hpg;
     }},
    {"zero-bytes-22.43", "22.43 grants allocations of 0 bytes; Kiln refuses them",
     [](const Setting& setting, const Answers& answers) {
       return is_22_43(setting) && answers.allocation && answers.driver_fits && answers.allocation->size == 0;
     }},
    {"alignment", "drivers grant odd and very large alignments, and then do not keep them; Kiln refuses them",
     [](const Setting&, const Answers& answers) {
       return answers.allocation && answers.driver_fits &&
              answers.kiln == "ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT";
     }},
    {"compiler-spills",
     "how much a kernel spills is known when it is compiled: above 256 KiB the compiler refuses the module",
     [](const Setting&, const Answers& answers) {
       return answers.kind == "module" && answers.kiln_fits &&
              answers.what.find("total scratch space exceeds HW supported limit") != std::string::npos;
     }},
    {"machine-memory", "the request is in order, but this machine has not that much memory at the moment",
     [](const Setting& setting, const Answers& answers) {
       if (answers.kind == "kernel")
         return answers.kiln_fits && answers.driver == "the process ended" && answers.kernel &&
                memory_of_threads(setting, *answers.kernel) >> 30 != 0;
       return answers.allocation && answers.kiln_fits && answers.allocation->size >> 30 != 0 &&
              (answers.driver == "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY" ||
               answers.driver == "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
     }},
    {"thread-memory-estimate", "the driver counts more threads than the device tells; Kiln had warned",
     [](const Setting&, const Answers& answers) {
       return answers.kind == "kernel" && answers.warned &&
              answers.driver == "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY";
     }},
    {"slm-32-bit", "the driver keeps the low 32 bits of a `__local` argument's size; Kiln refuses it",
     [](const Setting&, const Answers& answers) {
       return !answers.kiln_fits && answers.launch &&
              std::ranges::any_of(answers.launch->local_bytes, [](auto bytes) { return bytes >> 32 != 0; });
     }},
};

}  // namespace

const Difference* explained(const Setting& setting, const Answers& answers) {
  const auto found = std::ranges::find_if(
      kDifferences, [&](const Difference& each) { return each.applies(setting, answers); });
  return found == std::end(kDifferences) ? nullptr : &*found;
}

}  // namespace kiln::agreement
