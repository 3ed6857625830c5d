// SPDX-License-Identifier: MIT
// The archive of `kiln exec --capture`: what belongs together is added at once, or not at all.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace kiln::layer {

struct CaptureMember {
  std::string name;  ///< see is_member_name()
  std::span<const std::byte> content;
};

/// Adds to the file at `path`, which is opened for this alone: a program closes descriptors that it does not
/// know. The first process that adds something has the file for itself. Empty: done; else why not, and the
/// file is as it was before. One thread at a time.
[[nodiscard]] std::string add_to_capture(const std::string& path, std::span<const CaptureMember> members);

}  // namespace kiln::layer
