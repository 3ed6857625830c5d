// SPDX-License-Identifier: MIT
// How a kernel is called: the arguments of one in a file, with their types, and what it does with their
// memory.
#pragma once

#include <span>

#include "kiln/binary.hpp"
#include "kiln/result.hpp"
#include "tool/kernel/element.hpp"

namespace kiln::tool {

/// What a kernel does with the memory behind a pointer, by its instructions: what cannot be followed counts
/// as both.
enum class Access : std::uint8_t { none, read, write, both };
[[nodiscard]] const char* to_string(Access access);

struct KernelParameter {
  ArgumentFacts facts;
  std::string type;  ///< as its source says it: "float*"; empty: not known
  std::optional<ElementType>
      element;                   ///< of the value, or behind the pointer; nothing: a struct, or not known
  Access access = Access::both;  ///< of global pointers

  [[nodiscard]] bool is(ArgumentKind kind) const { return facts.kind == kind; }
};

struct Signature {
  std::string kernel;
  std::vector<KernelParameter> parameters;
  bool known = false;           ///< the list is complete
  bool requires_group = false;  ///< the kernel takes one size of work-groups alone
};

/// Of a kernel whose facts are known. `spirv`: the module that it is of, or empty; what is in it is believed
/// as far as it goes with the facts. Pure.
[[nodiscard]] Signature signature_of(const KernelFacts& kernel, std::span<const std::byte> spirv);

/// "x": by name where it has one, else by place. Pure.
[[nodiscard]] std::string label_of(const Signature& signature, std::size_t index);
/// "float* (read)", "uint", "16 bytes". Pure.
[[nodiscard]] std::string shown_type(const KernelParameter& parameter);

/// "1"; "TYPE:1" where the type is not known, "file:VALUE.bin" of a struct. Pure.
[[nodiscard]] std::string example_value(const KernelParameter& parameter);

/// "kiln run FILE:KERNEL --arg x=random:float:N …": what to fill in is in capitals. Pure.
[[nodiscard]] std::string call_line(const std::string& file, const Signature& signature);

/// "saxpy(float a, float* x (read), uint n)". Pure.
[[nodiscard]] std::string shown_signature(const Signature& signature);

}  // namespace kiln::tool
