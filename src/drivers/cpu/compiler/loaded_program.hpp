// SPDX-License-Identifier: MIT
// Programs whose code is all there: native binaries, linked into this process.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "drivers/cpu/compiler/backend/facts_section.hpp"
#include "drivers/cpu/compiler/backend/object_loader.hpp"
#include "drivers/cpu/program.hpp"
#include "drivers/cpu/runtime/loaded_kernel.hpp"

namespace kiln::cpu {

inline constexpr const char* kFactsSection = ".kiln.facts";
inline constexpr const char* kPlacesSection = ".kiln.places";
/// Where a binary has the object code of kernels that were compiled on their own.
std::string part_section(std::size_t index);

bool is_sub_group_size(std::uint32_t size);

/// Finds the code of the kernel of that number, which is that of its entry function, in `object`.
bool find_kernel(const LoadedObject& object, const DescribedKernel& described, std::size_t index,
                 LoadedKernel& loaded, std::string& log);

/// Links a sealed binary; `otherwise` is the status when that fails.
BuildResult load_program(std::vector<std::byte> binary, BuildStatus otherwise, std::string log);

}  // namespace kiln::cpu
