// SPDX-License-Identifier: MIT
// The messages between Intel's driver and a simulated GPU, as bytes: pure, without a socket.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

// Source: shared/source/tbx/tbx_proto.h and tbx_sockets_imp.cpp of intel/compute-runtime 22.43.24595.35.
// Little-endian words: kind, transaction, bytes of the body; then the body, then data where the body says so.
namespace kiln::simulator {

struct Header {
  std::uint32_t kind = 0, transaction = 0, body_bytes = 0;
};
inline constexpr std::size_t kHeaderBytes = 12;
/// No message of the driver has a longer body.
inline constexpr std::size_t kMostBodyBytes = 64;

struct Message {
  enum class Kind : std::uint8_t {
    control,
    write_register,
    read_register,  ///< answered by register_answer
    write_gtt,      ///< `address` is the entry's index, `value` the entry
    write_memory,   ///< `size` bytes follow
    read_memory,    ///< answered by memory_answer, then `size` bytes
  } kind = Kind::control;
  std::uint32_t transaction = 0;
  std::uint64_t address = 0;  ///< physical, or the register's offset
  std::uint64_t value = 0;
  std::uint32_t size = 0;
};

/// Error: a body that no message has.
[[nodiscard]] tl::expected<Header, std::string> read_header(std::span<const std::byte, kHeaderBytes> bytes);
/// `body` has as many bytes as the header says. Error: a kind that the driver does not send, or a body that
/// is too short for its kind.
[[nodiscard]] tl::expected<Message, std::string> read_message(const Header& header,
                                                              std::span<const std::byte> body);

[[nodiscard]] std::array<std::byte, 16> register_answer(std::uint32_t transaction, std::uint32_t value);
/// What comes before the bytes that were read.
[[nodiscard]] std::array<std::byte, 24> memory_answer(const Message& read);

}  // namespace kiln::simulator
