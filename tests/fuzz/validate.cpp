// SPDX-License-Identifier: MIT
// Fuzz target: the CPU driver's decision on which SPIR-V may be compiled.
#include "drivers/cpu/compiler/frontend/validate.hpp"

#include "fuzz/input.hpp"

FUZZ_TARGET(validate) {
  using namespace kiln;
  std::string log, again;
  const auto module = cpu::validate_spirv(fuzz::bytes(data, size), log);
  fuzz::claim(log.size() < 128 << 10, "the log does not grow with the module");
  fuzz::claim(!module.words.empty() || !log.empty(), "the log says why");
  fuzz::claim(module.words.empty() || log.find("error: ") == log.npos, "what is let through has no error");
  if (!module.words.empty()) {
    const auto second = cpu::validate_spirv(std::as_bytes(std::span(module.words)), again);
    fuzz::claim(second.words == module.words, "what is let through once is let through again");
    fuzz::claim(second.refused.empty(), "what cannot run is gone");
  }
  return 0;
}
