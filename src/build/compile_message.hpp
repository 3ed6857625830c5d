// SPDX-License-Identifier: MIT
// What build_module and kiln-compile say to each other, as values and as bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "build/device_place.hpp"
#include "kiln/module.hpp"

namespace kiln::detail {

struct CompileRequest {
  DevicePlace place;
  std::vector<ModuleInput> inputs;  ///< their code lies in the message that was decoded
  /// Not empty: no module is made, but SPIR-V of the one input, by libocloc for the first of these that it
  /// knows.
  std::vector<std::string> front_end_targets{};
  std::string front_end{};  ///< libocloc's file
};

struct CompileAnswer {
  bool found = false;  ///< the device; else `log` says why not, and the rest is empty
  ze_result_t code = ZE_RESULT_SUCCESS;
  std::string log, last_error;
  std::string compiler;  ///< encode(cache::Identity) there, after the build; of a front end its libraries
  std::vector<std::byte> native;
  std::uint32_t front_end_end = 0;  ///< FrontEndEnd
};

[[nodiscard]] std::vector<std::byte> encode(const CompileRequest& request);
[[nodiscard]] std::vector<std::byte> encode(const CompileAnswer& answer);

/// Nothing for what another release wrote, what is cut off, or has bytes left over. Every read is bounded by
/// the message's size. Pure.
[[nodiscard]] std::optional<CompileRequest> decode_request(std::span<const std::byte> message);
[[nodiscard]] std::optional<CompileAnswer> decode_answer(std::span<const std::byte> message);

}  // namespace kiln::detail
