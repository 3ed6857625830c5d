// SPDX-License-Identifier: MIT
// The process-wide log sink.
#include "kiln/log.hpp"

#include "level_zero/hook.hpp"

namespace kiln {
namespace {

detail::Hook<LogTarget>& log_hook() {
  static auto* hook = new detail::Hook<LogTarget>;
  return *hook;
}

}  // namespace

LogTarget replace_log_sink(LogTarget target) { return log_hook().replace(target, target.sink != nullptr); }

void set_log_sink(LogSink sink, void* user) { (void)replace_log_sink({sink, user}); }

void log(LogLevel level, std::string_view message) {
  log_hook().call([&](const LogTarget& target) { target.sink(target.user, level, message); });
}

}  // namespace kiln
