// SPDX-License-Identifier: MIT
// A device that shares no compiler with Kiln or Intel: PoCL's CPU device, through OpenCL.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "differential/answers.hpp"

namespace kiln::test {

class Pocl {
 public:
  virtual ~Pocl() = default;
  /// Of the kernel `test`, with the data of that seed. Empty, with the reason in `why`, where PoCL does not
  /// build or run it.
  virtual std::optional<Answers> run(const GeneratedKernel& kernel, std::uint64_t seed, std::string& why) = 0;
};

/// Null where PoCL is not installed, or Kiln was built without OpenCL.
[[nodiscard]] std::unique_ptr<Pocl> open_pocl();

}  // namespace kiln::test
