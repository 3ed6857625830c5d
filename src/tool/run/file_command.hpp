// SPDX-License-Identifier: MIT
// What `kiln run FILE` does beyond one run, each with the options parsed and the exit status as the answer.
#pragma once

#include "tool/run/file_run.hpp"

namespace kiln::tool {

/// `--sweep`: as K0430, and as FileRun::create().
[[nodiscard]] Result<int> run_sweep(const RunOptions& options, const FileRequest& request);
/// `--against`: the other runs in a process of its own, since one process has one product of a kind.
[[nodiscard]] Result<int> run_against(const RunOptions& options, FileRequest request);

/// Native code for a product, as ocloc makes it of the kernel's SPIR-V; nothing where it does not.
[[nodiscard]] std::optional<KernelFacts> native_code_of(const KernelCode& code, const std::string& flags,
                                                        const Target& target);

}  // namespace kiln::tool
