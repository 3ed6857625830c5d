// SPDX-License-Identifier: MIT
// Messages to values, answers to bytes.
#include "drivers/simulator/wire.hpp"

#include <bit>
#include <cstring>

namespace kiln::simulator {
namespace {

// Numbers of the kinds.
constexpr std::uint32_t kRegister = 0, kRegisterAnswer = 1, kGtt = 2, kWrite = 4, kRead = 5, kReadAnswer = 6,
                        kControl = 11;

std::uint32_t word(std::span<const std::byte> bytes, std::size_t index) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + 4 * index, 4);
  return value;
}

}  // namespace

tl::expected<Header, std::string> read_header(std::span<const std::byte, kHeaderBytes> bytes) {
  const Header header{word(bytes, 0), word(bytes, 1), word(bytes, 2)};
  if (header.body_bytes > kMostBodyBytes)
    return tl::unexpected("a message of kind " + std::to_string(header.kind) + " with a body of " +
                          std::to_string(header.body_bytes) + " bytes");
  return header;
}

tl::expected<Message, std::string> read_message(const Header& header, std::span<const std::byte> body) {
  const auto needs = [&](std::size_t words) { return body.size() >= 4 * words; };
  const auto address = [&] { return std::uint64_t{word(body, 0) >> 24} << 32 | word(body, 1); };
  Message message;
  message.transaction = header.transaction;
  switch (header.kind) {
    case kControl:
      return message;
    case kRegister:
      if (!needs(3)) break;
      message.kind = word(body, 0) & 1 ? Message::Kind::write_register : Message::Kind::read_register;
      message.address = word(body, 1);
      message.value = word(body, 2);
      return message;
    case kGtt:
      if (!needs(4)) break;
      message.kind = Message::Kind::write_gtt;
      message.address = word(body, 1);
      message.value = std::uint64_t{word(body, 3)} << 32 | word(body, 2);
      return message;
    case kWrite:
    case kRead:
      if (!needs(3)) break;
      message.kind = header.kind == kWrite ? Message::Kind::write_memory : Message::Kind::read_memory;
      message.address = address();
      message.size = word(body, 2);
      return message;
    default:
      return tl::unexpected("a message of kind " + std::to_string(header.kind) +
                            ", which driver 22.43 does not send");
  }
  return tl::unexpected("a message of kind " + std::to_string(header.kind) + " with a body of " +
                        std::to_string(body.size()) + " bytes, which is too short");
}

std::array<std::byte, 16> register_answer(std::uint32_t transaction, std::uint32_t value) {
  const std::array<std::uint32_t, 4> words{kRegisterAnswer, transaction, 4, value};
  return std::bit_cast<std::array<std::byte, 16>>(words);
}

std::array<std::byte, 24> memory_answer(const Message& read) {
  const std::array<std::uint32_t, 6> words{kReadAnswer,
                                           read.transaction,
                                           12,
                                           static_cast<std::uint32_t>(read.address >> 32) << 24,
                                           static_cast<std::uint32_t>(read.address),
                                           read.size};
  return std::bit_cast<std::array<std::byte, 24>>(words);
}

}  // namespace kiln::simulator
