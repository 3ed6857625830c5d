// SPDX-License-Identifier: MIT
// What a user writes for an argument of a kernel: NAME=random:float:1000 and the like.
#pragma once

#include <filesystem>

#include "kiln/extent.hpp"
#include "kiln/result.hpp"
#include "tool/kernel/element.hpp"

namespace kiln::tool {

struct Specification {
  enum class Form : std::uint8_t {
    scalar,  ///< `text`, as numbers
    random,
    zeros,
    ones,
    iota,   ///< 0, 1, 2, …
    out,    ///< zeros, to be written by the kernel
    file,   ///< the bytes of `path` as they are
    npy,    ///< `path`, an array of NumPy
    local,  ///< `count` bytes of SLM
    null,   ///< a null pointer
  };
  std::string argument;  ///< by name or by place
  std::string written;   ///< the whole of it, for messages
  Form form = Form::scalar;
  std::string text{};
  std::optional<ElementType> type{};   ///< nothing: the kernel's
  std::vector<std::uint64_t> shape{};  ///< of random, zeros, ones, iota and out
  std::optional<std::uint64_t> seed{};
  std::string low{}, high{};  ///< of random, as numbers; empty: the type's own range
  std::string path{};         ///< of file and npy; of out: where to save it

  [[nodiscard]] std::uint64_t count() const;
};

/// K0430: text for an argument that cannot be meant.
[[nodiscard]] Error bad_specification(std::string message, std::vector<std::string> help);

/// "NAN", "-inf" and whatever has a digit, between commas: meant as numbers? Pure.
[[nodiscard]] bool looks_like_numbers(std::string_view text);

/// The texts between commas; behind a comma at the end is none. Pure.
[[nodiscard]] std::vector<std::string_view> split_at_commas(std::string_view text);

/// NAME=SPEC. Error: K0430. Pure.
[[nodiscard]] Result<Specification> parse_specification(const std::string& text);

/// NAME=TEXT with neither empty, for `option`. Error: K0430. Pure.
struct NamedText {
  std::string name, text;
};
[[nodiscard]] Result<NamedText> parse_named(const std::string& option, const std::string& text,
                                            const std::string& example);

/// NAME=SPEC with its file, where it names one, looked for from `folder`. Pure.
[[nodiscard]] std::string with_folder(const std::string& text, const std::filesystem::path& folder);

/// NAME=BYTES of a `__local` argument. Error: K0430. Pure.
[[nodiscard]] Result<Specification> parse_local(const std::string& text);

/// "256", "16,16" and "16x16", each at least 1. Error: K0430, with the option. Pure.
[[nodiscard]] Result<Extent> parse_extent_option(const std::string& option, const std::string& text);

/// The elements that random, zeros, ones, iota and out stand for; `seed` where it has none of its own. Random
/// numbers are the same on every machine: in [-1, 1) in floating point and 0 to 99 as integers, unless a
/// range is given. Error: K0430 for a range that the type does not hold. Pure.
[[nodiscard]] Result<Array> make_array(const Specification& specification, const ElementType& type,
                                       std::uint64_t seed);

}  // namespace kiln::tool
