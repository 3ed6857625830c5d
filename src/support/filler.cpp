// SPDX-License-Identifier: MIT
// Nothing: taken where the number of the library's files must be another (src/meson.build).
