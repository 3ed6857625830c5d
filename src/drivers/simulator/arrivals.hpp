// SPDX-License-Identifier: MIT
// Whether all connections have taken what the program sent on them, since each has a thread of its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

namespace kiln::simulator {

// The driver has one memory for all engines: it uploads a page through one connection, and what it then
// submits through another uses it. What it downloads through one it may have uploaded, as it was before,
// through another. The order is that of the program, and no connection sees more than its own part of it. So
// before something is executed or given away all others take what has arrived. Thread-safe.
class Arrivals {
 public:
  /// Of the thread that reads from a connection. Busy unless it says otherwise.
  class Reader {
   public:
    explicit Reader(Arrivals& arrivals);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    /// Between messages, and nothing is left to do: returns when there is something to read, or the end.
    void wait_for_bytes(int socket);
    /// For any thread: returns when the others have taken what was sent on them before, or when `stop` is
    /// set.
    void catch_up(const std::atomic<bool>& stop);

   private:
    friend class Arrivals;
    /// Nothing of what the program sent is left.
    [[nodiscard]] bool is_empty() const;

    Arrivals& arrivals_;
    std::uint64_t number_ = 0;
    bool idle_ = false, comes_not_ = false;
    int socket_ = -1;
    std::uint64_t emptied_ = 0;  ///< how often nothing was left
  };

  /// While it lives nothing comes: the program waits for what the reader answers, or is gone.
  class Nothing {
   public:
    explicit Nothing(Reader& reader) : reader_(reader) { set(true); }
    ~Nothing() { set(false); }
    Nothing(const Nothing&) = delete;
    Nothing& operator=(const Nothing&) = delete;

   private:
    void set(bool comes_not);
    Reader& reader_;
  };

  /// Whether there are connections that have no reader yet.
  std::function<bool()> newcomers = [] { return false; };

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, Reader*> readers_;
  std::uint64_t made_ = 0;
  std::size_t waiting_ = 0;
};

}  // namespace kiln::simulator
