// SPDX-License-Identifier: MIT
// Kernels that reach memory through pointers that are no arguments, and some that do not.
// pointers.spv: ocloc 22.43 compile -device pvc -spv_only; pointers.dg2.bin: ocloc 26.27 of that file.
struct node {
  global struct node* next;
  int value;
};

kernel void list(global struct node* first, global int* out) {
  int sum = 0;
  for (global struct node* each = first; each; each = each->next) sum += each->value;
  out[0] = sum;
}
kernel void number(ulong address, global int* out) { out[0] = *(global int*)address; }
kernel void stored(global ulong* addresses) { *(global int*)addresses[0] = 3; }
kernel void atomic(global ulong* addresses) { atomic_add((global int*)addresses[0], 3); }

__attribute__((noinline)) int sum_of(global struct node* first) { return first->next->value; }
kernel void called(global struct node* first, global int* out) { out[0] = sum_of(first); }

kernel void plain(global const int* in, global int* out, int n) {
  if (get_global_id(0) < n) out[get_global_id(0)] = in[get_global_id(0)];
}
kernel void vectors(global const int* in, global int* out, local float4* tile) {
  tile[get_local_id(0)] = vload4(get_global_id(0), (global const float*)in);
  barrier(CLK_LOCAL_MEM_FENCE);
  global const int* from = get_global_id(0) & 1 ? in : out;
  out[get_global_id(0)] = from[0] + as_int4(tile[0]).x;
  printf("%d\n", out[0]);
}
kernel void wide(global ulong* out, ulong value) { out[get_global_id(0)] = value; }
