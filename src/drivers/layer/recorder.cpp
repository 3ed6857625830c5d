// SPDX-License-Identifier: MIT
// Where the record lies: in memory, or in pages of a file, which the kernel keeps however the process ends.
#include "drivers/layer/recorder.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "drivers/layer/locks.hpp"
#include "drivers/layer/settings.hpp"
#include "drivers/layer/tell.hpp"
#include "record/explain.hpp"
#include "support/limits.hpp"

namespace kiln::layer {
namespace {

constexpr std::size_t kSize = sizeof(record::Image);

std::atomic<bool> child_without_file = false;
/// Where a child of fork() records, as long as the pages are a file's: made before, since a child that gets
/// no memory could only write into its parent's.
void* for_child = nullptr;

/// Places of names, and the first that is free.
struct Names {
  std::unordered_map<std::string, std::uint32_t> places;
  std::uint32_t end = 1;
};
Names& names() {
  static auto* const all = new Names;  // calls come until the process is gone
  return *all;
}

/// Field 22 of /proc/self/stat: the start of the process in ticks since the machine's.
std::uint64_t start_of_process() {
  char text[1024];
  const int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  const ssize_t got = file < 0 ? -1 : read(file, text, sizeof text - 1);
  if (file >= 0) close(file);
  if (got <= 0) return 0;
  text[got] = '\0';
  const char* at = std::strrchr(text, ')');  // behind the name, which may have anything in it
  for (int field = 2; at && field < 22; ++field) at = std::strchr(at + 1, ' ');
  return at ? std::strtoull(at + 1, nullptr, 10) : 0;
}

void fill_header(record::Header& header) {
  std::memcpy(header.magic, record::kMagic, sizeof header.magic);
  header.version = record::kVersion;
  header.process = static_cast<std::uint32_t>(getpid());
  header.since = start_of_process();
  header.started = std::time(nullptr);
  header.ended = 0;
  std::snprintf(header.program, sizeof header.program, "%s", program_invocation_name);
}

record::Image* map(int file) {
  void* const pages = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return pages == MAP_FAILED ? nullptr : static_cast<record::Image*>(pages);
}

/// The file that `kiln exec` has made, unless a process has it already.
record::Image* take(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return nullptr;
  struct stat about {};
  record::Image* image = nullptr;
  if (fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size == static_cast<off_t>(kSize))
    image = map(file);
  close(file);
  if (!image) return nullptr;
  std::uint32_t nobody = 0;
  const bool ours = std::memcmp(image->header.magic, record::kMagic, sizeof image->header.magic) == 0 &&
                    std::atomic_ref(image->header.process)
                        .compare_exchange_strong(nobody, static_cast<std::uint32_t>(getpid()));
  if (ours) return image;
  munmap(image, kSize);
  return nullptr;
}

/// A new one. All its bytes are there from the beginning: a disk that is full must end nothing later.
record::Image* make(const std::string& path) {
  unlink(path.c_str());  // of a process that had this number before
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file < 0) return nullptr;
  int failed = 0;
  {
    const detail::NoFileSizeSignal no_signal;
    failed = posix_fallocate(file, 0, static_cast<off_t>(kSize));
  }
  record::Image* const image = failed ? nullptr : map(file);
  if (failed) unlink(path.c_str());
  const int reason = failed ? failed : errno;
  close(file);
  errno = reason;
  return image;
}

}  // namespace

void start_recording() {
  fill_header(recorded.header);
  const std::string& path = settings().record;
  if (path.empty()) return;
  const std::string own = path + "." + std::to_string(getpid());
  record::Image* image = take(path);
  if (!image) image = make(own);
  void* const spare =
      image ? mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
  if (image && spare != MAP_FAILED) {
    std::memcpy(static_cast<void*>(image), &recorded, kSize);
    // The file's pages take the place of those where calls are recorded.
    if (mremap(image, kSize, kSize, MREMAP_MAYMOVE | MREMAP_FIXED, &recorded) != MAP_FAILED) {
      for_child = spare;
      return;
    }
  }
  const int reason = errno;
  if (spare != MAP_FAILED) munmap(spare, kSize);
  if (image) munmap(image, kSize);
  Diagnostic diagnostic{"K0451", "`" + own + "` cannot be written", {}, {}};
  diagnostic.severity = Severity::warning;
  diagnostic.rows = {{"reason", std::strerror(reason)}, {"goes on", "without a record"}};
  diagnostic.help = {"name a file in a folder that you may write to"};
  tell_once(diagnostic);
}

void record_child() {
  if (child_without_file.load(std::memory_order_relaxed) && child_without_file.exchange(false))
    quietly([] { start_recording(); });
}

void forget_recorded() {
  record::Image* image = &recorded;
  if (for_child) {  // pages of its own: never write into the parent's
    image = static_cast<record::Image*>(std::exchange(for_child, nullptr));
    std::memcpy(image->names, recorded.names, sizeof image->names);
    std::memcpy(image->lists, recorded.lists, sizeof image->lists);
    image->header = recorded.header;
  }
  for (record::List& list : image->lists) list.number = 0;  // before all calls
  image->header.calls = image->header.lost = image->header.ended = 0;
  if (image == &recorded) return;
  if (mremap(image, kSize, kSize, MREMAP_MAYMOVE | MREMAP_FIXED, &recorded) == MAP_FAILED) std::abort();
  child_without_file = true;
}

void recording_ended() { recorded.header.ended = 1; }

void record_status(record::Call call, const void* object, ze_result_t code) {
  const std::uint64_t before = std::atomic_ref(recorded.header.calls).load(std::memory_order_relaxed) - 1;
  const record::Slot& last = recorded.calls[before % record::kCalls];
  if (last.call == call && last.object == reinterpret_cast<std::uint64_t>(object) &&
      last.result == static_cast<std::uint32_t>(code))
    return;
  const Recording recording(call, object);
  recording.begin();
  recording.end(code);
}

void record_destroyed(const void* handle) {
  const std::lock_guard lock(mutex_of(Lock::lists));
  for (record::List& list : recorded.lists)
    if (handle && list.handle == reinterpret_cast<std::uint64_t>(handle)) list.flags |= record::kDestroyed;
}

void record_list(const void* handle, std::uint32_t flags) {
  record_destroyed(handle);  // with its context, if it was there
  const std::lock_guard lock(mutex_of(Lock::lists));
  ++recorded.header.lists;
  // The oldest of those destroyed: a list that lives long is needed as long as it lives.
  const auto age = [](const record::List& each) {
    return std::tuple(each.handle != 0, (each.flags & record::kDestroyed) == 0, each.number);
  };
  record::List& list = *std::ranges::min_element(recorded.lists, {}, age);
  list.handle = 0;
  list.number = std::atomic_ref(recorded.header.calls).load(std::memory_order_relaxed);
  list.flags = flags;
  std::atomic_ref(list.handle).store(reinterpret_cast<std::uint64_t>(handle), std::memory_order_release);
}

std::uint32_t recorded_name(const std::string& name) {
  const std::lock_guard lock(mutex_of(Lock::names));
  Names& all = names();
  if (const auto known = all.places.find(name); known != all.places.end()) return known->second;
  if (name.size() + 1 > record::kNames - all.end) return 0;
  const std::uint32_t place = all.end;
  all.places.emplace(name, place);
  std::memcpy(recorded.names + place, name.c_str(), name.size() + 1);
  all.end += static_cast<std::uint32_t>(name.size() + 1);
  return place;
}

void record_lost(Diagnostic& diagnostic) {
  recorded.header.lost = 1;
  const auto seen = record::read(std::as_bytes(std::span(&recorded, 1)));
  if (!seen) return;
  for (DiagnosticRow& row : record::rows_of_work(*seen)) diagnostic.rows.push_back(std::move(row));
}

}  // namespace kiln::layer
