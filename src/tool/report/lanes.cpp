// SPDX-License-Identifier: MIT
// Draws one access of a sub-group: a row a cache line, or a row a turn of the banks of SLM.
#include <algorithm>
#include <array>
#include <map>

#include "tool/report/html.hpp"
#include "tool/report/report.hpp"

namespace kiln::tool {
namespace {

// As the CPU device counts: docs/counters.md.
constexpr std::uint64_t kBanks = 16, kServedTogether = 16;

// Pixels of the drawing; it is 400 wide, so that its text can be read on a phone.
constexpr std::uint64_t kLeft = 72, kTop = 30, kCell = 20, kRow = 24, kPixelsPerByte = 5;
constexpr std::size_t kMostRows = 40;
/// Of an access that is wider, such as the copy of a large struct, the beginning is drawn.
constexpr std::uint64_t kMostBytes = 1024;

struct Touch {
  std::uint64_t lane, offset, bytes;
};

using Lanes = std::vector<std::uint64_t>;

std::vector<Touch> touches_of(const Json& instruction) {
  std::vector<Touch> touches;
  if (!instruction.contains("example")) return touches;
  const Json& width = instruction["width"];
  const std::uint64_t bytes = width.is_number_unsigned() ? width.get<std::uint64_t>() : 1;
  for (const Json& lane : instruction["example"]["lanes"])
    touches.push_back({lane.value("lane", std::uint64_t{0}), lane.value("offset", std::uint64_t{0}),
                       std::clamp<std::uint64_t>(bytes, 1, kMostBytes)});
  return touches;
}

/// The words of SLM that are served together, each with who wants it. Atomics are served one by one: a word
/// more than once.
std::multimap<std::uint64_t, Lanes> words_of(std::span<const Touch> touches, bool atomic) {
  std::multimap<std::uint64_t, Lanes> words;
  for (const Touch& touch : touches)
    for (std::uint64_t word = touch.offset / kBankBytes;
         word <= (touch.offset + touch.bytes - 1) / kBankBytes; ++word) {
      const auto found = words.find(word);
      if (atomic || found == words.end())
        words.emplace(word, Lanes{touch.lane});
      else
        found->second.push_back(touch.lane);
    }
  return words;
}

std::uint64_t words_turns(const std::multimap<std::uint64_t, Lanes>& words) {
  return (words.size() + kBanks - 1) / kBanks;
}

/// Calls `f` with those of the touches that are served together.
void by_turns(std::span<const Touch> touches, const auto& f) {
  for (std::size_t at = 0; at < touches.size(); at += kServedTogether)
    f(touches.subspan(at, std::min<std::size_t>(kServedTogether, touches.size() - at)));
}

class Drawing {
 public:
  void cell(std::uint64_t x, std::uint64_t width, const Lanes& lanes, const char* kind,
            const std::string& where) {
    std::string who = lanes.size() == 1 ? "lane " : "lanes ";
    for (std::size_t i = 0; i < lanes.size(); ++i) who += (i ? ", " : "") + std::to_string(lanes[i]);
    body_ += "<g><title>" + who + ": " + where + "</title>" + rectangle(std::string("hit ") + kind, x, width);
    if (width >= kCell)
      body_ += lanes.size() == 1
                   ? text("middle", x + width / 2, std::to_string(lanes[0]), "on")
                   : text("middle", x + width / 2, std::to_string(lanes.size()) + "×", "on many");
    body_ += "</g>";
  }
  /// Begins a row; false when there is no more room.
  bool row(const std::string& label, bool apart = false) {
    if (++rows_ > kMostRows) return false;
    y_ = rows_ == 1 ? kTop : y_ + kRow + (apart ? kRow / 2 : 0);
    body_ += "\n" + text("end", kLeft - 8, label, "label");
    return true;
  }
  /// What could have been touched in the row: one line, or the slots of all banks.
  void ground(const char* kind) { body_ += rectangle(kind, kLeft, kLineBytes * kPixelsPerByte); }
  void head(std::uint64_t x, const std::string& label, const char* anchor = "middle") {
    body_ += "<text class=\"label\" text-anchor=\"" + std::string(anchor) + "\" x=\"" + std::to_string(x) +
             "\" y=\"20\">" + label + "</text>";
  }
  std::string finish(const std::string& title, const char* unit) {
    if (rows_ > kMostRows) {
      y_ += kRow;
      body_ += text("start", kLeft, "and " + std::to_string(rows_ - kMostRows) + " more " + unit, "label");
    }
    return "<svg class=\"lanes\" role=\"img\" aria-label=\"" + title + "\" viewBox=\"0 0 400 " +
           std::to_string(y_ + kRow + 2) + "\">" + body_ + "</svg>\n";
  }

 private:
  [[nodiscard]] std::string rectangle(const std::string& kind, std::uint64_t x, std::uint64_t width) const {
    return "<rect class=\"" + kind + "\" x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y_) +
           "\" width=\"" + std::to_string(width) + "\" height=\"20\" rx=\"" + (width > 8 ? "2" : "0") +
           "\"/>";
  }
  [[nodiscard]] std::string text(const char* anchor, std::uint64_t x, const std::string& what,
                                 const char* kind) const {
    return "<text class=\"" + std::string(kind) + "\" text-anchor=\"" + anchor + "\" x=\"" +
           std::to_string(x) + "\" y=\"" + std::to_string(y_ + 14) + "\">" + what + "</text>";
  }

  std::string body_;
  std::uint64_t y_ = kTop;
  std::size_t rows_ = 0;
};

std::string lines_svg(const std::vector<Touch>& touches) {
  struct Piece {
    std::uint64_t start, bytes;  // in its line
    auto operator<=>(const Piece&) const = default;
  };
  std::map<std::uint64_t, std::map<Piece, Lanes>> lines;
  for (const Touch& touch : touches)
    for (std::uint64_t at = touch.offset, end = at + touch.bytes; at < end;) {
      const std::uint64_t next = std::min(end, (at / kLineBytes + 1) * kLineBytes);
      lines[at / kLineBytes][{at % kLineBytes, next - at}].push_back(touch.lane);
      at = next;
    }
  Drawing drawing;
  for (std::uint64_t byte = 0; byte < kLineBytes; byte += 16)
    drawing.head(kLeft + byte * kPixelsPerByte, "+" + std::to_string(byte), "start");
  drawing.head(kLeft - 8, "from", "end");
  for (const auto& [line, pieces] : lines) {
    if (!drawing.row("byte " + std::to_string(line * kLineBytes))) continue;
    drawing.ground("free");
    for (const auto& [piece, lanes] : pieces)
      drawing.cell(kLeft + piece.start * kPixelsPerByte, piece.bytes * kPixelsPerByte, lanes, "",
                   "bytes " + std::to_string(line * kLineBytes + piece.start) + " to " +
                       std::to_string(line * kLineBytes + piece.start + piece.bytes - 1));
  }
  return drawing.finish(std::to_string(touches.size()) + " lanes touch " + std::to_string(lines.size()) +
                            (lines.size() == 1 ? " cache line" : " different cache lines"),
                        "lines");
}

std::string banks_svg(const std::vector<Touch>& touches, bool atomic) {
  Drawing drawing;
  for (std::uint64_t bank = 0; bank < kBanks; ++bank)
    drawing.head(kLeft + bank * kCell + kCell / 2, std::to_string(bank));
  drawing.head(kLeft - 8, "bank", "end");
  std::size_t turns = 0;
  by_turns(touches, [&](std::span<const Touch> together) {
    const auto words = words_of(together, atomic);
    std::array<std::vector<std::pair<std::uint64_t, const Lanes*>>, kBanks> banks;
    for (const auto& [word, lanes] : words) banks[word % kBanks].emplace_back(word, &lanes);
    const std::size_t all = std::ranges::max(banks, {}, [](const auto& bank) { return bank.size(); }).size();
    for (std::size_t turn = 0; turn < all; ++turn) {
      ++turns;
      if (!drawing.row("turn " + std::to_string(turns), turn == 0 && turns > 1)) continue;
      drawing.ground("slots");
      for (std::uint64_t bank = 0; bank < kBanks; ++bank)
        if (turn < banks[bank].size())
          drawing.cell(
              kLeft + bank * kCell, kCell, *banks[bank][turn].second,
              turn < words_turns(words) ? "" : "conflict",
              "word " + std::to_string(banks[bank][turn].first) + ", in bank " + std::to_string(bank));
    }
  });
  return drawing.finish("The banks serve " + std::to_string(touches.size()) + " lanes in " +
                            std::to_string(turns) + (turns == 1 ? " turn" : " turns"),
                        "turns");
}

}  // namespace

std::uint64_t least_of_example(const Json& instruction) {
  std::vector<Touch> touches = touches_of(instruction);
  std::uint64_t least = 0;
  if (is_slm(instruction)) {
    by_turns(touches, [&](std::span<const Touch> together) {
      least += words_turns(words_of(together, instruction["kind"] == "atomic"));
    });
    return least;
  }
  // What could be one wide access of a work-item needs the lines of all its bytes.
  if (instruction.contains("neighbours"))
    for (Touch& touch : touches)
      touch.bytes =
          std::clamp(instruction["neighbours"].value("bytes", std::uint64_t{0}), touch.bytes, kMostBytes);
  // Different bytes; those of two lanes may overlap.
  std::ranges::sort(touches, {}, &Touch::offset);
  std::uint64_t bytes = 0, end = 0;
  for (const Touch& touch : touches) {
    const std::uint64_t from = std::max(touch.offset, end), to = touch.offset + touch.bytes;
    if (to > from) bytes += to - from, end = to;
  }
  return (bytes + kLineBytes - 1) / kLineBytes;
}

std::string lanes_svg(const Json& instruction) {
  const std::vector<Touch> touches = touches_of(instruction);
  if (touches.empty()) return {};
  return is_slm(instruction) ? banks_svg(touches, instruction["kind"] == "atomic") : lines_svg(touches);
}

}  // namespace kiln::tool
