// SPDX-License-Identifier: MIT
// Validates SPIR-V in four steps: header and word counts, instructions by a list of the known ones, kernels
// that reach an unknown one, the validator.
#include "drivers/cpu/compiler/frontend/validate.hpp"

#include <LLVMSPIRVLib/LLVMSPIRVOpts.h>
#include <spirv-tools/libspirv.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <spirv/unified1/spirv.hpp>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "drivers/cpu/compiler/frontend/spirv_words.hpp"
#include "drivers/cpu/compiler/frontend/validate_cut.hpp"
#include "drivers/cpu/compiler/frontend/validate_operands.hpp"
#include "drivers/cpu/compiler/frontend/validate_pointers.hpp"
#include "drivers/cpu/compiler/frontend/validate_types.hpp"

namespace kiln::cpu {
namespace {

constexpr std::uint32_t kNewestMinor =
    static_cast<std::uint32_t>(SPIRV::VersionNumber::MaximumVersion) >> 8 & 0xff;
constexpr std::uint32_t kLargestBound = 1u << 22;  // ids; SPIR-V's own universal limit
constexpr std::size_t kLongestLog = 64 << 10;      // bytes, and one line: what is behind helps nobody
constexpr std::size_t kMostLines = 4096;
constexpr std::size_t kLongestName = 256;  // bytes of a name in the log

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
    {spv::OpTypeForwardPointer, spv::OpTypeForwardPointer},
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
    {spv::OpSDotKHR, spv::OpSUDotAccSatKHR},
    {spv::OpSubgroupShuffleINTEL, spv::OpSubgroupBlockWriteINTEL},
    {spv::OpConstantFunctionPointerINTEL, spv::OpFunctionPointerCallINTEL},
    {spv::OpAtomicFMinEXT, spv::OpAtomicFMaxEXT},
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

const std::string kDouble = "double precision, which products with these limits do not have,";

std::string opcode_name(std::uint32_t op) {
  const char* name = spvOpcodeString(op);
  return name != nullptr ? name : "?";
}

class Validator {
 public:
  Validator(Words module, std::string& log, bool fp64) : module_(module), log_(log), fp64_(fp64) {}

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
    for (std::size_t at = kHeaderWords; at < module_.size(); at += module_[at] >> 16) {
      const std::uint32_t count = module_[at] >> 16;
      if (count == 0 || count > module_.size() - at)
        return refuse("the instruction at byte " + std::to_string(at * 4) + " does not fit the file");
      types_.learn(module_.subspan(at, count));
    }
    for (std::size_t at = kHeaderWords; at < module_.size(); at += module_[at] >> 16) {
      const Words words = module_.subspan(at, module_[at] >> 16);
      instruction(words[0] & 0xffff, words);
      std::string fault(operand_fault(words));
      if (fault.empty()) fault = types_.fault(words);
      if (!fault.empty() && !(function_ != 0 && functions_[function_].reason))
        return refuse("Op" + opcode_name(words[0] & 0xffff) + " at byte " + std::to_string(at * 4) + " " +
                      fault);
    }
    if (!has_memory_model_) return refuse("there is no memory model: the file is cut off");
    for (const std::string& capability : refused_capabilities_)
      if (clean_) refuse("capability " + capability + " cannot run on the CPU device");
    for (const auto& [id, name] : linkage_)
      if (is_reserved(name) && (!built_ins_.contains(id) || !name.starts_with("__spirv_BuiltIn")))
        return refuse("the name '" + name + "' is reserved");
    spread_reasons();
    for (const auto& [id, name] : kernels_)
      if (const auto& reason = functions_[id].reason; reason && reason->starts_with(kDouble))
        return refuse(*reason);
    for (const std::uint32_t id : pointed_) {
      const bool is_kernel =
          std::ranges::any_of(kernels_, [id](const auto& each) { return each.first == id; });
      if (functions_[id].reason)
        return refuse("a pointer is taken to a function, and " + *functions_[id].reason);
      if (is_kernel) return refuse("a pointer is taken to kernel '" + function_name(id) + "'");
    }
    return clean_ && some_kernel_runs();
  }

  /// Kernels that reach what cannot run.
  [[nodiscard]] std::map<std::string, std::string> refused_kernels() const {
    std::map<std::string, std::string> out;
    for (const auto& [id, name] : kernels_)
      if (const auto& reason = functions_.at(id).reason) out.emplace(name, *reason);
    return out;
  }

  [[nodiscard]] std::map<std::string, std::array<std::uint32_t, 3>> size_hints() const {
    std::map<std::string, std::array<std::uint32_t, 3>> out;
    for (const auto& [id, name] : kernels_)
      if (const auto hint = size_hints_.find(id); hint != size_hints_.end()) out.emplace(name, hint->second);
    return out;
  }

  /// Functions and variables to leave out.
  [[nodiscard]] std::unordered_set<std::uint32_t> dropped() const {
    std::unordered_set<std::uint32_t> ids;
    for (const auto& [id, function] : functions_)
      if (function.reason) ids.insert(id);
    for (const std::uint32_t id : variables_)
      if (refused_ids_.contains(id)) ids.insert(id);
    return ids;
  }

 private:
  struct Function {
    std::optional<std::string> reason;   // why it cannot run
    std::vector<std::uint32_t> callers;  // ids
  };

  bool refuse(std::string_view reason) {
    log_.append("error: SPIR-V: ").append(reason).append("\n");
    return clean_ = false;
  }

  // Things without a place in a function wait for one that uses them.
  void refuse_use(const std::string& what) {
    if (function_ == 0) {
      refuse(what + " cannot run on the CPU device");
      return;
    }
    std::string line = what + " in function '" + function_name(function_) + "' cannot run on the CPU device";
    Function& function = functions_[function_];
    if (told_.size() < kMostLines && told_.insert(line).second) lines_.push_back(line);
    if (!function.reason) function.reason = std::move(line);
  }

  // From callees to callers.
  void spread_reasons() {
    std::vector<std::uint32_t> open;
    for (const auto& [id, function] : functions_)
      if (function.reason) open.push_back(id);
    while (!open.empty()) {
      const Function& callee = functions_[open.back()];
      open.pop_back();
      for (const std::uint32_t id : callee.callers) {
        Function& caller = functions_[id];
        if (caller.reason) continue;
        caller.reason = callee.reason;
        open.push_back(id);
      }
    }
  }

  // A module of which nothing can run is refused, else what cannot run is told.
  bool some_kernel_runs() {
    std::size_t refused = 0;
    for (const auto& [id, name] : kernels_) refused += functions_[id].reason.has_value();
    const bool none = !kernels_.empty() && refused == kernels_.size();
    for (const std::string& line : lines_)
      if (log_.size() < kLongestLog) log_.append(none ? "error: " : "warning: ").append(line).append("\n");
    return !none;
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
          kernels_.emplace_back(w[2], names_[w[2]]);
        }
        return;
      case spv::OpMemoryModel:
        has_memory_model_ = true;
        return;
      case spv::OpExecutionMode:
        if (operand(2) == spv::ExecutionModeLocalSizeHint)
          size_hints_[operand(1)] = {operand(3), operand(4), operand(5)};
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
        break;
      case spv::OpFunctionEnd:
        function_ = 0;
        return;
      case spv::OpFunctionCall:
        functions_[operand(3)].callers.push_back(function_);
        break;
      case spv::OpConstantFunctionPointerINTEL:
        pointed_.insert(operand(3));
        return;
      case spv::OpTypeFloat:
        if (!fp64_ && operand(2) == 64) refused_ids_[operand(1)] = kDouble;
        return;
      case spv::OpTypeVector:
        inherit(operand(1), operand(2));
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
        if (function_ == 0) {
          variables_.push_back(operand(2));
          inherit(operand(2), operand(1));
          return;
        }
        break;
      case spv::OpConstantSampler:
        refused_ids_[operand(2)] = described(op);
        return;
      // Types come before functions: the first function that has a value of the type is named.
      case spv::OpTypeImage:
      case spv::OpTypeSampler:
      case spv::OpTypeSampledImage:
      case spv::OpTypeOpaque:
      case spv::OpTypePipe:
      case spv::OpTypeQueue:
      case spv::OpTypeDeviceEvent:
      case spv::OpTypeReserveId:
        refused_ids_[operand(1)] = described(op);
        return;
      default:
        break;
    }
    if (function_ != 0) check_ids(w);
    if (!is_known(op)) refuse_use(described(op));
  }

  void inherit(std::uint32_t id, std::uint32_t from) {
    const auto found = refused_ids_.find(from);
    if (found != refused_ids_.end() && id != from) refused_ids_[id] = std::string(found->second);
  }

  void check_ids(Words w) {
    if (w.size() > 2) check_id(w[1]);  // its type, if it has one
    for (const std::uint32_t id : id_operands(w)) check_id(id);
  }

  void check_id(std::uint32_t id) {
    if (const auto found = refused_ids_.find(id); found != refused_ids_.end()) refuse_use(found->second);
  }

  static std::string described(std::uint32_t op) {
    return "Op" + opcode_name(op) + " (instruction " + std::to_string(op) + ")";
  }

  std::string function_name(std::uint32_t id) const {
    const auto found = names_.find(id);
    return found != names_.end() ? found->second.substr(0, kLongestName) : "%" + std::to_string(id);
  }

  Words module_;
  std::string& log_;
  TypeValidator types_;
  bool fp64_;
  bool clean_ = true;
  bool has_memory_model_ = false;
  std::uint32_t function_ = 0;  // id of the function being read, 0 between functions
  std::unordered_map<std::uint32_t, std::string> names_, refused_ids_;
  std::vector<std::string> refused_capabilities_;
  std::vector<std::pair<std::uint32_t, std::string>> linkage_;  // ids and the names they are known by outside
  std::set<std::uint32_t> built_ins_;
  std::map<std::uint32_t, Function> functions_;                 // by id
  std::vector<std::pair<std::uint32_t, std::string>> kernels_;  // ids and names
  std::map<std::uint32_t, std::array<std::uint32_t, 3>> size_hints_;
  std::set<std::uint32_t> pointed_;       // functions whose address is taken
  std::vector<std::uint32_t> variables_;  // of the module scope
  std::set<std::string> told_;            // each once
  std::vector<std::string> lines_;        // the same in the order of the module
};

// Why the module is invalid; empty when it is valid. `cut_short`: an instruction has fewer words than its
// operands take.
std::string verdict_of(Words module, bool& cut_short) {
  constexpr spv_target_env kByMinor[] = {SPV_ENV_UNIVERSAL_1_0, SPV_ENV_UNIVERSAL_1_1, SPV_ENV_UNIVERSAL_1_2,
                                         SPV_ENV_UNIVERSAL_1_3, SPV_ENV_UNIVERSAL_1_4, SPV_ENV_UNIVERSAL_1_5,
                                         SPV_ENV_UNIVERSAL_1_6};
  spv_context context = spvContextCreate(kByMinor[module[1] >> 8 & 0xff]);
  spv_diagnostic diagnostic = nullptr;
  const spv_result_t result = spvValidateBinary(context, module.data(), module.size(), &diagnostic);
  std::string verdict;
  if (result != SPV_SUCCESS)
    verdict = diagnostic != nullptr ? diagnostic->error : "the validator refuses the module";
  while (verdict.ends_with('\n')) verdict.pop_back();
  // SPIRV-Tools, 2023.1 to 2026.4, has no code of its own for it.
  cut_short = result == SPV_ERROR_INVALID_BINARY && verdict.find("expected more operands") != verdict.npos;
  spvDiagnosticDestroy(diagnostic);
  spvContextDestroy(context);
  return verdict;
}

}  // namespace

std::uint32_t newest_spirv_version() { return 1u << 16 | kNewestMinor; }

ValidatedModule validate_spirv(std::span<const std::byte> spirv, std::string& log, bool fp64) {
  if (spirv.size() % 4 != 0) {
    log.append("error: SPIR-V: the size is not a multiple of four bytes\n");
    return {};
  }
  // A copy, since the bytes may lie at any address.
  std::vector<std::uint32_t> words(spirv.size() / 4);
  if (!words.empty()) std::memcpy(words.data(), spirv.data(), spirv.size());
  Validator validator(words, log, fp64);
  if (!validator.header() || !validator.instructions()) return {};
  ValidatedModule module{
      cut(words, validator.dropped()), {}, validator.refused_kernels(), validator.size_hints()};
  bool cut_short = false;
  module.verdict = verdict_of(module.words, cut_short);
  if (cut_short) {  // the translator takes its missing words for 2^32, and 16 GiB for them
    log.append("error: SPIR-V: ").append(module.verdict).append("\n");
    return {};
  }
  std::string fault;
  module.words = with_pointers_as_numbers(without_extensions(module.words), fault);
  if (!fault.empty()) log.append("error: SPIR-V: ").append(fault).append("\n");
  return module;
}

}  // namespace kiln::cpu
