// SPDX-License-Identifier: MIT
// Sends and receives frames, and descriptors beside them.
#include "cache/remote/frame.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

#include "cache/remote/message.hpp"

namespace kiln::cache {
namespace {

/// Until the socket can be read from or written to.
bool wait_for(int socket, short events, Moment deadline) {
  for (;;) {
    pollfd waiting{socket, events, 0};
    const int left = left_until(deadline);
    const int count = poll(&waiting, 1, left);
    if (count > 0) return true;
    if (count == 0 && left == 0) return false;
    if (count < 0 && errno != EINTR) return false;
  }
}

/// The other side copies one out while the next is copied in; each call may wake it.
constexpr std::size_t kPiece = 32 << 10;  // bytes

/// `parts` of those of a frame.
using Parts = std::array<iovec, 3>;
std::size_t take_piece(std::span<const iovec> all, Parts& parts) {
  std::size_t count = 0, left = kPiece;
  for (const iovec& each : all) {
    parts[count++] = {each.iov_base, std::min(each.iov_len, left)};
    left -= std::min(each.iov_len, left);
  }
  return count;
}

FrameEnd send_all(int socket, std::span<iovec> parts, Moment deadline) {
  for (;;) {
    while (!parts.empty() && parts.front().iov_len == 0) parts = parts.subspan(1);
    if (parts.empty()) return FrameEnd::whole;
    Parts piece;
    msghdr message{};
    message.msg_iovlen = take_piece(parts, piece);
    message.msg_iov = piece.data();
    const ssize_t count = sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count >= 0) {
      auto sent = static_cast<std::size_t>(count);
      for (iovec& part : parts) {
        const std::size_t of_it = std::min(sent, part.iov_len);
        part = {static_cast<char*>(part.iov_base) + of_it, part.iov_len - of_it};
        sent -= of_it;
      }
    } else if (errno == EAGAIN) {
      if (!wait_for(socket, POLLOUT, deadline)) return FrameEnd::late;
    } else if (errno != EINTR) {
      return FrameEnd::closed;
    }
  }
}

FrameEnd receive_all(int socket, std::span<std::byte> bytes, Moment deadline, ShortWait& wait) {
  while (!bytes.empty()) {
    const ssize_t count = recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (count < 0 && errno == EAGAIN) {
      if (!wait.readable(socket, deadline)) return FrameEnd::late;
    } else if (count == 0 || errno != EINTR) {
      return FrameEnd::closed;
    }
  }
  return FrameEnd::whole;
}

union ControlSpace {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

}  // namespace

int left_until(Moment deadline) {
  const auto left = deadline - std::chrono::steady_clock::now();
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::clamp<std::int64_t>(milliseconds, 0, INT_MAX));
}

bool ShortWait::readable(int socket, Moment deadline) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  if (short_) {
    pollfd waiting{socket, POLLIN, 0};
    for (const auto end = std::min(begin + looks_, deadline); Clock::now() < end; sched_yield())
      if (poll(&waiting, 1, 0) > 0) return true;
  }
  const bool there = wait_for(socket, POLLIN, deadline);
  short_ = Clock::now() - begin < looks_ + looks_ / 2;
  return there;
}

FrameEnd send_frame(int socket, std::span<const std::byte> message, Moment deadline,
                    std::span<const std::byte> rest) {
  std::uint64_t size = message.size() + rest.size();
  const auto part = [](std::span<const std::byte> bytes) {
    return iovec{const_cast<std::byte*>(bytes.data()), bytes.size()};
  };
  Parts parts{iovec{&size, sizeof size}, part(message), part(rest)};
  return send_all(socket, parts, deadline);
}

FrameEnd receive_frame(int socket, FrameBytes& message, Moment deadline, ShortWait& wait) {
  std::uint64_t size = 0;
  const FrameEnd end = receive_all(socket, std::as_writable_bytes(std::span(&size, 1)), deadline, wait);
  if (end != FrameEnd::whole) return end;
  if (size > kLargestMessage) return FrameEnd::wrong;
  message.resize(size);
  return receive_all(socket, message.get(), deadline, wait);
}

FrameEnd receive_frame(int socket, FrameBytes& message, Moment deadline) {
  thread_local ShortWait wait;
  return receive_frame(socket, message, deadline, wait);
}

bool send_descriptor(int socket, int descriptor) {
  char nothing = 0;
  iovec part{&nothing, 1};
  ControlSpace space{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space.bytes;
  message.msg_controllen = sizeof space.bytes;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

detail::Descriptor receive_descriptor(int socket) {
  char nothing = 0;
  iovec part{&nothing, 1};
  ControlSpace space{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space.bytes;
  message.msg_controllen = sizeof space.bytes;
  ssize_t count = 0;
  while ((count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  const cmsghdr* header = count == 1 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (!header || header->cmsg_type != SCM_RIGHTS) return {};
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return detail::Descriptor(descriptor);
}

}  // namespace kiln::cache
