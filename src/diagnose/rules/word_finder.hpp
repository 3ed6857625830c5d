// SPDX-License-Identifier: MIT
// Finds many words in a line at once, small and capital letters alike.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kiln::detail {

/// One pass over the text, however many words there are (Aho and Corasick). Made once; then thread-safe.
class WordFinder {
 public:
  static constexpr std::size_t kMostWords = 3072;
  using Found = std::bitset<kMostWords>;  ///< by the place of the word in the list

  /// Words are in small letters, not empty, and at most kMostWords, with less than 65,536 different
  /// beginnings.
  explicit WordFinder(std::span<const std::string_view> words);
  /// As if there were a space before the text and behind it.
  [[nodiscard]] Found find(std::string_view text) const;

 private:
  struct State {
    std::uint32_t first_word = 0;  // that ends here, and one; 0: none
    std::uint32_t shorter = 0;     // the state of the longest other word that ends here; 0: none
    std::uint32_t fallback = 0;
  };
  using Place = std::uint16_t;  // of a state: half the memory to fill at each start
  [[nodiscard]] Place& next(std::uint32_t state, std::size_t letter);

  std::size_t letters_ = 1;  // classes of bytes; 0: in no word
  std::uint8_t class_[256] = {};
  std::vector<Place> next_;  // by state and letter
  std::vector<State> states_;
  std::vector<std::uint32_t> same_;  // by word: another that is the same, and one
};

}  // namespace kiln::detail
