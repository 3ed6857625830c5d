// SPDX-License-Identifier: MIT
// OpenCL C to SPIR-V by libocloc, which is opened at run time; no file is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/device.hpp"
#include "kiln/manifest.hpp"

namespace kiln::detail {

enum class FrontEndEnd : std::uint8_t {
  compiled,
  refused,         ///< it found something wrong with the code, or with the options
  no_ocloc,        ///< it cannot be opened
  no_front_end,    ///< it can, but lacks the part that compiles OpenCL C
  unknown_target,  ///< it knows none of the targets
  broken,          ///< it left nothing, and said nothing
};

struct FrontEndResult {
  FrontEndEnd end = FrontEndEnd::broken;
  std::string log;
  std::vector<std::byte> spirv;
  Manifest libraries;  ///< those of it that are mapped now, as front_end_fields() names them
};

struct FrontEndRequest {
  std::string library;  ///< libocloc's file, or its name for the dynamic linker
  std::string_view text;
  std::string options;
  std::vector<std::string> targets;  ///< ocloc's names; the first that it knows
};

/// Compiles in this process, which what it is given can end. Thread-safe as libocloc is: one at a time.
[[nodiscard]] FrontEndResult run_front_end(const FrontEndRequest& request);

/// What a device's SPIR-V is made for, the most fitting first.
[[nodiscard]] std::vector<std::string> front_end_targets(const DeviceProperties& device, bool fp64);

/// Of build options those for OpenCL C, which are not for a driver, and those for what becomes of the SPIR-V.
/// Pure.
struct SplitOptions {
  std::string front_end, back_end;
  std::string refused;  ///< one that names files, which only Source may; empty: there is none
};
[[nodiscard]] SplitOptions split_options(std::string_view flags);

}  // namespace kiln::detail
