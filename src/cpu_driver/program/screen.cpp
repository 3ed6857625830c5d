// SPDX-License-Identifier: MIT
// Screens SPIR-V in three steps: header and word counts, instructions by a list of the known ones, the
// validator.
#include "cpu_driver/program/screen.hpp"

#include <LLVMSPIRVLib/LLVMSPIRVOpts.h>
#include <spirv-tools/libspirv.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <spirv/unified1/spirv.hpp>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cpu_driver/program/screen_operands.hpp"
#include "cpu_driver/program/screen_types.hpp"

namespace kiln::cpu {
namespace {

using Words = std::span<const std::uint32_t>;

constexpr std::size_t kHeaderWords = 5;
constexpr std::uint32_t kNewestMinor =
    static_cast<std::uint32_t>(SPIRV::VersionNumber::MaximumVersion) >> 8 & 0xff;
constexpr std::uint32_t kLargestBound = 1u << 22;  // ids; SPIR-V's own universal limit
constexpr std::size_t kLongestLog = 64 << 10;      // bytes, and one line: what is behind helps nobody
constexpr std::size_t kLongestName = 256;          // bytes of a name in the log

struct OpRange {
  std::uint32_t first, last;
};

// What OpenCL C kernels without images are made of, and what comes with it from compilers: debug names,
// decorations, generic pointers. The translator knows more, but is only as sound as the input it was tried
// with, so the rest stays out. Source: SPIR-V specification 3.42 (instructions).
constexpr OpRange kKnown[] = {
    {spv::OpNop, spv::OpLine},
    {spv::OpExtension, spv::OpExtInst},
    {spv::OpMemoryModel, spv::OpCapability},
    {spv::OpTypeVoid, spv::OpTypeVector},
    {spv::OpTypeArray, spv::OpTypeArray},
    {spv::OpTypeStruct, spv::OpTypeFunction},
    {spv::OpTypeEvent, spv::OpTypeEvent},
    {spv::OpConstantTrue, spv::OpConstantComposite},
    {spv::OpConstantNull, spv::OpSpecConstantOp},
    {spv::OpFunction, spv::OpFunctionCall},
    {spv::OpVariable, spv::OpVariable},
    {spv::OpLoad, spv::OpAccessChain},
    {spv::OpInBoundsAccessChain, spv::OpPtrAccessChain},
    {spv::OpInBoundsPtrAccessChain, spv::OpInBoundsPtrAccessChain},
    {spv::OpDecorate, spv::OpGroupMemberDecorate},
    {spv::OpVectorExtractDynamic, spv::OpCopyObject},
    {spv::OpConvertFToU, spv::OpBitcast},
    {spv::OpSNegate, spv::OpFMod},
    {spv::OpVectorTimesScalar, spv::OpVectorTimesScalar},
    {spv::OpDot, spv::OpDot},
    {spv::OpAny, spv::OpFUnordGreaterThanEqual},
    {spv::OpShiftRightLogical, spv::OpNot},
    {spv::OpBitCount, spv::OpBitCount},
    {spv::OpControlBarrier, spv::OpMemoryBarrier},
    {spv::OpAtomicLoad, spv::OpAtomicXor},
    {spv::OpPhi, spv::OpLifetimeStop},
    {spv::OpGroupAsyncCopy, spv::OpGroupSMax},
    {spv::OpNoLine, spv::OpNoLine},
    {spv::OpAtomicFlagTestAndSet, spv::OpAtomicFlagClear},
    {spv::OpSizeOf, spv::OpSizeOf},
    {spv::OpModuleProcessed, spv::OpModuleProcessed},
    {spv::OpExecutionModeId, spv::OpDecorateId},
    {spv::OpGroupNonUniformElect, spv::OpGroupNonUniformLogicalXor},
    {spv::OpCopyLogical, spv::OpPtrDiff},
    {spv::OpSubgroupShuffleINTEL, spv::OpSubgroupBlockWriteINTEL},
    {spv::OpAtomicFAddEXT, spv::OpAtomicFAddEXT},
    {spv::OpAssumeTrueKHR, spv::OpExpectKHR},
    {spv::OpGroupIMulKHR, spv::OpGroupLogicalXorKHR},
};

bool is_known(std::uint32_t op) {
  return std::ranges::any_of(kKnown, [op](OpRange range) { return range.first <= op && op <= range.last; });
}

// Generators declare capabilities that their kernels do not need, so most are left to the instructions that
// need them; these change what ordinary instructions mean.
std::string_view refused_capability(std::uint32_t capability) {
  switch (capability) {
    case spv::CapabilityShader:
      return "Shader";
    case spv::CapabilityDeviceEnqueue:
      return "DeviceEnqueue";
    case spv::CapabilityPipes:
      return "Pipes";
    default:
      return {};
  }
}

// Empty for the built-in variables that the CPU device has.
std::string refused_built_in(std::uint32_t built_in) {
  switch (built_in) {
    case spv::BuiltInNumWorkgroups:
    case spv::BuiltInWorkgroupSize:
    case spv::BuiltInWorkgroupId:
    case spv::BuiltInLocalInvocationId:
    case spv::BuiltInGlobalInvocationId:
    case spv::BuiltInLocalInvocationIndex:
    case spv::BuiltInWorkDim:
    case spv::BuiltInGlobalSize:
    case spv::BuiltInEnqueuedWorkgroupSize:
    case spv::BuiltInGlobalOffset:
    case spv::BuiltInGlobalLinearId:
    case spv::BuiltInSubgroupSize:
    case spv::BuiltInSubgroupMaxSize:
    case spv::BuiltInNumSubgroups:
    case spv::BuiltInNumEnqueuedSubgroups:
    case spv::BuiltInSubgroupId:
    case spv::BuiltInSubgroupLocalInvocationId:
    case spv::BuiltInSubgroupEqMask:
    case spv::BuiltInSubgroupGeMask:
    case spv::BuiltInSubgroupGtMask:
    case spv::BuiltInSubgroupLeMask:
    case spv::BuiltInSubgroupLtMask:
      return {};
    default:
      return "built-in number " + std::to_string(built_in);
  }
}

std::string literal(Words words) {
  const auto* text = reinterpret_cast<const char*>(words.data());
  return {text, strnlen(text, words.size_bytes())};
}

// Names that mean something to LLVM or to the translator.
bool is_reserved(std::string_view name) {
  return name.starts_with("llvm.") || name.starts_with("kiln.item.") || name.find("__spirv_") != name.npos ||
         name.starts_with("__translate_");
}

bool is_debug_set(std::string_view name) {
  return name == "OpenCL.DebugInfo.100" || name.starts_with("NonSemantic.");
}

std::string opcode_name(std::uint32_t op) {
  const char* name = spvOpcodeString(op);
  return name != nullptr ? name : "?";
}

class Screen {
 public:
  Screen(Words module, std::string& log) : module_(module), log_(log) {}

  bool header() {
    if (module_.size() < kHeaderWords) return refuse("the file ends inside the header");
    if (module_[0] != spv::MagicNumber)
      return refuse("this is not a SPIR-V module for a little-endian machine");
    const std::uint32_t minor = module_[1] >> 8 & 0xff;
    if ((module_[1] & 0xffff00ff) != 0x10000 || minor > kNewestMinor)
      return refuse("the version is not one of 1.0 to 1." + std::to_string(kNewestMinor));
    if (module_[4] != 0) return refuse("the reserved word of the header is not zero");
    if (module_[3] == 0 || module_[3] > kLargestBound) return refuse("the bound of ids is out of range");
    return true;
  }

  bool instructions() {
    for (std::size_t at = kHeaderWords; at < module_.size();) {
      const std::uint32_t count = module_[at] >> 16;
      if (count == 0 || count > module_.size() - at)
        return refuse("the instruction at byte " + std::to_string(at * 4) + " does not fit the file");
      const Words words = module_.subspan(at, count);
      std::string fault(operand_fault(words));
      if (fault.empty()) fault = types_.fault(words);
      if (!fault.empty())
        return refuse("Op" + opcode_name(words[0] & 0xffff) + " at byte " + std::to_string(at * 4) + " " +
                      fault);
      instruction(words[0] & 0xffff, words);
      at += count;
    }
    if (!has_kernel_) return refuse("the module has no kernel");
    report_module_scope();
    for (const auto& [id, name] : linkage_)
      if (is_reserved(name) && (!built_ins_.contains(id) || !name.starts_with("__spirv_BuiltIn")))
        return refuse("the name '" + name + "' is reserved");
    return clean_;
  }

 private:
  bool refuse(std::string_view reason) {
    log_.append("error: SPIR-V: ").append(reason).append("\n");
    return clean_ = false;
  }

  // Things without a place in a function wait for one that uses them.
  void refuse_use(const std::string& what) {
    clean_ = false;
    const std::string line = "error: " + what +
                             (function_ != 0 ? " in function '" + function_name(function_) + "'" : "") +
                             " cannot run on the CPU device\n";
    if (log_.size() < kLongestLog && told_.insert(line).second) log_.append(line);
  }

  void instruction(std::uint32_t op, Words w) {
    const auto operand = [&](std::size_t i) { return i < w.size() ? w[i] : 0; };
    switch (op) {
      case spv::OpName:
        if (w.size() > 2) names_[w[1]] = literal(w.subspan(2));
        return;
      case spv::OpExtInstImport:
        if (w.size() > 2 && literal(w.subspan(2)) != "OpenCL.std" && !is_debug_set(literal(w.subspan(2))))
          refuse_use("instruction set '" + literal(w.subspan(2)).substr(0, kLongestName) + "'");
        return;
      case spv::OpEntryPoint:
        if (w.size() > 3) {
          names_[w[2]] = literal(w.subspan(3));
          linkage_.emplace_back(w[2], names_[w[2]]);
        }
        has_kernel_ = has_kernel_ || operand(1) == spv::ExecutionModelKernel;
        return;
      case spv::OpCapability:
        if (const auto name = refused_capability(operand(1)); !name.empty())
          refused_capabilities_.emplace_back(name);
        return;
      case spv::OpDecorate:
        if (operand(2) == spv::DecorationLinkageAttributes && w.size() > 3)
          linkage_.emplace_back(w[1], literal(w.subspan(3)));
        if (operand(2) == spv::DecorationBuiltIn) built_ins_.insert(operand(1));
        if (operand(2) == spv::DecorationBuiltIn)
          if (const std::string name = refused_built_in(operand(3)); !name.empty())
            refused_ids_[operand(1)] = name;
        return;
      case spv::OpFunction:
        function_ = operand(2);
        check_id(operand(1));
        return;
      case spv::OpFunctionEnd:
        function_ = 0;
        return;
      case spv::OpTypePointer:
        inherit(operand(1), operand(3));
        return;
      case spv::OpTypeFunction:
        return;
      case spv::OpTypeArray:
      case spv::OpTypeStruct:
        for (std::size_t i = 2; i < w.size(); ++i) inherit(operand(1), operand(i));
        return;
      case spv::OpVariable:
        if (function_ == 0)
          inherit(operand(2), operand(1));
        else
          check_id(operand(1));
        return;
      case spv::OpLoad:
        check_id(operand(1));
        check_id(operand(3));
        return;
      case spv::OpFunctionParameter:
        check_id(operand(1));
        return;
      default:
        break;
    }
    if (is_known(op)) return;
    const std::string name = "Op" + opcode_name(op) + " (instruction " + std::to_string(op) + ")";
    // Types come before functions: name the first function that has a value of the type.
    const bool is_type = op == spv::OpTypeImage || op == spv::OpTypeSampler ||
                         op == spv::OpTypeSampledImage || op == spv::OpTypeOpaque || op == spv::OpTypePipe ||
                         op == spv::OpTypeQueue || op == spv::OpTypeDeviceEvent || op == spv::OpTypeReserveId;
    if (is_type)
      refused_ids_[operand(1)] = name;
    else
      refuse_use(name);
  }

  void inherit(std::uint32_t id, std::uint32_t from) {
    const auto found = refused_ids_.find(from);
    if (found != refused_ids_.end() && id != from) refused_ids_[id] = std::string(found->second);
  }

  void check_id(std::uint32_t id) {
    if (const auto found = refused_ids_.find(id); found != refused_ids_.end()) refuse_use(found->second);
  }

  void report_module_scope() {
    for (const std::string& capability : refused_capabilities_)
      if (clean_) refuse_use("capability " + capability);
    if (!clean_) return;
    for (const auto& [id, what] : refused_ids_) refuse_use(what);
  }

  std::string function_name(std::uint32_t id) const {
    const auto found = names_.find(id);
    return found != names_.end() ? found->second.substr(0, kLongestName) : "%" + std::to_string(id);
  }

  Words module_;
  std::string& log_;
  TypeScreen types_;
  bool clean_ = true;
  bool has_kernel_ = false;
  std::uint32_t function_ = 0;  // id of the function being read, 0 between functions
  std::unordered_map<std::uint32_t, std::string> names_, refused_ids_;
  std::vector<std::string> refused_capabilities_;
  std::vector<std::pair<std::uint32_t, std::string>> linkage_;  // ids and the names they are known by outside
  std::set<std::uint32_t> built_ins_;
  std::set<std::string> told_;  // lines of the log, each once
};

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

// The module without hints, without debug information, and without decorations that are given twice, which
// compilers write and newer validators refuse. The word counts must have been checked.
std::vector<std::uint32_t> cleaned(Words module) {
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
    if (op == spv::OpDecorate && !decorations.emplace(words.begin(), words.end()).second) continue;
    kept.insert(kept.end(), words.begin(), words.end());
  }
  return kept;
}

bool validate(Words module, std::string& log) {
  constexpr spv_target_env kByMinor[] = {SPV_ENV_UNIVERSAL_1_0, SPV_ENV_UNIVERSAL_1_1, SPV_ENV_UNIVERSAL_1_2,
                                         SPV_ENV_UNIVERSAL_1_3, SPV_ENV_UNIVERSAL_1_4, SPV_ENV_UNIVERSAL_1_5,
                                         SPV_ENV_UNIVERSAL_1_6};
  spv_context context = spvContextCreate(kByMinor[module[1] >> 8 & 0xff]);
  spv_diagnostic diagnostic = nullptr;
  const spv_result_t result = spvValidateBinary(context, module.data(), module.size(), &diagnostic);
  if (result != SPV_SUCCESS)
    log.append("error: SPIR-V: ")
        .append(diagnostic != nullptr ? diagnostic->error : "the validator refused the module")
        .append("\n");
  spvDiagnosticDestroy(diagnostic);
  spvContextDestroy(context);
  return result == SPV_SUCCESS;
}

}  // namespace

std::vector<std::uint32_t> screen_spirv(std::span<const std::byte> spirv, std::string& log) {
  if (spirv.size() % 4 != 0) {
    log.append("error: SPIR-V: the size is not a multiple of four bytes\n");
    return {};
  }
  // A copy, since the bytes may lie at any address.
  std::vector<std::uint32_t> words(spirv.size() / 4);
  if (!words.empty()) std::memcpy(words.data(), spirv.data(), spirv.size());
  Screen screen(words, log);
  if (!screen.header() || !screen.instructions()) return {};
  std::vector<std::uint32_t> kept = cleaned(words);
  return validate(kept, log) ? kept : std::vector<std::uint32_t>();
}

}  // namespace kiln::cpu
