// SPDX-License-Identifier: MIT
// The word that somebody most likely meant.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::detail {

/// Letters to insert, leave out, replace, or swap with their neighbour to make `b` of `a`; upper and lower
/// case are the same. Pure. Source: optimal string alignment, Boytsov 2011, 2.2.
inline std::size_t typing_errors(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return lower(x) == lower(y);
  };
  std::array<std::vector<std::size_t>, 3> rows;  // the one before the last, the last, this one
  for (auto& row : rows) row.resize(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) rows[2][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::rotate(rows.begin(), rows.begin() + 1, rows.end());
    rows[2][0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = rows[1][j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      rows[2][j] = std::min({replaced, rows[1][j] + 1, rows[2][j - 1] + 1});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
        rows[2][j] = std::min(rows[2][j], rows[0][j - 2] + 1);
    }
  }
  return rows[2][b.size()];
}

/// That of `words` which differs from `word` by the fewest typing errors, one in three letters at most; else
/// the first that begins with it. Empty: none is near. Pure.
template <class Words>
std::string nearest(std::string_view word, const Words& words) {
  constexpr std::size_t kLongest = 64;  // letters; nobody means a word by a longer one
  std::string best;
  std::size_t fewest = std::max<std::size_t>(1, word.size() / 3) + 1;
  if (word.empty() || word.size() > kLongest) return best;
  for (const auto& each : words) {
    const std::size_t errors = typing_errors(word, each);
    if (errors >= fewest || errors >= std::string_view(each).size()) continue;
    fewest = errors;
    best = each;
  }
  if (!best.empty() || word.size() < 3) return best;
  for (const auto& each : words)
    if (std::string_view(each).starts_with(word)) return std::string(each);
  return best;
}

/// As help: "did you mean `pvc`?", or nothing where no word is near. Pure.
template <class Words>
std::vector<std::string> did_you_mean(std::string_view word, const Words& words,
                                      const std::string& before = "") {
  const std::string found = nearest(word, words);
  if (found.empty()) return {};
  return {"did you mean `" + before + found + "`?"};
}

}  // namespace kiln::detail
