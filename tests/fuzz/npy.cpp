// SPDX-License-Identifier: MIT
// Fuzz target: a file of NumPy. What is read is written, and read again as the same.
#include "tool/kernel/npy.hpp"

#include "fuzz/input.hpp"
#include "tool/kernel/summary.hpp"

FUZZ_TARGET(npy) {
  using namespace kiln::tool;
  const auto array = read_npy(kiln::fuzz::bytes(data, size), "input");
  if (!array) return 0;
  const auto again = read_npy(write_npy(*array), "input");
  kiln::fuzz::claim(again && again->shape == array->shape && again->bytes == array->bytes,
                    "it is written as it was read");
  kiln::fuzz::claim(compare_arrays(*array, *again, {}).count == 0, "it equals itself");
  (void)summary_text(*array);
  (void)summary_json(*array);
  return 0;
}
