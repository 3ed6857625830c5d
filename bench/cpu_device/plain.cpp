// SPDX-License-Identifier: MIT
// The work of the kernels as plain loops, which the compiler optimizes with -O3 for this CPU.
#include "plain.hpp"

#include <algorithm>

namespace kiln::bench {

void saxpy(float a, const float* x, float* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}

void matmul(const float* a, const float* b, float* c, std::size_t n) {
  std::fill(c, c + n * n, 0.0f);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
}

void convolve(const float* in, const float* taps, float* out, std::size_t n, std::size_t m) {
  for (std::size_t i = 0; i < n; ++i) {
    float sum = 0;
    for (std::size_t j = 0; j < m; ++j) {
      const std::size_t at = i + j - m / 2;  // wraps round below 0
      if (at < n) sum += taps[j] * in[at];
    }
    out[i] = sum;
  }
}

void count_bytes(const std::uint64_t* in, std::uint32_t* bins, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    for (unsigned shift = 0; shift < 64; shift += 8) ++bins[in[i] >> shift & 0xff];
}

void count_fields(const std::uint64_t* in, std::uint32_t* bins, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    for (unsigned shift = 0; shift < 64; shift += 16) ++bins[in[i] >> shift & 0x3ff];
}

void scan(const std::uint32_t* in, std::uint32_t* out, std::size_t n, std::size_t group) {
  for (std::size_t first = 0; first < n; first += group) {
    std::uint32_t sum = 0;
    for (std::size_t i = first; i < first + group; ++i) out[i] = sum += in[i];
  }
}

}  // namespace kiln::bench
