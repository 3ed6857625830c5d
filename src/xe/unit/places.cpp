// SPDX-License-Identifier: MIT
// Turns registers and regions into bytes, once for each instruction.
#include "xe/unit/places.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace kiln::xe {
namespace {

struct Area {
  std::uint32_t start = 0, size = 0;  ///< bytes in Registers
};

/// The bytes of a kind of register, and where the operand's number begins in it.
std::optional<std::pair<Area, std::uint32_t>> area_of(const Operand& operand, const Code::Body& body) {
  const std::uint32_t grf = body.register_bytes;
  switch (operand.file) {
    case File::general:
      return std::pair(Area{0, Registers::kGeneral * grf}, operand.number * grf);
    case File::accumulator:
      return std::pair(Area{offsetof(Registers, accumulator), Registers::kAccumulators * grf},
                       operand.number * grf);
    case File::flag:
      return std::pair(Area{offsetof(Registers, flag), sizeof Registers::flag}, operand.number * 4U);
    case File::address:
      return std::pair(Area{offsetof(Registers, address), sizeof Registers::address}, operand.number * 32U);
    case File::other:
      if (operand.name == "cr")
        return std::pair(Area{offsetof(Registers, control), sizeof Registers::control}, 0U);
      if (operand.name == "sr")
        return std::pair(Area{offsetof(Registers, state), sizeof Registers::state}, operand.number * 16U);
      if (operand.name == "tm") return std::pair(Area{offsetof(Registers, time), sizeof Registers::time}, 0U);
      if (operand.name == "ce")
        return std::pair(Area{offsetof(Registers, enabled), sizeof Registers::enabled}, 0U);
      if (operand.name == "dbg")
        return std::pair(Area{offsetof(Registers, debug), sizeof Registers::debug}, 0U);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

/// A packed immediate's elements, as integers of 16 bits or floats.
void expand_vector(std::string_view type, std::uint64_t bits, std::array<std::byte, 64>& to) {
  if (type == "vf") {
    for (std::uint32_t i = 0; i < 4; ++i) {
      const auto each = static_cast<std::uint32_t>(bits >> 8 * i) & 255U;
      const int exponent = static_cast<int>(each >> 4 & 7U);
      // A sign, three bits of exponent (biased by 3), four of fraction; zero is all zeros.
      float value =
          (each & 127U) == 0 ? 0.0F : std::ldexp(1.0F + static_cast<float>(each & 15U) / 16.0F, exponent - 3);
      if (each >> 7) value = -value;
      std::memcpy(to.data() + std::size_t{4} * i, &value, 4);
    }
    return;
  }
  for (std::uint32_t i = 0; i < 8; ++i) {
    auto value = static_cast<std::int16_t>(bits >> 4 * i & 15U);
    if (type == "v" && value >= 8) value = static_cast<std::int16_t>(value - 16);
    std::memcpy(to.data() + std::size_t{2} * i, &value, 2);
  }
}

std::uint32_t steps_of(const Region& region, std::uint32_t lane) {
  return lane / region.width * region.vertical + lane % region.width * region.horizontal;
}

/// The shape that a region of `lanes` elements of `size` bytes has.
void shape_of(const Region& region, std::uint32_t lanes, std::uint32_t size, Code::Body& body, Place& place) {
  const std::uint32_t step = lanes > 1 ? steps_of(region, 1) : 0;
  bool even = true;
  for (std::uint32_t i = 0; i < lanes; ++i) even = even && steps_of(region, i) == i * step;
  place.stride = static_cast<std::uint16_t>(step * size);
  if (even) {
    place.shape = step == 0 ? Shape::scalar : step == 1 ? Shape::packed : Shape::strided;
    return;
  }
  place.shape = Shape::table;
  auto& table = body.tables.emplace_back();
  for (std::uint32_t i = 0; i < kMostLanes; ++i)
    table[i] = static_cast<std::uint16_t>(steps_of(region, i) * size);
  place.table = table.data();
}

}  // namespace

std::string place_source(const Operand& operand, std::uint32_t lanes, std::uint32_t result_step,
                         Code::Body& body, Place& place, std::uint64_t& immediate) {
  place.type = operand.type;
  place.negated = operand.negated;
  place.absolute = operand.absolute;
  place.null = false;
  if (operand.macro && *operand.macro != 8) return "an accumulator of math macros";
  if (operand.file == File::null || operand.file == File::none) {
    if (place.type == Type::none) place.type = Type::ud;
    place.null = true;
    immediate = 0;
    return {};
  }
  if (operand.file == File::immediate) {
    if (!operand.name.empty()) {
      auto& vector = body.vectors.emplace_back();
      expand_vector(operand.name, operand.value, vector);
      const bool floats = operand.name == "vf";
      place.constant = vector.data();
      place.type = floats ? Type::f : operand.name == "v" ? Type::w : Type::uw;
      place.shape = Shape::table;
      auto& table = body.tables.emplace_back();
      // Integers stand for eight words side by side, and a lane takes that beside its result: of results of
      // 32 bits every second one. ocloc writes 0x400:uv for 0 and 4 then (dg2 and tgllp, addresses of 64 bits
      // in SLM).
      const std::uint32_t words = std::max(1U, result_step / 2);
      for (std::uint32_t i = 0; i < kMostLanes; ++i)
        table[i] = static_cast<std::uint16_t>(floats ? i % 4 * 4 : i * words % 8 * 2);
      place.table = table.data();
      return {};
    }
    if (size_of(place.type) == 0) return "an immediate of an unknown type";
    immediate = operand.value;
    if (operand.negated && !is_floating(place.type)) {
      immediate = ~immediate + 1;
      place.negated = false;
    }
    return {};
  }
  const std::uint32_t size = size_of(place.type);
  if (size == 0) return "a source without a type";
  // Operands of math macros have no region: their lanes lie one behind another.
  const Region region = operand.macro ? Region{1, 1, 0} : operand.region;
  place.region = region;
  if (operand.indirect) {
    if (operand.file != File::general) return "an indirect operand of a special register";
    place.shape = Shape::indirect;
    place.rows = operand.rows;
    place.address = static_cast<std::uint8_t>(operand.address);
    place.displacement = operand.displacement;
    return {};
  }
  const auto area = area_of(operand, body);
  if (!area) return "a source register";
  place.accumulator = operand.file == File::accumulator;
  const std::uint32_t within = area->second + operand.element * size;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < lanes; ++i) last = std::max(last, steps_of(region, i));
  if (within + last * size + size > area->first.size) return "a source beyond the registers";
  place.at = area->first.start + within;
  shape_of(region, lanes, size, body, place);
  return {};
}

std::string place_result(const Operand& operand, std::uint32_t lanes, Code::Body& body, Place& place,
                         bool to_state) {
  place.type = operand.type;
  place.saturated = operand.saturated;
  if (operand.macro && *operand.macro != 8) return "an accumulator of math macros";
  if (operand.file == File::null || operand.file == File::none) return {};
  place.null = false;
  const std::uint32_t size = size_of(place.type);
  if (size == 0) return "a result without a type";
  const std::uint32_t step = std::max<std::uint32_t>(1, operand.region.horizontal);
  place.stride = static_cast<std::uint16_t>(step * size);
  place.region = {0, 32, static_cast<std::uint8_t>(step)};
  if (operand.indirect) {
    if (operand.file != File::general) return "an indirect operand of a special register";
    place.shape = Shape::indirect;
    place.address = static_cast<std::uint8_t>(operand.address);
    place.displacement = operand.displacement;
    return {};
  }
  const auto area = area_of(operand, body);
  if (!area) return "a result register";
  if (operand.file == File::other && operand.name != "cr" && operand.name != "dbg" && !to_state)
    return "a write to " + std::string(operand.name);
  place.accumulator = operand.file == File::accumulator;
  const std::uint32_t within = area->second + operand.element * size;
  if (within + ((lanes - 1) * step + 1) * size > area->first.size) return "a result beyond the registers";
  place.at = area->first.start + within;
  place.shape = step == 1 ? Shape::packed : Shape::strided;
  return {};
}

std::string place_payload(const Operand& operand, const Code::Body& body, Place& place) {
  if (operand.file == File::null || operand.file == File::none) return {};
  if (operand.file != File::general || operand.indirect) return "a message of special registers";
  place.null = false;
  place.at = operand.number * body.register_bytes;
  return {};
}

}  // namespace kiln::xe
