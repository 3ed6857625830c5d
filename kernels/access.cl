// SPDX-License-Identifier: MIT
// access: the same little work with good and bad ways to reach global, constant, local and private memory.

// All kernels take one work-item an element, in one dimension unless said otherwise, and any group size; the global size
// is rounded up to whole groups. Sums are modulo 2^32.
//   a, in, table  read
//   out           written
//   n             number of elements

// out[x + y * width] = 3 * a[x + y * width] + 1. How many cache lines of 64 bytes 16 work-items touch is decided by the
// shape of their group: 16 x 1 one line, 4 x 4 four, 1 x 16 sixteen, when width is a multiple of 16.
// Launch: two dimensions, at least width x height work-items.
kernel void work_group_shape(global const uint* a, global uint* out, uint width, uint height) {
  const size_t x = get_global_id(0);
  const size_t y = get_global_id(1);
  if (x < width && y < height) out[x + y * width] = 3 * a[x + y * width] + 1;
}

// out[i] = a[INDEX]. Cache lines that 16 neighbours touch when they begin on one and n is a multiple of 16:
// 1, 2, 1, 4, 16, 16. `a` has n elements, case 2 one more, cases 4 to 6 the multiple.
#define INDEX_FUNCTION(NUMBER, INDEX)                                                               \
  kernel void index_function_##NUMBER(global const uint* a, global uint* out, uint n) {             \
    const size_t i = get_global_id(0);                                                              \
    if (i < n) out[i] = a[INDEX];                                                                   \
  }
INDEX_FUNCTION(1, i)
INDEX_FUNCTION(2, i + 1)
INDEX_FUNCTION(3, n - 1 - i)
INDEX_FUNCTION(4, i * 4)
INDEX_FUNCTION(5, i * 16)
INDEX_FUNCTION(6, i * 32)

// out[i] = sum over e < entries of table[e] * (in[i] + e): all work-items read the same element at the same time.
//   entries  of the table, at least 1
kernel void same_element_global(global const uint* in, global const uint* table, global uint* out, uint n,
                                uint entries) {
  const size_t i = get_global_id(0);
  if (i >= n) return;
  uint sum = 0;
  for (uint e = 0; e < entries; ++e) sum += table[e] * (in[i] + e);
  out[i] = sum;
}

// The table in constant memory, which has a cache made for one element that all ask for.
kernel void same_element_constant(global const uint* in, constant uint* table, global uint* out, uint n, uint entries) {
  const size_t i = get_global_id(0);
  if (i >= n) return;
  uint sum = 0;
  for (uint e = 0; e < entries; ++e) sum += table[e] * (in[i] + e);
  out[i] = sum;
}

// The table in SLM: read from global memory once a work-group.
//   slm  entries * 4 bytes, chosen by the host
kernel void same_element_slm(global const uint* in, global const uint* table, global uint* out, uint n, uint entries,
                             local uint* slm) {
  for (uint e = get_local_id(0); e < entries; e += get_local_size(0)) slm[e] = table[e];
  barrier(CLK_LOCAL_MEM_FENCE);
  const size_t i = get_global_id(0);
  if (i >= n) return;
  uint sum = 0;
  for (uint e = 0; e < entries; ++e) sum += slm[e] * (in[i] + e);
  out[i] = sum;
}

// out[i] = in[i], with elements of 8, 16 and 32 bits. The hardware moves 32 bits at multiples of 4 best.
kernel void narrow_8(global const uchar* in, global uchar* out, uint n) {
  const size_t i = get_global_id(0);
  if (i < n) out[i] = in[i];
}
kernel void narrow_16(global const ushort* in, global ushort* out, uint n) {
  const size_t i = get_global_id(0);
  if (i < n) out[i] = in[i];
}
kernel void narrow_32(global const uint* in, global uint* out, uint n) {
  const size_t i = get_global_id(0);
  if (i < n) out[i] = in[i];
}

// The copy with 32 bits an element, at any address: the buffers of n elements begin `shift` bytes behind in and out.
kernel void narrow_unaligned(global const uchar* in, global uchar* out, uint n, uint shift) {
  const size_t i = get_global_id(0);
  if (i < n) vstore4(vload4(i, in + shift), i, out + shift);
}

// Counts the six digits of 6 bits (the last one has 2) of in[i], the digit at place p as p + 1; then
//   out[i] = sum over d < 64 of count of d * (31 + d)
// `private_array` keeps the 64 counts in an array that the digit indexes: with 64 numbers a work-item the compiler keeps it
// in memory (private or scratch memory, by product). `private_scalars` compares the digit with each d: all indices are
// constants, so that registers do.
enum { kDigits = 64, kPlaces = 6, kDigitBits = 6 };

kernel void private_array(global const uint* in, global uint* out, uint n) {
  const size_t i = get_global_id(0);
  if (i >= n) return;
  uint counts[kDigits];
  for (uint d = 0; d < kDigits; ++d) counts[d] = 0;
  for (uint p = 0; p < kPlaces; ++p) counts[in[i] >> kDigitBits * p & (kDigits - 1)] += p + 1;
  uint sum = 0;
  for (uint d = 0; d < kDigits; ++d) sum += counts[d] * (31 + d);
  out[i] = sum;
}
kernel void private_scalars(global const uint* in, global uint* out, uint n) {
  const size_t i = get_global_id(0);
  if (i >= n) return;
  uint counts[kDigits];  // 64 variables, once the loops are unrolled
#pragma unroll
  for (uint d = 0; d < kDigits; ++d) counts[d] = 0;
#pragma unroll
  for (uint p = 0; p < kPlaces; ++p)
#pragma unroll
    for (uint d = 0; d < kDigits; ++d) counts[d] += (in[i] >> kDigitBits * p & (kDigits - 1)) == d ? p + 1 : 0;
  uint sum = 0;
#pragma unroll
  for (uint d = 0; d < kDigits; ++d) sum += counts[d] * (31 + d);
  out[i] = sum;
}

// out[i] = sum over e < 16 of (e + 1) * in[i] ^ (15 - e), by Horner's rule; as a loop that stays one, and unrolled.
kernel void unrolled_loop(global const uint* in, global uint* out, uint n) {
  const size_t i = get_global_id(0);
  if (i >= n) return;
  uint sum = 0;
#pragma nounroll
  for (uint e = 0; e < 16; ++e) sum = sum * in[i] + (e + 1);
  out[i] = sum;
}
kernel void unrolled(global const uint* in, global uint* out, uint n) {
  const size_t i = get_global_id(0);
  if (i >= n) return;
  uint sum = 0;
#pragma unroll
  for (uint e = 0; e < 16; ++e) sum = sum * in[i] + (e + 1);
  out[i] = sum;
}

// The same sum with four steps an iteration, so that the loop's own instructions are paid four times instead of sixteen: by
// the pragma, and by a macro that writes the four out.
kernel void unrolled_4(global const uint* in, global uint* out, uint n) {
  const size_t i = get_global_id(0);
  if (i >= n) return;
  uint sum = 0;
#pragma unroll 4
  for (uint e = 0; e < 16; ++e) sum = sum * in[i] + (e + 1);
  out[i] = sum;
}
#define STEP(NUMBER) sum = sum * in[i] + (e + NUMBER);
kernel void unrolled_macro(global const uint* in, global uint* out, uint n) {
  const size_t i = get_global_id(0);
  if (i >= n) return;
  uint sum = 0;
#pragma nounroll
  for (uint e = 0; e < 16; e += 4) {
    STEP(1)
    STEP(2)
    STEP(3)
    STEP(4)
  }
  out[i] = sum;
}

// The same sum kept in global memory, and read and written there in each step: `in` and `out` may be one buffer, so a
// compiler has to do what is written. Then with one read before the loop and one write behind it.
kernel void loop_reload(global const uint* in, global uint* out, uint n) {
  const size_t i = get_global_id(0);
  if (i >= n) return;
  out[i] = 0;
#pragma nounroll
  for (uint e = 0; e < 16; ++e) out[i] = out[i] * in[i] + (e + 1);
}
kernel void loop_hoisted(global const uint* in, global uint* out, uint n) {
  const size_t i = get_global_id(0);
  if (i >= n) return;
  const uint x = in[i];
  uint sum = 0;
#pragma nounroll
  for (uint e = 0; e < 16; ++e) sum = sum * x + (e + 1);
  out[i] = sum;
}

// A table of 256 entries, looked up by two kinds of work-items:
//   out[i] = 3 * table[low byte of in[i]] + 1 for even i, 5 * table[second byte of in[i]] + 2 for odd i
// With a branch both sides are walked by the whole sub-group, each with half of its lanes switched off. Without, what
// differs is computed, and all lanes look up at once.
kernel void branch_divergent(global const uint* in, global const uint* table, global uint* out, uint n) {
  const size_t i = get_global_id(0);
  if (i >= n) return;
  const uint value = in[i];
  if (i % 2 == 0)
    out[i] = 3 * table[value & 0xff] + 1;
  else
    out[i] = 5 * table[value >> 8 & 0xff] + 2;
}
kernel void branch_free(global const uint* in, global const uint* table, global uint* out, uint n) {
  const size_t i = get_global_id(0);
  if (i >= n) return;
  const uint odd = i % 2;
  out[i] = (3 + 2 * odd) * table[in[i] >> 8 * odd & 0xff] + 1 + odd;
}

// out[i] = sum over e < 16 of table[e] * (in[i] + e), as `same_element_global` with a table of 16. Each work-item takes the
// elements that lie a global size apart, and reads the table once for all of them.
// Launch: any global size; the fewer work-items, the fewer reads.
enum { kPrivateEntries = 16 };

kernel void same_element_private(global const uint* in, global const uint* table, global uint* out, uint n) {
  uint mine[kPrivateEntries];  // 16 variables, once the loops are unrolled
#pragma unroll
  for (uint e = 0; e < kPrivateEntries; ++e) mine[e] = table[e];
  for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) {
    const uint value = in[i];
    uint sum = 0;
#pragma unroll
    for (uint e = 0; e < kPrivateEntries; ++e) sum += mine[e] * (value + e);
    out[i] = sum;
  }
}
