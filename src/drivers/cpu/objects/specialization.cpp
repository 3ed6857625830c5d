// SPDX-License-Identifier: MIT
#include "drivers/cpu/objects/specialization.hpp"

#include <cstring>

#include "binary/constant_sizes.hpp"

namespace kiln::cpu {

std::vector<SpecializationConstant> read_constants(std::span<const std::byte> spirv,
                                                   const ze_module_constants_t& constants, std::string& log) {
  std::vector<SpecializationConstant> values;
  if (constants.numConstants == 0 || !constants.pConstantIds || !constants.pConstantValues) return values;
  const auto sizes = detail::constant_sizes(spirv);
  for (std::uint32_t i = 0; i < constants.numConstants; ++i) {
    const std::uint32_t id = constants.pConstantIds[i];
    const void* value = constants.pConstantValues[i];
    const auto found = sizes.find(id);
    if (!value || found == sizes.end() || found->second == 0 || found->second > sizeof(std::uint64_t)) {
      log += "warning: specialization constant " + std::to_string(id) +
             " is not in the module and has no effect\n";
      continue;
    }
    SpecializationConstant constant{id, 0};
    std::memcpy(&constant.bits, value, found->second);
    values.push_back(constant);
  }
  return values;
}

}  // namespace kiln::cpu
