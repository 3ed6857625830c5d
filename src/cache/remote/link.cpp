// SPDX-License-Identifier: MIT
// Starts kiln-store and asks it.
#include "cache/remote/link.hpp"

#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "support/own_files.hpp"

extern char** environ;

namespace kiln::cache {
namespace {

using namespace std::chrono_literals;
using detail::Descriptor;

std::string program() {
  if (const char* chosen = secure_getenv("KILN_STORE"); chosen && *chosen) return chosen;
  return detail::own_file(detail::kOwnStore).string();
}

/// 0 or an errno. The program leaves this process at once, so that nobody has to wait for its end.
int spawn(const std::string& path, int control) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, control, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  sigset_t none;
  sigemptyset(&none);  // whatever this thread blocks
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  char* arguments[] = {const_cast<char*>(path.c_str()), nullptr};
  pid_t child = 0;
  const int error = posix_spawn(&child, path.c_str(), &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0)
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  return error;
}

}  // namespace

/// The program that this process started ends, also where a forked child has the sockets as well.
void StoreLink::leave() {
  if (control_ && process_ == getpid()) shutdown(control_.get(), SHUT_RDWR);
  idle_.clear();
  control_ = {};
}

tl::expected<void, std::string> StoreLink::start() {
  leave();
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return tl::unexpected(detail::error_text(errno));
  Descriptor ours(ends[0]), theirs(ends[1]);
  const auto settings = encode(settings_);
  if (send(ours.get(), settings.data(), settings.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
    return tl::unexpected(detail::error_text(errno));
  const std::string path = program();
  if (const int error = spawn(path, theirs.get()); error != 0)
    return tl::unexpected(
        path + ": " + detail::error_text(error) +
        (error == ENOENT ? "; a build of Kiln with libcurl has it (Meson option remote_cache)" : ""));
  control_ = std::move(ours);
  process_ = getpid();
  ++generation_;
  return {};
}

tl::expected<StoreLink::Channel, std::string> StoreLink::take_channel() {
  const std::lock_guard lock(mutex_);
  if (process_ != getpid()) leave();
  if (std::chrono::steady_clock::now() < left_alone_until_) return tl::unexpected(std::string(kLeftAlone));
  if (!idle_.empty()) {
    Channel channel = std::move(idle_.back());
    idle_.pop_back();
    return channel;
  }
  for (bool again = true;; again = false) {
    if (!control_)
      if (auto started = start(); !started) return tl::unexpected(std::move(started).error());
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      return tl::unexpected(detail::error_text(errno));
    Descriptor ours(ends[0]), theirs(ends[1]);
    if (send_descriptor(control_.get(), theirs.get())) return Channel{std::move(ours)};
    leave();  // it had nothing to do for long, and is gone
    if (!again) return tl::unexpected(std::string("kiln-store ended when it was started"));
  }
}

void StoreLink::give_back(Channel channel, std::uint64_t generation) {
  const std::lock_guard lock(mutex_);
  channel.fresh = false;
  if (generation == generation_ && process_ == getpid()) idle_.push_back(std::move(channel));
}

void StoreLink::note(bool answered) {
  const std::lock_guard lock(mutex_);
  if (answered) {
    failures_ = 0;
    return;
  }
  constexpr int kMost = 6;
  failures_ = std::min(failures_ + 1, kMost);
  left_alone_until_ = std::chrono::steady_clock::now() + std::chrono::seconds(1 << failures_);
  leave();
}

tl::expected<StoreLink::Reply, std::string> StoreLink::ask_once(
    Channel& channel, const StoreRequest& request, Moment deadline,
    const std::function<Moment(std::chrono::milliseconds)>& waits, bool& gone) {
  const int socket = channel.socket.get();
  FrameEnd end = send_frame(socket, encode_before_entry(request), deadline, request.entry);
  Reply reply;
  if (request.verb == StoreVerb::get) reply.bytes.expect(usual_size_);
  while (end == FrameEnd::whole) {
    end = receive_frame(socket, reply.bytes, deadline);
    if (end != FrameEnd::whole) break;
    const auto answer = decode_store_answer(reply.bytes.get());
    if (!answer)
      return tl::unexpected(std::string("kiln-store is of another release, or gives wrong answers"));
    if (answer->result == StoreResult::waiting && waits) {
      deadline = waits(std::chrono::milliseconds(answer->wait_ms));
      continue;
    }
    reply.answer = *answer;
    constexpr std::size_t kMostExpected = 1 << 20;
    if (request.verb == StoreVerb::get)
      usual_size_ =
          answer->result == StoreResult::found ? std::min(reply.bytes.get().size(), kMostExpected) : 0;
    return reply;
  }
  gone = end == FrameEnd::closed;
  return tl::unexpected(
      std::string(end == FrameEnd::late ? "kiln-store does not answer in time" : "kiln-store ended"));
}

tl::expected<StoreLink::Reply, std::string> StoreLink::ask(
    const StoreRequest& request, Moment deadline,
    const std::function<Moment(std::chrono::milliseconds)>& waits) {
  for (;;) {
    auto channel = take_channel();
    if (!channel) return tl::unexpected(std::move(channel).error());
    const std::uint64_t generation = [&] {
      const std::lock_guard lock(mutex_);
      return generation_;
    }();
    bool gone = false;
    auto reply = ask_once(*channel, request, deadline, waits, gone);
    if (reply) {
      give_back(*std::move(channel), generation);
      note(true);
      return reply;
    }
    if (gone) {
      const std::lock_guard lock(mutex_);
      if (generation != generation_ || !control_) continue;  // another thread has left it
      if (!channel->fresh) {  // it ended since it was asked last, having had nothing to do
        leave();
        continue;
      }
    }
    note(false);
    return reply;
  }
}

}  // namespace kiln::cache
