// SPDX-License-Identifier: MIT
// Looks at every number once.
#include "tool/kernel/summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "kiln/manifest.hpp"

namespace kiln::tool {
namespace {

constexpr std::uint64_t kFirstNumbers = 8;

struct NumberRange {
  std::optional<std::uint64_t> smallest, largest;  ///< their places
  std::uint64_t nans = 0;
};

/// In the order of the integers, whether they have a sign or not: a double does not tell all of 64 bits
/// apart.
std::uint64_t whole_rank(const Array& array, std::uint64_t index) {
  return whole_at(array, index) ^ (is_signed(array.type.scalar) ? std::uint64_t{1} << 63 : 0);
}

template <class Value>
NumberRange range_by(const Array& array, Value (*value_at)(const Array&, std::uint64_t)) {
  NumberRange range;
  Value least{}, most{};
  for (std::uint64_t i = 0; i < array.numbers(); ++i) {
    if (array.is_padding(i)) continue;
    const Value value = value_at(array, i);
    if constexpr (std::is_floating_point_v<Value>)
      if (std::isnan(value)) {
        ++range.nans;
        continue;
      }
    if (!range.smallest || value < least) range.smallest = i, least = value;
    if (!range.largest || value > most) range.largest = i, most = value;
  }
  return range;
}

NumberRange range_of(const Array& array) {
  return is_floating(array.type.scalar) ? range_by(array, number_at) : range_by(array, whole_rank);
}

/// The places of the first numbers.
std::vector<std::uint64_t> first_places(const Array& array) {
  std::vector<std::uint64_t> places;
  for (std::uint64_t i = 0; i < array.numbers() && places.size() < kFirstNumbers; ++i)
    if (!array.is_padding(i)) places.push_back(i);
  return places;
}

/// How far two numbers are from each other.
double distance_of(const Array& a, const Array& b, std::uint64_t index) {
  if (is_floating(a.type.scalar)) return std::fabs(number_at(a, index) - number_at(b, index));
  const std::uint64_t one = whole_rank(a, index), other = whole_rank(b, index);
  return static_cast<double>(std::max(one, other) - std::min(one, other));
}

/// "0.5, 1, 2, …"
std::string first_numbers(const Array& array) {
  std::string text;
  const auto places = first_places(array);
  for (const std::uint64_t i : places) text += (text.empty() ? "" : ", ") + number_text(array, i);
  return text + (places.size() < array.meant_numbers() ? ", …" : "");
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
  for (std::uint64_t i = 0; i < std::min(got.numbers(), wanted.numbers()); ++i) {
    if (got.is_padding(i)) continue;
    const double is = number_at(got, i), should = number_at(wanted, i);
    const double distance = distance_of(got, wanted, i);
    // Two that are infinite alike have no distance.
    bool equal = distance == 0 ||
                 (is_floating(got.type.scalar) && (is == should || (std::isnan(is) && std::isnan(should))));
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
  for (const std::uint64_t i : first_places(array)) json["first"].push_back(number_json(array, i));
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
