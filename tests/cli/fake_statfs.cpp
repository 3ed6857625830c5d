// SPDX-License-Identifier: MIT
// Preloaded: every file is on the file system whose f_type KILN_TEST_F_TYPE has, such as 0x6969 for NFS.
#include <sys/vfs.h>

#include <cstdlib>

// Each of them under its own name, which a large file system offset would make the same.
extern "C" {
int fstatfs(int, struct statfs* status) {
  *status = {};
  status->f_type = std::strtol(std::getenv("KILN_TEST_F_TYPE"), nullptr, 0);
  return 0;
}
int fstatfs64(int file, struct statfs64* status) {
  struct statfs plain {};
  fstatfs(file, &plain);
  *status = {};
  status->f_type = plain.f_type;
  return 0;
}
}
