// SPDX-License-Identifier: MIT
// The inputs of a frame, and the same frame computed by the host in whole numbers.
#include <stdio.h>
#include <stdlib.h>

#include "engine.h"

static uint8_t pixel(uint32_t x, uint32_t y, uint64_t frame) {
  return (uint8_t)((x ^ y) + 3 * (uint32_t)frame + (x * y >> 3));
}

static uint32_t weight(uint32_t x, uint32_t y) { return (x + 2 * y + (x * y >> 2)) & 3; }

void write_image(uint8_t* image, uint32_t size, uint64_t frame) {
  for (uint32_t y = 0; y < size; ++y)
    for (uint32_t x = 0; x < size; ++x) image[(size_t)y * size + x] = pixel(x, y, frame);
}

void write_weights(float* weights, uint32_t size) {
  for (uint32_t y = 0; y < size; ++y)
    for (uint32_t x = 0; x < size; ++x) weights[(size_t)y * size + x] = (float)weight(x, y);
}

static bool same(const char* what, size_t at, uint32_t is, uint32_t expected, char* wrong, size_t room) {
  if (is == expected) return true;
  snprintf(wrong, room, "%s[%zu] is %u, expected %u", what, at, is, expected);
  return false;
}

void compare(const uint32_t* results, uint32_t size, uint64_t frame, char* wrong, size_t room) {
  static const uint32_t taps[kTaps] = {1, 2, 1};
  const size_t pixels = (size_t)size * size;
  const uint32_t* const cumulative = results + pixels;
  uint32_t counted[kBins] = {0}, total = 0;
  *wrong = 0;
  for (uint32_t y = 0; y < size; ++y)
    for (uint32_t x = 0; x < size; ++x) ++counted[pixel(x, y, frame)];
  for (size_t i = 0; i < kBins; ++i) {
    if (i) counted[i] += counted[i - 1];
    if (!same("cumulative", i, cumulative[i], counted[i], wrong, room)) return;
  }
  // With an edge of zeros, which stands for what is outside.
  const size_t pitch = size + 2 * kRadius;
  uint32_t* const product = calloc(pitch * pitch, sizeof *product);
  if (!product) {
    snprintf(wrong, room, "the host has no memory to compare it");
    return;
  }
  for (uint32_t y = 0; y < size; ++y)
    for (uint32_t k = 0; k < size; ++k) {
      uint32_t* const row = product + (y + kRadius) * pitch + kRadius;
      for (uint32_t x = 0; x < size; ++x) row[x] += pixel(k, y, frame) * weight(x, k);
    }
  for (uint32_t y = 0; y < size && !*wrong; ++y)
    for (uint32_t x = 0; x < size; ++x) {
      uint32_t expected = counted[pixel(x, y, frame)];
      for (size_t j = 0; j < kTaps; ++j)
        for (size_t i = 0; i < kTaps; ++i) expected += taps[j] * taps[i] * product[(y + j) * pitch + x + i];
      total += expected;
      const size_t place = (size_t)y * size + x;
      if (!same("filtered", place, results[place], expected, wrong, room)) break;
    }
  free(product);
  if (!*wrong) same("total", 0, results[pixels + kBins], total, wrong, room);
}
