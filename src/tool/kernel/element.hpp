// SPDX-License-Identifier: MIT
// Types of the elements that a kernel reads and writes, by their names in OpenCL C, and numbers in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::tool {

enum class Scalar : std::uint8_t { i8, u8, i16, u16, i32, u32, i64, u64, f16, f32, f64 };

[[nodiscard]] std::size_t size_of(Scalar scalar);  ///< bytes
[[nodiscard]] bool is_floating(Scalar scalar);
[[nodiscard]] bool is_signed(Scalar scalar);  ///< an integer that has a sign

/// A number of OpenCL C, or a vector of 2, 3, 4, 8 or 16.
struct ElementType {
  Scalar scalar = Scalar::f32;
  std::uint8_t lanes = 1;
  bool sign_known = true;  ///< false: SPIR-V alone, whose integers have no sign

  /// Numbers that an element takes in memory: 4 for a vector of three.
  [[nodiscard]] std::size_t slots() const { return lanes == 3 ? 4 : lanes; }
  [[nodiscard]] std::size_t size() const { return size_of(scalar) * slots(); }  ///< bytes
  bool operator==(const ElementType&) const = default;
};

/// "float", "uchar4", "unsigned int", "size_t". As in OpenCL C, `float16` are sixteen floats and `int8` eight
/// ints. Nothing: no such type. Pure.
[[nodiscard]] std::optional<ElementType> parse_type(std::string_view name);
[[nodiscard]] std::string type_name(const ElementType& type);

/// May data of `given` be passed where a kernel has `wanted`? The number of lanes may differ: the data are
/// the same. Pure.
[[nodiscard]] bool same_scalar(const ElementType& given, const ElementType& wanted);

/// Elements side by side, in rows as C has them.
struct Array {
  ElementType type;
  std::vector<std::uint64_t> shape;  ///< of elements, the slowest dimension first; empty: one
  std::vector<std::byte> bytes;

  /// With those that fill up vectors of three.
  [[nodiscard]] std::uint64_t numbers() const { return bytes.size() / size_of(type.scalar); }
  /// Is it one that fills up a vector of three?
  [[nodiscard]] bool is_padding(std::uint64_t index) const { return type.lanes == 3 && index % 4 == 3; }
  /// Without those.
  [[nodiscard]] std::uint64_t meant_numbers() const { return numbers() / type.slots() * type.lanes; }
};

/// The number at a place, counted in numbers. Integers of more than 53 bits are rounded. Pure.
[[nodiscard]] double number_at(const Array& array, std::uint64_t index);
/// An integer with its sign, in 64 bits. Pure.
[[nodiscard]] std::uint64_t whole_at(const Array& array, std::uint64_t index);
/// The same as text that reads back as the same number. Pure.
[[nodiscard]] std::string number_text(const Array& array, std::uint64_t index);

/// Puts a number at a place: rounded to nearest in floating point, the low bits of an integer.
void put_number(Array& array, std::uint64_t index, double value);
void put_whole(Array& array, std::uint64_t index, std::uint64_t bits);

/// The bytes of a number as `type` has it; false: the text is none, or does not fit the type, even rounded to
/// its nearest. Pure.
[[nodiscard]] bool put_text(Array& array, std::uint64_t index, std::string_view text);

}  // namespace kiln::tool
