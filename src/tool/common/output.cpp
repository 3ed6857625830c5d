// SPDX-License-Identifier: MIT
// Writes what is safe, flushes standard output at the end, and says what went wrong.
#include "tool/common/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <mutex>

#include "support/printable.hpp"
#include "tool/common/session.hpp"
#include "tool/common/wrap.hpp"

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

constexpr std::size_t kReadWidth = 100;  // columns

/// The line that each of the two is in, where lines are cut or coloured and so must be whole first.
struct Pending {
  std::mutex mutex;
  Line lines[2];
};
Pending& pending() {
  static Pending lines;
  return lines;
}

/// How each is shown; asked for once, since it costs calls of the system.
struct View {
  std::size_t width = 0;
  bool colored = false;
};
const View& view_of(std::FILE* to) {
  static const View out{terminal_width(stdout), is_colored(stdout)};
  static const View error{terminal_width(stderr), is_colored(stderr)};
  return to == stdout ? out : error;
}

/// Puts out the line as it is now.
void put(std::FILE* to, Line& line, bool whole) {
  const auto found = severities(line.text);
  line.spans.insert(line.spans.end(), found.begin(), found.end());
  std::string text = rendered(std::move(line), view_of(to).width, view_of(to).colored);
  if (!whole) text.pop_back();
  write(to, text);
  line = {};
}

void write_safe(std::FILE* to, const std::string& text, Paint paint = Paint::none) {
  const std::string safe = detail::printable(text, "\n\t");
  if (view_of(to).width == 0 && !view_of(to).colored) return write(to, safe);
  const std::lock_guard lock(pending().mutex);
  Line& line = pending().lines[to == stdout ? 0 : 1];
  for (std::size_t begin = 0; begin < safe.size();) {
    const auto end = std::min(safe.find('\n', begin), safe.size());
    if (paint != Paint::none) line.spans.push_back({line.text.size(), line.text.size() + end - begin, paint});
    line.text.append(safe, begin, end - begin);
    if (end < safe.size()) put(to, line, true);
    begin = end + 1;
  }
}

/// What has no end of line yet.
void put_rest(std::FILE* to) {
  const std::lock_guard lock(pending().mutex);
  Line& line = pending().lines[to == stdout ? 0 : 1];
  if (!line.text.empty()) put(to, line, false);
}

/// 0 or an errno.
int flush() {
  put_rest(stdout);
  put_rest(stderr);
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

void say_painted(Paint paint, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  write_safe(stdout, formatted(format, arguments), paint);
  va_end(arguments);
}

void say_exactly(std::FILE* to, const std::string& text) {
  put_rest(to);
  write(to, detail::printable(text, "\n\t"));
}

std::size_t text_width(std::FILE* to) {
  const std::size_t width = terminal_width(to);
  return width ? std::min(width, kReadWidth) : kReadWidth;
}

void show_progress(const char* format, ...) {
  if (isatty(STDERR_FILENO) != 1) return;
  std::va_list arguments;
  va_start(arguments, format);
  const std::string text = detail::printable(formatted(format, arguments));
  const std::size_t width = terminal_width(stderr);
  // A line that the terminal breaks cannot be cleared.
  const std::size_t end = width ? wrap(text, width - 1, 0).front().end : text.size();
  write(stderr, "\r" + text.substr(0, end) + "\033[K");
  va_end(arguments);
}

void clear_progress() {
  if (isatty(STDERR_FILENO) == 1) write(stderr, "\r\033[K");
}

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
