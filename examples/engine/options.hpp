// SPDX-License-Identifier: MIT
// What the engine is told on its command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace engine {

enum class Submission : std::uint8_t {
  automatic,  ///< in order where the driver has it
  in_order,
  barriers,  ///< what every driver has
};

struct Options {
  std::string device;  ///< as KILN_DEVICE; empty: the best there is
  std::string pick;    ///< among the devices of its driver, such as "uuid:…"; empty: the best
  std::uint32_t frames = 8;
  std::uint32_t size = 256;  ///< edge of the images
  std::uint32_t tile = 16;   ///< edge of the tiles of the matrix product
  std::uint32_t threads = 8;
  Submission submission = Submission::automatic;
  std::filesystem::path kernels;  ///< folder
  std::filesystem::path watch;    ///< OpenCL C of `convolve`, taken again when it changes; empty: none
  std::chrono::seconds timeout{60};
  bool check = false, json = false, step = false, list_devices = false;
};

/// The options, or the exit status: 0 when help was asked for, 2 for what cannot be meant.
struct Parsed {
  std::optional<Options> options;
  int status = 0;
};
[[nodiscard]] Parsed parse(int count, char** words);

}  // namespace engine
