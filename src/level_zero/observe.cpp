// SPDX-License-Identifier: MIT
// The process-wide observers.
#include "level_zero/observe.hpp"

#include "level_zero/hook.hpp"

namespace kiln {
namespace {

/// One for each kind of observer.
template <class Observer>
detail::Hook<Observer>& hook_of() {
  static auto* hook = new detail::Hook<Observer>;
  return *hook;
}

template <class Observer>
Observer replace(Observer observer) {
  return hook_of<Observer>().replace(observer, observer.call != nullptr);
}

template <class Observer, class... News>
void tell(const News&... news) {
  (void)hook_of<Observer>().call([&](const Observer& observer) { observer.call(observer.user, news...); });
}

}  // namespace

CompilationObserver replace_compilation_observer(CompilationObserver observer) { return replace(observer); }
RefusalObserver replace_refusal_observer(RefusalObserver observer) { return replace(observer); }
AllocationObserver replace_allocation_observer(AllocationObserver observer) { return replace(observer); }

namespace detail {

void tell_refusal(Refused what, const Error& error) { tell<RefusalObserver>(what, error); }

void tell_allocation(const AllocationNews& news) { tell<AllocationObserver>(news); }

WatchedCompilation::WatchedCompilation(CompilationStep step, std::string_view name) {
  if (!hook_of<CompilationObserver>().is_set()) return;
  static std::atomic<std::uint64_t> last = 0;
  cancel_ = std::stop_source();
  stop_ = cancel_.get_token();
  news_.number = last.fetch_add(1, std::memory_order_relaxed) + 1;
  news_.step = step;
  news_.name = name;
  news_.cancel = cancel_;
  news_.code = ZE_RESULT_ERROR_UNKNOWN;
  told_ = hook_of<CompilationObserver>().call(
      [&](const CompilationObserver& observer) { observer.call(observer.user, news_); });
  news_.cancel = std::stop_source(std::nostopstate);
  start_ = std::chrono::steady_clock::now();
}

WatchedCompilation::~WatchedCompilation() {
  if (!told_) return;
  news_.ended = true;
  news_.time = std::chrono::steady_clock::now() - start_;
  news_.log = log_;
  (void)hook_of<CompilationObserver>().call(
      [&](const CompilationObserver& observer) { observer.call(observer.user, news_); }, told_);
}

void WatchedCompilation::ends(ze_result_t code, const std::string& log) {
  if (!told_) return;
  news_.code = code;
  log_ = log;
}

}  // namespace detail
}  // namespace kiln
