// SPDX-License-Identifier: MIT
// Flushes standard output at the end, and says what went wrong.
#include "cli/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/session.hpp"

namespace kiln::cli {
namespace {

/// 0 or an errno.
int flush() {
  // The reason of an earlier failure is gone, and what it lost too: another byte meets the same.
  const bool failed_before = std::ferror(stdout) != 0;
  if (failed_before) std::fputc('\n', stdout);
  errno = 0;
  if (std::fflush(stdout) != 0) return errno ? errno : EIO;
  if (failed_before) return EIO;
  // Network file systems say only when it is closed that there was no space; the descriptor itself stays,
  // for whatever prints at the exit.
  const int second = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  return second >= 0 && close(second) != 0 ? errno : 0;
}

}  // namespace

void keep_standard_files() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    // The lowest free number is this one. Neither read nor written, not even by the name /dev/stdout.
    if (fcntl(file, F_GETFD) < 0 && open("/", O_RDONLY | O_DIRECTORY) != file) return;
}

Error unwritable_output(std::string reason) {
  return Error(ZE_RESULT_ERROR_NOT_AVAILABLE, "write",
               {"K0411",
                "the output could not be written",
                {{"reason", std::move(reason)}},
                {"look at the disk or the program that standard output leads to"}});
}

int finish_output(int status) {
  const int error = flush();
  if (error == 0) return status;
  if (error != EPIPE) std::fputs(unwritable_output(std::strerror(error)).text().c_str(), stderr);
  return status == kOk ? kWrongAnswer : status;
}

}  // namespace kiln::cli
