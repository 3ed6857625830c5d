// SPDX-License-Identifier: MIT
// Writes what is safe, flushes standard output at the end, and says what went wrong.
#include "tool/common/output.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstring>

#include "support/printable.hpp"
#include "tool/common/session.hpp"

namespace kiln::tool {
namespace {

[[gnu::format(printf, 1, 0)]] std::string formatted(const char* format, std::va_list arguments) {
  std::va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  std::string text(length > 0 ? static_cast<std::size_t>(length) : 0, '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}

void write(std::FILE* to, const std::string& text) { std::fwrite(text.data(), 1, text.size(), to); }

void write_safe(std::FILE* to, const std::string& text) { write(to, detail::printable(text, "\n\t")); }

constexpr std::size_t kLeastWidth = 40, kReadWidth = 100;  // columns

/// Columns of the terminal that this leads to; 0: it is none, or has no size.
std::size_t terminal_width(std::FILE* to) {
  winsize size{};
  if (isatty(fileno(to)) != 1 || ioctl(fileno(to), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 0;
  return std::max<std::size_t>(size.ws_col, kLeastWidth);
}

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

void say(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  write_safe(stdout, formatted(format, arguments));
  va_end(arguments);
}

void complain(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  write_safe(stderr, formatted(format, arguments));
  va_end(arguments);
}

void say_to(std::FILE* to, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  write_safe(to, formatted(format, arguments));
  va_end(arguments);
}

std::size_t text_width(std::FILE* to) {
  const std::size_t width = terminal_width(to);
  return width ? std::min(width, kReadWidth) : kReadWidth;
}

void show_progress(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  write(stderr, "\r" + detail::printable(formatted(format, arguments)) + "\033[K");
  va_end(arguments);
}

void clear_progress() { write(stderr, "\r\033[K"); }

void keep_standard_files() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    // The lowest free number is this one. Neither read nor written, not even by the name /dev/stdout.
    if (fcntl(file, F_GETFD) < 0 && open("/", O_RDONLY | O_DIRECTORY) != file) return;
}

int out_of_memory() {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kOutOfMemory.data(), kOutOfMemory.size());
  return kDriverError;
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
  if (error != EPIPE) complain("%s", unwritable_output(std::strerror(error)).text().c_str());
  return status == kOk ? kWrongAnswer : status;
}

}  // namespace kiln::tool
