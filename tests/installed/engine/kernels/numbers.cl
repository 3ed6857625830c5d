// SPDX-License-Identifier: MIT
#include "factor.h"

kernel void scale(global int* data) { data[0] *= FACTOR; }
