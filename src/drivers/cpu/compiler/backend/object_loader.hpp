// SPDX-License-Identifier: MIT
// Links object code into this process.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "drivers/cpu/program.hpp"

namespace kiln::cpu {

/// Object code in executable memory, and its variables. Immutable; thread-safe.
class LoadedObject {
 public:
  virtual ~LoadedObject() = default;
  /// Null address: no such symbol.
  [[nodiscard]] virtual Program::Symbol find(std::string_view name) const = 0;
  /// All symbols that have an address.
  virtual void visit(const std::function<void(std::string_view name, void* address)>& visitor) const = 0;
  /// Bytes of a section of the file; empty when there is none.
  [[nodiscard]] virtual std::string_view section(std::string_view name) const = 0;
  /// All that was loaded, code and variables.
  [[nodiscard]] virtual std::span<const std::byte> memory() const = 0;
};

/// Needs no code generator. `object` must outlive the result. Null, with the reason in `log`, on failure.
/// Throws bad_alloc when there is no memory for the code.
std::unique_ptr<LoadedObject> load_object(std::span<const std::byte> object, std::string& log);

}  // namespace kiln::cpu
