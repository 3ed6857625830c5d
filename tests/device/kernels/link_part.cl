// SPDX-License-Identifier: MIT
// What link_main.cl is linked with; no kernel of its own.
int twice(int value) { return 2 * value; }
