// SPDX-License-Identifier: MIT
// The list of samples.
#include "tool/samples/samples.hpp"

#include <algorithm>

namespace kiln::samples {

std::span<const Sample> all() {
  static const std::vector<Sample> samples = [] {
    std::vector<Sample> list;
    for (const auto& family : {saxpy(), matmul(), slm_limit(), slm_table(), bank_conflict(), histogram(),
                               convolution(), access_patterns(), access_spaces(), coalescing()})
      list.insert(list.end(), family.begin(), family.end());
    return list;
  }();
  return samples;
}

const Sample* find(std::string_view name) {
  const auto samples = all();
  if (const auto exact = std::ranges::find(samples, name, &Sample::name); exact != samples.end())
    return &*exact;
  const bool in_family = name.find('.') != name.npos;
  const auto found = std::ranges::find_if(samples, [&](const Sample& sample) {
    const std::string_view whole = sample.name;
    return (whole.starts_with(name) && whole[name.size()] == (in_family ? '_' : '.')) ||
           name == std::string(sample.family) + "." + sample.kernel;
  });
  return found == samples.end() ? nullptr : &*found;
}

Error bad_choice(std::string message, std::string help) {
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "kiln run",
               {"K0401", std::move(message), {}, {std::move(help)}});
}

}  // namespace kiln::samples
