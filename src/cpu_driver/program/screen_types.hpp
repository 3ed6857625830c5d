// SPDX-License-Identifier: MIT
// Checks of ids and types that the validator leaves open and the translator takes for granted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

namespace kiln::cpu {

/// Sees every instruction of a module in order.
class TypeScreen {
 public:
  /// What is wrong with the instruction; empty when nothing is.
  std::string fault(std::span<const std::uint32_t> words);

 private:
  struct Type {
    std::uint32_t op = 0, first = 0, second = 0;  // the operands after the result
  };

  void remember(std::span<const std::uint32_t> words);
  std::string annotation_fault(std::span<const std::uint32_t> words) const;
  std::string decoration_fault(std::span<const std::uint32_t> decoration) const;
  std::string variable_fault(std::uint32_t type, std::uint32_t id) const;
  std::string group_fault(std::span<const std::uint32_t> words) const;
  bool group_operand_fits(char rule, std::uint32_t word, std::uint32_t result) const;
  bool group_type_fits(char rule, std::uint32_t type) const;
  bool points_to_lanes(std::uint32_t pointer, std::uint32_t value_type) const;
  std::string parameter_fault(std::uint32_t type, std::uint32_t id) const;
  bool same_types(std::span<const std::uint32_t> ids) const;
  bool uses_built_in(std::span<const std::uint32_t> words) const;
  bool uses_type(std::span<const std::uint32_t> words) const;
  Type type(std::uint32_t id) const;
  std::uint32_t type_of(std::uint32_t id) const;

  bool in_functions_ = false;
  std::unordered_map<std::uint32_t, Type> types_;
  std::unordered_map<std::uint32_t, std::uint32_t> type_of_;     // value to type; types and the like have 0
  std::unordered_map<std::uint32_t, std::uint32_t> constants_;   // of 32 bits
  std::unordered_map<std::uint32_t, std::uint32_t> attributes_;  // of parameters, one bit each
  std::unordered_map<std::uint32_t, std::uint32_t> built_ins_;   // variables and pointers into them
};

}  // namespace kiln::cpu
