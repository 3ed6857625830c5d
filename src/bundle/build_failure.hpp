// SPDX-License-Identifier: MIT
// Why a driver does not build a file, as far as its answer and the file tell.
#pragma once

#include "kiln/bundle.hpp"

namespace kiln::detail {

/// K0109 static SLM, K0203 with the log, K0210 without a word, K0220 a lost device, K0227 the compiler's end.
[[nodiscard]] Error build_failure(const ModuleBuild& build, const std::string& name, BinaryFormat format,
                                  const ModuleFacts& facts, const OpenDevice& device,
                                  const BundleOptions& options);

}  // namespace kiln::detail
