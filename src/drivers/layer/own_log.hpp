// SPDX-License-Identifier: MIT
// A build log, also where the program does not ask for it.
#pragma once

#include <level_zero/ze_api.h>

#include <algorithm>
#include <string>

#include "drivers/layer/real_driver.hpp"

namespace kiln::layer {

/// The driver gets a place of its own for it: what stands in the caller's is anything until a driver writes
/// there, and it may not.
class OwnLog {
 public:
  explicit OwnLog(ze_module_build_log_handle_t* of_caller) : of_caller_(of_caller) {}
  OwnLog(OwnLog&&) = delete;
  /// The caller has it from here on, who asked for it.
  ~OwnLog() {
    if (log_ && of_caller_)
      *of_caller_ = log_;
    else
      drop();
  }
  [[nodiscard]] ze_module_build_log_handle_t* place() { return &log_; }
  /// Of a build that the caller never hears of.
  void drop() {
    const Api* const api = log_ ? real_api() : nullptr;
    if (api) api->zeModuleBuildLogDestroy(log_);
    log_ = nullptr;
  }
  [[nodiscard]] std::string text() const {
    const Api* api = real_api();
    std::size_t size = 0;
    std::string text;
    if (!api || !log_ || api->zeModuleBuildLogGetString(log_, &size, nullptr) != ZE_RESULT_SUCCESS)
      return text;
    text.resize(size);
    if (size == 0 || api->zeModuleBuildLogGetString(log_, &size, text.data()) != ZE_RESULT_SUCCESS) return {};
    text.resize(std::min(text.find('\0'), text.size()));
    return text;
  }

 private:
  ze_module_build_log_handle_t log_ = nullptr;
  ze_module_build_log_handle_t* of_caller_;
};

}  // namespace kiln::layer
