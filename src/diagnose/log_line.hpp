// SPDX-License-Identifier: MIT
// What sort of line it is: of whose device or driver, a command, or one in which nothing has failed.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace kiln::detail {

/// `small` is a line in small letters, everywhere here; all of these are pure.
[[nodiscard]] std::string in_small_letters(std::string_view line);
[[nodiscard]] bool has_one_of(std::string_view text, std::initializer_list<std::string_view> words);

/// The line names a device or a runtime of another vendor, and none of its failures on Intel's.
[[nodiscard]] bool is_another_vendors(std::string_view small);
/// A program that wants CUDA, of which a log that names an Intel GPU says what is wrong with it.
[[nodiscard]] bool asks_for_cuda(std::string_view small);
/// Of i915 or xe, in the kernel's log.
[[nodiscard]] bool is_of_the_gpus_driver(std::string_view small);
/// A line of the kernel's log, "[   12.345678] ", "[Tue Nov 24 …] " or "host kernel: ", which is not of the
/// GPU's drivers: what fails there is no program's.
[[nodiscard]] bool is_of_another_driver(std::string_view small);

/// "03:00.0 VGA compatible …" of lspci, also behind a domain.
[[nodiscard]] bool begins_pci_device(std::string_view line);
/// "crw-rw---- 1 root 109 226, 128 … renderD128" of `ls -l`: its group has no name where this was printed.
[[nodiscard]] bool is_node_of_another_group(std::string_view small);
/// Its device is a card of Intel's, which has memory of its own.
[[nodiscard]] bool is_card(std::string_view small);

/// "$ ocloc …", "+ icpx …", "user@host:~$ /opt/bin/icpx …": of anything, and of a compiler.
[[nodiscard]] bool is_command(std::string_view line);
[[nodiscard]] bool is_compilers_command(std::string_view small);

/// That something went wrong, in a line about video.
[[nodiscard]] bool says_failure(std::string_view small);

/// The words of the exceptions that it names, "IndeterminateExecutionQueueError" as "Indeterminate Execution
/// Queue Error": of those with more than two, for "RuntimeError" says nothing of a runtime.
[[nodiscard]] std::string exception_words(std::string_view line);

/// "src/a.cpp:12:5: error: …", "a.cpp(12): error C2065: …": what a compiler says of a source.
[[nodiscard]] bool is_compilers_error(std::string_view small);

/// A test that passed, source that handles a failure, a package or step of a build, a module of something
/// else, what clinfo asks of no platform, and lists and sentences of what could go wrong: whatever they name
/// has not happened.
[[nodiscard]] bool is_innocent(std::string_view line, std::string_view small);

/// The output of `git log`, whose subjects name what was mended. One thread at a time.
class GitLog {
 public:
  /// Is the next line of the log a part of it?
  [[nodiscard]] bool line(std::string_view line);

 private:
  enum class Commit { none, begun, named };  // "commit HASH", "Author: …" and what stands below
  Commit commit_ = Commit::none;
  bool one_line_ = false;  // "HASH subject", below the command
};

}  // namespace kiln::detail
