// SPDX-License-Identifier: MIT
// The list of samples.
#include "cli/samples.hpp"

#include <algorithm>
#include <array>

namespace kiln::samples {

std::span<const Sample> all() {
  static constexpr std::array kSamples{
      Sample{"saxpy", "saxpy", "saxpy", "y = a * x + y over --size floats", prepare_saxpy},
      Sample{"matmul", "matmul", "tiled", "c = a * b with tiles in SLM; --slm sets the tile", prepare_matmul},
      Sample{"slm_limit", "slm_limit", "dynamic_tile",
             "SLM that grows with the group: 512 B a work-item, or --slm", prepare_slm_limit},
      Sample{"slm_table.strided", "slm_table", "strided", "a table of 256 copied to SLM once a work-group",
             prepare_strided},
      Sample{"slm_table.every_item", "slm_table", "every_item",
             "the same, wastefully: each work-item copies all of it", prepare_every_item},
      Sample{"slm_table.one_each", "slm_table", "one_each", "group as large as the table: one entry each",
             prepare_one_each},
      Sample{"slm_table.one_each_smaller", "slm_table", "one_each_smaller",
             "table smaller than the group; --slm sets it", prepare_one_each_smaller},
      Sample{"slm_table.one_each_bigger", "slm_table", "one_each_bigger",
             "table up to 4 groups large; --slm sets it", prepare_one_each_bigger},
      Sample{"slm_table.one_each_any", "slm_table", "one_each_any", "table of any size; --slm sets it",
             prepare_one_each_any}};
  return kSamples;
}

const Sample* find(std::string_view name) {
  const auto samples = all();
  const auto found = std::ranges::find_if(
      samples, [&](const Sample& sample) { return name == sample.name || name == sample.family; });
  return found == samples.end() ? nullptr : &*found;
}

Error bad_choice(std::string message, std::string help) {
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "kiln run",
               {"K0401", std::move(message), {}, {std::move(help)}});
}

}  // namespace kiln::samples
