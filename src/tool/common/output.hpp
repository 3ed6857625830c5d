// SPDX-License-Identifier: MIT
// The two places where the command's words leave it: made safe for a terminal, shown well on one, and not
// lost in silence.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "kiln/result.hpp"
#include "tool/common/terminal.hpp"

namespace kiln::tool {

/// printf to standard output and standard error. Whatever is in the text, a terminal only shows it; newlines
/// and tabs stay. On a terminal lines are cut to its width, and a diagnostic's severity has a colour. Nothing
/// else in the command writes to either. Thread-safe.
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...);
[[gnu::format(printf, 1, 2)]] void complain(const char* format, ...);
/// To one of the two.
[[gnu::format(printf, 2, 3)]] void say_to(std::FILE* to, const char* format, ...);

/// To standard output, in a colour where it takes them. Of one line.
[[gnu::format(printf, 2, 3)]] void say_painted(Paint paint, const char* format, ...);
/// For programs: made safe, but neither cut nor coloured.
void say_exactly(std::FILE* to, const std::string& text);

/// Columns that text may take: those of the terminal, else what is read well.
[[nodiscard]] std::size_t text_width(std::FILE* to);

/// A line on standard error in place of the last such, and none. For terminals alone.
[[gnu::format(printf, 1, 2)]] void show_progress(const char* format, ...);
void clear_progress();

/// Opens what the caller closed of standard input, output and error, in a way that refuses use: else the next
/// file, an entry of the cache perhaps, would have its number and get what is printed. Before anything else
/// is opened.
void keep_standard_files();

/// Writes out what was printed. Where that fails, says so on stderr (K0411), and gives another status than
/// 0. A reader that went away (`| head`) had enough: nothing is said.
[[nodiscard]] int finish_output(int status);

/// K0412 as text: it is told where nothing can be allocated.
inline constexpr std::string_view kOutOfMemory =
    "error[K0412]: there is not enough memory for this\n"
    "  help: give smaller files, or raise the limit: ulimit -v, or that of the process's cgroup\n";
/// Says it, and gives the exit status of the command.
[[nodiscard]] int out_of_memory();

/// K0411.
[[nodiscard]] Error unwritable_output(std::string reason);

}  // namespace kiln::tool
