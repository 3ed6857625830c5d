// SPDX-License-Identifier: MIT
// Kernels with loops inside, which a vector of work-items goes through together until they part. Each work-item writes
// out[i], and reads in[0..63] and its group's tile, of 8 ints a work-item. lanes.ocloc.spv comes from ocloc 22.43
// (-device pvc -spv_only -options -cl-std=CL1.2).
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

#define MEET barrier(CLK_LOCAL_MEM_FENCE)
#define HEAD                                                                                     \
  const uint items = get_local_size(0) * get_local_size(1) * get_local_size(2);                  \
  const uint item = get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2)); \
  const uint group = get_group_id(0) + get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2)); \
  const uint i = group * items + item
#define KERNEL(name) kernel void name(global const int* in, global int* out, int n, local int* tile)

// As often for all, places next to each other, the same for all, and apart.
KERNEL(same_turns) {
  HEAD;
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += in[(i + k) % 64] * in[k] - in[(i * 5 + k) % 64];
  out[i] = sum;
}

// As often for all, behind a branch that is not for all, and with its end found in memory.
KERNEL(behind_branch) {
  HEAD;
  int sum = i;
  if (i % 5 != 2 && i < 90)
    for (int k = 0; k < (in[1] & 7) + 1; ++k) sum = sum * 3 + in[(item + k) & 63];
  else if (i & 1)
    for (int k = 0; k < n; ++k) sum ^= in[k] << (item % 7);
  out[i] = sum;
}

// More often for some, within what is as often for all.
KERNEL(other_turns) {
  HEAD;
  int sum = 0, last = -1;
  for (int k = 0; k < n; ++k) {
    for (int l = k; l < (int)item - 3; ++l) {
      sum += in[(k * 4 + l) & 63];
      last = sum & 15;
    }
    sum += last;
  }
  out[i] = sum * 16 + last;
}

// Some return before, and some within.
KERNEL(returns) {
  HEAD;
  out[i] = -5;
  if (item % 7 == 3) return;
  int x = in[item & 63];
  for (int k = 0; k < n; ++k) {
    x = x * 5 + k;
    if ((int)item < k * 3) {
      out[i] = x;
      return;
    }
    if (x & 4) continue;
    x ^= in[k + 2];
  }
  out[i] = x + 1;
}

// Out of two loops at once.
KERNEL(leaves_both) {
  HEAD;
  int found = -1, steps = 0;
  for (int k = 0; k < n && found < 0; ++k)
    for (int l = 0; l < n; ++l) {
      ++steps;
      if (k * 3 + l * 2 > (int)item - 2) {
        found = k * 100 + l;
        break;
      }
    }
  out[i] = found * 1000 + steps;
}

// A tile in rounds, as samples fill it; sizes that no vector divides.
KERNEL(fills_tile) {
  HEAD;
  const uint area = items * 2 + 3;
  for (uint element = item; element < area; element += items) tile[element] = in[element & 63] + n;
  MEET;
  int sum = 0;
  for (uint k = 0; k < area; ++k) sum = sum * 7 + tile[k];
  for (int k = 0; k < n; ++k) sum += tile[(item + k) % items];
  out[i] = sum;
}

// Rows and columns of what only running tells, as in products of matrices.
KERNEL(rows_and_columns) {
  HEAD;
  const uint edge = n;
  tile[item] = in[item & 63];
  MEET;
  float sum = 0;
  const uint element = item % (edge * edge);
  if (items >= edge * edge && element + 2 < edge * edge) {
    local const int* row = tile + element / edge * edge;
    local const int* column = tile + element % edge;
    for (uint t = 0; t < edge; ++t) sum += row[t] * 0.3f * column[t * edge];
  }
  out[i] = as_int(sum);
}

// Quotients of large numbers, by what is the same for all.
KERNEL(quotients) {
  HEAD;
  uint x = i * 0x9e3779b9u, y = (uint)in[n] * (uint)n * 77u + 1u, sum = 0;
  for (int k = 0; k < 9; ++k) {
    sum = sum * 31 + x / y + x % y * 3;
    sum += 0xffffffffu / y + (x | 0xfffffff0u) / (uint)n + (uint)(i * y) / y + (i * y - 1) / y;
    x = x * 1664525u + 1013904223u;
    y = y * 3 + (y >> 7) + 1;
  }
  out[i] = sum;
}

// Elements of all sizes, backwards and every other one.
KERNEL(sizes) {
  HEAD;
  local char* chars = (local char*)tile;
  local short* shorts = (local short*)(tile + items);
  local long* longs = (local long*)(tile + 2 * items);
  local double* doubles = (local double*)(tile + 4 * items);
  for (int k = 0; k < 2; ++k) {
    chars[item * 2 + k] = in[item & 63] + k;
    shorts[(items - 1 - item) * 2 + k] = in[(item + k) & 63] * 3;
  }
  longs[item] = (long)in[item & 63] << 30;
  doubles[item] = in[item & 63] * 0.125;
  MEET;
  long sum = 0;
  double real = 0;
  bool odd = false;
  for (int k = 0; k < n && item != 2; ++k) {
    sum += chars[(item + k) % (2 * items)] + shorts[(items - 1 - item + k) % (2 * items)];
    sum ^= longs[(item + k) % items];
    real = real * 0.5 + doubles[items - 1 - (item + k) % items] * (odd ? 3 : 1);
    odd = odd != (sum & 1);
  }
  out[i] = (int)(sum ^ (sum >> 32)) + as_int((float)real) + odd;
}

// Atomics of SLM, some on one place.
KERNEL(counts) {
  HEAD;
  if (item < 3) tile[item] = 0;
  MEET;
  if (items >= 3 && item != 1)
    for (int k = 0; k < n; ++k) atomic_add(tile + (item * 5 + k) % 3, k + 1);
  MEET;
  out[i] = items >= 3 ? tile[item % 3] : 0;
}

// Functions of mathematics.
KERNEL(functions) {
  HEAD;
  float x = item * 0.25f + 1;
  for (int k = 0; k < n; ++k)
    x = sqrt(x * x + fabs(sin(x))) - fmin(x, 3.0f) + (float)popcount(k + item) + min((int)item, k) + rotate(item, 3u) % 8;
  out[i] = as_int(x);
}

// Private memory.
KERNEL(private_memory) {
  HEAD;
  int own[4];
  for (int k = 0; k < 4; ++k) own[k] = in[(item + k) & 63];
  for (int k = 0; k < n; ++k) own[(k + item) & 3] += k;
  out[i] = own[0] * 3 + own[1] * 5 + own[2] * 7 + own[3];
}

// Ids of 32 bits that wrap round within a vector.
KERNEL(wraps) {
  HEAD;
  const uint at = item + 0xfffffff8u;
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += (at + k > 100 ? in[(at + k) & 31] : in[((at + k) & 31) + 32]) * (k + 1);
  out[i] = sum;
}

// No loops, and ids of 32 bits that would wrap round where nothing is read.
KERNEL(those_before) {
  HEAD;
  tile[item] = in[i % 64];
  MEET;
  const uint step = n;
  const int other = (int)item - 3 * n;
  const int a = item >= step ? tile[item - step] : -5, b = other >= 0 ? tile[other] : in[item & 7],
            c = item + step < items ? tile[item + step] : 11;
  MEET;
  tile[item] += a;
  MEET;
  out[i] = a + 3 * b + 7 * c - (item > 20 + step ? 0 : tile[items - 1 - item]);
}

// No loops, and divided by what all items have.
KERNEL(divided) {
  HEAD;
  const uint by = n, high = i + 0xfffffff0u;
  tile[item] = in[i % 64];
  MEET;
  const int own = tile[i % by % items] + (int)(high / by) * 3 + (int)(high % by);
  MEET;
  if (item / by < 3) tile[item / by + item % by * 3] = own;
  MEET;
  out[i] = own - tile[item];
}

// Private arrays across barriers: cleared, of several sizes, with places that all items have and that each has.
KERNEL(arrays) {
  HEAD;
  int sums[8];
  uchar marks[5];
  double halves[3];
  for (int k = 0; k < 8; ++k) sums[k] = 0;
  for (int k = 0; k < 5; ++k) marks[k] = item + k;
  for (int k = 0; k < 3; ++k) halves[k] = in[(item + k) & 63] * 0.5;
  for (int turn = 0; turn < n; ++turn) {
    tile[item] = in[(i + turn) & 63];
    MEET;
    for (int k = 0; k < 8; ++k) sums[k] += tile[(item + k) % items] * (k + turn);
    sums[(item + turn) & 7] ^= marks[turn % 5];
    marks[(item ^ turn) % 5]++;
    halves[turn % 3] += halves[item % 3];
    MEET;
  }
  int all = (int)(halves[0] + halves[1] * 3 + halves[2] * 5);
  for (int k = 0; k < 8; ++k) all = all * 3 + sums[k];
  for (int k = 0; k < 5; ++k) all = all * 5 + marks[k];
  out[i] = all;
}

// What is the same for all within a loop, and not behind it.
KERNEL(left_at) {
  HEAD;
  uint same = n, own = item;
  for (int k = 0; k < (int)item - 3; ++k) {
    same = same * 5 + in[k & 63];
    own ^= same >> (k & 7);
  }
  out[i] = same + own * 3;
}

// Numbers of items in two dimensions, in sums with others, for their places in SLM.
KERNEL(numbered) {
  const uint items = get_local_size(0) * get_local_size(1);
  const uint item = get_local_id(0) + get_local_id(1) * get_local_size(0);
  const uint group = get_group_id(0) + get_num_groups(0) * get_group_id(1);
  const size_t own = get_local_id(1) * get_local_size(0) + group * items + get_local_id(0);
  tile[item] = in[(item * 3 + n) & 63];
  MEET;
  int sum = item;
  for (int k = 0; k < n; ++k) sum = sum * 3 + tile[(item + k * 5) % items];
  MEET;
  tile[items - 1 - item] = sum - (int)(item - n - 70000u < 300 ? item : n);
  MEET;
  out[own] = sum + tile[item];
}

// The same where an id is asked for on its own as well, or with another size.
KERNEL(numbered_otherwise) {
  const uint items = get_local_size(0) * get_local_size(1);
  const uint item = get_local_id(0) + get_local_id(1) * get_local_size(0);
  const uint other = get_local_id(1) + get_local_id(0) * get_local_size(1);
  const uint group = get_group_id(0) + get_num_groups(0) * get_group_id(1);
  tile[item] = in[item & 63] + (int)get_local_id(1) * n;
  MEET;
  int sum = 0;
  for (int k = 0; k < n; ++k) sum = sum * 7 + tile[(other + k) % items];
  MEET;
  tile[other] = sum;
  MEET;
  out[group * items + item] = tile[item] + sum;
}

// Tiles whose rows fit into a vector of lanes, have several of them, or end within one.
KERNEL(tiles) {
  const uint items = get_local_size(0) * get_local_size(1);
  const uint item = get_local_id(0) + get_local_id(1) * get_local_size(0);
  const uint group = get_group_id(0) + get_num_groups(0) * get_group_id(1);
  const uint edge = n * 8, area = min(edge * edge, items * 5);
  int all = 0;
  for (uint element = item; element < area; element += items) {
    const size_t row = element / edge, column = element % edge;
    const bool inside = row + n < edge && column + 2 < edge;
    int value = inside ? in[(row * 5 + column) & 63] : (int)column;
    if (column == 5 && row > 2) value += in[row & 63];
    tile[element] = value;
  }
  MEET;
  for (uint s = 0; s < 6; ++s) {
    const uint element = s * items + item;
    if (element < area) {
      local const int* row = tile + element / edge * edge;
      uint turns = 0;
      for (uint t = 0; t < edge && element / edge * edge + t < area; ++t) {
        all = all * 3 + row[t];
        if (element % edge + t * edge < area) all ^= tile[element % edge + t * edge];
        ++turns;
      }
      all += turns * (element % edge);
    }
  }
  out[group * items + item] = all;
}

// Quotients of numbers that wrap round within a vector, and what is known of them behind the loop.
KERNEL(quotients_that_wrap) {
  HEAD;
  tile[item] = in[item & 63];
  MEET;
  const uint by = n > 4 ? 0x80000000u + n * 20 : n * 9;
  uint quotient = 0, remainder = 0, sum = 0;
  for (uint x = item - 40u; sum < 4000000000u; x += 0x30000001u) {
    quotient = x / by;
    remainder = x % by;
    if (remainder > 7 && (x & 3) == 1) break;
    sum += 0x20000000u + tile[remainder % items];
  }
  out[i] = sum + quotient * 3 + remainder;
}

// In which order work-items come: out[0] counts.
kernel void tickets(global int* out, int n) {
  int sum = 0;
  for (int k = 0; k < n; ++k) sum = sum * 1000 + atomic_inc(out);
  out[1 + get_local_id(0)] = sum;
}

// What one item of so many does, as the first of each sub-group: by masks, by hand, and in a loop.
KERNEL(few) {
  HEAD;
  tile[item] = in[item % 64];
  MEET;
  int sum = tile[item];
  if ((item & 7) == 3) tile[item] = item + n;
  MEET;
  sum += tile[item];
  MEET;
  if ((get_local_id(0) & 15) == 0) {
    for (int k = 0; k < n; ++k) sum += tile[(item + k) % items];
    tile[items + item] = sum;
  }
  MEET;
  if ((item & 31) != 5) sum ^= tile[(item + 1) % items];
  out[i] = sum;
}

// Neighbours' places in SLM that only some items look at: by 32 bits, in which what others would find wraps.
KERNEL(behind) {
  HEAD;
  local int* upper = tile + 4 * items;
  tile[item] = in[item % 64];
  upper[item] = n;
  MEET;
  for (uint step = 1; step < items; step *= 2) {
    const int before = item >= step ? tile[item - step] : 0;
    const int last = item > 0 ? upper[item - 1] : step;
    const int third = item < 3 ? 1 : upper[item - 3];
    MEET;
    tile[item] += before;
    upper[item] ^= last * 3 + third;
    MEET;
  }
  out[i] = tile[item] * 5 + upper[item];
}

// Places in the rows above and below: what they are made of differs from item to item, what it adds up to is the
// item's number and the same for all.
KERNEL(rows_beside) {
  HEAD;
  const uint width = n + 2, y = i / width, x = i % width;
  const int below = (y + 1) * width + x, above = (y - 1) * width + x;
  int sum = below * 5 + above;
  if (y > 0 && i < 64) sum += in[(y - 1) * width + x] + (x > 0 ? in[y * width + x - 1] : n);
  for (int k = 0; k < n; ++k) sum = sum * 3 + in[((y + k) * width + x) & 63];
  out[i] = sum;
}

// The same in SLM, by other widths of numbers.
KERNEL(rows_of_tile) {
  HEAD;
  const uint width = n + 2;
  for (uint k = item; k < items * 8 + 16; k += items) tile[k] = in[k * 7 & 63] + k;
  MEET;
  const uint y = item / width, x = item % width;
  const size_t far_y = (size_t)item / width, far_x = (size_t)item % width;
  int sum = tile[(y + 1) * width + x] + (y > 0 ? tile[(y - 1) * width + x] * 3 : 4);
  sum ^= tile[(far_y + 1) * width + far_x];
  sum += tile[(item / 8 + 1) * 8 + item % 8];
  for (int k = 0; k < 2; ++k) sum = sum * 5 + tile[(y + k) * width + x];
  MEET;
  tile[(y + 1) * width + x] = sum;
  MEET;
  out[i] = sum + tile[item + width] * 7;
}

// An id on its own that only the next turn of a loop asks for, where the number in two dimensions is asked for as well.
#define NUMBERED                                                                \
  const uint items = get_local_size(0) * get_local_size(1);                     \
  const uint item = get_local_id(0) + get_local_id(1) * get_local_size(0);      \
  const uint group = get_group_id(0) + get_num_groups(0) * get_group_id(1);     \
  const size_t own = get_local_id(1) * get_local_size(0) + group * items + get_local_id(0)
KERNEL(column_of_next_turn) {
  NUMBERED;
  int sum = 0, next = 0;
  for (int k = 0; k < n; ++k) {
    sum = sum * 3 + next * next;
    next = (int)get_local_id(0) + in[k];
  }
  tile[item] = sum;
  MEET;
  out[own] = tile[items - 1 - item];
}

KERNEL(row_of_next_turn) {
  NUMBERED;
  uint sum = 0, next = 0;
  for (int k = 0; k < n; ++k) {
    sum = sum * 3 + next;
    next = (uint)(get_local_id(1) * get_local_size(0)) + (uint)in[k];
  }
  tile[item] = sum;
  MEET;
  out[own] = tile[items - 1 - item];
}

KERNEL(column_across_barriers) {
  NUMBERED;
  int sum = 0, next = 0;
  for (int k = 0; k < n; ++k) {
    MEET;
    tile[item] = k * 5 + item;
    sum = sum * 3 + next;
    next = (int)get_local_id(0) + k * k;
    MEET;
    sum += tile[items - 1 - item];
  }
  out[own] = sum;
}

// Atomics on neighbouring places, each with what was there before.
KERNEL(updates_of_own) {
  HEAD;
  global int* own = out + i;
  int sum = 0;
  for (int k = 0; k < n; ++k) {
    sum += atomic_add(own, k * 3 + (int)item);
    sum ^= atomic_sub(own, in[k]);
    sum += atomic_xor(own, in[(item + k) & 63]) * 5;
    sum ^= atomic_max(own, (int)item - 20);
    sum += atomic_and(own, 0x7fffffff - k);
    sum ^= atomic_or(own, k & 3);
    sum += atomic_min(own, 1000 + k);
    sum ^= atomic_xchg(own, sum);
    sum += atomic_max((global uint*)own, item);
    sum ^= atomic_min((global uint*)own, 0x80000000u + item);
  }
  atomic_add(own, sum);
}

// The same by all groups, in places that begin anywhere, of 4 and of 8 bytes.
KERNEL(updates_of_all) {
  HEAD;
  for (int k = 0; k < n; ++k) {
    atomic_add(out + item, in[k] + k);
    atomic_sub(out + items + (item + n) % items, (int)item);
  }
  if (i + items * 3 < items * 4)
    for (int k = 0; k < n; ++k) atomic_add(out + items * 3 + item, k);
}

KERNEL(updates_of_longs) {
  HEAD;
  for (int k = 0; k < n; ++k) atom_add((global long*)out + item, ((long)in[k] << 31) - item);
}

// Stores behind what the ends of neighbours tell, and behind what they do not.
KERNEL(guarded) {
  HEAD;
  if (i < n * 19) out[i] = in[i & 63] * 3;
}

KERNEL(guarded_on_both_sides) {
  HEAD;
  if (get_local_id(0) > 2 && item + n < items) out[i] = in[(item + n) & 63] - 1;
}

KERNEL(guarded_here_and_there) {
  HEAD;
  if (in[i & 63] > 40 && i < n * 19) out[i] = in[i & 63] * 3;
}

// Elements of an array that are updated behind branches: in it for sure, and only where the branch is taken.
KERNEL(counts_of_own) {
  HEAD;
  int counts[8];
  for (int k = 0; k < 8; ++k) counts[k] = (int)item + k;
  for (int k = 0; k < n * 3; ++k) {
    const uint value = in[(k * 3 + group) & 63];
    if ((value & 15) == (item & 15)) ++counts[value >> 2 & 7];
    if (value < item) counts[value & 7] -= k;
    if (value % 11 < 8) counts[value % 11] += 2;
    if ((value & 1) == 0) counts[k & 7] = counts[k & 7] * 3 + 1;
  }
  tile[item] = counts[item & 7];
  MEET;
  int sum = tile[items - 1 - item];
  for (int k = 0; k < 8; ++k) sum = sum * 5 + counts[k];
  out[i] = sum;
}
