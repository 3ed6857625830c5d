// SPDX-License-Identifier: MIT
// Where the library's few log lines go: a function and a pointer that the application gives.
#pragma once

#include <string_view>

namespace kiln {

enum class LogLevel : unsigned char { debug, info, warning, error };

using LogSink = void (*)(void* user, LogLevel level, std::string_view message);

/// Sets the sink for the whole process; null (the start value) drops all lines. The sink must be thread-safe
/// and must not throw. Thread-safe, though a line under way on another thread may still reach the old sink.
void set_log_sink(LogSink sink, void* user);

/// Sends a line to the sink. Thread-safe.
void log(LogLevel level, std::string_view message);

}  // namespace kiln
