// SPDX-License-Identifier: MIT
// Looks at every number once.
#include "tool/kernel/summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kiln/manifest.hpp"

namespace kiln::tool {
namespace {

constexpr std::uint64_t kFirstNumbers = 8;

bool is_padding(const ElementType& type, std::uint64_t index) { return type.lanes == 3 && index % 4 == 3; }

struct NumberRange {
  std::optional<std::uint64_t> smallest, largest;  ///< their places
  std::uint64_t nans = 0;
};

NumberRange range_of(const Array& array) {
  NumberRange range;
  double least = 0, most = 0;
  for (std::uint64_t i = 0; i < array.numbers(); ++i) {
    if (is_padding(array.type, i)) continue;
    const double value = number_at(array, i);
    if (std::isnan(value)) {
      ++range.nans;
      continue;
    }
    if (!range.smallest || value < least) range.smallest = i, least = value;
    if (!range.largest || value > most) range.largest = i, most = value;
  }
  return range;
}

/// "0.5, 1, 2, …"
std::string first_numbers(const Array& array) {
  std::string text;
  const std::uint64_t shown = std::min(array.numbers(), kFirstNumbers);
  for (std::uint64_t i = 0; i < shown; ++i) text += (i ? ", " : "") + number_text(array, i);
  return text + (shown < array.numbers() ? ", …" : "");
}

detail::Json number_json(const Array& array, std::uint64_t index) {
  const double value = number_at(array, index);
  if (!std::isfinite(value)) return number_text(array, index);  // JSON has no such number
  if (is_floating(array.type.scalar)) return value;
  const std::string text = number_text(array, index);
  return text.starts_with('-') ? detail::Json(static_cast<std::int64_t>(std::stoll(text)))
                               : detail::Json(static_cast<std::uint64_t>(std::stoull(text)));
}

}  // namespace

Difference compare_arrays(const Array& got, const Array& wanted, Tolerance tolerance) {
  Difference difference;
  const std::size_t size = size_of(got.type.scalar);
  for (std::uint64_t i = 0; i < std::min(got.numbers(), wanted.numbers()); ++i) {
    if (is_padding(got.type, i)) continue;
    const double is = number_at(got, i), should = number_at(wanted, i);
    bool equal = is == should || (std::isnan(is) && std::isnan(should));
    // Whole numbers of 64 bits are more exact than a double.
    if (equal && !is_floating(got.type.scalar))
      equal = tolerance.value > 0 || std::memcmp(&got.bytes[i * size], &wanted.bytes[i * size], size) == 0;
    const double distance = std::fabs(is - should);
    if (!equal && tolerance.value > 0)
      equal = distance <= tolerance.value * std::max(1.0, std::fabs(should)) && std::isfinite(distance);
    if (equal) continue;
    if (difference.count++ == 0) {
      difference.first = i;
      difference.got = number_text(got, i);
      difference.wanted = number_text(wanted, i);
    }
    difference.largest = std::max(difference.largest,
                                  std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance);
  }
  return difference;
}

detail::Json summary_json(const Array& array) {
  const NumberRange range = range_of(array);
  detail::Json json{{"type", type_name(array.type)}, {"shape", array.shape}, {"bytes", array.bytes.size()}};
  json["first"] = detail::Json::array();
  for (std::uint64_t i = 0; i < std::min(array.numbers(), kFirstNumbers); ++i)
    json["first"].push_back(number_json(array, i));
  json["min"] = range.smallest ? number_json(array, *range.smallest) : detail::Json();
  json["max"] = range.largest ? number_json(array, *range.largest) : detail::Json();
  json["nan"] = range.nans;
  json["sha256"] = digest(array.bytes);
  return json;
}

std::string summary_text(const Array& array) {
  const NumberRange range = range_of(array);
  std::string text = std::to_string(array.numbers() / array.type.slots()) + " " + type_name(array.type) +
                     ": " + first_numbers(array);
  if (range.smallest)
    text += "; from " + number_text(array, *range.smallest) + " to " + number_text(array, *range.largest);
  if (range.nans) text += "; " + std::to_string(range.nans) + " NaN";
  return text + "; sha256 " + digest(array.bytes).substr(0, 12);
}

}  // namespace kiln::tool
