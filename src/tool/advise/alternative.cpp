// SPDX-License-Identifier: MIT
// Which alternatives there are.
#include "tool/advise/alternative.hpp"

#include <algorithm>

#include "support/digits.hpp"

namespace kiln::tool {
namespace {

constexpr std::uint32_t kSmallestGroup = 16;  // a sub-group of the usual size
constexpr std::uint32_t kSmallestPlane = 64;  // in two dimensions there are many: small ones are left out
constexpr std::uint32_t kNarrowest = 8;       // in x, where there are two dimensions
constexpr std::uint64_t kLargestMacro = 4096;

/// Of each power of two the largest divisor of `items` that is nearer to it than to the one below.
std::vector<std::uint32_t> sizes_along(std::uint32_t items, std::uint64_t most) {
  std::vector<std::uint32_t> sizes;
  for (std::uint64_t power = 1; power <= most && power / 2 < items; power *= 2)
    for (std::uint64_t size = std::min<std::uint64_t>(power, items); size > power / 2; --size)
      if (items % size == 0) {
        sizes.push_back(static_cast<std::uint32_t>(size));
        break;
      }
  return sizes;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool has_word(const std::string& text, const std::string& word) {
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

/// A macro's definition in build options, and where its value stands there.
struct Definition {
  Macro macro;
  std::size_t at = 0, size = 0;
};

/// -DNAME=DIGITS, or -D NAME=DIGITS.
std::vector<Definition> definitions_in(const std::string& flags) {
  constexpr std::string_view kBlank = " \t\n";
  std::vector<Definition> all;
  bool begun = false;  // the word before is -D
  for (std::size_t at = flags.find_first_not_of(kBlank), end = 0; at != flags.npos;
       at = flags.find_first_not_of(kBlank, end)) {
    end = std::min(flags.find_first_of(kBlank, at), flags.size());
    std::string_view word = std::string_view(flags).substr(at, end - at);
    const bool defines = begun || word.starts_with("-D");
    if (!begun && defines) word.remove_prefix(2);
    begun = defines && !begun && word.empty();
    const auto equals = word.find('=');
    if (!defines || equals == word.npos || equals == 0) continue;
    const auto value = detail::parse_digits(word.substr(equals + 1));
    if (value)
      all.push_back({{std::string(word.substr(0, equals)), *value},
                     end - word.size() + equals + 1,
                     word.size() - equals - 1});
  }
  return all;
}

bool is_size(std::uint64_t value) {
  return value >= 2 && value <= kLargestMacro && (value & (value - 1)) == 0;
}

/// The words of a line of the preprocessor: "#", "ifndef", "TILE"; without comments that end it.
std::vector<std::string_view> directive_words(std::string_view line) {
  line = line.substr(0, std::min(line.find("//"), line.find("/*")));
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = at + 1;
    if (is_word(line[at]))
      while (end < line.size() && is_word(line[end])) ++end;
    if (line[at] != ' ' && line[at] != '\t' && line[at] != '\r') words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

/// The name of `#ifndef NAME` and `#if !defined(NAME)`; empty: the line is another.
std::string_view name_if_undefined(std::vector<std::string_view> words) {
  std::erase_if(words, [](std::string_view each) { return each == "(" || each == ")"; });
  using Words = std::vector<std::string_view>;
  for (const Words& begin : {Words{"#", "ifndef"}, Words{"#", "if", "!", "defined"}})
    if (words.size() == begin.size() + 1 && std::equal(begin.begin(), begin.end(), words.begin()))
      return words.back();
  return {};
}

/// The value of `#define NAME 16`, `(16)` or `16u`.
std::optional<std::uint64_t> defined_value(std::vector<std::string_view> words, std::string_view name) {
  if (words.size() == 6 && words[3] == "(" && words[5] == ")")
    words = {words[0], words[1], words[2], words[4]};
  if (words.size() != 4 || words[0] != "#" || words[1] != "define" || words[2] != name) return std::nullopt;
  std::string_view digits = words[3];
  while (digits.size() > 1 && std::string_view("uUlL").find(digits.back()) != std::string_view::npos)
    digits.remove_suffix(1);
  return detail::parse_digits(digits);
}

}  // namespace

std::vector<Extent> group_shapes(const Extent& items, const Extent& given, std::uint64_t most) {
  std::vector<Extent> shapes;
  const std::uint64_t deep = given.z;
  const bool plane = items.y > 1;
  if (deep == 0 || items.z % deep != 0) return shapes;
  for (const std::uint32_t x : sizes_along(items.x, most))
    for (const std::uint32_t y : plane ? sizes_along(items.y, most) : std::vector<std::uint32_t>{1}) {
      const std::uint64_t size = std::uint64_t{x} * y * deep;
      const std::uint64_t least = plane ? kSmallestPlane : kSmallestGroup;
      if (size > most || size < std::min<std::uint64_t>(least, total(items))) continue;
      if (plane && x < std::min(kNarrowest, items.x)) continue;
      const Extent shape{x, y, given.z};
      if (shape != given) shapes.push_back(shape);
    }
  // Those of as many work-items as were given first, then smaller and larger ones, step by step.
  const auto steps = [&](const Extent& shape) {
    const std::uint64_t a = total(shape), b = total(given);
    return a > b ? a / std::max<std::uint64_t>(b, 1) : b / std::max<std::uint64_t>(a, 1);
  };
  std::ranges::stable_sort(shapes, {}, steps);
  return shapes;
}

std::vector<Macro> default_macros(const std::string& flags, const std::string& source) {
  std::vector<Macro> macros;
  std::string_view rest = source, name;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    const auto words = directive_words(rest.substr(0, end));
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    const auto value = defined_value(words, name);
    const std::string known(name);
    if (value && is_size(*value) && !has_word(flags, known) && !has_word(flags, "D" + known) &&
        !has_word(flags, "U" + known))
      macros.push_back({known, *value});
    name = name_if_undefined(words);
  }
  return macros;
}

std::vector<Macro> size_macros(const std::string& flags, const std::string& source) {
  std::vector<Macro> macros;
  for (Definition& each : definitions_in(flags)) {
    if (is_size(each.macro.value) && has_word(source, each.macro.name))
      macros.push_back(std::move(each.macro));
  }
  return macros;
}

std::string with_macros(const std::string& flags, const std::vector<Macro>& macros) {
  std::string changed = flags;
  const std::vector<Definition> all = definitions_in(flags);
  for (auto each = all.rbegin(); each != all.rend(); ++each)  // those before keep their places
    for (const Macro& macro : macros)
      if (macro.name == each->macro.name) changed.replace(each->at, each->size, std::to_string(macro.value));
  for (const Macro& macro : macros)
    if (std::ranges::none_of(all, [&](const Definition& each) { return each.macro.name == macro.name; }))
      changed += (changed.empty() ? "-D" : " -D") + macro.name + "=" + std::to_string(macro.value);
  return changed;
}

std::vector<Alternative> with_macro(const Alternative& from, const Macro& macro, std::uint64_t value,
                                    const Extent& group, const Extent& items, bool has_locals) {
  std::vector<Alternative> all;
  const auto add = [&](const std::optional<Extent>& new_group, const std::optional<Extent>& global,
                       unsigned power) {
    Alternative each = from;
    std::erase_if(each.macros, [&](const Macro& other) { return other.name == macro.name; });
    each.macros.push_back({macro.name, value});
    if (new_group) each.group = new_group;
    if (global) each.global = global;
    for (; power > 0; --power) {
      each.local_times *= value;
      each.local_divided *= macro.value;
    }
    if (std::ranges::find(all, each) == all.end()) all.push_back(std::move(each));
  };
  Extent followed = group;
  const auto follow = [&](std::uint32_t& size) {
    if (size == macro.value) size = static_cast<std::uint32_t>(value);
  };
  follow(followed.x);
  follow(followed.y);
  follow(followed.z);
  const std::vector<unsigned> powers = has_locals ? std::vector<unsigned>{2, 1, 0} : std::vector<unsigned>{0};
  for (const unsigned power : powers)
    add(followed == group ? std::nullopt : std::optional(followed), std::nullopt, power);
  // Each work-item does as much more as the macro is larger: then there are fewer of them.
  const std::uint64_t scaled = std::uint64_t{items.x} * macro.value;
  if (scaled % value == 0 && scaled / value <= UINT32_MAX && scaled / value > 0)
    for (const unsigned power : powers)
      add(std::nullopt, Extent{static_cast<std::uint32_t>(scaled / value), items.y, items.z}, power);
  return all;
}

}  // namespace kiln::tool
