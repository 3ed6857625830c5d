// SPDX-License-Identifier: MIT
// Names of types, and numbers as bytes.
#include "tool/kernel/element.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

namespace kiln::tool {
namespace {

struct ScalarName {
  std::string_view name;
  Scalar scalar;
};

// The first of each is what it is called here.
constexpr ScalarName kScalarNames[] = {{"char", Scalar::i8},           {"uchar", Scalar::u8},
                                       {"short", Scalar::i16},         {"ushort", Scalar::u16},
                                       {"int", Scalar::i32},           {"uint", Scalar::u32},
                                       {"long", Scalar::i64},          {"ulong", Scalar::u64},
                                       {"half", Scalar::f16},          {"float", Scalar::f32},
                                       {"double", Scalar::f64},        {"unsigned char", Scalar::u8},
                                       {"bool", Scalar::u8},           {"unsigned short", Scalar::u16},
                                       {"unsigned int", Scalar::u32},  {"size_t", Scalar::u64},
                                       {"unsigned long", Scalar::u64}, {"unsigned", Scalar::u32},
                                       {"signed char", Scalar::i8},    {"ptrdiff_t", Scalar::i64},
                                       {"long long", Scalar::i64},     {"intptr_t", Scalar::i64},
                                       {"uintptr_t", Scalar::u64}};

double from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double sign = bits >> 15 ? -1.0 : 1.0;
  if (exponent == 31)
    return fraction ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

/// Rounded to nearest, to even in the middle.
std::uint16_t to_half(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::fabs(value);
  if (std::isnan(value)) return 0x7e00;
  if (size >= 65520) return sign | 0x7c00;
  int exponent = 0;
  std::frexp(size, &exponent);  // size = fraction * 2^exponent, fraction in [0.5, 1)
  const int step = std::max(exponent - 11, -24);
  const auto steps = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, -step)));
  // A carry out of the fraction is a carry into the exponent.
  const std::uint32_t bits = steps < 1024 ? steps : (static_cast<std::uint32_t>(step + 24) << 10) + steps;
  return static_cast<std::uint16_t>(sign | bits);
}

template <class T>
T load(const Array& array, std::uint64_t index) {
  T value;
  std::memcpy(&value, array.bytes.data() + index * sizeof value, sizeof value);
  return value;
}
template <class T>
void store(Array& array, std::uint64_t index, T value) {
  std::memcpy(array.bytes.data() + index * sizeof value, &value, sizeof value);
}

bool put_whole_text(Array& array, std::uint64_t index, std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t size = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), size, hexadecimal ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return false;
  const std::size_t bits = 8 * size_of(array.type.scalar);
  const std::uint64_t most = ~std::uint64_t{0} >> (64 - bits);
  const bool is_negative_able = is_signed(array.type.scalar);
  const std::uint64_t half = std::uint64_t{1} << (bits - 1);
  // Bits may be given in hexadecimal, and where nobody says whether there is a sign.
  const bool any_bits = !is_negative_able || hexadecimal || !array.type.sign_known;
  if (negative ? (!is_negative_able || size > half) : size > (any_bits ? most : half - 1)) return false;
  put_whole(array, index, negative ? 0 - size : size);
  return true;
}

}  // namespace

std::size_t size_of(Scalar scalar) {
  switch (scalar) {
    case Scalar::i8:
    case Scalar::u8:
      return 1;
    case Scalar::i16:
    case Scalar::u16:
    case Scalar::f16:
      return 2;
    case Scalar::i32:
    case Scalar::u32:
    case Scalar::f32:
      return 4;
    default:
      return 8;
  }
}

bool is_floating(Scalar scalar) { return scalar >= Scalar::f16; }

bool is_signed(Scalar scalar) {
  return scalar == Scalar::i8 || scalar == Scalar::i16 || scalar == Scalar::i32 || scalar == Scalar::i64;
}

std::optional<ElementType> parse_type(std::string_view name) {
  std::uint8_t lanes = 1;
  for (const std::uint8_t each : {2, 3, 4, 8, 16}) {
    const std::string digits = std::to_string(each);
    if (!name.ends_with(digits)) continue;
    const std::string_view before = name.substr(0, name.size() - digits.size());
    if (before.empty() || (before.back() >= '0' && before.back() <= '9')) continue;
    lanes = each;
    name = before;
    break;
  }
  for (const ScalarName& each : kScalarNames)
    if (each.name == name) return ElementType{each.scalar, lanes};
  return std::nullopt;
}

std::string type_name(const ElementType& type) {
  for (const ScalarName& each : kScalarNames)
    if (each.scalar == type.scalar)
      return std::string(each.name) + (type.lanes > 1 ? std::to_string(type.lanes) : "");
  return "";
}

bool same_scalar(const ElementType& given, const ElementType& wanted) {
  if (given.scalar == wanted.scalar) return true;
  const bool any_sign = !given.sign_known || !wanted.sign_known;
  return any_sign && !is_floating(given.scalar) && !is_floating(wanted.scalar) &&
         size_of(given.scalar) == size_of(wanted.scalar);
}

double number_at(const Array& array, std::uint64_t index) {
  switch (array.type.scalar) {
    case Scalar::f16:
      return from_half(load<std::uint16_t>(array, index));
    case Scalar::f32:
      return load<float>(array, index);
    case Scalar::f64:
      return load<double>(array, index);
    default: {
      const std::uint64_t whole = whole_at(array, index);
      return is_signed(array.type.scalar) ? static_cast<double>(static_cast<std::int64_t>(whole))
                                          : static_cast<double>(whole);
    }
  }
}

std::uint64_t whole_at(const Array& array, std::uint64_t index) {
  switch (array.type.scalar) {
    case Scalar::i8:
      return static_cast<std::uint64_t>(std::int64_t{load<std::int8_t>(array, index)});
    case Scalar::u8:
      return load<std::uint8_t>(array, index);
    case Scalar::i16:
      return static_cast<std::uint64_t>(std::int64_t{load<std::int16_t>(array, index)});
    case Scalar::u16:
      return load<std::uint16_t>(array, index);
    case Scalar::i32:
      return static_cast<std::uint64_t>(std::int64_t{load<std::int32_t>(array, index)});
    case Scalar::u32:
      return load<std::uint32_t>(array, index);
    default:
      return load<std::uint64_t>(array, index);
  }
}

std::string number_text(const Array& array, std::uint64_t index) {
  if (!is_floating(array.type.scalar)) {
    const std::uint64_t whole = whole_at(array, index);
    return is_signed(array.type.scalar) ? std::to_string(static_cast<std::int64_t>(whole))
                                        : std::to_string(whole);
  }
  const double value = number_at(array, index);
  char text[32];
  // The shortest that reads back as the same: of a float, that of a double would be longer.
  const auto done = array.type.scalar == Scalar::f64
                        ? std::to_chars(text, text + sizeof text, value)
                        : std::to_chars(text, text + sizeof text, static_cast<float>(value));
  return {text, done.ptr};
}

void put_whole(Array& array, std::uint64_t index, std::uint64_t bits) {
  switch (size_of(array.type.scalar)) {
    case 1:
      return store(array, index, static_cast<std::uint8_t>(bits));
    case 2:
      return store(array, index, static_cast<std::uint16_t>(bits));
    case 4:
      return store(array, index, static_cast<std::uint32_t>(bits));
    default:
      return store(array, index, bits);
  }
}

void put_number(Array& array, std::uint64_t index, double value) {
  switch (array.type.scalar) {
    case Scalar::f16:
      return store(array, index, to_half(value));
    case Scalar::f32:
      return store(array, index, static_cast<float>(value));
    case Scalar::f64:
      return store(array, index, value);
    default:
      // Beyond 64 bits a conversion is not defined.
      value = std::clamp(value, -0x1p63, 0x1.fffffffffffffp62);
      return put_whole(array, index, static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
  }
}

bool put_text(Array& array, std::uint64_t index, std::string_view text) {
  if (!is_floating(array.type.scalar)) return put_whole_text(array, index, text);
  if (text.starts_with('+')) text.remove_prefix(1);
  // As OpenCL C writes a float.
  if (text.ends_with('f') && !text.ends_with("inf") && !text.starts_with("0x")) text.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return false;
  // From here on the nearest would be infinite: the largest number and half of its last place.
  const double beyond = array.type.scalar == Scalar::f16   ? 65520.0
                        : array.type.scalar == Scalar::f32 ? 0x1.ffffffp127
                                                           : std::numeric_limits<double>::infinity();
  if (std::isfinite(value) && std::fabs(value) >= beyond) return false;
  put_number(array, index, value);
  return true;
}

}  // namespace kiln::tool
