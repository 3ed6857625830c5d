// SPDX-License-Identifier: MIT
// Messages through a socket between processes of one machine: their length, then they.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "support/descriptor.hpp"

namespace kiln::cache {

using Moment = std::chrono::steady_clock::time_point;

enum class FrameEnd : std::uint8_t {
  whole,
  closed,  ///< the other side is gone
  late,    ///< not until the deadline
  wrong,   ///< longer than what is read
};

/// A received message, in memory that nothing cleared before.
class FrameBytes {
 public:
  FrameBytes() = default;
  FrameBytes(FrameBytes&& other) noexcept
      : bytes_(std::move(other.bytes_)),
        room_(std::exchange(other.room_, 0)),
        size_(std::exchange(other.size_, 0)) {}
  FrameBytes& operator=(FrameBytes&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(room_, other.room_);
    std::swap(size_, other.size_);
    return *this;
  }
  /// Room for a third more is as good, what is larger is given back.
  void resize(std::size_t size) {
    if (size > room_ || size < room_ - room_ / 4) bytes_.reset(new std::byte[size]), room_ = size;
    size_ = size;
  }
  /// Takes the room for so much from the system while there is time.
  void expect(std::size_t size) {
    constexpr std::size_t kPage = 4096;
    resize(size);
    for (std::size_t i = 0; i < size; i += kPage) bytes_[i] = std::byte{};
    size_ = 0;
  }
  [[nodiscard]] std::span<std::byte> get() { return {bytes_.get(), size_}; }
  [[nodiscard]] std::span<const std::byte> get() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t room_ = 0, size_ = 0;
};

class ShortWait;

/// Both wait at most until `deadline`, and raise no signal. After anything but `whole` the socket is of no
/// use any more. `rest` follows `message` as a part of it.
[[nodiscard]] FrameEnd send_frame(int socket, std::span<const std::byte> message, Moment deadline,
                                  std::span<const std::byte> rest = {});
[[nodiscard]] FrameEnd receive_frame(int socket, FrameBytes& message, Moment deadline);
/// The same where what comes is waited for by `wait`.
[[nodiscard]] FrameEnd receive_frame(int socket, FrameBytes& message, Moment deadline, ShortWait& wait);

/// A datagram with a descriptor, to where `receive_descriptor` is called; false: it is gone or full.
[[nodiscard]] bool send_descriptor(int socket, int descriptor);
/// Empty: the other side is gone.
[[nodiscard]] detail::Descriptor receive_descriptor(int socket);

/// Milliseconds for poll(), rounded up, 0 when it has passed.
[[nodiscard]] int left_until(Moment deadline);

/// Waits for what is likely to come at once: to sleep and be woken takes as long as a question to a store on
/// the same machine. Where the last wait was short it looks for a while, giving the CPU to whoever wants it,
/// before it sleeps. Bound to a thread.
class ShortWait {
 public:
  explicit ShortWait(std::chrono::microseconds looks = std::chrono::microseconds(200)) : looks_(looks) {}
  /// Until `socket` can be read from; false: not before `deadline`.
  [[nodiscard]] bool readable(int socket, Moment deadline);

 private:
  const std::chrono::microseconds looks_;
  bool short_ = true;  ///< the last one was
};

}  // namespace kiln::cache
