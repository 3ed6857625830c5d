// SPDX-License-Identifier: MIT
// saxpy.
#include <array>

#include "cli/sample_data.hpp"

namespace kiln::samples {

Result<Prepared> prepare_saxpy(const OpenDevice& device, const Choices& choices) {
  if (choices.slm) return tl::unexpected(bad_choice("saxpy uses no SLM", "leave --slm out"));
  auto n = whole("--size", choices.size.value_or(1 << 20), 1, kLargestCount);
  if (!n) return tl::unexpected(std::move(n).error());
  auto group = whole("--group", choices.group.value_or(256), 1, kLargestGroup);
  if (!group) return tl::unexpected(std::move(group).error());
  auto shared = share<float, 2>(device, {*n, *n});
  if (!shared) return tl::unexpected(std::move(shared).error());

  const float a = 3;
  const auto buffers = *shared;
  auto x = (*buffers)[0].span<float>(), y = (*buffers)[1].span<float>();
  std::mt19937 random(choices.seed);
  fill_small(x, random);
  auto start = std::make_shared<std::vector<float>>(*n);
  fill_small(*start, random);

  Prepared prepared;
  prepared.shape = {{static_cast<std::uint32_t>(divide_up(*n, *group))}, {*group}};
  prepared.elements = *n;
  prepared.bytes = 3.0 * sizeof(float) * *n;
  prepared.operations = 2.0 * *n;
  prepared.reset = [=] { std::ranges::copy(*start, y.begin()); };
  prepared.launch = [=, n = *n, shape = prepared.shape](CommandListRef list, const CheckedKernel& kernel,
                                                        Sync sync) {
    return kiln::launch(list, kernel, {shape.groups, shape.group_size, sync}, a, (*buffers)[0], (*buffers)[1],
                        n);
  };
  prepared.verify = [=] {
    std::vector<float> wanted(start->size());
    for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = a * x[i] + (*start)[i];
    return first_difference<float>(y, wanted);
  };
  return prepared;
}

}  // namespace kiln::samples
