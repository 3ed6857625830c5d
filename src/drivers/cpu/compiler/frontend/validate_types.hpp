// SPDX-License-Identifier: MIT
// Checks of ids and types that the validator leaves open and the translator takes for granted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace kiln::cpu {

/// Decorations that say nothing about what a kernel computes and are left out.
bool is_without_effect(std::uint32_t decoration);

/// Operands of the instruction that are ids and could name a variable; literals are never among them.
std::span<const std::uint32_t> id_operands(std::span<const std::uint32_t> words);

/// Sees every instruction of a module twice, in order: values may be used before the place that defines them,
/// where blocks do not stand in order of dominance.
class TypeValidator {
 public:
  void learn(std::span<const std::uint32_t> words);
  /// What is wrong with the instruction; empty when nothing is. All of the module must have been learnt.
  std::string fault(std::span<const std::uint32_t> words);

 private:
  struct Type {
    std::uint32_t op = 0, first = 0, second = 0;  // the operands after the result
  };

  std::string annotation_fault(std::span<const std::uint32_t> words) const;
  std::string decoration_fault(std::span<const std::uint32_t> decoration) const;
  std::string variable_fault(std::uint32_t type, std::uint32_t id) const;
  std::string group_fault(std::span<const std::uint32_t> words) const;
  bool group_operand_fits(char rule, std::uint32_t word, std::uint32_t result) const;
  bool group_type_fits(char rule, std::uint32_t type) const;
  bool points_to_lanes(std::uint32_t pointer, std::uint32_t value_type) const;
  std::string function_pointer_fault(std::span<const std::uint32_t> words) const;
  std::string dot_fault(std::span<const std::uint32_t> words) const;
  std::string pointer_pair_fault(std::span<const std::uint32_t> words) const;
  std::string parameter_fault(std::uint32_t type, std::uint32_t id) const;
  bool same_types(std::span<const std::uint32_t> ids) const;
  bool uses_built_in(std::span<const std::uint32_t> words) const;
  bool uses_type(std::span<const std::uint32_t> words) const;
  std::uint64_t members_of(std::uint32_t type) const;
  Type type(std::uint32_t id) const;
  std::uint32_t type_of(std::uint32_t id) const;

  bool in_functions_ = false;
  std::unordered_set<std::uint32_t> defined_;
  std::unordered_map<std::uint32_t, Type> types_;
  std::unordered_map<std::uint32_t, std::uint32_t> type_of_;  // value to type; types and the like have 0
  std::unordered_map<std::uint32_t, std::uint32_t> function_types_;  // of functions
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>>
      signatures_;                                               // result and parameters of types
  std::unordered_map<std::uint32_t, std::uint64_t> members_;     // of structures and arrays
  std::unordered_map<std::uint32_t, std::uint32_t> constants_;   // of 32 bits
  std::unordered_map<std::uint32_t, std::uint32_t> attributes_;  // of parameters, one bit each
  std::unordered_map<std::uint32_t, std::uint32_t> built_ins_;   // variables and pointers into them
};

}  // namespace kiln::cpu
