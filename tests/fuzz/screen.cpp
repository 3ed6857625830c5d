// SPDX-License-Identifier: MIT
// Fuzz target: the CPU driver's decision on which SPIR-V may be compiled.
#include "cpu_driver/program/screen.hpp"

#include "fuzz/input.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kiln;
  std::string log, again;
  const auto words = cpu::screen_spirv(fuzz::bytes(data, size), log);
  fuzz::claim(log.size() < 128 << 10, "the log does not grow with the module");
  fuzz::claim(words.empty() == !log.empty(), "the log says why, and nothing else");
  fuzz::claim(words.empty() || cpu::screen_spirv(std::as_bytes(std::span(words)), again) == words,
              "what is let through once is let through again");
  return 0;
}
