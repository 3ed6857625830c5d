// SPDX-License-Identifier: MIT
// SLM that is read before it was written, and what must not be taken for it; lines are compared. By ocloc 22.43 with -g.

kernel void uncleared(global int* out) {
  local int bins[16];
  const size_t item = get_local_id(0);
  atomic_inc(&bins[item % 16]);  // line 7: then it is written
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = bins[item % 16];
}

kernel void last_one(global int* out) {
  local int slm[64];
  const size_t item = get_local_id(0);
  if (item < 63) slm[item] = (int)item;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = slm[item] + 1;  // line 17: the last one
}

kernel void left_over(global int* out) {
  local int slm[64];
  const size_t item = get_local_id(0);
  if (get_group_id(0) == 0) slm[item] = 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = slm[item];  // line 25: of the other groups
}

kernel void half_of_it(global int* out) {
  local short slm[128];
  const size_t item = get_local_id(0);
  slm[2 * item] = (short)item;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = ((local int*)slm)[item];  // line 33
}

kernel void no_vector(global int* out) {
  local int4 slm[64];
  out[get_global_id(0)] = slm[get_local_id(0)].y;  // line 38
}

struct padded { char small; int number; };

kernel void careful(global const int* in, global int* out) {
  const size_t item = get_local_id(0);
  local uchar bytes[256];
  for (int k = 0; k < 4; ++k) bytes[64 * k + item] = (uchar)(item + k);
  local int copied[64];
  event_t arrived = async_work_group_copy(copied, in, 64, 0);
  wait_group_events(1, &arrived);
  local int4 vectors[64];
  vectors[item].y = (int)item;
  vectors[item].xw = (int2)(1, 2);
  local struct padded pairs[64];
  pairs[item].small = 3;
  pairs[item].number = 4;
  local int exchanged[64];
  atomic_xchg(&exchanged[item], 7);
  local float triples[256];
  vstore3((float3)(1.0f, 2.0f, 3.0f), 0, triples + 4 * item);
  local int counter;
  if (item == 0) counter = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&counter);
  const size_t other = 63 - item;
  const struct padded pair = pairs[other];
  const float3 triple = ((local float3*)triples)[other];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = (int)((local uint*)bytes)[other] + copied[other] + vectors[other].y + vectors[other].x + pair.number +
                          exchanged[other] + (int)triple.y + counter;
}
