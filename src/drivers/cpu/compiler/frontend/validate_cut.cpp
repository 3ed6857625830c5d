// SPDX-License-Identifier: MIT
// Writes what is left of a module when hints, debug information and dropped functions are taken out.
#include "drivers/cpu/compiler/frontend/validate_cut.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <spirv/unified1/spirv.hpp>
#include <unordered_map>

#include "drivers/cpu/compiler/frontend/spirv_words.hpp"
#include "drivers/cpu/compiler/frontend/validate_operands.hpp"
#include "drivers/cpu/compiler/frontend/validate_types.hpp"

namespace kiln::cpu {
namespace {

// Hints that kernels need not have: merge instructions, since the validator holds those that compilers write
// for kernels against them, and the parameter attribute NoReadWrite, over which the translator of LLVM 15
// trips.
bool is_hint(Words words) {
  const std::uint32_t op = words[0] & 0xffff;
  if (op == spv::OpLoopMerge || op == spv::OpSelectionMerge) return true;
  return op == spv::OpDecorate && words.size() == 4 && words[2] == spv::DecorationFuncParamAttr &&
         words[3] == spv::FunctionParameterAttributeNoReadWrite;
}

// Ids whose names are of use, functions for messages and built-in variables (true) for the translator.
std::unordered_map<std::uint32_t, bool> named_ids(Words module) {
  std::unordered_map<std::uint32_t, bool> ids;
  for (std::size_t at = kHeaderWords; at < module.size(); at += module[at] >> 16) {
    const Words words = module.subspan(at, module[at] >> 16);
    const std::uint32_t op = words[0] & 0xffff;
    if (op == spv::OpFunction && words.size() > 2) ids[words[2]] = false;
    if (op == spv::OpDecorate && words.size() > 2 && words[2] == spv::DecorationBuiltIn) ids[words[1]] = true;
  }
  return ids;
}

// What the dropped functions define, and the dropped ids themselves.
std::unordered_set<std::uint32_t> gone(Words module, const std::unordered_set<std::uint32_t>& dropped) {
  std::unordered_set<std::uint32_t> ids = dropped;
  bool inside = false;
  for (std::size_t at = kHeaderWords; at < module.size(); at += module[at] >> 16) {
    const Words words = module.subspan(at, module[at] >> 16);
    const std::uint32_t op = words[0] & 0xffff;
    bool has_result = false, has_type = false;
    spv::HasResultAndType(static_cast<spv::Op>(op), &has_result, &has_type);
    if (op == spv::OpFunction) inside = words.size() > 2 && dropped.contains(words[2]);
    if (inside && has_result && words.size() > 1u + has_type) ids.insert(words[1 + has_type]);
    if (op == spv::OpFunctionEnd) inside = false;
  }
  return ids;
}

// The instruction without mention of what is gone; empty when nothing is left of it.
std::vector<std::uint32_t> without(Words words, const std::unordered_set<std::uint32_t>& gone) {
  const auto is_gone = [&](std::uint32_t id) { return gone.contains(id); };
  std::vector<std::uint32_t> kept(words.begin(), words.end());
  std::size_t listed = words.size();  // where a list of ids begins
  switch (words[0] & 0xffff) {
    case spv::OpName:
    case spv::OpMemberName:
    case spv::OpDecorate:
    case spv::OpDecorateId:
    case spv::OpDecorateString:
    case spv::OpMemberDecorate:
    case spv::OpMemberDecorateString:
    case spv::OpExecutionMode:
    case spv::OpExecutionModeId:
      if (words.size() > 1 && is_gone(words[1])) return {};
      break;
    case spv::OpVariable:
      if (words.size() > 2 && is_gone(words[2])) return {};
      break;
    case spv::OpEntryPoint:
      if (words.size() > 2 && is_gone(words[2])) return {};
      listed = 3 + string_words(words.subspan(3));
      break;
    case spv::OpGroupDecorate:
      listed = 2;
      break;
    default:
      return kept;
  }
  if (listed < kept.size())
    kept.erase(std::remove_if(kept.begin() + static_cast<std::ptrdiff_t>(listed), kept.end(), is_gone),
               kept.end());
  kept[0] = static_cast<std::uint32_t>(kept.size()) << 16 | (words[0] & 0xffff);
  return kept;
}

}  // namespace

std::string literal(Words words) {
  const auto* text = reinterpret_cast<const char*>(words.data());
  return {text, strnlen(text, words.size_bytes())};
}

bool is_reserved(std::string_view name) {
  return name.starts_with("llvm.") || name.starts_with("kiln.item.") || name.find("__spirv_") != name.npos ||
         name.starts_with("__translate_");
}

bool is_debug_set(std::string_view name) {
  return name == "OpenCL.DebugInfo.100" || name == "SPIRV.debug" || name.starts_with("NonSemantic.");
}

std::vector<std::uint32_t> cut(Words module, const std::unordered_set<std::uint32_t>& dropped) {
  const std::unordered_set<std::uint32_t> ids = gone(module, dropped);
  bool inside = false;  // a dropped function
  std::vector<std::uint32_t> kept(module.begin(), module.begin() + kHeaderWords);
  std::set<std::vector<std::uint32_t>> decorations;
  std::set<std::uint32_t> debug_sets;
  const std::unordered_map<std::uint32_t, bool> named = named_ids(module);
  for (std::size_t at = kHeaderWords; at < module.size(); at += module[at] >> 16) {
    const Words words = module.subspan(at, module[at] >> 16);
    const std::uint32_t op = words[0] & 0xffff;
    if (op == spv::OpExtInstImport && words.size() > 2 && is_debug_set(literal(words.subspan(2)))) {
      debug_sets.insert(words[1]);
      continue;
    }
    if (op == spv::OpMemberName) continue;
    if (op == spv::OpName) {
      const std::string name = literal(words.subspan(2));
      const auto found = named.find(words[1]);
      if (found == named.end() || found->second != name.starts_with("__spirv_BuiltIn")) continue;
      if (!found->second && is_reserved(name)) continue;
    }
    if (op == spv::OpLine || op == spv::OpNoLine || is_hint(words)) continue;
    if (op == spv::OpExtInst && words.size() > 4 && debug_sets.contains(words[3])) continue;
    if (op == spv::OpDecorate && words.size() > 2 && is_without_effect(words[2])) continue;
    if (op == spv::OpMemberDecorate && words.size() > 3 && is_without_effect(words[3])) continue;
    if (op == spv::OpDecorate && !decorations.emplace(words.begin(), words.end()).second) continue;
    if (op == spv::OpFunction) inside = words.size() > 2 && ids.contains(words[2]);
    if (!inside) {
      const std::vector<std::uint32_t> rest = without(words, ids);
      kept.insert(kept.end(), rest.begin(), rest.end());
    }
    if (op == spv::OpFunctionEnd) inside = false;
  }
  return kept;
}

std::vector<std::uint32_t> without_extensions(Words module) {
  std::vector<std::uint32_t> kept(module.begin(), module.begin() + kHeaderWords);
  for (std::size_t at = kHeaderWords; at < module.size(); at += module[at] >> 16) {
    const Words words = module.subspan(at, module[at] >> 16);
    if ((words[0] & 0xffff) != spv::OpExtension) kept.insert(kept.end(), words.begin(), words.end());
  }
  return kept;
}

}  // namespace kiln::cpu
