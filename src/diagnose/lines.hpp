// SPDX-License-Identifier: MIT
// Puts the lines of a log together from blocks of text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "kiln/explain.hpp"

namespace kiln {

/// Gives a reader its lines, wherever the blocks were cut. One thread at a time.
class Lines {
 public:
  explicit Lines(LogReader& reader) : reader_(reader) {}

  void add(std::string_view block) {
    for (auto end = block.find('\n'); end != block.npos; end = block.find('\n')) {
      if (begun_) {
        append(block.substr(0, end));
        finish();
      } else {
        reader_.line(block.substr(0, end));
        ++count_;
      }
      block.remove_prefix(end + 1);
    }
    append(block);
  }
  /// No more blocks: the last line may have no end.
  void end() {
    if (begun_) finish();
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  static constexpr std::size_t kLongestLine = 64 << 10;  // bytes; the reader ignores what is behind

  void append(std::string_view part) {
    begun_ |= !part.empty();
    line_.append(part.substr(0, kLongestLine - std::min(line_.size(), kLongestLine)));
  }
  void finish() {
    reader_.line(line_);
    ++count_;
    line_.clear();
    begun_ = false;
  }

  LogReader& reader_;
  std::string line_;
  bool begun_ = false;
  std::uint64_t count_ = 0;
};

}  // namespace kiln
