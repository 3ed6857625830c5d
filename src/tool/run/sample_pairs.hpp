// SPDX-License-Identifier: MIT
// What `kiln run SAMPLE` does beyond one run, each with the exit status as the answer.
#pragma once

#include "tool/common/session.hpp"
#include "tool/samples/samples.hpp"

namespace kiln::tool {

/// `--sweep`: each size that the sample takes, compared with the host's answer.
[[nodiscard]] Result<int> sweep_sample(const samples::Sample& sample, const RunOptions& options);

/// `--against`: another sample, or group=SIZE, on the same input; with --counters what each does with memory.
[[nodiscard]] Result<int> compare_samples(const samples::Sample& sample, const RunOptions& options);

}  // namespace kiln::tool
