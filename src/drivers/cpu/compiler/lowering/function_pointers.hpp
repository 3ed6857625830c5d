// SPDX-License-Identifier: MIT
// Calls through pointers: which functions of a module may be called so, and the check before each such call.
#pragma once

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/cpu/program.hpp"

namespace kiln::cpu {

/// Functions with a body whose address is taken, and with `exported` all that other modules may name.
llvm::DenseSet<llvm::Function*> callable_functions(llvm::Module& module, bool exported);

/// Turns calls of these functions, which other modules define, into calls through variables that are null
/// until the modules are linked. False where more than calls refers to one.
bool import_functions(llvm::Module& module, const std::vector<llvm::Function*>& functions, std::string& log);

/// Puts a check before each call through a pointer: what is no callable function of those parameters is not
/// called, and ends the launch. True when there are such calls.
bool guard_pointer_calls(llvm::Module& module);

/// Symbol of a callable function: its name and what it takes and returns, and whether other modules may name
/// it.
std::string callable_symbol(const llvm::Function& function, bool exported);

struct CallableName {
  std::uint64_t signature;
  std::string_view name;
  bool exported = false;
};
/// Nothing when the symbol is another's.
std::optional<CallableName> parse_callable(std::string_view symbol);
/// The same of a variable that stands for an imported function.
std::optional<CallableName> parse_import(std::string_view symbol);

/// Functions that kernels may call through pointers, for as long as this lives. Process-wide; thread-safe.
class CallableFunction {
 public:
  CallableFunction(const void* address, std::uint64_t signature);
  CallableFunction(CallableFunction&& other) noexcept;
  CallableFunction(const CallableFunction&) = delete;
  CallableFunction& operator=(const CallableFunction&) = delete;
  ~CallableFunction();

 private:
  const void* address_;
};

/// The variable through which kernels call a function of another module: null again when that one is gone.
/// Thread-safe.
class ImportSlot {
 public:
  ImportSlot(void** place, std::uint64_t signature) : place_(place), signature_(signature) {}
  ImportSlot(const ImportSlot&) = delete;
  ImportSlot& operator=(const ImportSlot&) = delete;
  ~ImportSlot() { link(nullptr); }

  [[nodiscard]] std::uint64_t signature() const { return signature_; }
  [[nodiscard]] bool linked() const;
  /// Null, or the address of a CallableFunction.
  void link(void* function) const;

 private:
  void** const place_;
  const std::uint64_t signature_;
};

/// What a kernel on this thread called that is none, since the last call of this; empty when nothing.
[[nodiscard]] std::string take_wrong_call();

}  // namespace kiln::cpu

/// 1 when a function of that signature stands there and may be called; compiled code asks.
extern "C" std::uint32_t kiln_callable(const void* address, std::uint64_t signature);
