// SPDX-License-Identifier: MIT
// Keeps the last error's text for each thread.
#include "drivers/cpu/objects/last_error.hpp"

#include <utility>

namespace kiln::cpu {
namespace {
thread_local std::string text_of_thread;
}

void set_last_error(std::string text) { text_of_thread = std::move(text); }

const char* last_error() { return text_of_thread.c_str(); }

std::string slm_too_large(std::uint64_t wanted, std::uint64_t available) {
  return "Size of SLM (" + std::to_string(wanted) + ") larger than available (" + std::to_string(available) +
         ")";
}

}  // namespace kiln::cpu
