// SPDX-License-Identifier: MIT
// Files, byte builders and damage for the tests of src/binary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::test {

using Bytes = std::vector<std::byte>;

inline Bytes read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

inline Bytes bytes_of(std::string_view text) {
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

/// Calls `read` with `count` copies of the file, one bit flipped in each. The same bits on every run and
/// machine.
template <class Read>
void flip_bits(const Bytes& file, int count, Read read) {
  std::mt19937_64 random(20240229);
  Bytes damaged = file;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t bit = random() % (file.size() * 8);
    const auto mask = std::byte(1u << (bit % 8));
    damaged[bit / 8] ^= mask;
    read(damaged);
    damaged[bit / 8] ^= mask;
  }
}

/// Calls `read` with every true prefix of the file, in memory of exactly that size, so that a sanitizer sees
/// each read beyond the end.
template <class Read>
void truncate_everywhere(const Bytes& file, Read read) {
  for (std::size_t size = 0; size < file.size(); ++size)
    read(Bytes(file.begin(), file.begin() + std::ptrdiff_t(size)));
}

/// Puts a SPIR-V module together word by word.
class SpirvBuilder {
 public:
  SpirvBuilder& op(std::uint32_t opcode, std::initializer_list<std::uint32_t> operands,
                   std::string_view text = {}, std::initializer_list<std::uint32_t> rest = {}) {
    const std::size_t start = words_.size();
    words_.push_back(0);
    words_.insert(words_.end(), operands);
    if (!text.empty()) {
      std::vector<std::uint32_t> packed(text.size() / 4 + 1);
      for (std::size_t i = 0; i < text.size(); ++i)
        packed[i / 4] |= std::uint32_t{static_cast<unsigned char>(text[i])} << (i % 4 * 8);
      words_.insert(words_.end(), packed.begin(), packed.end());
    }
    words_.insert(words_.end(), rest);
    words_[start] = std::uint32_t(words_.size() - start) << 16 | opcode;
    return *this;
  }
  [[nodiscard]] Bytes bytes() const {
    const auto* data = reinterpret_cast<const std::byte*>(words_.data());
    return {data, data + words_.size() * 4};
  }

 private:
  std::vector<std::uint32_t> words_{0x07230203, 0x00010000, 0, 1000, 0};
};

}  // namespace kiln::test
