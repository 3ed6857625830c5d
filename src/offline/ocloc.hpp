// SPDX-License-Identifier: MIT
// ocloc, Intel's offline compiler: one compilation at a time, in a folder of its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "kiln/bake.hpp"
#include "support/process.hpp"

namespace kiln::offline {

enum class SourceLanguage : std::uint8_t { spirv, opencl_c };

struct Compilation {
  std::string
      file;  ///< where the code comes from: OpenCL C finds its headers beside it, and messages name it
  std::span<const std::byte> code;
  SourceLanguage language = SourceLanguage::spirv;
  std::string target;   ///< ocloc's name
  std::string options;  ///< OpenCL build options
  std::stop_token stop{};
};

struct CompileFailure {
  enum class Kind : std::uint8_t {
    no_ocloc,        ///< it is not installed
    no_front_end,    ///< it is, but without the part that compiles OpenCL C
    unknown_target,  ///< this release does not know the product
    refused,         ///< it found something wrong with the code
    broken,          ///< it crashed, took too long, or left no binary
    interrupted,     ///< or stopped
  } kind = Kind::broken;
  std::string target;
  Diagnostic diagnostic;  ///< K0405 or K0406
  std::vector<CompilerMessage> messages{};
};

struct CompiledCode {
  std::vector<std::byte> bytes;
  std::vector<CompilerMessage> messages{};
};
using Compiled = tl::expected<CompiledCode, CompileFailure>;

/// A native binary (zebin) without the IR inside, which a driver for another device would compile in silence.
/// Thread-safe.
[[nodiscard]] Compiled compile_native(const Compilation& source, std::chrono::milliseconds time_limit);

/// The same, and its facts can be read. Thread-safe.
[[nodiscard]] Compiled compile_native_checked(const Compilation& source,
                                              std::chrono::milliseconds time_limit);

/// The IP version with its revision that this release compiles a product for. Nothing: it does not say.
/// Thread-safe.
[[nodiscard]] std::optional<std::uint32_t> ocloc_ip_version(const std::string& target,
                                                            std::chrono::milliseconds time_limit);

/// SPIR-V from OpenCL C. Thread-safe.
[[nodiscard]] Compiled compile_spirv(const Compilation& source, std::chrono::milliseconds time_limit);

/// What a compilation that came to nothing means. Pure.
[[nodiscard]] CompileFailure explain_compile(const Compilation& source, const ProcessResult& result,
                                             std::chrono::milliseconds time_limit);

}  // namespace kiln::offline
