// SPDX-License-Identifier: MIT
// saxpy: y = a * x + y over n floats, the smallest kernel that does real work.

// Launch: one dimension, any group size, at least n work-items; the surplus does nothing.
//   a  the factor
//   x  n floats, read
//   y  n floats, read and written
//   n  number of elements
kernel void saxpy(float a, global const float* x, global float* y, uint n) {
  const size_t i = get_global_id(0);
  if (i < n) y[i] = a * x[i] + y[i];
}
