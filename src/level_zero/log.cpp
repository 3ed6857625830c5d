// SPDX-License-Identifier: MIT
// The process-wide log sink.
#include "kiln/log.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

namespace kiln {
namespace {

/// A target, and how many lines are on their way to it.
struct Used {
  LogTarget target;
  std::size_t lines = 0;
};

struct Log {
  std::mutex mutex;
  std::condition_variable idle;
  std::shared_ptr<Used> used = std::make_shared<Used>();
};

Log& process_log() {
  static Log* instance = new Log;  // never destroyed: handles may log while the process ends
  return *instance;
}

/// A line under way: ended also when the sink's thread is cancelled. They are kept for each thread, the
/// innermost first, since a sink may log, and replace itself.
class Line {
 public:
  explicit Line(std::shared_ptr<Used> used) : used_(std::move(used)), outer_(innermost) { innermost = this; }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  ~Line() {
    innermost = outer_;
    const std::lock_guard lock(process_log().mutex);
    --used_->lines;
    process_log().idle.notify_all();
  }

  static std::size_t own(const Used* used) {
    std::size_t count = 0;
    for (const Line* each = innermost; each; each = each->outer_) count += each->used_.get() == used;
    return count;
  }

 private:
  std::shared_ptr<Used> used_;
  const Line* outer_;
  static thread_local const Line* innermost;
};
thread_local const Line* Line::innermost = nullptr;

}  // namespace

LogTarget replace_log_sink(LogTarget target) {
  auto next = std::make_shared<Used>(Used{target});
  std::unique_lock lock(process_log().mutex);
  const std::shared_ptr<Used> old = std::exchange(process_log().used, std::move(next));
  process_log().idle.wait(lock, [&] { return old->lines == Line::own(old.get()); });
  return old->target;
}

void set_log_sink(LogSink sink, void* user) { (void)replace_log_sink({sink, user}); }

void log(LogLevel level, std::string_view message) {
  std::shared_ptr<Used> used;
  {
    const std::lock_guard lock(process_log().mutex);
    if (!process_log().used->target.sink) return;
    used = process_log().used;
    ++used->lines;
  }
  const Line line(used);
  used->target.sink(used->target.user, level, message);
}

}  // namespace kiln
