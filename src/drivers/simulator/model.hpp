// SPDX-License-Identifier: MIT
// The products that are simulated, as Intel's driver 22.43 configures them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kiln/product.hpp"

namespace kiln::simulator {

/// How a product's machine differs from others.
struct Model {
  std::string_view name;           ///< of the driver's ProductFamilyOverride
  std::string_view topology;       ///< of its HardwareInfoOverride: slices x sub-slices x EUs
  std::string_view target;         ///< whose instructions: find_target()
  std::uint32_t register_bytes;    ///< of a general register
  std::uint32_t hardware_threads;  ///< of the whole device: shares of its scratch memory
  bool media_walker;               ///< GPGPU_WALKER and the commands of media around it, up to Xe-LP
  bool split_slm_sizes;            ///< SLM of 24, 48 and 96 KiB
};

/// All of them.
[[nodiscard]] std::span<const Model> models();
/// Null: not simulated.
[[nodiscard]] const Model* find_model(std::string_view name);

/// Bytes of SLM for the field of an interface descriptor. Source: computeSlmValues() of driver 22.43.
[[nodiscard]] std::uint32_t slm_bytes(const Model& model, std::uint32_t field);

/// Ticks of the timestamp a second: 83.333 ns each, as the driver believes of all three.
inline constexpr std::uint64_t kTicksPerSecond = 12'000'000;

}  // namespace kiln::simulator
