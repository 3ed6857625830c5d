// SPDX-License-Identifier: MIT
// Types by the names that compilers leave in SPIR-V, else by its own; access by following each pointer.
#include "tool/kernel/signature.hpp"

#include <spirv/unified1/OpenCL.std.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <spirv/unified1/spirv.hpp>
#include <unordered_map>
#include <unordered_set>

#include "binary/spirv_operands.hpp"

namespace kiln::tool {
namespace {

using Instruction = std::span<const std::uint32_t>;
using SpirvId = std::uint32_t;

Access merged(Access a, Access b) { return Access(std::uint8_t(a) | std::uint8_t(b)); }

/// What of a module is asked for here. The module was read before: every instruction is within it.
class ModuleView {
 public:
  explicit ModuleView(std::span<const std::byte> file) : words_(file.size() / 4) {
    if (!words_.empty()) std::memcpy(words_.data(), file.data(), words_.size() * 4);
    SpirvId function = 0;
    for (std::size_t at = 5; at < words_.size();) {
      const std::size_t count = words_[at] >> 16;
      if (count == 0 || count > words_.size() - at) return;
      const Instruction w(&words_[at], count);
      look(spv::Op(w[0] & 0xffff), w, function);
      at += count;
    }
  }

  [[nodiscard]] SpirvId entry(const std::string& kernel) const {
    const auto found = entries_.find(kernel);
    return found == entries_.end() ? 0 : found->second;
  }
  [[nodiscard]] const std::vector<std::pair<SpirvId, SpirvId>>& parameters(SpirvId function) const {
    static const std::vector<std::pair<SpirvId, SpirvId>> kNone;
    const auto found = parameters_.find(function);
    return found == parameters_.end() ? kNone : found->second;
  }
  /// The words of "kernel_arg_type.NAME.": one for each argument, empty where there are none.
  [[nodiscard]] std::vector<std::string> words_behind(const std::string& prefix) const {
    for (const std::string& text : strings_) {
      if (!text.starts_with(prefix)) continue;
      std::vector<std::string> words;
      for (std::string_view rest = std::string_view(text).substr(prefix.size()); !rest.empty();) {
        const auto comma = std::min(rest.find(','), rest.size());
        words.emplace_back(rest.substr(0, comma));
        rest.remove_prefix(std::min(comma + 1, rest.size()));
      }
      return words;
    }
    return {};
  }
  /// Of a value, or what is behind a pointer, by SPIR-V's own types.
  [[nodiscard]] std::optional<ElementType> element_of(SpirvId type) const {
    Instruction w = type_of(type);
    if (is(w, spv::OpTypePointer) && w.size() >= 4) w = type_of(w[3]);
    std::uint8_t lanes = 1;
    if (is(w, spv::OpTypeVector) && w.size() >= 4) {
      lanes = static_cast<std::uint8_t>(w[3]);
      if (w[3] != 2 && w[3] != 3 && w[3] != 4 && w[3] != 8 && w[3] != 16) return std::nullopt;
      w = type_of(w[2]);
    }
    if (w.size() < 3) return std::nullopt;
    if (is(w, spv::OpTypeFloat))
      for (const Scalar each : {Scalar::f16, Scalar::f32, Scalar::f64})
        if (8 * size_of(each) == w[2]) return ElementType{each, lanes};
    if (is(w, spv::OpTypeInt))
      for (const Scalar each : {Scalar::i8, Scalar::i16, Scalar::i32, Scalar::i64})
        if (8 * size_of(each) == w[2]) return ElementType{each, lanes, false};
    return std::nullopt;
  }
  [[nodiscard]] bool is_read_only(SpirvId parameter) const { return read_only_.contains(parameter); }

  /// Follows a pointer through what passes it on, and into functions that are called with it.
  [[nodiscard]] Access access(SpirvId pointer) const {
    Access all = Access::none;
    std::unordered_set<SpirvId> seen{pointer};
    for (std::vector<SpirvId> open{pointer}; !open.empty() && all != Access::both;) {
      const SpirvId id = open.back();
      open.pop_back();
      const auto used = uses_.find(id);
      if (used == uses_.end()) continue;
      for (const std::size_t at : used->second) {
        const Instruction w(&words_[at], words_[at] >> 16);
        const Use use = use_of(spv::Op(w[0] & 0xffff), w, id);
        all = merged(all, use.access);
        for (const SpirvId next : use.next)
          if (seen.insert(next).second) open.push_back(next);
      }
    }
    return all;
  }

 private:
  struct Use {
    Access access = Access::none;
    std::vector<SpirvId> next{};  // ids that are the pointer too
  };

  static bool is(Instruction w, spv::Op op) { return !w.empty() && (w[0] & 0xffff) == std::uint32_t(op); }
  [[nodiscard]] Instruction type_of(SpirvId id) const {
    const auto found = types_.find(id);
    return found == types_.end() ? Instruction()
                                 : Instruction(&words_[found->second], words_[found->second] >> 16);
  }

  void look(spv::Op op, Instruction w, SpirvId& function) {
    const auto at = static_cast<std::size_t>(w.data() - words_.data());
    const auto has = [&](std::size_t words) { return w.size() >= words; };
    switch (op) {
      case spv::OpEntryPoint:
        if (has(4)) entries_.emplace(detail::literal_string(w.subspan(3)), w[2]);
        return;
      case spv::OpExtInstImport:
        if (has(3) && detail::literal_string(w.subspan(2)) == "OpenCL.std") built_ins_.insert(w[1]);
        return;
      case spv::OpString:
        if (has(3)) strings_.push_back(detail::literal_string(w.subspan(2)));
        return;
      case spv::OpDecorate:
        if (has(4) && w[2] == spv::DecorationFuncParamAttr && w[3] == spv::FunctionParameterAttributeNoWrite)
          read_only_.insert(w[1]);
        return;
      case spv::OpTypeInt:
      case spv::OpTypeFloat:
      case spv::OpTypeVector:
      case spv::OpTypePointer:
        if (has(2)) types_[w[1]] = at;
        return;
      case spv::OpFunction:
        if (has(3)) function = w[2];
        return;
      case spv::OpFunctionParameter:
        if (has(3)) parameters_[function].emplace_back(w[2], w[1]);
        return;
      case spv::OpFunctionEnd:
        function = 0;
        return;
      default:
        break;
    }
    if (!function) return;
    for (const SpirvId id : detail::id_operands(op, w)) uses_[id].push_back(at);
  }

  [[nodiscard]] Use use_of(spv::Op op, Instruction w, SpirvId id) const {
    switch (op) {
      case spv::OpLoad:
      case spv::OpAtomicLoad:
      case spv::OpSubgroupBlockReadINTEL:
        return {Access::read};
      case spv::OpStore:
      case spv::OpSubgroupBlockWriteINTEL:
        return {w.size() >= 3 && w[1] == id && w[2] != id ? Access::write : Access::both};
      case spv::OpAtomicStore:
        return {w.size() >= 2 && w[1] == id ? Access::write : Access::both};
      case spv::OpCopyMemory:
      case spv::OpCopyMemorySized:
        if (w.size() < 3) return {Access::both};
        return {merged(w[1] == id ? Access::write : Access::none, w[2] == id ? Access::read : Access::none)};
      case spv::OpGroupAsyncCopy:  // type, result, scope, to, from
        if (w.size() < 6) return {Access::both};
        return {merged(w[4] == id ? Access::write : Access::none, w[5] == id ? Access::read : Access::none)};
      case spv::OpAccessChain:
      case spv::OpInBoundsAccessChain:
      case spv::OpPtrAccessChain:
      case spv::OpInBoundsPtrAccessChain:
      case spv::OpBitcast:
      case spv::OpPhi:
      case spv::OpSelect:
      case spv::OpCopyObject:
      case spv::OpPtrCastToGeneric:
      case spv::OpGenericCastToPtr:
      case spv::OpGenericCastToPtrExplicit:
        return w.size() >= 3 ? Use{Access::none, {w[2]}} : Use{Access::both};
      case spv::OpPtrEqual:
      case spv::OpPtrNotEqual:
      case spv::OpName:
      case spv::OpLine:
        return {};
      case spv::OpExtInst:
        return {w.size() > 4 && built_ins_.contains(w[3]) ? builtin_access(w) : Access::none};
      case spv::OpFunctionCall:
        return call(w, id);
      default:
        return {Access::both};
    }
  }

  /// Type, result, set, instruction, operands. The set is OpenCL's: others only describe.
  static Access builtin_access(Instruction w) {
    switch (w[4]) {
      case OpenCLLIB::Vloadn:
      case OpenCLLIB::Vload_half:
      case OpenCLLIB::Vload_halfn:
      case OpenCLLIB::Vloada_halfn:
        return Access::read;
      case OpenCLLIB::Vstoren:
      case OpenCLLIB::Vstore_half:
      case OpenCLLIB::Vstore_half_r:
      case OpenCLLIB::Vstore_halfn:
      case OpenCLLIB::Vstore_halfn_r:
      case OpenCLLIB::Vstorea_halfn:
      case OpenCLLIB::Vstorea_halfn_r:
      case OpenCLLIB::Fract:
      case OpenCLLIB::Frexp:
      case OpenCLLIB::Lgamma_r:
      case OpenCLLIB::Modf:
      case OpenCLLIB::Remquo:
      case OpenCLLIB::Sincos:
        return Access::write;
      case OpenCLLIB::Prefetch:
        return Access::none;
      default:
        return Access::both;
    }
  }

  [[nodiscard]] Use call(Instruction w, SpirvId id) const {
    if (w.size() < 4) return {Access::both};
    const auto& called = parameters(w[3]);
    Use use;
    for (std::size_t i = 4; i < w.size(); ++i) {
      if (w[i] != id) continue;
      if (i - 4 >= called.size()) return {Access::both};
      use.next.push_back(called[i - 4].first);
      if (!uses_.contains(called[i - 4].first) && !has_body(w[3])) return {Access::both};
    }
    return use;
  }
  /// A function that is imported has parameters, and none of them is ever used.
  [[nodiscard]] bool has_body(SpirvId function) const {
    return std::ranges::any_of(parameters(function),
                               [&](const auto& each) { return uses_.contains(each.first); });
  }

  std::vector<std::uint32_t> words_;
  std::unordered_map<std::string, SpirvId> entries_;
  std::vector<std::string> strings_;
  std::unordered_map<SpirvId, std::size_t> types_;
  std::unordered_map<SpirvId, std::vector<std::pair<SpirvId, SpirvId>>> parameters_;  // id and type
  std::unordered_map<SpirvId, std::vector<std::size_t>> uses_;
  std::unordered_set<SpirvId> read_only_, built_ins_;
};

/// "float" of "float*" and "const float *"; nothing of what is no such type, as a struct or a typedef.
std::optional<ElementType> named_element(std::string_view type) {
  while (type.ends_with('*') || type.ends_with(' ')) type.remove_suffix(1);
  return parse_type(type);
}

/// Does the name of a type go with SPIR-V's? Those of macros and typedefs need not.
bool agrees(const ElementType& named, const std::optional<ElementType>& own, std::uint32_t size,
            bool pointer) {
  if (!pointer && size != 0 && named.size() != size) return false;
  return !own || (same_scalar(named, *own) && named.lanes == own->lanes) ||
         (named.size() == 1 && own->size() == 1);
}

}  // namespace

const char* to_string(Access access) {
  constexpr const char* kNames[] = {"not used", "read", "written", "read and written"};
  return kNames[std::uint8_t(access)];
}

Signature signature_of(const KernelFacts& kernel, std::span<const std::byte> spirv) {
  Signature signature{kernel.name, {}, kernel.arguments_known, kernel.required_group_size[0] != 0};
  for (const ArgumentFacts& each : kernel.arguments) signature.parameters.push_back({each, "", std::nullopt});
  if (spirv.empty()) return signature;
  const ModuleView module(spirv);
  const auto& own = module.parameters(module.entry(kernel.name));
  if (own.size() != signature.parameters.size()) return signature;
  auto types = module.words_behind("kernel_arg_type." + kernel.name + ".");
  auto qualifiers = module.words_behind("kernel_arg_type_qual." + kernel.name + ".");
  types.resize(own.size());
  qualifiers.resize(own.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    KernelParameter& parameter = signature.parameters[i];
    const bool pointer =
        parameter.is(ArgumentKind::global_pointer) || parameter.is(ArgumentKind::local_pointer);
    parameter.type = types[i];
    parameter.element = module.element_of(own[i].second);
    const auto named = named_element(types[i]);
    if (named && agrees(*named, parameter.element, parameter.facts.size, pointer)) parameter.element = named;
    if (!parameter.is(ArgumentKind::global_pointer)) continue;
    const bool read_only =
        module.is_read_only(own[i].first) || qualifiers[i].find("const") != qualifiers[i].npos;
    parameter.access = module.access(own[i].first);
    if (read_only && parameter.access != Access::none) parameter.access = Access::read;
  }
  return signature;
}

std::string label_of(const Signature& signature, std::size_t index) {
  const std::string& name = signature.parameters[index].facts.name;
  return name.empty() ? std::to_string(index) : name;
}

std::string shown_type(const KernelParameter& parameter) {
  const ArgumentFacts& facts = parameter.facts;
  std::string type = parameter.type;
  if (type.empty() && parameter.element)
    type = type_name(*parameter.element) + (facts.kind == ArgumentKind::value ? "" : "*");
  switch (facts.kind) {
    case ArgumentKind::value:
      return type.empty() ? std::to_string(facts.size) + " bytes" : type;
    case ArgumentKind::global_pointer:
      return (type.empty() ? "pointer" : type) +
             (parameter.type.empty() && !parameter.element
                  ? ""
                  : std::string(" (") + to_string(parameter.access) + ")");
    case ArgumentKind::local_pointer:
      return "__local " + (type.empty() ? "pointer" : type);
    case ArgumentKind::image:
      return "image";
    case ArgumentKind::sampler:
      return "sampler";
    case ArgumentKind::other:
      break;
  }
  return "not known";
}

std::string example_value(const KernelParameter& parameter) {
  if (parameter.element) return "1";
  const std::uint32_t size = parameter.facts.size;
  // Numbers and vectors of OpenCL C have 1 to 128 bytes.
  const bool is_number = parameter.type.empty() && std::has_single_bit(size) && size <= 128;
  return is_number ? "TYPE:1" : "file:VALUE.bin";
}

std::string call_line(const std::string& file, const Signature& signature) {
  std::string line = "kiln run " + file + ":" + signature.kernel;
  for (std::size_t i = 0; i < signature.parameters.size(); ++i) {
    const KernelParameter& parameter = signature.parameters[i];
    const std::string label = label_of(signature, i);
    const std::string type = parameter.element ? type_name(*parameter.element) : "uchar";
    switch (parameter.facts.kind) {
      case ArgumentKind::value:
        line += " --arg " + label + "=" + example_value(parameter);
        break;
      case ArgumentKind::local_pointer:
        line += " --local " + label + "=BYTES";
        break;
      case ArgumentKind::global_pointer:
        line += " --arg " + label + (parameter.access == Access::write ? "=out:" : "=random:") + type + ":N";
        break;
      default:
        line += " --arg " + label + "=…";
        break;
    }
  }
  if (!signature.requires_group) line += " --group X";
  return line + " --groups X";
}

std::string shown_signature(const Signature& signature) {
  if (!signature.known) return signature.kernel + "(…)";
  std::string text;
  for (const KernelParameter& each : signature.parameters) {
    const std::string type = shown_type(each);
    const auto access = type.find(" (");
    text += (text.empty() ? "" : ", ") + type.substr(0, access);
    if (!each.facts.name.empty()) text += " " + each.facts.name;
    if (access != type.npos) text += type.substr(access);
  }
  return signature.kernel + "(" + text + ")";
}

}  // namespace kiln::tool
