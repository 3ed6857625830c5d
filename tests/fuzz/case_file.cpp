// SPDX-License-Identifier: MIT
// Fuzz target: a description of a kernel's run, and what its arguments are.
#include "tool/kernel/case_file.hpp"

#include "fuzz/input.hpp"
#include "tool/kernel/specification.hpp"

FUZZ_TARGET(case_file) {
  using namespace kiln::tool;
  const auto options = parse_case(kiln::fuzz::text(data, size), "input.yaml", {});
  if (!options) return 0;
  for (const std::string& each : options->arguments) {
    const auto specification = parse_specification(each);
    if (specification && specification->count() <= 4096 && specification->type)
      (void)make_array(*specification, *specification->type, 1);
  }
  return 0;
}
