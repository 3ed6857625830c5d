// SPDX-License-Identifier: MIT
// libiga64, Intel's assembler and disassembler for native code, opened at run time: its text for code bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>

#include "kiln/diagnostic.hpp"
#include "kiln/product.hpp"

namespace kiln::xe {

/// libiga64's number for a product's instruction set; 0: it has none. Pure. Source: iga.h of
/// intel/intel-graphics-compiler, translate_platform_base.h of intel/compute-runtime 26.31.
[[nodiscard]] std::uint32_t instruction_set(const Target& target);

/// Why there is no text.
struct NoText {
  enum class Kind : std::uint8_t {
    no_library,       ///< libiga64 is not installed
    not_the_library,  ///< a file of that name lacks the functions
    unknown_target,   ///< this release does not know the instruction set
    undecodable,      ///< the code bytes are no instructions
    unexpected_text,  ///< it wrote what Kiln does not understand
    ended,            ///< the process that asked it ended
    timed_out,        ///< the process that asked it took too long
  } kind = Kind::no_library;
  std::string reason{};

  /// K0440 (the library) or K0441 (the code). `what` names the kernel and its file. Pure.
  [[nodiscard]] Diagnostic diagnostic(const std::string& what) const;
};

/// The library, never unloaded. Thread-safe: each call has a context of its own.
class Disassembler {
 public:
  [[nodiscard]] static tl::expected<Disassembler, NoText> open();
  /// The text of what `ocloc disasm` writes: a line an instruction, labels by their offset in bytes. Damaged
  /// code is an error; no input is known to crash the library, and none may be trusted not to.
  [[nodiscard]] tl::expected<std::string, NoText> text(std::span<const std::byte> code,
                                                       std::uint32_t instruction_set) const;
  /// One instruction, of 8 or 16 bytes; what follows them is not looked at. Numbers of floats are bits,
  /// labels their distance in bytes. Empty: no instruction.
  [[nodiscard]] tl::expected<std::string, NoText> line(std::span<const std::byte, 16> code,
                                                       std::uint32_t instruction_set) const;
  /// "1.1.0", as the library writes it.
  [[nodiscard]] std::string version() const;

 private:
  struct Functions;
  explicit Disassembler(const Functions* functions) : functions_(functions) {}
  const Functions* functions_;
};

}  // namespace kiln::xe
