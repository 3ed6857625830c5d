// SPDX-License-Identifier: MIT
// Finds built-ins by their SPIR-V names and writes their bodies; knows the work-item functions.
#include "drivers/cpu/compiler/builtins/builtins.hpp"

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <charconv>
#include <unordered_map>

#include "drivers/cpu/compiler/backend/runtime_symbols.hpp"
#include "drivers/cpu/compiler/builtins/emitter.hpp"
#include "drivers/cpu/runtime/collective.hpp"
#include "drivers/cpu/runtime/work_item.hpp"

namespace kiln::cpu {
namespace {

struct BuiltinName {
  std::string_view name;
  std::string_view rounding;
  bool saturate = false;
  std::string_view parameters;
};

// "_Z32__spirv_ConvertFToS_Rint_sat_rtpf" is ConvertFToS, saturating, rounding rtp, of "f".
std::optional<BuiltinName> parse_name(std::string_view mangled) {
  constexpr std::string_view kPrefix = "__spirv_";
  if (!mangled.starts_with("_Z")) return std::nullopt;
  mangled.remove_prefix(2);
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(mangled.data(), mangled.data() + mangled.size(), length);
  if (error != std::errc()) return std::nullopt;
  mangled.remove_prefix(static_cast<std::size_t>(end - mangled.data()));
  if (length > mangled.size()) return std::nullopt;
  BuiltinName out{mangled.substr(0, length), {}, false, mangled.substr(length)};
  if (!out.name.starts_with(kPrefix)) return std::nullopt;
  out.name.remove_prefix(kPrefix.size());
  const std::size_t result = out.name.find("_R");
  if (result != out.name.npos) {
    const std::string_view suffix = out.name.substr(result);
    out.name = out.name.substr(0, result);
    out.saturate = suffix.find("_sat") != suffix.npos;
    for (const std::string_view mode : {"rte", "rtz", "rtp", "rtn"})
      if (suffix.ends_with(mode)) out.rounding = mode;
  }
  return out;
}

const std::unordered_map<std::string_view, Emit>& emitters() {
  static const auto table = [] {
    std::unordered_map<std::string_view, Emit> all;
    for (const auto part : {arithmetic_builtins(), elementwise_builtins(), memory_builtins(),
                            convert_builtins(), dot_builtins(), group_builtins()})
      for (const NamedEmit& entry : part) all.emplace(entry.name, entry.emit);
    all.emplace("ocl_printf", emit_printf);
    return all;
  }();
  return table;
}

// Writes the body; false when the built-in is not known or does not take these operands.
bool define(llvm::Function& function) {
  const std::string_view symbol(function.getName().data(), function.getName().size());
  std::optional<BuiltinName> name = parse_name(symbol);
  // Intel's headers declare this one, and its compilers leave it to the device.
  if (symbol == "global_barrier" || symbol == "_Z14global_barrierv") name = {"global_barrier", {}, false, {}};
  if (!name) return false;
  const auto found = emitters().find(name->name);
  if (found == emitters().end()) return false;
  auto* block = llvm::BasicBlock::Create(function.getContext(), "entry", &function);
  Emitter emitter{function,       llvm::IRBuilder<>(block), name->name, name->rounding,
                  name->saturate, name->parameters,         {},         function.getReturnType()};
  for (llvm::Argument& argument : function.args()) emitter.args.push_back(&argument);
  llvm::Value* value = found->second(emitter);
  const bool returns = !function.getReturnType()->isVoidTy();
  if (value == nullptr || (returns && value->getType() != function.getReturnType())) {
    function.deleteBody();
    return false;
  }
  returns ? emitter.b.CreateRet(value) : emitter.b.CreateRetVoid();
  // Declarations may promise less than a body does, for example that memory is not touched.
  function.setAttributes({});
  function.setLinkage(llvm::GlobalValue::InternalLinkage);
  function.addFnAttr(llvm::Attribute::AlwaysInline);
  function.addFnAttr(llvm::Attribute::NoUnwind);
  return true;
}

std::string caller_of(const llvm::Function& function) {
  for (const llvm::User* user : function.users())
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(user)) return call->getFunction()->getName().str();
  return {};
}

constexpr std::pair<std::string_view, WorkItem> kWorkItems[] = {
    {"BuiltInGlobalInvocationId", WorkItem::global_id},
    {"BuiltInLocalInvocationId", WorkItem::local_id},
    {"BuiltInWorkgroupSize", WorkItem::local_size},
    {"BuiltInEnqueuedWorkgroupSize", WorkItem::local_size},
    {"BuiltInNumWorkgroups", WorkItem::group_count},
    {"BuiltInWorkgroupId", WorkItem::group_id},
    {"BuiltInGlobalOffset", WorkItem::global_offset},
    {"BuiltInGlobalSize", WorkItem::global_size},
    {"BuiltInWorkDim", WorkItem::work_dimension},
    {"BuiltInGlobalLinearId", WorkItem::global_linear_id},
    {"BuiltInLocalInvocationIndex", WorkItem::local_linear_id},
    {"BuiltInSubgroupId", WorkItem::sub_group_id},
    {"BuiltInSubgroupLocalInvocationId", WorkItem::sub_group_local_id},
    {"BuiltInSubgroupSize", WorkItem::sub_group_size},
    {"BuiltInSubgroupMaxSize", WorkItem::sub_group_max_size},
    {"BuiltInNumSubgroups", WorkItem::sub_group_count},
    {"BuiltInNumEnqueuedSubgroups", WorkItem::sub_group_count},
    {"BuiltInSubgroupEqMask", WorkItem::equal_mask},
    {"BuiltInSubgroupGeMask", WorkItem::greater_or_equal_mask},
    {"BuiltInSubgroupGtMask", WorkItem::greater_mask},
    {"BuiltInSubgroupLeMask", WorkItem::less_or_equal_mask},
    {"BuiltInSubgroupLtMask", WorkItem::less_mask},
};
constexpr std::string_view kItemPrefix = "kiln.item.";

std::string item_name(WorkItem item) {
  return std::string(kItemPrefix) + std::to_string(static_cast<unsigned>(item));
}

}  // namespace

llvm::CallInst* Emitter::host(llvm::StringRef symbol, llvm::Type* type, llvm::ArrayRef<llvm::Value*> operands,
                              bool pure) {
  std::vector<llvm::Type*> types;
  for (const llvm::Value* operand : operands) types.push_back(operand->getType());
  llvm::FunctionCallee callee =
      module().getOrInsertFunction(symbol, llvm::FunctionType::get(type, types, false));
  auto* target = llvm::cast<llvm::Function>(callee.getCallee());
  target->addFnAttr(llvm::Attribute::NoUnwind);
  target->addFnAttr(llvm::Attribute::WillReturn);
  if (pure) target->setDoesNotAccessMemory();
  return b.CreateCall(callee, operands);
}

llvm::Value* Emitter::host_math(llvm::StringRef base, llvm::Type* type,
                                llvm::ArrayRef<llvm::Value*> operands) {
  llvm::Type* real = operands[0]->getType()->getScalarType();
  llvm::Type* wide = real->isHalfTy() ? b.getFloatTy() : real;
  llvm::Type* lane = type->getScalarType();
  const std::string symbol = base.str() + (wide->isFloatTy() ? "f" : "");
  llvm::Value* out = llvm::UndefValue::get(type);
  for (unsigned i = 0; i < lanes(type); ++i) {
    std::vector<llvm::Value*> scalars;
    for (llvm::Value* operand : operands) {
      llvm::Value* x = is_vector(operand) ? b.CreateExtractElement(operand, i) : operand;
      scalars.push_back(x->getType()->isHalfTy() ? b.CreateFPExt(x, wide) : x);
    }
    llvm::Value* value = host(symbol, lane->isHalfTy() ? wide : lane, scalars, true);
    if (lane->isHalfTy()) value = b.CreateFPTrunc(value, lane);
    out = type->isVectorTy() ? b.CreateInsertElement(out, value, i) : value;
  }
  return out;
}

std::optional<WorkItem> work_item_of(std::string_view name) {
  if (name.ends_with("MaskKHR")) name.remove_suffix(3);  // an older name of the masks
  for (const auto& [builtin, item] : kWorkItems)
    if (builtin == name) return item;
  return std::nullopt;
}

std::optional<WorkItem> work_item_of(const llvm::Function& function) {
  if (!function.isDeclaration()) return std::nullopt;
  const std::string_view symbol(function.getName().data(), function.getName().size());
  if (symbol.starts_with(kItemPrefix)) {
    unsigned number = 0;
    std::from_chars(symbol.data() + kItemPrefix.size(), symbol.data() + symbol.size(), number);
    return static_cast<WorkItem>(number);
  }
  const std::optional<BuiltinName> name = parse_name(symbol);
  return name ? work_item_of(name->name) : std::nullopt;
}

llvm::CallInst* work_item_call(llvm::IRBuilderBase& b, llvm::Module& module, WorkItem item,
                               llvm::Value* dimension) {
  if (dimension == nullptr)
    return b.CreateCall(
        module.getOrInsertFunction(item_name(item), llvm::FunctionType::get(b.getInt64Ty(), false)));
  auto* type = llvm::FunctionType::get(b.getInt64Ty(), {b.getInt32Ty()}, false);
  return b.CreateCall(module.getOrInsertFunction(item_name(item), type), {dimension});
}

llvm::CallInst* collective_call(llvm::IRBuilderBase& b, llvm::Module& module,
                                const CollectiveOperands& operands) {
  llvm::Type *pointer = b.getPtrTy(), *number = b.getInt64Ty();
  llvm::Value* none = llvm::Constant::getNullValue(pointer);
  const std::uint64_t more =
      operands.size << kCollectiveSizeShift | (operands.may_diverge ? kMayDiverge : std::uint64_t{0});
  auto* type = llvm::FunctionType::get(
      b.getVoidTy(), {b.getInt32Ty(), b.getInt32Ty(), number, pointer, number, pointer}, false);
  return b.CreateCall(
      module.getOrInsertFunction(item_name(WorkItem::collective), type),
      {operands.kind, operands.scope, b.getInt64(more), operands.value != nullptr ? operands.value : none,
       operands.parameter != nullptr ? operands.parameter : b.getInt64(0),
       operands.combine != nullptr ? operands.combine : none});
}

bool define_builtins(llvm::Module& module, std::vector<llvm::Function*>* unknown, std::string& log) {
  std::vector<llvm::Function*> declared;
  for (llvm::Function& function : module)
    if (function.isDeclaration() && !function.isIntrinsic()) declared.push_back(&function);
  bool complete = true;
  for (llvm::Function* function : declared) {
    if (function->use_empty() || work_item_of(*function) || define(*function)) continue;
    const std::string_view symbol(function->getName().data(), function->getName().size());
    const std::optional<BuiltinName> name = parse_name(symbol);
    // Another module may define it, unless the name is one of SPIR-V's own.
    if (unknown && !name && !symbol.starts_with("__spirv_")) {
      unknown->push_back(function);
      continue;
    }
    complete = false;
    const std::string shown = name ? std::string(name->name) : function->getName().str();
    log.append("error: function '").append(shown).append("'");
    const std::string caller = caller_of(*function);
    if (!caller.empty()) log.append(", called by '").append(caller).append("',");
    log.append(" is not known to the CPU device\n");
  }
  return complete;
}

}  // namespace kiln::cpu
