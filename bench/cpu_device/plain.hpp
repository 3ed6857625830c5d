// SPDX-License-Identifier: MIT
// The work of the kernels as plain loops on one thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kiln::bench {

void saxpy(float a, const float* x, float* y, std::size_t n);
void matmul(const float* a, const float* b, float* c, std::size_t n);
void convolve(const float* in, const float* taps, float* out, std::size_t n, std::size_t m);
void count_bytes(const std::uint64_t* in, std::uint32_t* bins, std::size_t n);
void count_fields(const std::uint64_t* in, std::uint32_t* bins, std::size_t n);
void scan(const std::uint32_t* in, std::uint32_t* out, std::size_t n, std::size_t group);
void transpose(const float* in, float* out, std::size_t n);
void stencil(const float* in, float* out, std::size_t n);
void sparse(const std::uint32_t* starts, const std::uint32_t* columns, const float* values, const float* x,
            float* out, std::size_t rows);
void sort(const std::uint32_t* in, std::uint32_t* out, std::size_t n, std::size_t group);
void bodies(const float* in, float* out, std::size_t n);
void sums(const std::uint32_t* in, std::uint32_t* out, std::size_t n, std::size_t group);

}  // namespace kiln::bench
