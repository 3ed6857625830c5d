// SPDX-License-Identifier: MIT
// A kernel of the user's, from its file to something that can be launched.
#pragma once

#include "tool/common/session.hpp"
#include "tool/kernel/match.hpp"

namespace kiln::tool {

/// FILE[:KERNEL]. Pure.
struct KernelName {
  std::string file, kernel;  ///< `kernel` empty: the only one of the file
};
[[nodiscard]] KernelName parse_kernel_name(const std::string& text);

/// Does the text name a kernel file rather than a sample? By its ending, a slash in it, or a file that is
/// there.
[[nodiscard]] bool is_kernel_file(const std::string& text);

/// A file, and what was found in it.
struct KernelCode {
  std::string path;               ///< as the user wrote it
  std::vector<KernelFile> files;  ///< for Bundle::load
  std::vector<std::byte> spirv;   ///< empty: there is none
  std::string source;             ///< OpenCL C, where the file is that
  KernelFacts facts;
  Signature signature;
};

/// Reads the file; OpenCL C is compiled to SPIR-V by ocloc, with `flags` and for what the device offers.
/// `lines`: with places in the source. Warnings of the compiler go to stderr. Errors: K0201, K0209 a file
/// that cannot be read, K0405, K0406 what does not compile, K0431 no kernel of that name.
[[nodiscard]] Result<KernelCode> read_kernel(const KernelName& name, const OpenDevice& device,
                                             const std::string& flags, bool lines);

/// The same without a device: for `kiln inspect`, `kiln check` and whoever else asks how to call it. Pure.
[[nodiscard]] std::vector<Signature> signatures_of(std::span<const std::byte> file);

}  // namespace kiln::tool
