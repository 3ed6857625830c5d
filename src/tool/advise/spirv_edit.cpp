// SPDX-License-Identifier: MIT
// Walks the instructions of a module, and writes it with one more, one less, or another operand.
#include "tool/advise/spirv_edit.hpp"

#include <cstring>
#include <map>
#include <set>
#include <spirv/unified1/spirv.hpp>

namespace kiln::tool {
namespace {

constexpr std::size_t kHeader = 5;  // words

struct OneInstruction {
  spv::Op opcode = spv::OpNop;
  std::size_t at = 0, size = 0;  // words
};

std::vector<std::uint32_t> words_of(std::span<const std::byte> spirv) {
  std::vector<std::uint32_t> words(spirv.size() / sizeof(std::uint32_t));
  if (!words.empty()) std::memcpy(words.data(), spirv.data(), words.size() * sizeof(std::uint32_t));
  return words;
}

std::vector<std::byte> bytes_of(std::span<const std::uint32_t> words) {
  const auto bytes = std::as_bytes(words);
  return {bytes.begin(), bytes.end()};
}

/// Empty where an instruction does not fit the module.
std::vector<OneInstruction> instructions_of(std::span<const std::uint32_t> words) {
  std::vector<OneInstruction> all;
  for (std::size_t at = kHeader; at < words.size();) {
    const std::size_t size = words[at] >> 16;
    if (size == 0 || size > words.size() - at) return {};
    all.push_back({spv::Op(words[at] & 0xffff), at, size});
    at += size;
  }
  return all;
}

/// Id of the kernel's function; 0: there is none.
std::uint32_t entry_of(std::span<const std::uint32_t> words, std::span<const OneInstruction> all,
                       std::string_view kernel) {
  for (const OneInstruction& each : all) {
    if (each.opcode != spv::OpEntryPoint || each.size < 4) continue;
    const auto* name = reinterpret_cast<const char*>(&words[each.at + 3]);
    if (std::string_view(name, strnlen(name, (each.size - 3) * sizeof(std::uint32_t))) == kernel)
      return words[each.at + 2];
  }
  return 0;
}

/// The kernel's function and those that it calls: with newer translators the entry point calls the kernel.
std::set<std::uint32_t> functions_of(std::span<const std::uint32_t> words,
                                     std::span<const OneInstruction> all, std::uint32_t entry) {
  std::multimap<std::uint32_t, std::uint32_t> calls;
  std::uint32_t current = 0;
  for (const OneInstruction& each : all) {
    if (each.opcode == spv::OpFunction && each.size == 5) current = words[each.at + 2];
    if (each.opcode == spv::OpFunctionCall && each.size >= 4) calls.emplace(current, words[each.at + 3]);
  }
  std::set<std::uint32_t> reached{entry};
  for (std::vector<std::uint32_t> left{entry}; !left.empty();) {
    const auto [begin, end] = calls.equal_range(left.back());
    left.pop_back();
    for (auto call = begin; call != end; ++call)
      if (reached.insert(call->second).second) left.push_back(call->second);
  }
  return reached;
}

}  // namespace

std::vector<std::byte> with_sub_group_size(std::span<const std::byte> spirv, std::string_view kernel,
                                           std::uint32_t size) {
  std::vector<std::uint32_t> words = words_of(spirv);
  const std::vector<OneInstruction> all = instructions_of(words);
  const std::uint32_t entry = entry_of(words, all, kernel);
  if (entry == 0) return {};
  bool is_capable = false;
  std::size_t capabilities = kHeader, modes = 0;  // where one more goes
  for (const OneInstruction& each : all) {
    const std::size_t end = each.at + each.size;
    if (each.opcode == spv::OpCapability && each.size > 1) {
      is_capable |= words[each.at + 1] == spv::CapabilitySubgroupDispatch;
      capabilities = end;
    }
    if (each.opcode == spv::OpEntryPoint || each.opcode == spv::OpExecutionMode) modes = end;
    if (each.opcode == spv::OpExecutionMode && each.size == 4 && words[each.at + 1] == entry &&
        words[each.at + 2] == spv::ExecutionModeSubgroupSize) {
      words[each.at + 3] = size;
      return bytes_of(words);
    }
  }
  const std::uint32_t mode[] = {4u << 16 | spv::OpExecutionMode, entry, spv::ExecutionModeSubgroupSize, size};
  const std::uint32_t capability[] = {2u << 16 | spv::OpCapability, spv::CapabilitySubgroupDispatch};
  words.insert(words.begin() + static_cast<std::ptrdiff_t>(modes), std::begin(mode), std::end(mode));
  if (!is_capable)
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(capabilities), std::begin(capability),
                 std::end(capability));
  return bytes_of(words);
}

std::vector<std::uint64_t> compared_numbers(std::span<const std::byte> spirv, std::string_view kernel) {
  const std::vector<std::uint32_t> words = words_of(spirv);
  const std::vector<OneInstruction> all = instructions_of(words);
  const std::uint32_t entry = entry_of(words, all, kernel);
  std::vector<std::uint64_t> numbers;
  if (entry == 0) return numbers;
  const std::set<std::uint32_t> functions = functions_of(words, all, entry);
  std::map<std::uint32_t, std::uint64_t> constants;  // by id
  bool is_inside = false;
  for (const OneInstruction& each : all) {
    if (each.opcode == spv::OpConstant && (each.size == 4 || each.size == 5))
      constants[words[each.at + 2]] =
          words[each.at + 3] | (each.size == 5 ? std::uint64_t{words[each.at + 4]} << 32 : 0);
    if (each.opcode == spv::OpFunction && each.size == 5) is_inside = functions.contains(words[each.at + 2]);
    if (!is_inside || each.opcode < spv::OpIEqual || each.opcode > spv::OpSLessThanEqual || each.size != 5)
      continue;
    for (const std::size_t operand : {each.at + 3, each.at + 4})
      if (const auto found = constants.find(words[operand]); found != constants.end())
        numbers.push_back(found->second);
  }
  return numbers;
}

std::vector<SlmBarrier> slm_barriers(std::span<const std::byte> spirv, std::string_view kernel) {
  const std::vector<std::uint32_t> words = words_of(spirv);
  const std::vector<OneInstruction> all = instructions_of(words);
  const std::uint32_t entry = entry_of(words, all, kernel);
  std::map<std::uint32_t, std::uint32_t> constants;  // of 32 bits, by id
  std::vector<SlmBarrier> barriers;
  if (entry == 0) return barriers;
  const std::set<std::uint32_t> functions = functions_of(words, all, entry);
  bool is_inside = false;
  std::uint32_t line = 0;
  const auto constant = [&](std::uint32_t id) {
    const auto found = constants.find(id);
    return found == constants.end() ? UINT32_MAX : found->second;
  };
  for (const OneInstruction& each : all) {
    if (each.opcode == spv::OpConstant && each.size == 4) constants[words[each.at + 2]] = words[each.at + 3];
    if (each.opcode == spv::OpFunction && each.size == 5) {
      is_inside = functions.contains(words[each.at + 2]);
      line = 0;
    }
    if (each.opcode == spv::OpLine && each.size == 4) line = words[each.at + 2];
    if (each.opcode == spv::OpNoLine) line = 0;
    if (!is_inside || each.opcode != spv::OpControlBarrier || each.size != 4) continue;
    const std::uint32_t memory = constant(words[each.at + 3]);
    const bool is_of_slm = memory != UINT32_MAX && (memory & spv::MemorySemanticsWorkgroupMemoryMask) != 0 &&
                           (memory & spv::MemorySemanticsCrossWorkgroupMemoryMask) == 0;
    if (constant(words[each.at + 1]) == spv::ScopeWorkgroup && is_of_slm) barriers.push_back({each.at, line});
  }
  return barriers;
}

std::vector<std::byte> without_barrier(std::span<const std::byte> spirv, const SlmBarrier& barrier) {
  std::vector<std::uint32_t> words = words_of(spirv);
  if (barrier.at >= words.size()) return {};
  const std::size_t size = words[barrier.at] >> 16;
  if (size > words.size() - barrier.at) return {};
  const auto at = words.begin() + static_cast<std::ptrdiff_t>(barrier.at);
  words.erase(at, at + static_cast<std::ptrdiff_t>(size));
  return bytes_of(words);
}

}  // namespace kiln::tool
