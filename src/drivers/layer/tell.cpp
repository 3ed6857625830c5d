// SPDX-License-Identifier: MIT
// Writes refusals in one piece each, so that those of several threads and processes do not mix.
#include "drivers/layer/tell.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "drivers/layer/cache/module.hpp"
#include "drivers/layer/locks.hpp"
#include "drivers/layer/recorder.hpp"
#include "drivers/layer/settings.hpp"
#include "support/limits.hpp"

namespace kiln::layer {
namespace {

constexpr std::size_t kMostTold = 1000;  // different ones in a process; the rest is counted

/// Never destroyed: calls come until the process is gone.
struct Told {
  std::unordered_map<std::string, std::uint64_t> times;
  std::uint64_t refused = 0, silent = 0;
  std::unordered_set<std::string> said;
};

Told& told();

void write_whole(int to, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = write(to, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    done += static_cast<std::size_t>(wrote);
  }
}

/// What was refused, behind the program's own words.
void say_summary() {
  recording_ended();
  Told& all = told();
  const std::lock_guard lock(mutex_of(Lock::told));
  if (all.refused == 0 && !settings().verbose) return;
  std::string text = "kiln exec: ";
  if (all.refused == 0)
    text += "no call was refused";
  else
    text += std::to_string(all.refused) + (all.refused == 1 ? " call was" : " calls were") +
            " refused, for " + std::to_string(all.times.size()) +
            (all.times.size() == 1 ? " reason" : " reasons");
  if (all.silent) text += ", and " + std::to_string(all.silent) + " more that are not told";
  if (!settings().json.empty() && all.refused) text += "; see " + settings().json;
  if (const std::string cached = cache_summary(); settings().verbose && !cached.empty())
    text += "\nkiln exec: " + cached;
  write_whole(STDERR_FILENO, text + "\n");
}

/// Negative: there is none. For each text anew: a program may close all files that it does not know, and open
/// its own under their numbers.
int open_json() {
  const std::string& path = settings().json;
  return path.empty() ? -1 : open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

Told& told() {
  static Told* const all = [] {
    auto* made = new Told;
    const int file = open_json();
    if (file >= 0)
      close(file);
    else if (!settings().json.empty())
      write_whole(STDERR_FILENO,
                  "kiln exec: `" + settings().json + "` cannot be written; refusals are told here\n");
    std::atexit(say_summary);
    return made;
  }();
  return *all;
}

/// The library's cures name its own functions; the program calls Level Zero.
Diagnostic in_level_zero(Diagnostic diagnostic) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"set AllocationOptions::relaxed_limits",
       "chain ze_relaxed_allocation_limits_exp_desc_t to the allocation's description"},
      {"allocate_device(), allocate_shared() or allocate_host()",
       "zeMemAllocDevice, zeMemAllocShared or zeMemAllocHost"},
      {", or its Buffer has gone", ""},
      {"launch_cooperative_with() or ", ""},
      {"a buffer that was moved from, released or reset", "memory that was never allocated"},
      {"an owner that was moved from, released or reset, or that was never filled",
       "an object that could not be made, or that was destroyed"},
      {"that DeviceRef::compute_queue_group() gives",
       "with ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE in zeDeviceGetCommandQueueGroupProperties"},
      {"QueueGroup::queues", "numQueues of the group"}};
  for (std::string& help : diagnostic.help)
    for (const auto& [ours, theirs] : kNames)
      if (const auto at = help.find(ours); at != help.npos) help.replace(at, ours.size(), theirs);
  return diagnostic;
}

void write_out(const Diagnostic& diagnostic) {
  const int file = open_json();
  if (file < 0) return write_whole(STDERR_FILENO, to_text(diagnostic));
  {
    const detail::NoFileSizeSignal no_signal;
    write_whole(file, to_json(diagnostic) + "\n");
  }
  close(file);
}

/// What is the same for refusals that are told once: the text, but of memory that ran out not its numbers,
/// which are others each time, and of a lost device not what came before.
std::string key_of(const Diagnostic& diagnostic, std::string text) {
  const auto code = static_cast<ze_result_t>(diagnostic.answer ? diagnostic.answer->code : 0);
  const bool no_memory =
      diagnostic.code.starts_with("K02") &&
      (code == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY || code == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
  if (!diagnostic.answer || (!no_memory && diagnostic.code != "K0220")) return text;
  std::string key = diagnostic.code + diagnostic.answer->call;
  bool name = false;  // between backticks
  for (const char c : diagnostic.message) {
    if (c == '`') name = !name;
    if (name || !std::isdigit(static_cast<unsigned char>(c))) key += c;
  }
  return key;
}

}  // namespace

void prepare_to_tell() { (void)told(); }

void tell(const Diagnostic& of_library) {
  const Diagnostic diagnostic = in_level_zero(of_library);
  const int kept = errno;
  Told& all = told();
  {
    const std::lock_guard lock(mutex_of(Lock::told));
    ++all.refused;
    const std::string key = key_of(diagnostic, to_text(diagnostic));
    const auto known = all.times.find(key);
    if (known != all.times.end()) {
      ++known->second;
    } else if (all.times.size() >= kMostTold) {
      ++all.silent;
    } else {
      all.times.emplace(key, 1);
      write_out(diagnostic);
    }
  }
  errno = kept;
}

void tell_once(const Diagnostic& diagnostic) {
  const int kept = errno;
  const std::lock_guard lock(mutex_of(Lock::told));
  write_out(diagnostic);
  errno = kept;
}

void forget_told() {
  Told& all = told();
  all.times.clear();
  all.said.clear();
  all.refused = all.silent = 0;
}

void say(const std::string& line) {
  const int kept = errno;
  write_whole(STDERR_FILENO, "kiln exec: " + line + "\n");
  errno = kept;
}

void say_once(const std::string& line) {
  const std::lock_guard lock(mutex_of(Lock::told));
  auto& said = told().said;
  if (said.size() < kMostTold && said.insert(line).second) say(line);
}

Diagnostic answered(Diagnostic diagnostic, AnsweredBy by, ze_result_t code, const char* call) {
  diagnostic.answer = Answer{by, static_cast<std::uint32_t>(code), call};
  return diagnostic;
}

}  // namespace kiln::layer
