// SPDX-License-Identifier: MIT
// Walks over the instructions of a SPIR-V module.
#include "drivers/cpu/compiler/frontend/spirv_sites.hpp"

#include <spirv/unified1/OpenCL.std.h>

#include <cstring>
#include <optional>
#include <set>
#include <spirv/unified1/spirv.hpp>

#include "drivers/cpu/compiler/frontend/spirv_words.hpp"

namespace kiln::cpu {
namespace {

std::uint32_t opcode(Words words) { return words[0] & 0xffff; }

template <class Visit>
void each_instruction(Words module, Visit visit) {
  for (std::size_t at = kHeaderWords; at < module.size();) {
    const std::size_t length = module[at] >> 16;
    if (length == 0 || length > module.size() - at) return;
    visit(module.subspan(at, length));
    at += length;
  }
}

std::string literal(Words words) {
  std::string text(reinterpret_cast<const char*>(words.data()), words.size_bytes());
  return text.substr(0, text.find('\0'));
}

bool touches_memory(std::uint32_t opencl_instruction) {
  return opencl_instruction >= OpenCLLIB::Vloadn && opencl_instruction <= OpenCLLIB::Vstorea_halfn_r;
}

std::optional<Site> site_of(Words words, const std::set<std::uint32_t>& builtins) {
  const std::uint32_t op = opcode(words);
  const auto word = [&](std::size_t i) { return i < words.size() ? words[i] : 0; };
  switch (op) {
    case spv::OpLoad:
      if (builtins.contains(word(3))) return std::nullopt;
      return Site{SiteShape::load, word(2), 0};
    case spv::OpStore:
      return Site{SiteShape::store, word(1), 0};
    case spv::OpVariable:  // with an initializer, inside a function
      if (words.size() < 5) return std::nullopt;
      return Site{SiteShape::store, word(2), 0};
    case spv::OpCopyMemory:
    case spv::OpCopyMemorySized:
      return Site{SiteShape::copy, word(1), 0};
    case spv::OpAtomicStore:
    case spv::OpAtomicFlagClear:
    case spv::OpSubgroupBlockWriteINTEL:
      return Site{SiteShape::call, word(1), 0};
    case spv::OpAtomicFlagTestAndSet:
    case spv::OpAtomicFAddEXT:
    case spv::OpSubgroupBlockReadINTEL:
    case spv::OpGroupAsyncCopy:
      return Site{SiteShape::call, word(2), 0};
    case spv::OpControlBarrier:
    case spv::OpGroupWaitEvents:
      return Site{SiteShape::call, 0, 0};
    case spv::OpExtInst:
      if (!touches_memory(word(4))) return std::nullopt;
      return Site{SiteShape::call, word(2), 0};
    default:
      if (op < spv::OpAtomicLoad || op > spv::OpAtomicXor) return std::nullopt;
      return Site{SiteShape::call, word(2), 0};
  }
}

}  // namespace

std::map<std::uint32_t, FunctionSites> spirv_sites(Words words) {
  std::map<std::uint32_t, FunctionSites> functions;
  std::set<std::uint32_t> builtins, kernels;
  std::map<std::uint32_t, std::string> linkage;
  std::uint32_t function = 0, line = 0;
  each_instruction(words, [&](Words at) {
    switch (opcode(at)) {
      case spv::OpEntryPoint:
        functions[at[2]].name = literal(at.subspan(3));
        kernels.insert(at[2]);
        break;
      case spv::OpDecorate:
        if (at[2] == spv::DecorationBuiltIn) builtins.insert(at[1]);
        if (at[2] == spv::DecorationLinkageAttributes) linkage[at[1]] = literal(at.subspan(3));
        break;
      case spv::OpFunction:
        function = at[2];
        if (const auto found = linkage.find(function);
            found != linkage.end() && functions[function].name.empty())
          functions[function].name = found->second;
        break;
      case spv::OpFunctionEnd:
        function = 0;
        break;
      case spv::OpLine:
        line = at[2];
        break;
      case spv::OpNoLine:
        line = 0;
        break;
      case spv::OpLabel:
        line = 0;
        functions[function].blocks.push_back(LoopHint::none);
        break;
      case spv::OpLoopMerge:
        if (at[3] & spv::LoopControlUnrollMask) functions[function].blocks.back() = LoopHint::unroll;
        if (at[3] & spv::LoopControlDontUnrollMask) functions[function].blocks.back() = LoopHint::keep;
        break;
      case spv::OpFunctionCall:
        functions[function].calls.push_back(at[3]);
        break;
      default:
        break;
    }
    if (function == 0) return;
    if (auto site = site_of(at, builtins)) {
      site->line = line;
      functions[function].sites.push_back(*site);
    }
  });
  for (const std::uint32_t id : kernels) {
    FunctionSites& kernel = functions[id];
    if (!kernel.sites.empty() || kernel.calls.size() != 1) continue;
    const FunctionSites& real = functions[kernel.calls[0]];
    kernel.sites = real.sites;
    kernel.blocks = real.blocks;
  }
  return functions;
}

std::vector<std::uint32_t> with_function_names(Words words,
                                               const std::map<std::uint32_t, FunctionSites>& functions) {
  std::vector<std::uint32_t> out(words.begin(), words.begin() + kHeaderWords);
  bool named = false;
  each_instruction(words, [&](Words at) {
    const std::uint32_t op = opcode(at);
    // Names stand before everything that this group of instructions begins.
    if (!named &&
        (op == spv::OpDecorate || op == spv::OpGroupDecorate || op == spv::OpDecorationGroup ||
         op == spv::OpMemberDecorate || (op >= spv::OpTypeVoid && op <= spv::OpTypeForwardPointer))) {
      named = true;
      for (const auto& [id, function] : functions) {
        if (!function.name.empty()) continue;
        const std::string name = kSiteNamePrefix + std::to_string(id);
        std::vector<std::uint32_t> text(name.size() / 4 + 1);
        std::memcpy(text.data(), name.data(), name.size());
        out.push_back(static_cast<std::uint32_t>(text.size() + 2) << 16 | spv::OpName);
        out.push_back(id);
        out.insert(out.end(), text.begin(), text.end());
      }
    }
    if (op == spv::OpName)
      if (const auto found = functions.find(at[1]); found != functions.end() && found->second.name.empty())
        return;
    out.insert(out.end(), at.begin(), at.end());
  });
  return out;
}

}  // namespace kiln::cpu
