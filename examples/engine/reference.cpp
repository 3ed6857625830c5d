// SPDX-License-Identifier: MIT
// Computes a frame as its definition says, in whole numbers.
#include "reference.hpp"

#include <array>

namespace engine {
namespace {

std::uint8_t pixel(std::uint32_t x, std::uint32_t y, std::uint64_t frame) {
  return static_cast<std::uint8_t>((x ^ y) + 3 * static_cast<std::uint32_t>(frame) + (x * y >> 3));
}

std::uint32_t weight(std::uint32_t x, std::uint32_t y) { return (x + 2 * y + (x * y >> 2)) & 3; }

std::vector<std::uint32_t> product_of(std::uint32_t size, std::uint64_t frame) {
  std::vector<std::uint32_t> product(std::size_t{size} * size);
  for (std::uint32_t y = 0; y < size; ++y)
    for (std::uint32_t k = 0; k < size; ++k) {
      const std::uint32_t left = pixel(k, y, frame);
      for (std::uint32_t x = 0; x < size; ++x) product[std::size_t{y} * size + x] += left * weight(x, k);
    }
  return product;
}

std::string differs(const char* what, std::size_t at, std::uint32_t is, std::uint32_t expected) {
  return std::string(what) + "[" + std::to_string(at) + "] is " + std::to_string(is) + ", expected " +
         std::to_string(expected);
}

}  // namespace

void write_image(std::span<std::uint8_t> image, std::uint32_t size, std::uint64_t frame) {
  for (std::uint32_t y = 0; y < size; ++y)
    for (std::uint32_t x = 0; x < size; ++x) image[std::size_t{y} * size + x] = pixel(x, y, frame);
}

void write_weights(std::span<float> weights, std::uint32_t size) {
  for (std::uint32_t y = 0; y < size; ++y)
    for (std::uint32_t x = 0; x < size; ++x)
      weights[std::size_t{y} * size + x] = static_cast<float>(weight(x, y));
}

std::string compare(const Results& results, std::uint32_t size, std::uint64_t frame) {
  std::array<std::uint32_t, kBins> cumulative{};
  for (std::uint32_t y = 0; y < size; ++y)
    for (std::uint32_t x = 0; x < size; ++x)
      for (std::uint32_t bin = pixel(x, y, frame); bin < kBins; ++bin) ++cumulative[bin];
  for (std::size_t i = 0; i < kBins; ++i)
    if (results.cumulative[i] != cumulative[i])
      return differs("cumulative", i, results.cumulative[i], cumulative[i]);

  const auto product = product_of(size, frame);
  const auto at = [&](std::int64_t x, std::int64_t y) -> std::uint32_t {
    const bool inside = x >= 0 && y >= 0 && x < size && y < size;
    return inside ? product[static_cast<std::size_t>(y * size + x)] : 0;
  };
  constexpr int kReach = kRadius;
  std::uint32_t total = 0;
  for (std::uint32_t y = 0; y < size; ++y)
    for (std::uint32_t x = 0; x < size; ++x) {
      std::uint32_t expected = cumulative[pixel(x, y, frame)];
      for (int j = -kReach; j <= kReach; ++j)
        for (int i = -kReach; i <= kReach; ++i)
          expected += static_cast<std::uint32_t>(kTaps[j + kReach] * kTaps[i + kReach]) * at(x + i, y + j);
      total += expected;
      const std::size_t place = std::size_t{y} * size + x;
      if (results.filtered[place] != expected)
        return differs("filtered", place, results.filtered[place], expected);
    }
  return results.total == total ? "" : differs("total", 0, results.total, total);
}

}  // namespace engine
