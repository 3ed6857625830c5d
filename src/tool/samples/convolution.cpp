// SPDX-License-Identifier: MIT
// convolution: weighted sums of neighbours, from global memory and from SLM.
#include "tool/samples/sample_data.hpp"

namespace kiln::samples {
namespace {

constexpr std::uint64_t kMostTaps = 1 << 16;  // their sums stay exact in float

/// Inputs that exist between `first` and `end`, of n.
std::uint64_t inside(std::int64_t first, std::int64_t end, std::int64_t n) {
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, std::min(end, n) - std::max<std::int64_t>(first, 0)));
}

/// Each input adds its share to the outputs that it reaches, in double: the other way round than in the
/// kernels.
std::vector<float> convolve(std::span<const float> in, std::span<const float> taps) {
  std::vector<double> sums(in.size() + taps.size());
  for (std::size_t i = 0; i < in.size(); ++i)
    for (std::size_t j = 0; j < taps.size(); ++j)
      sums[i + taps.size() - 1 - j] += static_cast<double>(in[i]) * taps[j];
  const auto first = sums.begin() + static_cast<std::ptrdiff_t>(taps.size() - 1 - taps.size() / 2);
  return {first, first + static_cast<std::ptrdiff_t>(in.size())};
}

Result<Prepared> prepare(const OpenDevice& device, const Choices& choices, std::uint64_t taps,
                         bool from_slm) {
  const auto grid =
      from_slm ? choose_grid(choices, 100'000, 256) : choose_grid_without_slm(choices, 100'000, 256);
  if (!grid) return tl::unexpected(grid.error());
  if (choices.slm) {
    // Of (group + 2 * (taps / 2)) * 4 bytes the largest even or odd number of taps, whichever the sample has.
    const std::uint64_t words = *choices.slm / sizeof(float),
                        halo = words < grid->group ? 0 : (words - grid->group) / 2;
    taps = 2 * halo + taps % 2;
    if (words < grid->group || taps < 1 || taps > kMostTaps)
      return tl::unexpected(
          bad_choice("--slm " + std::to_string(*choices.slm) + " leaves no taps, or too many",
                     "give 4 bytes a work-item of the group and 8 for each two taps, at most " +
                         std::to_string(kMostTaps) + " taps"));
  }
  auto shared = share<float, 3>(device, {grid->n, taps, grid->n});
  if (!shared) return tl::unexpected(std::move(shared).error());
  const auto buffers = *shared;
  const auto in = (*buffers)[0].span<float>().first(grid->n),
             weights = (*buffers)[1].span<float>().first(taps),
             out = (*buffers)[2].span<float>().first(grid->n);
  std::mt19937 random(choices.seed);
  fill_small(in, random);
  fill_small(weights, random);

  const auto n = static_cast<std::int64_t>(grid->n), halo = static_cast<std::int64_t>(taps / 2);
  std::uint64_t reads = 0;
  if (from_slm)
    for (std::int64_t first = 0; first < n; first += grid->group)
      reads += inside(first - halo, first + grid->group + halo, n);
  else
    for (std::int64_t shift = -halo; shift < static_cast<std::int64_t>(taps) - halo; ++shift)
      reads += inside(shift, n + shift, n);

  Prepared prepared = prepared_on(*grid);
  const LocalMemory tile{(grid->group + 2 * (taps / 2)) * sizeof(float)};
  if (from_slm) prepared.slm = tile.bytes;
  prepared.bytes = static_cast<double>(in.size_bytes() + weights.size_bytes() + out.size_bytes());
  prepared.operations = 2.0 * grid->n * static_cast<double>(taps);
  prepared.predicted = {{"reads of the input", reads, Counter::reads}};
  prepared.launch = [=, n = grid->n, m = static_cast<std::uint32_t>(taps), shape = prepared.shape](
                        CommandListRef list, const CheckedKernel& kernel, Sync sync) {
    const Launch what{shape.groups, shape.group_size, sync};
    const auto& [in_buffer, taps_buffer, out_buffer] = *buffers;
    if (!from_slm) return kiln::launch(list, kernel, what, in_buffer, taps_buffer, out_buffer, n, m);
    return kiln::launch(list, kernel, what, in_buffer, taps_buffer, out_buffer, n, m, tile);
  };
  prepared.answer = std::as_bytes(out);
  prepared.reset = [=] { std::ranges::fill(out, -0.5f); };  // no sum of whole numbers
  prepared.verify = [=] { return first_difference<float>(out, convolve(in, weights)); };
  return prepared;
}

template <std::uint64_t kTaps, bool kFromSlm>
Result<Prepared> prepare_taps(const OpenDevice& device, const Choices& choices) {
  return prepare(device, choices, kTaps, kFromSlm);
}

}  // namespace

std::span<const Sample> convolution() {
  static constexpr std::array kSamples{
      Sample{"convolution.global_1d", "convolution", "global_1d", "17 taps, each input read 17 times",
             prepare_taps<17, false>},
      Sample{"convolution.global_1d_even", "convolution", "global_1d", "the same with 16 taps",
             prepare_taps<16, false>},
      Sample{"convolution.slm_1d", "convolution", "slm_1d",
             "17 taps, each input read to SLM once a work-group; --slm sets the taps",
             prepare_taps<17, true>},
      Sample{"convolution.slm_1d_even", "convolution", "slm_1d", "the same with 16 taps",
             prepare_taps<16, true>}};
  return kSamples;
}

}  // namespace kiln::samples
