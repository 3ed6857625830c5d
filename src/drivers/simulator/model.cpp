// SPDX-License-Identifier: MIT
// The table of simulated products.
#include "drivers/simulator/model.hpp"

#include <algorithm>
#include <array>

namespace kiln::simulator {
namespace {

constexpr std::array<Model, 3> kModels{{
    {"tgllp", "1x6x16", "tgllp", 32, 6 * 16 * 7, true, false},
    {"dg2", "8x4x16", "dg2-g10", 32, 8 * 4 * 16 * 8, false, false},
    {"pvc", "8x8x8", "pvc", 64, 8 * 8 * 8 * 8, false, true},
}};

}  // namespace

std::span<const Model> models() { return kModels; }

const Model* find_model(std::string_view name) {
  const auto* const found = std::ranges::find(kModels, name, &Model::name);
  return found == kModels.end() ? nullptr : found;
}

std::uint32_t slm_bytes(const Model& model, std::uint32_t field) {
  constexpr std::uint32_t kKiB = 1024;
  if (field == 0) return 0;
  if (field <= 7) return kKiB << (field - 1);
  if (!model.split_slm_sizes) return field == 8 ? 128 * kKiB : 0;
  switch (field) {
    case 8:
      return 24 * kKiB;
    case 9:
      return 48 * kKiB;
    case 10:
      return 96 * kKiB;
    case 11:
      return 128 * kKiB;
    default:
      return 0;
  }
}

}  // namespace kiln::simulator
