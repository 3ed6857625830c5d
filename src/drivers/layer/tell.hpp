// SPDX-License-Identifier: MIT
// Where refusals are told: on stderr or in a file, each cause once, and counted.
#pragma once

#include <cerrno>
#include <concepts>
#include <exception>
#include <string>

#include "kiln/diagnostic.hpp"
#include "kiln/result.hpp"

namespace kiln::layer {

/// Looks whether the file can be written, so that a mistake in its name shows at once, and has the summary
/// said at the end.
void prepare_to_tell();

/// Tells a refusal, and counts it. What was told before with the same words, or for want of memory with other
/// numbers, is counted alone. Keeps errno. Thread-safe.
void tell(const Diagnostic& diagnostic);

/// The same for what is no refusal of a call: it is not counted.
void tell_once(const Diagnostic& diagnostic);

/// In a child of fork(), which has had nothing refused yet; Lock::told is not held.
void forget_told();

/// A line of the layer's own on stderr. Keeps errno. Thread-safe.
void say(const std::string& line);
/// The same, each line once in a process.
void say_once(const std::string& line);

/// The diagnostic with that answer.
[[nodiscard]] Diagnostic answered(Diagnostic diagnostic, AnsweredBy by, ze_result_t code, const char* call);

/// Is it a failure? To wait in vain is none.
[[nodiscard]] constexpr bool is_failure(ze_result_t code) {
  return code != ZE_RESULT_SUCCESS && code != ZE_RESULT_NOT_READY;
}

/// For what the layer does beside the program's call: a program that has no memory left for it goes on
/// without.
template <class Work>
void quietly(Work work) noexcept {
  try {
    work();
  } catch (const std::exception&) {
  }
}

/// Tells what `explain` gives, which may ask the driver and read files. Keeps errno.
template <class Explain>
requires std::invocable<Explain>
void tell(Explain explain) noexcept {
  const int kept = errno;
  quietly([&] { tell(explain()); });
  errno = kept;
}

}  // namespace kiln::layer
