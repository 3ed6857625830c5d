// SPDX-License-Identifier: MIT
// Of the C interface: what a program may watch Kiln do.
#include "kiln/observe.hpp"

#include <mutex>

#include "capi/boundary.hpp"

namespace kiln_c {
namespace {

/// An observer of C and what it is given.
template <class Function>
struct Watcher {
  Function call;
  void* user;
};

/// Sets one in place of another, which is not called any more then, and is forgotten.
template <class Observer, class Function>
Result<void> observe(Observer (*replace)(Observer), decltype(Observer::call) forward, Function function,
                     void* user, void (*forget)(const void* watcher) = nullptr) {
  auto watcher = function ? std::make_unique<Watcher<Function>>(Watcher<Function>{function, user}) : nullptr;
  const Observer last = replace({watcher ? forward : nullptr, watcher.get()});
  static_cast<void>(watcher.release());
  if (last.call != forward) return {};
  if (forget) forget(last.user);
  delete static_cast<Watcher<Function>*>(last.user);
  return {};
}

/// A compilation that was begun and has not ended, for who cancels it by its number.
struct UnderWay {
  const void* watcher;  // that was told
  std::uint64_t number;
  std::stop_source cancel;
};
struct AllUnderWay {
  std::mutex mutex;
  std::vector<UnderWay> compilations;
};
AllUnderWay& all_under_way() {
  static auto* all = new AllUnderWay;  // compilations may end while the process does
  return *all;
}

void begin(const void* watcher, const CompilationNews& news) {
  AllUnderWay& all = all_under_way();
  const std::lock_guard lock(all.mutex);
  try {
    all.compilations.push_back({watcher, news.number, news.cancel});
  } catch (const std::bad_alloc&) {  // then it runs to its end
  }
}

template <class Is>
void end(Is is) {
  AllUnderWay& all = all_under_way();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.compilations, is);
}
/// Their ends are told to another, or to nobody.
void end_all_of(const void* watcher) {
  end([&](const UnderWay& each) { return each.watcher == watcher; });
}

void forward_compilation(void* watcher, const CompilationNews& news) {
  // The observer itself may set another.
  const auto to = *static_cast<const Watcher<kiln_compilation_observer>*>(watcher);
  const ZeroEnded name(news.name), log(news.log);
  kiln_compilation_news told = KILN_INIT(kiln_compilation_news);
  told.number = news.number;
  told.name = name.data();
  told.log = log.data();
  told.time = static_cast<std::uint64_t>(news.time.count());
  told.step = static_cast<std::uint32_t>(news.step);
  told.ended = news.ended;
  told.result = news.ended ? static_cast<kiln_result>(news.code) : kiln_result{KILN_SUCCESS};
  if (news.ended)
    end([&](const UnderWay& each) { return each.number == news.number; });
  else
    begin(watcher, news);
  to.call(to.user, &told);
}

void forward_refusal(void* watcher, Refused what, const Error& error) {
  const auto to = *static_cast<const Watcher<kiln_refusal_observer>*>(watcher);
  const struct Told {
    kiln_error error;
    ~Told() { kiln_error_destroy(error); }
  } told{error_of(error)};
  to.call(to.user, static_cast<std::uint32_t>(what), told.error);
}

void forward_allocation(void* watcher, const AllocationNews& news) {
  const auto to = *static_cast<const Watcher<kiln_allocation_observer>*>(watcher);
  kiln_allocation_news told = KILN_INIT(kiln_allocation_news);
  told.data = news.data;
  told.size = news.size;
  told.context = news.context;
  told.kind = static_cast<std::uint32_t>(news.kind);
  told.freed = news.freed;
  to.call(to.user, &told);
}

static_assert(KILN_COMPILATION_CODE == static_cast<int>(CompilationStep::code) &&
              KILN_REFUSED_ALLOCATION == static_cast<int>(Refused::allocation) &&
              KILN_REFUSED_BUILD == static_cast<int>(Refused::build) &&
              KILN_REFUSED_KERNEL == static_cast<int>(Refused::kernel) &&
              KILN_MEMORY_HOST == static_cast<int>(MemoryKind::host) &&
              KILN_MEMORY_SHARED == static_cast<int>(MemoryKind::shared));

}  // namespace
}  // namespace kiln_c

using namespace kiln_c;

kiln_result kiln_set_compilation_observer(kiln_compilation_observer observer, void* user, kiln_error* error) {
  return run(__func__, error, [&] {
    return observe(replace_compilation_observer, forward_compilation, observer, user, end_all_of);
  });
}

uint32_t kiln_compilation_cancel(uint64_t number) {
  std::stop_source cancel{std::nostopstate};
  {
    AllUnderWay& all = all_under_way();
    const std::lock_guard lock(all.mutex);
    for (const UnderWay& each : all.compilations)
      if (each.number == number) cancel = each.cancel;
  }
  return cancel.stop_possible() && (cancel.request_stop() || cancel.stop_requested());
}

kiln_result kiln_set_refusal_observer(kiln_refusal_observer observer, void* user, kiln_error* error) {
  return run(__func__, error,
             [&] { return observe(replace_refusal_observer, forward_refusal, observer, user); });
}

kiln_result kiln_set_allocation_observer(kiln_allocation_observer observer, void* user, kiln_error* error) {
  return run(__func__, error,
             [&] { return observe(replace_allocation_observer, forward_allocation, observer, user); });
}
