// SPDX-License-Identifier: MIT
// A kernel file and a request for it, for tests of the C interface that need no device.
#pragma once

#include <array>
#include <fstream>
#include <iterator>
#include <string>

#include "capi/capi.hpp"

namespace kiln::test {

inline const std::string kMatmul = KILN_TEST_SPIRV "/matmul.spv";

/// matmul's `tiled`, which has two `__local` arguments, the last two of nine.
struct Matmul {
  File file;
  std::array<uint64_t, 9> local{};
  kiln_request request = KILN_INIT(kiln_request);
  Caught caught;

  Matmul() {
    good(kiln_file_read(kMatmul.c_str(), file.out(), caught.out()), caught);
    request.group_size.x = 16;
    request.group_size.y = 16;
    request.local_bytes = local.data();
    request.local_count = 9;
  }
  void tiles(uint64_t bytes) { local[7] = local[8] = bytes; }
};

inline std::string golden(const char* name) {
  std::ifstream file(KILN_TEST_DATA "/golden/" + std::string(name) + ".txt", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace kiln::test
