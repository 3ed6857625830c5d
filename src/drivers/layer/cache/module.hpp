// SPDX-License-Identifier: MIT
// `--cache`: a program's modules from Kiln's kernel cache.
#pragma once

#include <level_zero/ze_api.h>

#include <string>

#include "drivers/layer/own_log.hpp"

namespace kiln::layer {

/// What the program asks of zeModuleCreate.
struct ModuleCall {
  ze_context_handle_t context;
  ze_device_handle_t device;
  const ze_module_desc_t* description;
  ze_module_handle_t* module;
};

/// Answers it from the cache, where it is on and the module is one that may come from there; else the driver
/// does, by the program's own description. Whatever becomes of the cache, the answer is the driver's, and
/// `log` what it wrote to it. Nothing of the layer's is locked meanwhile. Thread-safe.
[[nodiscard]] ze_result_t create_module(const ModuleCall& call, OwnLog& log);

/// Before the driver is loaded: notes what it finds in the environment.
void prepare_cache();

/// In a child of fork(): the library's locks may be a thread's of its parent.
void forget_cache();

/// For the end of the program; empty: no cache was asked.
[[nodiscard]] std::string cache_summary();

}  // namespace kiln::layer
