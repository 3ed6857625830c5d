// SPDX-License-Identifier: MIT
// Kernels with private arrays of all kinds across barriers: some of them stand element by element then, some item by
// item. Each work-item writes out[i], and reads in[0..63] and its group's tile, of 8 ints a work-item. arrays.ocloc.spv
// comes from ocloc 22.43 (-device pvc -spv_only -options -cl-std=CL1.2).
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define MEET barrier(CLK_LOCAL_MEM_FENCE)
#define HEAD                                                                                     \
  const uint items = get_local_size(0) * get_local_size(1) * get_local_size(2);                  \
  const uint item = get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2)); \
  const uint group = get_group_id(0) + get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2)); \
  const uint i = group * items + item
#define KERNEL(name) kernel void name(global const int* in, global int* out, int n, local int* tile)
#define NEXT ((item + 1) % items)

// Written before a barrier, by an index that differs, and read behind it by another; all of them go into the sum.
#define ARRAY_OF(name, type, elements)                                      \
  KERNEL(name) {                                                            \
    HEAD;                                                                   \
    type own[elements];                                                     \
    for (uint k = 0; k < elements; ++k) own[k] = (type)(in[(item + k) % 64] + k); \
    for (int round = 0; round < n; ++round) {                               \
      own[(item + round) % elements] += (type)round;                        \
      tile[item] = (int)own[(item * 3 + round) % elements];                 \
      MEET;                                                                 \
      own[(uint)tile[NEXT] % elements] -= (type)(round + 1);                \
      MEET;                                                                 \
    }                                                                       \
    int sum = 0;                                                            \
    for (uint k = 0; k < elements; ++k) sum = sum * 31 + (int)own[k];       \
    out[i] = sum;                                                           \
  }

ARRAY_OF(chars, char, 24)
ARRAY_OF(bytes_32, uchar, 32)
ARRAY_OF(shorts, short, 7)
ARRAY_OF(two, int, 2)
ARRAY_OF(ints_32, int, 32)
ARRAY_OF(ints_33, int, 33)
ARRAY_OF(bytes_33, uchar, 33)
ARRAY_OF(longs, long, 5)
ARRAY_OF(doubles, double, 32)
ARRAY_OF(floats_100, float, 100)

typedef struct {
  char c;
  int number;
  short pair[2];
} Mixed;

KERNEL(structs) {
  HEAD;
  Mixed own[5];
  for (uint k = 0; k < 5; ++k) {
    own[k].c = in[(item + k) % 64];
    own[k].number = item * k;
    own[k].pair[0] = k;
    own[k].pair[1] = n;
  }
  for (int round = 0; round < n; ++round) {
    own[(item + round) % 5].pair[item & 1] += round;
    tile[item] = own[(item + 1) % 5].c + own[round % 5].number;
    MEET;
    own[(uint)tile[NEXT] % 5].c ^= round;
    own[item % 5] = own[(item + round) % 5];
    MEET;
  }
  int sum = 0;
  for (uint k = 0; k < 5; ++k) sum = sum * 31 + own[k].c + own[k].number * 7 + own[k].pair[0] - own[k].pair[1] * 3;
  out[i] = sum;
}

// A struct around an array, copied as a whole.
typedef struct {
  int numbers[6];
} Row;

KERNEL(copies) {
  HEAD;
  Row own, other;
  for (uint k = 0; k < 6; ++k) own.numbers[k] = in[(item + k) % 64];
  tile[item] = own.numbers[item % 6];
  MEET;
  other = own;
  other.numbers[(uint)tile[NEXT] % 6] += n;
  MEET;
  if (item % 3 == 0) own = other;
  tile[item] = own.numbers[(item + n) % 6];
  MEET;
  int sum = tile[NEXT];
  for (uint k = 0; k < 6; ++k) sum = sum * 31 + own.numbers[k] - other.numbers[k] * 3;
  out[i] = sum;
}

// One array before a barrier alone, one behind it alone, one on one way alone.
KERNEL(sides) {
  HEAD;
  int before[8];
  for (uint k = 0; k < 8; ++k) before[k] = in[(item * 5 + k) % 64];
  before[item % 8] += n;
  tile[item] = before[(item + n) % 8];
  MEET;
  uchar behind[12];
  for (uint k = 0; k < 12; ++k) behind[k] = (uchar)(tile[NEXT] + k);
  behind[(uint)tile[item] % 12] *= 3;
  int sum = behind[item % 12];
  if (n > 2) {
    short some[9];
    for (uint k = 0; k < 9; ++k) some[k] = (short)(sum + k);
    MEET;
    tile[item] = some[item % 9];
    MEET;
    some[(uint)tile[NEXT] % 9] -= 5;
    sum += some[(item + 4) % 9] + some[(uint)tile[NEXT] % 9];
  }
  out[i] = sum;
}

// With numbers from the start, of which some are 0.
KERNEL(initialized) {
  HEAD;
  int own[9] = {3, 1, 4, 1, 5, 9, 2, 6, 5};
  uchar some[16] = {7, 8};
  own[item % 9] += in[item % 64];
  some[item % 16] += n;
  tile[item] = own[(item * 2) % 9];
  MEET;
  some[(uint)tile[NEXT] % 16] ^= 5;
  own[some[item % 16] % 9] -= n;
  MEET;
  int sum = 0;
  for (uint k = 0; k < 9; ++k) sum = sum * 31 + own[k];
  for (uint k = 0; k < 16; ++k) sum = sum * 17 + some[k];
  out[i] = sum;
}

int first_and_last(const int* numbers, uint count) { return numbers[0] * 3 + numbers[count - 1]; }

// Reached by pointers: chosen between two, moved, and given to a function.
KERNEL(pointers) {
  HEAD;
  int own[10], other[10];
  for (uint k = 0; k < 10; ++k) {
    own[k] = in[(item + k) % 64];
    other[k] = own[k] * 2 + n;
  }
  int* chosen = in[item % 64] & 1 ? own : other;
  chosen[item % 10] += 7;
  tile[item] = *(chosen + n % 10);
  MEET;
  chosen = tile[NEXT] & 2 ? chosen : own + 1;
  chosen[1] -= n;
  int* at = other + 9;
  for (int k = 0; k < n % 5; ++k) *at-- += item;
  MEET;
  int sum = first_and_last(own, 10) - first_and_last(other + 2, 4);
  for (uint k = 0; k < 10; ++k) sum = sum * 31 + own[k] - other[k] * 3;
  out[i] = sum;
}

// The same bytes as numbers of another width.
KERNEL(casts) {
  HEAD;
  uchar bytes[16] __attribute__((aligned(16)));
  uint words[4];
  for (uint k = 0; k < 16; ++k) bytes[k] = (uchar)(in[(item + k) % 64] + k);
  for (uint k = 0; k < 4; ++k) words[k] = ((const uint*)bytes)[(k + item) % 4];
  ((ushort*)words)[item % 8] += (ushort)n;
  tile[item] = (int)words[item % 4];
  MEET;
  *(uint*)(bytes + 4 * (item % 4)) ^= (uint)tile[NEXT];
  MEET;
  int sum = 0;
  for (uint k = 0; k < 16; ++k) sum = sum * 31 + bytes[k];
  for (uint k = 0; k < 4; ++k) sum = sum * 31 + (int)words[k];
  out[i] = sum;
}

KERNEL(vectors) {
  HEAD;
  int4 own[3];
  int flat[12];
  for (uint k = 0; k < 3; ++k) own[k] = (int4)(in[(item + k) % 64], k, n, item);
  for (uint k = 0; k < 12; ++k) flat[k] = in[(item * 2 + k) % 64];
  own[item % 3].y += 4;
  tile[item] = own[n % 3].x + vload4(item % 3, flat).z;
  MEET;
  vstore4(own[item % 3] + tile[NEXT], (item + 1) % 3, flat);
  MEET;
  own[n % 3] += vload4(n % 3, flat);
  int sum = 0;
  for (uint k = 0; k < 3; ++k) sum = sum * 31 + own[k].x + own[k].y * 3 + own[k].z * 5 + own[k].w * 7;
  for (uint k = 0; k < 12; ++k) sum = sum * 31 + flat[k];
  out[i] = sum;
}

KERNEL(rows) {
  HEAD;
  short own[4][3];
  bool seen[5];
  for (uint k = 0; k < 12; ++k) own[k / 3][k % 3] = (short)(in[(item + k) % 64] - 50);
  for (uint k = 0; k < 5; ++k) seen[k] = (in[(item + k) % 64] & 2) != 0;
  for (int round = 0; round < n; ++round) {
    tile[item] = own[round % 4][item % 3] + seen[(item + round) % 5];
    MEET;
    own[(uint)tile[NEXT] % 4][round % 3] -= 1;
    seen[item % 5] = !seen[(uint)tile[NEXT] % 5];
    MEET;
  }
  int sum = 0;
  for (uint k = 0; k < 12; ++k) sum = sum * 31 + own[k / 3][k % 3];
  for (uint k = 0; k < 5; ++k) sum = sum * 2 + seen[k];
  out[i] = sum;
}

// Cleared as a whole, in part, and again in each turn.
KERNEL(cleared) {
  HEAD;
  int own[16], part[16];
  uchar bytes[8];
  for (uint k = 0; k < 16; ++k) part[k] = (int)k;
  for (uint k = 0; k < 8; ++k) part[k + 4] = 0;
  int sum = 0;
  for (int round = 0; round < n; ++round) {
    for (uint k = 0; k < 16; ++k) own[k] = 0;
    for (uint k = 0; k < 8; ++k) bytes[k] = 255;
    own[(item + round) % 16] = in[item % 64];
    bytes[item % 8] -= (uchar)round;
    tile[item] = own[item % 16] + part[round % 16];
    MEET;
    own[(uint)tile[NEXT] % 16] += 3;
    part[(uint)tile[NEXT] % 16] += own[(item + 1) % 16] + bytes[(uint)tile[NEXT] % 8];
    MEET;
    sum = sum * 31 + own[round % 16];
  }
  for (uint k = 0; k < 16; ++k) sum = sum * 31 + part[k];
  out[i] = sum;
}

// Sixteen go through a loop inside as lanes; those of one side alone, and those that part.
KERNEL(loops) {
  HEAD;
  uchar own[20];
  float sums[33];
  for (uint k = 0; k < 20; ++k) own[k] = (uchar)in[(item + k) % 64];
  for (uint k = 0; k < 33; ++k) sums[k] = own[k % 20];
  tile[item] = own[n % 20];
  MEET;
  for (int k = 0; k < n * 3; ++k) {
    own[k % 20] += (uchar)tile[(item + k) % items];
    if (item % 5 == 2) sums[(k * 7) % 33] -= own[(item + k) % 20];
  }
  MEET;
  int sum = tile[NEXT];
  for (uint k = 0; k < 20; ++k) sum = sum * 31 + own[k];
  for (uint k = 0; k < 33; ++k) sum = sum * 31 + (int)sums[k];
  out[i] = sum;
}
