// SPDX-License-Identifier: MIT
// Parses what stands behind --arg, --local, --group and --groups, and makes the data that it asks for.
#include "tool/kernel/specification.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "support/digits.hpp"
#include "support/nearest.hpp"

namespace kiln::tool {
namespace {

using Form = Specification::Form;

constexpr std::pair<std::string_view, Form> kForms[] = {
    {"random", Form::random}, {"zeros", Form::zeros}, {"ones", Form::ones},   {"iota", Form::iota},
    {"out", Form::out},       {"file", Form::file},   {"local", Form::local}, {"npy", Form::npy}};
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 40;

std::vector<std::string> forms_help() {
  return {
      "a buffer: random:float:1000, zeros:1000, ones:1000, iota:1000, out:1000:RESULT.npy, file:DATA.bin "
      "or DATA.npy",
      "a value: 3, 2.5, uint:7 or 1,2,3,4; a `__local` argument: local:BYTES; no buffer: null"};
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (;;) {
    const auto colon = text.find(':');
    words.emplace_back(text.substr(0, colon));
    if (colon == text.npos) return words;
    text.remove_prefix(colon + 1);
  }
}

/// "1000", "0x400", "64x128".
std::optional<std::vector<std::uint64_t>> parse_count(std::string_view text) {
  std::vector<std::uint64_t> shape;
  std::uint64_t all = 1;
  if (text.starts_with("0x")) {
    const auto size = detail::parse_digits(text.substr(2), 16);
    if (!size || *size == 0 || *size > kMostElements) return std::nullopt;
    return std::vector{*size};
  }
  for (;;) {
    const auto by = text.find('x');
    const auto size = detail::parse_digits(text.substr(0, by));
    if (!size || *size == 0 || *size > kMostElements / all) return std::nullopt;
    all *= *size;
    shape.push_back(*size);
    if (by == text.npos) return shape;
    text.remove_prefix(by + 1);
  }
}

/// "-1..1", as two texts. Whether the type holds them is seen where it is known.
std::optional<std::pair<std::string, std::string>> parse_bounds(const std::string& text) {
  const auto dots = text.find("..");
  if (dots == text.npos) return std::nullopt;
  char *low_end = nullptr, *high_end = nullptr;
  const std::string low_text = text.substr(0, dots), high_text = text.substr(dots + 2);
  const double low = std::strtod(low_text.c_str(), &low_end),
               high = std::strtod(high_text.c_str(), &high_end);
  const bool whole = !low_text.empty() && !high_text.empty() && !*low_end && !*high_end;
  if (!whole || !std::isfinite(low) || !std::isfinite(high) || low >= high) return std::nullopt;
  return std::pair(low_text, high_text);
}

/// What stands behind random:, zeros:, ones:, iota: and out:.
Result<Specification> parse_made(Specification made, std::vector<std::string> words) {
  const auto refuse = [&](std::string message, std::vector<std::string> help) {
    return tl::unexpected(
        bad_specification("`" + made.written + "`: " + std::move(message), std::move(help)));
  };
  const std::string form = words.front();
  std::size_t at = 1;
  if (at < words.size() && (made.type = parse_type(words[at]))) ++at;
  if (at == words.size())
    return refuse("how many elements?", {"give " + form + ":float:1000, or " + form + ":64x128"});
  if (const auto count = parse_count(words[at]))
    made.shape = *count;
  else
    return refuse("`" + words[at] + "` is neither a type nor a number of elements",
                  {"types are those of OpenCL C: float, uint, uchar4, half, double …",
                   "a number of elements is 1 or more: 1000, 64x128"});
  ++at;
  if (made.form == Form::out && at < words.size()) {  // a path may have colons
    for (; at < words.size(); ++at) made.path += (made.path.empty() ? "" : ":") + words[at];
    if (!made.path.ends_with(".npy"))
      return refuse("what a kernel writes is saved as a file of NumPy",
                    {"name it " + made.path + ".npy: out:1000:RESULT.npy"});
  }
  for (; at < words.size(); ++at) {
    const auto seed = made.seed ? std::nullopt : detail::parse_digits(words[at]);
    const auto bounds = made.low.empty() ? parse_bounds(words[at]) : std::nullopt;
    if (made.form != Form::random || (!seed && !bounds))
      return refuse(
          words[at].empty() ? "nothing stands behind a colon" : "no use for `" + words[at] + "`",
          {made.form == Form::random ? "behind the number of elements: a seed, and a range LOW..HIGH"
                                     : "nothing stands behind the number of elements"});
    if (seed) made.seed = seed;
    if (bounds) std::tie(made.low, made.high) = *bounds;
  }
  return made;
}

}  // namespace

std::uint64_t Specification::count() const {
  std::uint64_t all = 1;
  for (const std::uint64_t each : shape) all *= each;
  return all;
}

Error bad_specification(std::string message, std::vector<std::string> help) {
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "kiln run",
               {"K0430", std::move(message), {}, std::move(help)});
}

Result<NamedText> parse_named(const std::string& option, const std::string& text,
                              const std::string& example) {
  const auto equals = text.find('=');
  if (equals == text.npos || equals == 0 || equals + 1 == text.size())
    return tl::unexpected(bad_specification(option + " needs a name and what it is to be: `" + text + "`",
                                            {"give " + option + " " + example}));
  return NamedText{text.substr(0, equals), text.substr(equals + 1)};
}

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == text.npos || comma + 1 == text.size()) return parts;
    text.remove_prefix(comma + 1);
  }
}

bool looks_like_numbers(std::string_view text) {
  return std::ranges::any_of(split_at_commas(text), [](std::string_view part) {
    if (part.find_first_of("0123456789") != part.npos) return true;
    if (part.starts_with('-') || part.starts_with('+')) part.remove_prefix(1);
    return part == "nan" || part == "inf";
  });
}

Result<Specification> parse_specification(const std::string& text) {
  KILN_TRY(const auto named, parse_named("--arg", text, "NAME=SPEC, such as x=random:float:1000 or 0=2.5"));
  Specification specification{named.name, text};
  const std::string& said = named.text;
  auto words = words_of(said);
  if (said == "null") {
    specification.form = Form::null;
    return specification;
  }
  for (const auto& [name, form] : kForms) {
    if (words.front() != name || words.size() == 1) continue;
    specification.form = form;
    const std::string rest = said.substr(name.size() + 1);
    switch (form) {
      case Form::file:
      case Form::npy:
        specification.path = rest;
        if (rest.empty())
          return tl::unexpected(bad_specification("`" + text + "` names no file", forms_help()));
        return specification;
      case Form::local:
        return parse_local(named.name + "=" + rest);
      default:
        return parse_made(std::move(specification), std::move(words));
    }
  }
  if (said.ends_with(".npy")) {
    specification.form = Form::npy;
    specification.path = said;
    return specification;
  }
  // TYPE:NUMBER or a number.
  if (words.size() == 2 && (specification.type = parse_type(words[0]))) words.erase(words.begin());
  specification.text = words.front();
  if (words.size() > 1 || !looks_like_numbers(specification.text)) {
    std::vector<std::string_view> known;
    for (const auto& [name, form] : kForms) known.push_back(name);
    auto help = detail::did_you_mean(words.front(), known);
    const auto more = forms_help();
    help.insert(help.end(), more.begin(), more.end());
    return tl::unexpected(
        bad_specification("`" + text + "` is nothing that an argument can be", std::move(help)));
  }
  return specification;
}

std::string with_folder(const std::string& text, const std::filesystem::path& folder) {
  const auto given = parse_specification(text);
  if (!given || given->path.empty()) return text;
  const std::string path = (folder / given->path).string();
  // A folder may be called as a form is.
  if (given->form == Form::npy) return given->argument + "=npy:" + path;
  return text.substr(0, text.size() - given->path.size()) + path;  // it stands at the end of all forms
}

Result<Specification> parse_local(const std::string& text) {
  KILN_TRY(const auto named, parse_named("--local", text, "NAME=BYTES"));
  const auto bytes = detail::parse_digits(named.text);
  if (!bytes)
    return tl::unexpected(bad_specification("`" + text + "` is no size of a `__local` argument",
                                            {"give NAME=BYTES, by name or place; a whole number of bytes"}));
  Specification local{named.name, text, Form::local};
  local.shape = {*bytes};
  return local;
}

Result<Extent> parse_extent_option(const std::string& option, const std::string& text) {
  std::uint32_t sizes[3]{1, 1, 1};
  std::string_view rest = text;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto end = rest.find_first_of(",x");
    const auto size = detail::parse_digits(rest.substr(0, end));
    if (!size || *size == 0 || *size > UINT32_MAX) break;
    sizes[i] = static_cast<std::uint32_t>(*size);
    if (end == rest.npos) return Extent{sizes[0], sizes[1], sizes[2]};
    rest.remove_prefix(end + 1);
  }
  return tl::unexpected(
      bad_specification(option + " is no size of up to three dimensions: `" + text + "`",
                        {"give " + option + " X or X,Y or X,Y,Z, each from 1 to 4294967295"}));
}

Result<Array> make_array(const Specification& specification, const ElementType& type, std::uint64_t seed) {
  const bool floating = is_floating(type.scalar);
  // The type itself says which numbers it holds.
  Array bounds{{type.scalar, 1, type.sign_known}, {2}, std::vector<std::byte>(2 * size_of(type.scalar))};
  const bool own = specification.low.empty();
  const std::string texts[] = {own ? (floating ? "-1" : "0") : specification.low,
                               own ? (floating ? "1" : "99") : specification.high};
  for (std::uint64_t i = 0; i < 2; ++i)
    if (!put_text(bounds, i, texts[i]))
      return tl::unexpected(bad_specification(
          "`" + specification.written + "`: `" + texts[i] + "` is no " + type_name(bounds.type),
          {floating ? "give a range that the type holds" : "give whole numbers that the type holds"}));

  Array array{type, specification.shape, {}};
  array.bytes.resize(specification.count() * type.size());
  const std::uint64_t numbers = array.numbers();
  if (specification.form == Form::iota || specification.form == Form::ones)
    for (std::uint64_t i = 0; i < numbers; ++i) {
      const std::uint64_t value = specification.form == Form::iota ? i : 1;
      floating ? put_number(array, i, static_cast<double>(value)) : put_whole(array, i, value);
    }
  if (specification.form != Form::random) return array;
  std::mt19937_64 random(specification.seed.value_or(seed));
  if (floating) {
    // Halves, since the width of the whole range may be more than a double holds.
    const double low = number_at(bounds, 0) / 2, width = number_at(bounds, 1) / 2 - low;
    for (std::uint64_t i = 0; i < numbers; ++i)  // 24 bits: exact in a float
      put_number(array, i, 2 * (low + std::ldexp(static_cast<double>(random() >> 40), -24) * width));
    return array;
  }
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t low = whole_at(bounds, 0), bits = 8 * size_of(type.scalar);
  const std::uint64_t width = (whole_at(bounds, 1) - low) & (~std::uint64_t{0} >> (64 - bits));
  for (std::uint64_t i = 0; i < numbers; ++i)
    put_whole(array, i, low + static_cast<std::uint64_t>((Wide{random()} * (Wide{width} + 1)) >> 64));
  return array;
}

}  // namespace kiln::tool
