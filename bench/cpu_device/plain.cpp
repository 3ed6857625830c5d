// SPDX-License-Identifier: MIT
// The work of the kernels as plain loops, which the compiler optimizes with -O3 for this CPU.
#include "plain.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

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

void transpose(const float* in, float* out, std::size_t n) {
  for (std::size_t y = 0; y < n; ++y)
    for (std::size_t x = 0; x < n; ++x) out[y * n + x] = in[x * n + y];
}

void stencil(const float* in, float* out, std::size_t n) {
  for (std::size_t y = 0; y < n; ++y)
    for (std::size_t x = 0; x < n; ++x) {
      const std::size_t at = y * n + x;
      float sum = in[at];
      if (x > 0) sum += in[at - 1];
      if (x + 1 < n) sum += in[at + 1];
      if (y > 0) sum += in[at - n];
      if (y + 1 < n) sum += in[at + n];
      out[at] = sum;
    }
}

void sparse(const std::uint32_t* starts, const std::uint32_t* columns, const float* values, const float* x,
            float* out, std::size_t rows) {
  for (std::size_t row = 0; row < rows; ++row) {
    float sum = 0;
    for (std::size_t i = starts[row]; i < starts[row + 1]; ++i) sum += values[i] * x[columns[i]];
    out[row] = sum;
  }
}

void sort(const std::uint32_t* in, std::uint32_t* out, std::size_t n, std::size_t group) {
  std::copy(in, in + n, out);
  for (std::size_t first = 0; first < n; first += group) std::sort(out + first, out + first + group);
}

void bodies(const float* in, float* out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const float *own = in + 4 * i, *other = in;
    float sum[3] = {};
    for (std::size_t j = 0; j < n; ++j, other += 4) {
      const float x = other[0] - own[0], y = other[1] - own[1], z = other[2] - own[2];
      const float square = x * x + y * y + z * z + 0.01f;
      const float weight = other[3] / (square * std::sqrt(square));
      sum[0] += x * weight;
      sum[1] += y * weight;
      sum[2] += z * weight;
    }
    std::copy(sum, sum + 3, out + 4 * i);
    out[4 * i + 3] = 0;
  }
}

void sums(const std::uint32_t* in, std::uint32_t* out, std::size_t n, std::size_t group) {
  for (std::size_t first = 0; first < n; first += group)
    out[first / group] = std::accumulate(in + first, in + first + group, std::uint32_t{0});
}

}  // namespace kiln::bench
