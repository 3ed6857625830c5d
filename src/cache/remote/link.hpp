// SPDX-License-Identifier: MIT
// The program kiln-store, started when it is first asked, and sockets to it, one for each thread that asks.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "cache/remote/frame.hpp"
#include "cache/remote/message.hpp"

namespace kiln::cache {

/// The error of a question that was not asked.
inline constexpr std::string_view kLeftAlone = "kiln-store did not answer, and is left alone for a while";

/// Thread-safe. A forked child has none of its parent's sockets, and starts a program of its own.
class StoreLink {
 public:
  explicit StoreLink(StoreSettings settings) : settings_(std::move(settings)) {}
  ~StoreLink() { leave(); }
  StoreLink(const StoreLink&) = delete;
  StoreLink& operator=(const StoreLink&) = delete;

  /// An answer and the bytes that it looks into.
  struct Reply {
    StoreAnswer answer;
    FrameBytes bytes;
  };
  /// Until `deadline`; where another machine compiles, `waits` is told for how long, and says until when to
  /// wait on. The error is in words, for the log: the program cannot be started, does not answer, or has not
  /// answered lately and is left alone for a while.
  [[nodiscard]] tl::expected<Reply, std::string> ask(
      const StoreRequest& request, Moment deadline,
      const std::function<Moment(std::chrono::milliseconds)>& waits = {});

 private:
  struct Channel {
    detail::Descriptor socket;
    bool fresh = true;  ///< nothing was asked through it before
  };
  tl::expected<Channel, std::string> take_channel();
  tl::expected<void, std::string> start();  // with the mutex
  void leave();                             // with the mutex
  void give_back(Channel channel, std::uint64_t generation);
  tl::expected<Reply, std::string> ask_once(Channel& channel, const StoreRequest& request, Moment deadline,
                                            const std::function<Moment(std::chrono::milliseconds)>& waits,
                                            bool& gone);
  void note(bool answered);

  const StoreSettings settings_;
  std::atomic<std::size_t> usual_size_ = 0;  ///< of answers, as the last one was
  std::mutex mutex_;                         // of what follows
  detail::Descriptor control_;
  std::vector<Channel> idle_;
  std::uint64_t generation_ = 0;  ///< of the program: counts its starts
  int process_ = 0;               ///< that started it
  int failures_ = 0;              ///< in a row
  Moment left_alone_until_{};
};

}  // namespace kiln::cache
