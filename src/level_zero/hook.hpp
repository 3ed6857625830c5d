// SPDX-License-Identifier: MIT
// A function of the application's that is called from anywhere, and may be replaced meanwhile.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

namespace kiln::detail {

/// `Target` is a function and a pointer, and converts to its start value, which is not called. Never
/// destroyed: handles may call it while the process ends. Thread-safe.
template <class Target>
class Hook {
 public:
  Hook() = default;
  Hook(const Hook&) = delete;
  Hook& operator=(const Hook&) = delete;

  /// Gives the one before, when no other thread calls it any more.
  Target replace(Target target, bool is_set) {
    auto next = std::make_shared<Used>(Used{target});
    std::unique_lock lock(mutex_);
    is_set_.store(is_set, std::memory_order_relaxed);
    const std::shared_ptr<Used> old = std::exchange(used_, std::move(next));
    idle_.wait(lock, [&] { return old->calls == Call::own(old.get()); });
    return old->target;
  }

  /// False where a call would do nothing: what it costs when nothing is set.
  [[nodiscard]] bool is_set() const { return is_set_.load(std::memory_order_relaxed); }

  /// Who was called; null: nobody.
  using Called = std::shared_ptr<const void>;

  /// Calls `with` with the target, if one is set; where `only` is given, if that is the one.
  template <class With>
  Called call(const With& with, const Called& only = nullptr) {
    if (!is_set()) return nullptr;
    std::shared_ptr<Used> used;
    {
      const std::lock_guard lock(mutex_);
      if (!is_set() || (only && only != used_)) return nullptr;
      used = used_;
      ++used->calls;
    }
    const Call call(*this, used);
    with(used->target);
    return used;
  }

 private:
  /// A target, and how many calls of it are under way.
  struct Used {
    Target target;
    std::size_t calls = 0;
  };

  /// A call under way: ended also when its thread is cancelled. They are kept for each thread, the innermost
  /// first, since what is called may call again, and replace itself.
  class Call {
   public:
    Call(Hook& hook, std::shared_ptr<Used> used) : hook_(hook), used_(std::move(used)), outer_(innermost) {
      innermost = this;
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call() {
      innermost = outer_;
      const std::lock_guard lock(hook_.mutex_);
      --used_->calls;
      hook_.idle_.notify_all();
    }

    static std::size_t own(const Used* used) {
      std::size_t count = 0;
      for (const Call* each = innermost; each; each = each->outer_) count += each->used_.get() == used;
      return count;
    }

   private:
    Hook& hook_;
    std::shared_ptr<Used> used_;
    const Call* outer_;
    static thread_local constinit inline const Call* innermost = nullptr;
  };

  std::mutex mutex_;
  std::condition_variable idle_;
  std::shared_ptr<Used> used_ = std::make_shared<Used>();
  std::atomic<bool> is_set_ = false;
};

}  // namespace kiln::detail
