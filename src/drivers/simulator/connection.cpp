// SPDX-License-Identifier: MIT
// The loop between socket and engine.
#include "drivers/simulator/connection.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "drivers/simulator/memory/program.hpp"

namespace kiln::simulator {
namespace {

constexpr std::size_t kBuffer = std::size_t{256} << 10;

/// Bytes of a socket. Bound to a thread.
class Stream {
 public:
  Stream(int socket, Arrivals::Reader& reader) : socket_(socket), reader_(reader), buffer_(kBuffer) {
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }

  /// At least one byte; empty: the end. `of_message`: the first one.
  std::span<const std::byte> some(std::size_t most, bool of_message = false) {
    if (begin_ == end_) {
      // The driver sends a head and its data as two packets, the second only when the first is confirmed.
      const int on = 1;
      setsockopt(socket_, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
      if (of_message) reader_.wait_for_bytes(socket_);
      ssize_t got = 0;
      do got = recv(socket_, buffer_.data(), buffer_.size(), 0);
      while (got < 0 && errno == EINTR);
      if (got <= 0) return {};
      begin_ = 0;
      end_ = static_cast<std::size_t>(got);
    }
    const std::size_t part = std::min(most, end_ - begin_);
    return {buffer_.data() + std::exchange(begin_, begin_ + part), part};
  }
  bool fill(std::span<std::byte> to, bool of_message = false) {
    while (!to.empty()) {
      const auto part = some(to.size(), std::exchange(of_message, false));
      if (part.empty()) return false;
      std::memcpy(to.data(), part.data(), part.size());
      to = to.subspan(part.size());
    }
    return true;
  }
  bool send_all(std::span<const std::byte> from) {
    while (!from.empty()) {
      const ssize_t sent = send(socket_, from.data(), from.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno == EAGAIN && can_send()) continue;
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return false;
      from = from.subspan(static_cast<std::size_t>(sent));
    }
    return true;
  }
  /// It asks for more, and does not take what it asked for.
  [[nodiscard]] bool lost() const { return lost_; }

 private:
  /// False: an error, or lost().
  bool can_send() {
    constexpr int kMost = 5000;  // ms
    pollfd waits{socket_, POLLOUT, 0};
    while (true) {
      const int ready = poll(&waits, 1, kMost);
      if (ready > 0) return true;
      if (ready < 0 && errno != EINTR) return false;
      int bytes = 0;
      lost_ = ready == 0 && ioctl(socket_, FIONREAD, &bytes) == 0 && bytes != 0;
      if (lost_) return false;
    }
  }

  int socket_;
  bool lost_ = false;
  Arrivals::Reader& reader_;
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0, end_ = 0;
};

bool write_memory(Stream& stream, Engine& engine, const Message& message, std::string& wrong) {
  std::uint64_t address = message.address;
  std::array<std::byte, kPage> page;
  for (std::uint64_t left = message.size; left != 0;) {
    const std::size_t part = std::min<std::uint64_t>(left, kPage - address % kPage);
    const std::span<std::byte> bytes(page.data(), part);
    if (!stream.fill(bytes)) return false;
    if (const auto written = engine.tables().write(address, bytes, part == message.size); !written) {
      wrong = written.error();
      return false;
    }
    address += part;
    left -= part;
  }
  return true;
}

bool read_memory(Stream& stream, Engine& engine, Receiver& receiver, const Message& message,
                 std::vector<Page*>& given) {
  engine.settle();
  std::vector<std::byte> answer(24 + kPage);
  const auto head = memory_answer(message);
  std::memcpy(answer.data(), head.data(), head.size());
  std::size_t before = head.size();
  std::uint64_t address = message.address;
  // As many bytes as the head has: which of the two its thread waits for is told by the place alone.
  std::optional<std::uint64_t> for_head;
  const std::uint64_t in_last_page = (message.address + message.size) % kPage;
  if ((message.size == head.size() || in_last_page == head.size()) && message.size != 0 &&
      !engine.tables().knows(message.address + message.size - 1))
    for_head = receiver.place_of(head.size());
  for (std::uint64_t left = message.size; left != 0 || before != 0;) {
    const std::size_t part = std::min<std::uint64_t>(left, kPage - address % kPage);
    if (part != 0 && !engine.tables().knows(address)) {
      // The driver downloads what it never uploaded to this engine, such as an event that nobody submitted
      // yet, or a buffer that another engine has: it takes a new page for it and tells nobody which memory
      // that is. Where it waits for the bytes is the memory. It waits as soon as it has the head.
      if (before != 0 && !stream.send_all({answer.data(), before})) return false;
      before = 0;
      if (const auto place = receiver.place_of(left, for_head)) engine.tables().name(address, *place);
    }
    const std::span<std::byte> bytes(answer.data() + before, part);
    std::ranges::fill(bytes, std::byte{0});
    if (part != 0)
      if (Page* const page = engine.tables().read(address, bytes)) given.push_back(page);
    if (!stream.send_all({answer.data(), before + part})) return false;
    before = 0;
    address += part;
    left -= part;
  }
  return true;
}

}  // namespace

tl::expected<void, std::string> serve(int socket, Engine& engine) {
  Stream stream(socket, engine.reader());
  Receiver receiver(socket);
  std::array<std::byte, kHeaderBytes> head;
  std::array<std::byte, kMostBodyBytes> body;
  std::vector<Page*> given;  // with the last answer: the program has it when it sends the next message
  const auto arrived = [&] {
    for (Page* const page : given) page->arrived();
    given.clear();
  };
  std::string wrong;
  bool open = true;
  while (open && stream.fill(head, true)) {
    arrived();
    const auto header = read_header(head);
    if (!header) return tl::unexpected(header.error());
    const std::span<std::byte> of_body(body.data(), header->body_bytes);
    if (!stream.fill(of_body)) break;
    const auto message = read_message(*header, of_body);
    if (!message) return tl::unexpected(message.error());
    switch (message->kind) {
      case Message::Kind::control:
        break;
      case Message::Kind::write_register:
        engine.write_register(static_cast<std::uint32_t>(message->address),
                              static_cast<std::uint32_t>(message->value));
        break;
      case Message::Kind::read_register:
        open = stream.send_all(register_answer(
            message->transaction, engine.read_register(static_cast<std::uint32_t>(message->address))));
        break;
      case Message::Kind::write_gtt:
        engine.tables().write_gtt(message->address, message->value);
        break;
      case Message::Kind::write_memory:
        open = write_memory(stream, engine, *message, wrong);
        break;
      case Message::Kind::read_memory:
        open = read_memory(stream, engine, receiver, *message, given);
        break;
    }
  }
  arrived();
  // 22.43 reads answers into the program's memory. Where that is gone it goes on, with the next answer's head
  // in the middle of the last one.
  if (stream.lost())
    wrong =
        "requests, and their answers were not taken: the driver cannot write to memory that the GPU used, so "
        "it "
        "was freed too early. Wait for the work before its buffers are freed";
  if (!wrong.empty()) return tl::unexpected(wrong);
  return {};
}

}  // namespace kiln::simulator
