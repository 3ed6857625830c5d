// SPDX-License-Identifier: MIT
// A kernel that uses what is defined nowhere: as SPIR-V (`-spv_only`), and native for pvc by ocloc 22.43
// (`-internal_options -cl-intel-allow-zebin`) and 26.27.
float misspelt(float);
kernel void good(global float* o) { o[0] = 1; }
kernel void bad(global float* o) { o[0] = misspelt(o[1]); }
