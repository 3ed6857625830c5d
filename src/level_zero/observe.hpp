// SPDX-License-Identifier: MIT
// Tells who watches.
#pragma once

#include <memory>
#include <string>

#include "kiln/observe.hpp"

namespace kiln::detail {

void tell_refusal(Refused what, const Error& error);
void tell_allocation(const AllocationNews& news);

/// The error that is about to be given to the caller.
[[nodiscard]] inline Error told(Refused what, Error error) {
  tell_refusal(what, error);
  return error;
}

/// The result that is, which is told where it is none.
template <class T>
[[nodiscard]] Result<T> told(Refused what, Result<T> result) {
  if (!result) [[unlikely]]
    tell_refusal(what, result.error());
  return result;
}

/// Told when it begins and when it goes: around what compiles. One thread at a time.
class WatchedCompilation {
 public:
  /// `name` must outlive it.
  WatchedCompilation(CompilationStep step, std::string_view name);
  WatchedCompilation(const WatchedCompilation&) = delete;
  WatchedCompilation& operator=(const WatchedCompilation&) = delete;
  ~WatchedCompilation();

  void ends(ze_result_t code, const std::string& log);

  /// Null: nobody watches.
  [[nodiscard]] const std::stop_token* stop() const { return stop_.stop_possible() ? &stop_ : nullptr; }
  [[nodiscard]] bool is_cancelled() const { return stop_.stop_requested(); }

 private:
  std::stop_source cancel_{std::nostopstate};
  std::stop_token stop_;
  CompilationNews news_;
  std::shared_ptr<const void> told_;  // who hears the end too; null: nobody
  std::string log_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace kiln::detail
