// SPDX-License-Identifier: MIT
// Reads OpenCL C as far as a preprocessor does before it expands macros.
#include "build/source/lexer.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace kiln::detail {
namespace {

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

/// The text without backslashes at the ends of lines, and where each character stood.
struct Spliced {
  explicit Spliced(std::string_view given) {
    text.reserve(given.size() + 1);
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (given[i] == '\\') {
        // Compilers take blanks behind it for a mistake, and splice all the same.
        std::size_t end = i + 1;
        while (end < given.size() && is_blank(given[end])) ++end;
        if (end < given.size() && given[end] == '\n') {
          i = end;
          continue;
        }
      }
      text.push_back(given[i]);
      at.push_back(i);
    }
    // The end is a line's end, and no look ahead needs to ask for it.
    text.push_back('\n');
    at.push_back(given.size());
  }
  std::string text;
  std::vector<std::size_t> at;
};

class Lexer {
 public:
  explicit Lexer(std::string_view given) : given_(given), spliced_(given), text_(spliced_.text) {}

  tl::expected<LexedSource, LexError> run() {
    for (const std::string_view trigraph : {"?"
                                            "?=",
                                            "?"
                                            "?/"})
      if (const auto at = given_.find(trigraph); at != given_.npos)
        return tl::unexpected(LexError{line_of(at), "the trigraph " + std::string(trigraph)});
    while (at_ < text_.size() && error_.what.empty()) step();
    if (!error_.what.empty()) return tl::unexpected(std::move(error_));
    if (depth_ != 0) return tl::unexpected(LexError{if_lines_.back(), "an #if without its #endif"});
    // The guard counts where nothing stands behind its #endif.
    if (guard_state_ != Guard::closed) result_.guard.clear();
    return std::move(result_);
  }

 private:
  /// `#ifndef G` first, `#define G` next, and its #endif last.
  enum class Guard { start, opened, defined, closed, none };

  void step() {
    const char c = text_[at_];
    if (c == '\n') {
      line_begins_ = true;
      ++at_;
    } else if (is_blank(c)) {
      ++at_;
    } else if (comment()) {
    } else if (line_begins_ && (c == '#' || text_.compare(at_, 2, "%:") == 0)) {
      directive(at_);
    } else {
      line_begins_ = false;
      // Code outside the guard: the file has none.
      if (depth_ == 0) guard_state_ = Guard::none;
      token();
    }
  }

  /// Behind a comment, if one begins here.
  bool comment() {
    if (text_.compare(at_, 2, "//") == 0) {
      at_ = text_.find('\n', at_);
      return true;
    }
    if (text_.compare(at_, 2, "/*") != 0) return false;
    const auto end = text_.find("*/", at_ + 2);
    if (end == text_.npos) {
      fail("a comment without its end");
      at_ = text_.size();
    } else {
      at_ = end + 2;
    }
    return true;
  }

  void skip_blanks() {
    while (is_blank(text_[at_]) || comment())
      if (at_ >= text_.size()) {
        at_ = text_.size() - 1;
        return;
      } else if (is_blank(text_[at_])) {
        ++at_;
      }
  }

  std::string_view word() {
    const std::size_t begin = at_;
    while (in_word(text_[at_])) ++at_;
    return std::string_view(text_).substr(begin, at_ - begin);
  }

  /// One token of code.
  void token() {
    const char c = text_[at_];
    if (c == '"' || c == '\'') return quoted(c);
    if (!in_word(c)) {
      ++at_;
      return;
    }
    const std::size_t begin = at_;
    const std::string_view name = word();
    constexpr std::array<std::string_view, 5> kRaw{"R", "LR", "uR", "UR", "u8R"};
    if (text_[at_] == '"' && std::ranges::find(kRaw, name) != kRaw.end()) return fail("a raw text", begin);
    if (name == "__DATE__" || name == "__TIME__" || name == "__TIMESTAMP__") result_.asks_time = true;
    if (name == "__has_include") return has_include(begin);
    if (name == "__has_include_next" || name == "__has_embed") fail(std::string(name), begin);
  }

  /// To the end of a text or a character, or of the line.
  void quoted(char quote) {
    ++at_;
    while (text_[at_] != quote && text_[at_] != '\n')
      at_ += text_[at_] == '\\' && text_[at_ + 1] != '\n' ? 2 : 1;
    if (text_[at_] == quote) ++at_;
  }

  void rest_of_line() {
    while (at_ < text_.size() && text_[at_] != '\n' && error_.what.empty())
      if (is_blank(text_[at_]))
        ++at_;
      else if (!comment())
        token();
  }

  void directive(std::size_t begin) {
    at_ += text_[at_] == '#' ? 1 : 2;
    skip_blanks();
    const std::string name(word());
    if (name != "define" && guard_state_ == Guard::opened) guard_state_ = Guard::none;
    const bool condition = name == "if" || name == "ifdef" || name == "ifndef";
    if (condition) {
      if (depth_ == 0)
        guard_state_ = guard_state_ == Guard::start && name == "ifndef" ? Guard::opened : Guard::none;
      ++depth_;
      if_lines_.push_back(line_of(spliced_.at[begin]));
    }
    if (name == "include") {
      include(begin);
    } else if (name == "include_next" || name == "import" || name == "embed") {
      fail("#" + name, begin);
    } else if (name == "pragma") {
      skip_blanks();
      if (word() == "once") add({FileDirective::Kind::pragma_once}, begin, at_);
    } else if (condition || name == "elif") {
      in_condition_ = true;
      skip_blanks();
      if (name == "ifdef" || name == "ifndef") {
        const std::string_view macro = word();  // also of __has_include: whether it is there
        if (guard_state_ == Guard::opened && depth_ == 1 && result_.guard.empty()) result_.guard = macro;
      }
    } else if (name == "define") {
      skip_blanks();
      const std::string_view macro = word();
      if (guard_state_ == Guard::opened) guard_state_ = macro == result_.guard ? Guard::defined : Guard::none;
    } else if (name == "endif") {
      if (depth_ == 0) return fail("an #endif without its #if", begin);
      if_lines_.pop_back();
      if (--depth_ == 0) guard_state_ = guard_state_ == Guard::defined ? Guard::closed : Guard::none;
    }
    // An #else or #elif of the guard itself would be compiled when the guard stands.
    if ((name == "else" || name == "elif" || name == "elifdef" || name == "elifndef") && depth_ == 1)
      guard_state_ = Guard::none;
    if (depth_ == 0 && name != "endif") guard_state_ = Guard::none;
    rest_of_line();
    in_condition_ = false;
  }

  void include(std::size_t begin) {
    skip_blanks();
    FileDirective found{FileDirective::Kind::include};
    if (!header_name(found)) return fail("an #include whose name is not in quotes or brackets", begin);
    rest_of_line();  // a comment may go on over lines
    add(std::move(found), begin, at_);
  }

  /// "name" or <name>.
  bool header_name(FileDirective& found) {
    const char first = text_[at_];
    if (first != '"' && first != '<') return false;
    const auto end = text_.find_first_of(first == '"' ? "\"\n" : ">\n", at_ + 1);
    if (text_[end] == '\n') return false;
    found.name = text_.substr(at_ + 1, end - at_ - 1);
    found.quoted = first == '"';
    at_ = end + 1;
    return true;
  }

  void has_include(std::size_t begin) {
    constexpr const char* kWhat = "__has_include without a name in quotes or brackets";
    const std::size_t behind = at_;
    skip_blanks();
    if (text_[at_] != '(') {
      at_ = behind;
      // `defined(__has_include)` asks for no file.
      return in_condition_ ? void() : fail(kWhat, begin);
    }
    ++at_;
    skip_blanks();
    FileDirective found{FileDirective::Kind::has_include};
    if (!in_condition_ || !header_name(found)) return fail(kWhat, begin);
    skip_blanks();
    if (text_[at_] != ')') return fail(kWhat, begin);
    ++at_;
    add(std::move(found), begin, at_);
  }

  void add(FileDirective found, std::size_t begin, std::size_t end) {
    found.begin = spliced_.at[begin];
    found.end = spliced_.at[std::min(end, spliced_.at.size() - 1)];
    found.line = line_of(found.begin);
    found.end_line = line_of(found.end);
    result_.directives.push_back(std::move(found));
  }

  /// Of an offset in what was given. Asked in ascending order.
  std::size_t line_of(std::size_t offset) {
    if (offset < counted_) counted_ = 0, lines_ = 0;
    lines_ +=
        static_cast<std::size_t>(std::count(given_.begin() + static_cast<std::ptrdiff_t>(counted_),
                                            given_.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
    counted_ = offset;
    return lines_ + 1;
  }

  void fail(std::string what) { fail(std::move(what), at_); }
  void fail(std::string what, std::size_t at) {
    if (error_.what.empty())
      error_ = {line_of(spliced_.at[std::min(at, spliced_.at.size() - 1)]), std::move(what)};
  }

  std::string_view given_;
  Spliced spliced_;
  const std::string& text_;
  std::size_t at_ = 0, depth_ = 0, counted_ = 0, lines_ = 0;
  bool line_begins_ = true, in_condition_ = false;
  Guard guard_state_ = Guard::start;
  std::vector<std::size_t> if_lines_;
  LexedSource result_;
  LexError error_;
};

}  // namespace

tl::expected<LexedSource, LexError> lex_source(std::string_view text) { return Lexer(text).run(); }

}  // namespace kiln::detail
