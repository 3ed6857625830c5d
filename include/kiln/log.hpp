// SPDX-License-Identifier: MIT
// Where the library's few log lines go: a function and a pointer that the application gives.
#pragma once

#include <string_view>

namespace kiln {

enum class LogLevel : unsigned char { debug, info, warning, error };

using LogSink = void (*)(void* user, LogLevel level, std::string_view message);

/// Where lines go; null: nowhere.
struct LogTarget {
  LogSink sink = nullptr;
  void* user = nullptr;
};

/// Sets the target for the whole process and gives the one before, which gets no line any more once this
/// returns: lines under way on other threads are waited for, so what `user` points to may then go. From
/// inside a sink, this thread's own line is not waited for. The sink must be thread-safe, must not throw, and
/// must not wait for a thread that replaces it. Thread-safe.
LogTarget replace_log_sink(LogTarget target);

/// The same, where the one before does not matter. Null (the start value) drops all lines.
void set_log_sink(LogSink sink, void* user);

/// Sends a line to the sink. Thread-safe.
void log(LogLevel level, std::string_view message);

}  // namespace kiln
