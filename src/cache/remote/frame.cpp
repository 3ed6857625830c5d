// SPDX-License-Identifier: MIT
// Sends and receives frames, and descriptors beside them.
#include "cache/remote/frame.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
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

FrameEnd send_all(int socket, std::span<const std::byte> bytes, Moment deadline) {
  while (!bytes.empty()) {
    const ssize_t count = send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      if (!wait_for(socket, POLLOUT, deadline)) return FrameEnd::late;
    } else if (errno != EINTR) {
      return FrameEnd::closed;
    }
  }
  return FrameEnd::whole;
}

FrameEnd receive_all(int socket, std::span<std::byte> bytes, Moment deadline) {
  while (!bytes.empty()) {
    const ssize_t count = recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (count < 0 && errno == EAGAIN) {
      if (!wait_for(socket, POLLIN, deadline)) return FrameEnd::late;
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

FrameEnd send_frame(int socket, std::span<const std::byte> message, Moment deadline) {
  const std::uint64_t size = message.size();
  const FrameEnd end = send_all(socket, std::as_bytes(std::span(&size, 1)), deadline);
  return end == FrameEnd::whole ? send_all(socket, message, deadline) : end;
}

FrameEnd receive_frame(int socket, std::vector<std::byte>& message, Moment deadline) {
  std::uint64_t size = 0;
  const FrameEnd end = receive_all(socket, std::as_writable_bytes(std::span(&size, 1)), deadline);
  if (end != FrameEnd::whole) return end;
  if (size > kLargestMessage) return FrameEnd::wrong;
  message.resize(size);
  return receive_all(socket, message, deadline);
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
