// SPDX-License-Identifier: MIT
// Images are beyond the CPU device: the build must say so.
kernel void fine(global float* a) { a[get_global_id(0)] = 1; }
kernel void reads_image(read_only image2d_t image, sampler_t sampler, global float4* out) {
  out[get_global_id(0)] = read_imagef(image, sampler, (float2)(0.5f, 0.5f));
}
