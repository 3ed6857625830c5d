// SPDX-License-Identifier: MIT
// Kernels with barriers in all kinds of control flow, and values of all kinds across them. Each work-item writes
// out[i], and reads in[0..63] and its group's tile, of 8 ints a work-item. regions.ocloc.spv comes from ocloc 22.43
// (-device pvc -spv_only -options -cl-std=CL1.2), regions.clang.spv from clang 15 (-cl-std=CL1.2 -O1 without passes),
// opt (sroa, early-cse) and llvm-spirv.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define MEET barrier(CLK_LOCAL_MEM_FENCE)
#define HEAD                                                                                     \
  const uint items = get_local_size(0) * get_local_size(1) * get_local_size(2);                  \
  const uint item = get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2)); \
  const uint group = get_group_id(0) + get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2)); \
  const uint i = group * items + item
#define KERNEL(name) kernel void name(global const int* in, global int* out, int n, local int* tile)
#define NEXT ((item + 1) % items)

constant int kRounds[3] = {4, 1, 3};

// Barriers behind each other, with nothing between some.
KERNEL(straight) {
  HEAD;
  MEET;
  tile[item] = in[item % 64];
  MEET;
  MEET;
  const int a = tile[NEXT];
  MEET;
  tile[item] = a * 3 + n;
  MEET;
  out[i] = tile[(item * 7) % items] + a;
}

// Nested loops, bounds from arguments and constant memory; sums and counters live across.
KERNEL(nested) {
  HEAD;
  int sum = item, other = 1;
  for (int a = 0; a < n; ++a) {
    tile[item] = sum + a;
    for (int b = 0; b < kRounds[a % 3]; ++b) {
      MEET;
      other = other * 5 + tile[NEXT] - b;
      MEET;
      tile[item] += other;
    }
    sum += tile[item] ^ a;
    MEET;
  }
  out[i] = sum - other;
}

// A bound from memory that is the same for all but not known to be.
KERNEL(bound_from_memory) {
  HEAD;
  int sum = 0;
  for (int a = 0; a < (in[1] & 7) + 1; ++a) {
    tile[item] = a * item;
    MEET;
    sum += tile[NEXT];
    if (a == 3) break;
    MEET;
  }
  out[i] = sum;
}

// Work-items part between barriers, with loops of their own, and meet again.
KERNEL(parting) {
  HEAD;
  int x = in[item % 64];
  tile[item] = 0;
  for (int round = 0; round < n; ++round) {
    if (x & 1) {
      for (int k = 0; k < (int)(item % 5); ++k) x = x * 3 + k;
    } else if (item % 3 == 0) {
      x ^= round;
    }
    MEET;
    tile[item] += x;
    MEET;
    x += tile[NEXT] >> 1;
  }
  out[i] = x;
}

// Which way an item came, and how often it went round, tells it apart from others with the same numbers.
KERNEL(ways) {
  HEAD;
  int way = n, turns = 0;
  tile[item] = 0;
  if (item & 1) {
    way = n * 2;
    atomic_add(tile + item, way);
  }
  while (turns < n && in[(item + turns) % 64] > 30) ++turns;
  MEET;
  out[i] = way * 100 + turns + tile[NEXT];
}

// Branches that all take together, around barriers and around loops without.
KERNEL(together) {
  HEAD;
  int x = item;
  tile[item] = x;
  if (n > 3) {
    MEET;
    x += tile[NEXT];
  } else {
    for (int k = 0; k < n + 2; ++k) x += k * in[(item + k) % 64];
  }
  switch (n & 3) {
    case 0: MEET; x *= 3; break;
    case 1: x += 11; MEET; tile[item] = x; MEET; x -= tile[NEXT]; break;
    default: x ^= 5;
  }
  if (group % 2 == 0 && n != 7) {
    for (int k = 0; k < 2; ++k) {
      MEET;
      tile[item] = x;
      MEET;
      x += tile[NEXT] * k;
      if (n == 5 && k == 0) break;
    }
  }
  out[i] = x;
}

// All items of a group leave early or none does, which only running tells.
KERNEL(early) {
  HEAD;
  int x = in[group % 64];
  if (in[(item - item) + group % 8] % 4 == 0) {
    out[i] = -1;
    return;
  }
  tile[item] = x + item;
  MEET;
  if (tile[0] % 3 == 1) return;
  MEET;
  out[i] = tile[NEXT];
}

// Items that have ended before none of the others waits any more.
KERNEL(tail) {
  HEAD;
  tile[item] = in[item % 64];
  MEET;
  if (item % 4 == 1) return;
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += tile[(item + k) % items] * k;
  out[i] = sum;
}

// Private arrays, with indices of each item's own.
KERNEL(private_arrays) {
  HEAD;
  int own[8];
  double reals[4];
  for (int k = 0; k < 8; ++k) own[k] = k * item;
  for (int k = 0; k < 4; ++k) reals[k] = k * 0.5;
  for (int round = 0; round < n; ++round) {
    tile[item] = own[(item + round) % 8];
    MEET;
    own[tile[NEXT] & 7] += round;
    reals[item % 4] += tile[NEXT];
    MEET;
  }
  int sum = 0;
  for (int k = 0; k < 8; ++k) sum = sum * 31 + own[k];
  out[i] = sum + (int)(reals[0] + reals[1] - reals[2] * 2 + reals[3]);
}

// Values of many types across a barrier, truth values and pointers among them.
KERNEL(types) {
  HEAD;
  const int x = in[item % 64];
  const bool odd = x & 1, small = x < n;
  const char c = x * 5;
  const short4 v = (short4)(x, item, n, x - 1);
  const double d = x * 0.25;
  const long l = ((long)x << 33) + item;
  local int* at = odd ? tile : tile + item;
  global const int* from = small ? in : in + 1;
  tile[item] = x;
  MEET;
  int sum = *at;
  MEET;
  if (odd) sum += c;
  if (small || n == 2) sum += v.x - v.y * v.z + v.w;
  out[i] = sum + (int)(d * 4) + (int)(l >> 32) + from[item % 32];
}

// Atomics between barriers; each item takes what others added before.
KERNEL(atomics) {
  HEAD;
  if (item == 0) tile[0] = n;
  MEET;
  for (int k = 0; k < 3; ++k) {
    atomic_add(tile, (int)item + k);
    MEET;
    tile[item + 1] = tile[0];
    MEET;
  }
  out[i] = tile[item + 1] + tile[0];
}

// A loop whose counter starts from the item but runs as often for all; the barrier stands at its end.
KERNEL(shifted) {
  HEAD;
  int sum = 0;
  int k = item;
  do {
    sum += in[k % 64];
    tile[item] = sum;
    MEET;
    sum ^= tile[NEXT];
    ++k;
    MEET;
  } while (k < (int)item + n);
  out[i] = sum;
}
