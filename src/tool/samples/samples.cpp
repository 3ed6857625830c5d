// SPDX-License-Identifier: MIT
// The list of samples.
#include "tool/samples/samples.hpp"

#include <algorithm>

#include "support/nearest.hpp"

namespace kiln::samples {

std::span<const Sample> all() {
  static const std::vector<Sample> samples = [] {
    std::vector<Sample> list;
    for (const auto& family :
         {saxpy(), matmul(), slm_limit(), slm_table(), bank_conflict(), histogram(), convolution(),
          access_patterns(), access_spaces(), access_control(), coalescing(), share_values(), slm_scatter()})
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

Error unknown_sample(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Sample& sample : all()) names.emplace_back(sample.name);
  auto help = detail::did_you_mean(name, names);
  help.emplace_back("`kiln run --list` names them");
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "kiln run",
               {"K0401", "there is no sample kernel `" + name + "`", {}, std::move(help)});
}

}  // namespace kiln::samples
