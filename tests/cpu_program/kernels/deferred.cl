// SPDX-License-Identifier: MIT
// Atomic additions whose results nobody asks for. deferred.spv (-D DEFERRED) has those that a thread may make when its
// groups are done, not_deferred.spv those of which a program can tell when they are made. Both come from ocloc 22.43
// (-device pvc -spv_only -options "-cl-std=CL1.2").
#define ALL_PLACES for (uint p = get_local_id(0); p < n; p += get_local_size(0))

#ifdef DEFERRED
// Each group adds to n places.
kernel void same_places(global const uint* in, global uint* out, uint n) {
  ALL_PLACES atomic_add(out + p, in[p & 63] + (uint)get_group_id(0));
}

// To places of which lines of 64 bytes begin elsewhere.
kernel void shifted_places(global const uint* in, global uint* out, uint n) {
  ALL_PLACES atomic_add(out + 4 + p, in[p & 63]);
}

// Each item to a place of its own, so that no line comes twice.
kernel void places_of_items(global const uint* in, global uint* out, uint n) {
  const uint i = get_global_id(0);
  atomic_add(out + i % n, in[i & 63]);
}

// Two lines that are far apart take turns.
kernel void far_places(global const uint* in, global uint* out, uint n) {
  const uint item = get_local_id(0);
  for (uint k = 0; k < 8; ++k) {
    atomic_add(out + item, in[k]);
    atomic_add(out + n / 2 + item, 1);
  }
}

// What was local is global at the end.
kernel void from_local(global const uint* in, global uint* out, uint n) {
  local uint sums[1024];
  ALL_PLACES sums[p] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < 2 * n; i += get_local_size(0)) atomic_inc(sums + in[i & 63] * 7 % n);
  barrier(CLK_LOCAL_MEM_FENCE);
  ALL_PLACES atomic_add(out + p, sums[p]);
}
#else
// Each group waits for what the one before it has added.
kernel void chain(global const uint* in, global uint* out, uint n) {
  if (get_local_id(0) == 0)
    while (*(volatile global uint*)out < get_group_id(0)) (void)0;
  barrier(CLK_LOCAL_MEM_FENCE);
  ALL_PLACES atomic_add(out + p, 1 + in[p & 63]);
}

kernel void chain_of_atomics(global const uint* in, global uint* out, uint n) {
  if (get_local_id(0) == 0)
    while (atomic_max(out, 0u) < get_group_id(0)) (void)0;
  barrier(CLK_LOCAL_MEM_FENCE);
  ALL_PLACES atomic_add(out + p, 1 + in[p & 63]);
}

#define OWN_PLACES                                                                          \
  const uint size = get_local_size(0), from = get_group_id(0) * ((2 * size + 15) / 16 * 16); \
  ALL_PLACES if (p < size)

// An item reads what another of its group has added.
kernel void then_read(global const uint* in, global uint* out, uint n) {
  OWN_PLACES atomic_add(out + from + p, n + p);
  barrier(CLK_GLOBAL_MEM_FENCE);
  ALL_PLACES if (p < size) out[from + size + p] = out[from + size - 1 - p];
}

kernel void then_written(global const uint* in, global uint* out, uint n) {
  OWN_PLACES {
    atomic_add(out + from + p, n);
    out[from + p] = in[p & 63];
  }
}

kernel void then_largest(global const uint* in, global uint* out, uint n) {
  OWN_PLACES {
    atomic_add(out + from + p, n);
    atomic_max(out + from + p, in[p & 63]);
  }
}

kernel void then_loaded(global const uint* in, global uint* out, uint n) {
  OWN_PLACES {
    atomic_add(out + from + p, n);
    out[from + size + p] = out[from + p];
  }
}

kernel void asked(global const uint* in, global uint* out, uint n) {
  OWN_PLACES out[from + size + p] = atomic_add(out + from + p, n);
}

// The next turn reads it.
kernel void read_again(global const uint* in, global uint* out, uint n) {
  const uint i = get_global_id(0);
  uint sum = 0;
  for (uint k = 0; k < n; ++k) {
    sum = sum * 3 + out[i];
    atomic_add(out + i, sum + k);
  }
}
#endif
