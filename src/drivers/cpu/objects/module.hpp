// SPDX-License-Identifier: MIT
// Modules and their build logs.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "drivers/cpu/objects/object.hpp"
#include "drivers/cpu/program.hpp"

namespace kiln::cpu {

class Module : public Object {
 public:
  using Handle = ze_module_handle_t;
  explicit Module(std::shared_ptr<const Program> program)
      : Object(HandleKind::module), program(std::move(program)) {}
  ~Module();

  /// Looks a variable up and lets kernels take pointers into it.
  [[nodiscard]] Program::Symbol lend_variable(const char* name);

  std::shared_ptr<const Program> program;

 private:
  std::mutex mutex_;
  std::vector<void*> lent_;
};

/// What a call answers when a build ended so.
[[nodiscard]] ze_result_t code_of(BuildStatus status);

class BuildLog : public Object {
 public:
  using Handle = ze_module_build_log_handle_t;
  BuildLog() : Object(HandleKind::build_log) {}

 private:
  // The log of a failed module reaches the application as the driver's own object even when a loader stands
  // in between, and that loader then takes words of the log for its table: the second one up to release 1.11,
  // this sixth one in 1.32 without driver handles. Both lead to a table that is all null.
  [[maybe_unused]] const void* no_handle_ = nullptr;
  [[maybe_unused]] const void* no_tables_ = kDispatch.tools;

 public:
  std::string text;
};

}  // namespace kiln::cpu
