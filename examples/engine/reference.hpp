// SPDX-License-Identifier: MIT
// The inputs of frames, and what must come out, by the host alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "frame.hpp"

namespace engine {

void write_image(std::span<std::uint8_t> image, std::uint32_t size, std::uint64_t frame);
void write_weights(std::span<float> weights, std::uint32_t size);

/// What differs from the host's own results, in words; empty: nothing.
[[nodiscard]] std::string compare(const Results& results, std::uint32_t size, std::uint64_t frame);

}  // namespace engine
