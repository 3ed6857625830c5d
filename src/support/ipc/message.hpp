// SPDX-License-Identifier: MIT
// Messages between Kiln's own programs: numbers of eight bytes, and texts with their length before them,
// behind a mark that names what follows and the release.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kiln::detail {

class MessageWriter {
 public:
  explicit MessageWriter(std::string_view mark) { raw(mark.data(), mark.size()); }
  MessageWriter& number(std::uint64_t value) {
    raw(&value, sizeof value);
    return *this;
  }
  MessageWriter& text(std::string_view text) { return bytes(std::as_bytes(std::span(text))); }
  MessageWriter& bytes(std::span<const std::byte> bytes) {
    number(bytes.size());
    raw(bytes.data(), bytes.size());
    return *this;
  }
  std::vector<std::byte> take() { return std::move(message_); }

 private:
  void raw(const void* data, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(data);
    message_.insert(message_.end(), first, first + size);
  }
  std::vector<std::byte> message_;
};

/// After the first thing that is not as it must be, all that is read is empty and well() is false.
class MessageReader {
 public:
  MessageReader(std::span<const std::byte> message, std::string_view mark) : left_(message) {
    const auto have = take(mark.size());
    well_ = well_ && std::memcmp(have.data(), mark.data(), mark.size()) == 0;
  }
  std::uint64_t number(std::uint64_t most = UINT64_MAX) {
    std::uint64_t value = 0;
    if (const auto bytes = take(sizeof value); well_) std::memcpy(&value, bytes.data(), sizeof value);
    if (value > most) well_ = false;
    return well_ ? value : 0;
  }
  std::uint32_t number32() { return static_cast<std::uint32_t>(number(UINT32_MAX)); }
  bool flag() { return number(1) != 0; }
  std::span<const std::byte> bytes() { return take(number()); }
  std::string text() {
    const auto read = bytes();
    return {reinterpret_cast<const char*>(read.data()), read.size()};
  }
  [[nodiscard]] bool well() const { return well_; }
  [[nodiscard]] bool done() const { return well_ && left_.empty(); }

 private:
  std::span<const std::byte> take(std::uint64_t size) {
    well_ = well_ && size <= left_.size();
    if (!well_) return {};
    const auto part = left_.first(size);
    left_ = left_.subspan(size);
    return part;
  }
  std::span<const std::byte> left_;
  bool well_ = true;
};

}  // namespace kiln::detail
