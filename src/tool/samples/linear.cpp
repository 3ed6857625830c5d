// SPDX-License-Identifier: MIT
// saxpy.
#include "tool/samples/sample_data.hpp"

namespace kiln::samples {
namespace {

Result<Prepared> prepare_saxpy(const OpenDevice& device, const Choices& choices) {
  const auto grid = choose_grid_without_slm(choices, 1 << 20, 256);
  if (!grid) return tl::unexpected(grid.error());
  auto shared = share<float, 2>(device, {grid->n, grid->n});
  if (!shared) return tl::unexpected(std::move(shared).error());

  const float a = 3;
  const auto buffers = *shared;
  const auto x = (*buffers)[0].span<float>().first(grid->n), y = (*buffers)[1].span<float>().first(grid->n);
  std::mt19937 random(choices.seed);
  fill_small(x, random);
  auto start = std::make_shared<std::vector<float>>(grid->n);
  fill_small(*start, random);

  Prepared prepared = prepared_on(*grid);
  prepared.bytes = 3.0 * sizeof(float) * grid->n;
  prepared.operations = 2.0 * grid->n;
  prepared.launch = [=, n = grid->n, shape = prepared.shape](CommandListRef list, const CheckedKernel& kernel,
                                                             Sync sync) {
    return kiln::launch(list, kernel, {shape.groups, shape.group_size, sync}, a, (*buffers)[0], (*buffers)[1],
                        n);
  };
  expect_each(prepared, y, [=](std::size_t i) { return a * x[i] + (*start)[i]; });
  prepared.reset = [=] { std::ranges::copy(*start, y.begin()); };
  return prepared;
}

}  // namespace

std::span<const Sample> saxpy() {
  static constexpr std::array kSamples{
      Sample{"saxpy", "saxpy", "saxpy", "y = a * x + y over --size floats", prepare_saxpy}};
  return kSamples;
}

}  // namespace kiln::samples
