// SPDX-License-Identifier: MIT
// The process-wide log sink.
#include "kiln/log.hpp"

#include <mutex>

namespace kiln {
namespace {

struct Sink {
  std::mutex mutex;
  LogSink function = nullptr;
  void* user = nullptr;
};

Sink& sink() {
  static Sink* instance = new Sink;  // never destroyed: handles may log while the process ends
  return *instance;
}

}  // namespace

void set_log_sink(LogSink function, void* user) {
  const std::lock_guard lock(sink().mutex);
  sink().function = function;
  sink().user = user;
}

void log(LogLevel level, std::string_view message) {
  LogSink function = nullptr;
  void* user = nullptr;
  {
    const std::lock_guard lock(sink().mutex);
    function = sink().function;
    user = sink().user;
  }
  if (function) function(user, level, message);
}

}  // namespace kiln
