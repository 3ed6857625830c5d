// SPDX-License-Identifier: MIT
// The automaton of Aho and Corasick: https://doi.org/10.1145/360825.360855.
#include "diagnose/rules/word_finder.hpp"

#include <cassert>
#include <limits>

namespace kiln::detail {
namespace {

unsigned char small(char c) { return static_cast<unsigned char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

}  // namespace

WordFinder::Place& WordFinder::next(std::uint32_t state, std::size_t letter) {
  return next_[state * letters_ + letter];
}

WordFinder::WordFinder(std::span<const std::string_view> words) : states_(1), same_(words.size()) {
  assert(words.size() <= kMostWords);
  for (const char between : {' ', '-', '_'}) class_[static_cast<unsigned char>(between)] = 1;
  letters_ = 2;
  std::size_t most_states = 1;
  for (const std::string_view word : words) most_states += word.size();
  for (const std::string_view word : words)
    for (const char c : word)
      if (std::uint8_t& known = class_[static_cast<unsigned char>(c)]; known == 0)
        known = static_cast<std::uint8_t>(letters_++);
  for (int c = 'A'; c <= 'Z'; ++c) class_[c] = class_[small(static_cast<char>(c))];

  next_.reserve(most_states * letters_);  // memory that no state takes is never touched
  next_.resize(letters_);
  for (std::uint32_t i = 0; i < words.size(); ++i) {
    std::uint32_t state = 0;
    for (const char c : words[i]) {
      const std::size_t letter = class_[static_cast<unsigned char>(c)];
      if (next(state, letter) == 0) {
        next(state, letter) = static_cast<Place>(states_.size());
        states_.emplace_back();
        next_.resize(states_.size() * letters_);
      }
      state = next(state, letter);
    }
    same_[i] = states_[state].first_word;
    states_[state].first_word = i + 1;
  }
  assert(states_.size() <= std::numeric_limits<Place>::max());
  // By length: what a state falls back to is shorter, and done before.
  std::vector<std::uint32_t> queue;
  for (std::size_t letter = 0; letter < letters_; ++letter)
    if (const std::uint32_t state = next(0, letter)) queue.push_back(state);
  for (std::size_t done = 0; done < queue.size(); ++done) {
    const std::uint32_t state = queue[done];
    const std::uint32_t fallback = states_[state].fallback;
    states_[state].shorter = states_[fallback].first_word != 0 ? fallback : states_[fallback].shorter;
    for (std::size_t letter = 0; letter < letters_; ++letter) {
      const Place otherwise = next(fallback, letter);
      if (const std::uint32_t following = next(state, letter)) {
        states_[following].fallback = otherwise;
        queue.push_back(following);
      } else {
        next(state, letter) = otherwise;
      }
    }
  }
}

WordFinder::Found WordFinder::find(std::string_view text) const {
  Found found;
  std::uint32_t state = 0;
  const auto read = [&](char c) {
    state = next_[state * letters_ + class_[static_cast<unsigned char>(c)]];
    for (std::uint32_t ends = state; ends != 0; ends = states_[ends].shorter)
      for (std::uint32_t word = states_[ends].first_word; word != 0; word = same_[word - 1])
        found.set(word - 1);
  };
  read(' ');
  for (const char c : text) read(c);
  read(' ');
  return found;
}

}  // namespace kiln::detail
