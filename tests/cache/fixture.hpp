// SPDX-License-Identifier: MIT
// What the tests of the store share: a folder of their own, manifests, a compiler that counts, log lines.
#pragma once

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <thread>

#include "cache/maintenance.hpp"
#include "cache/store.hpp"
#include "kiln/log.hpp"
#include "unit/test_file.hpp"

namespace kiln::test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// Removed with everything in it at the end.
class TestFolder {
 public:
  TestFolder() {
    std::string name = (fs::temp_directory_path() / "kiln-cache-test-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    path_ = name;
  }
  ~TestFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  [[nodiscard]] const fs::path& path() const { return path_; }
  fs::path operator/(const fs::path& name) const { return path_ / name; }

 private:
  fs::path path_;
};

inline Manifest manifest(int number) {
  Manifest fields;
  fields.set("input.0.digest", "number " + std::to_string(number));
  fields.set("library.libigc.so.1", "3d1eb51d");
  return fields;
}

inline CacheKey key(int number) { return key_of(encode(manifest(number))); }

/// Bytes that belong to one number.
inline Bytes payload(int number, std::size_t size = 1000) {
  std::mt19937_64 random(static_cast<std::uint64_t>(number));
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = std::byte(random());
  return bytes;
}

inline Compilation built(int number, std::size_t size = 1000) {
  return {CompilationEnd::built, ZE_RESULT_SUCCESS, "fine", bytes_of("facts"), payload(number, size)};
}

/// A compiler that counts its calls and gives what it is told to.
struct Compiler {
  Compilation result;
  int calls = 0;
  std::function<Compilation()> function() {
    return [this] {
      ++calls;
      return result;
    };
  }
};

inline bool same(std::span<const std::byte> left, const Bytes& right) {
  return std::ranges::equal(left, right);
}

/// Asks for the binary of a number; `compiled` says whether the compiler was called for it.
struct Asked {
  CacheAnswer answer;
  bool compiled = false;
  bool right = false;
};
inline Asked ask(cache::Store& store, int number, std::size_t size = 1000) {
  Compiler compiler{built(number, size)};
  Asked asked{store.get(manifest(number), true, compiler.function()), false, false};
  asked.compiled = compiler.calls > 0;
  asked.right = same(asked.answer.payload, payload(number, size));
  return asked;
}

inline CacheOptions options_in(const fs::path& folder) {
  CacheOptions options;
  options.folder = folder;
  options.memory_size = 0;  // so that the disk answers
  return options;
}

inline fs::path entry_path(const fs::path& folder, int number) {
  const std::string hex = key(number).hex();
  return folder / "v1" / hex.substr(0, 2) / hex.substr(2);
}

/// Regular files under a folder, at any depth.
inline int files_in(const fs::path& folder) {
  int count = 0;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) count += entry.is_regular_file();
  return count;
}

/// The lines that the library logs while this lives.
class LogLines {
 public:
  LogLines() {
    set_log_sink(
        [](void* user, LogLevel, std::string_view line) {
          auto* self = static_cast<LogLines*>(user);
          const std::lock_guard lock(self->mutex_);
          self->lines_.emplace_back(line);
        },
        this);
  }
  ~LogLines() { set_log_sink(nullptr, nullptr); }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  [[nodiscard]] std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::move(lines_);
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

/// Returns when that thread of this process waits for something.
inline void until_asleep(const std::atomic<pid_t>& thread) {
  for (;; std::this_thread::yield()) {
    if (thread == 0) continue;
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::string text;
    std::getline(file, text);
    if (const auto end = text.rfind(") "); end != text.npos && text[end + 2] == 'S') return;
  }
}

/// `ulimit -f`, in bytes.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    REQUIRE(getrlimit(RLIMIT_FSIZE, &former_) == 0);
    const rlimit limit{bytes, former_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &former_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit former_{};
};

/// A clock that a test sets.
struct TestClock {
  std::chrono::sys_seconds now{std::chrono::seconds(1'800'000'000)};
  cache::StoreOptions edge() {
    return {[this] { return now; }, [] { return 0.5; }, 2s, true};
  }
};

}  // namespace kiln::test
