// SPDX-License-Identifier: MIT
// Straight-line SPIR-V: each array and argument is touched at an index that the compiler cannot know.
#include "driver_agreement/spirv_writer.hpp"

#include <cstring>
#include <initializer_list>
#include <map>
#include <span>
#include <spirv/unified1/spirv.hpp>
#include <utility>

namespace kiln::agreement {
namespace {

using Id = std::uint32_t;
using Words = std::vector<std::uint32_t>;

void append(Words& section, spv::Op op, std::initializer_list<std::uint32_t> operands,
            const Words& more = {}) {
  section.push_back(static_cast<std::uint32_t>((1 + operands.size() + more.size()) << 16) | op);
  section.insert(section.end(), operands);
  section.insert(section.end(), more.begin(), more.end());
}

Words text(const std::string& string) {
  Words words(string.size() / 4 + 1);
  std::memcpy(words.data(), string.data(), string.size());
  return words;
}

class Writer {
 public:
  Writer() {
    word_ = integer(32), index_ = integer(64), void_ = type(spv::OpTypeVoid, {});
    const Id position = type(spv::OpTypeVector, {index_, 3});
    ids_ = fresh();
    append(types_, spv::OpVariable,
           {pointer(spv::StorageClassInput, position), ids_, spv::StorageClassInput});
    append(decorations_, spv::OpDecorate, {ids_, spv::DecorationBuiltIn, spv::BuiltInGlobalInvocationId});
    position_ = position;
  }

  void add(const KernelPlan& plan) {
    const Id function = fresh();
    Words arrays = declare_arrays(plan);
    Words interface = text(plan.name);
    interface.push_back(ids_);
    append(entries_, spv::OpEntryPoint, {spv::ExecutionModelKernel, function}, interface);
    if (const auto& size = plan.required_group_size; size[0])
      append(modes_, spv::OpExecutionMode,
             {function, spv::ExecutionModeLocalSize, size[0], size[1], size[2]});
    if (plan.required_sub_group_size)
      append(modes_, spv::OpExecutionMode,
             {function, spv::ExecutionModeSubgroupSize, plan.required_sub_group_size});

    Words parameters{pointer(spv::StorageClassCrossWorkgroup, word_)};
    for (const LocalArgument& local : plan.locals)
      parameters.push_back(pointer(spv::StorageClassWorkgroup, element(local.element)));
    parameters.insert(parameters.end(), plan.values, word_);
    append(body_, spv::OpFunction, {void_, function, 0, type(spv::OpTypeFunction, {void_}, parameters)});
    Words arguments;
    for (const Id parameter : parameters) {
      arguments.push_back(fresh());
      append(body_, spv::OpFunctionParameter, {parameter, arguments.back()});
    }
    append(body_, spv::OpLabel, {fresh()});
    write_body(plan, arguments, arrays);
    append(body_, spv::OpReturn, {});
    append(body_, spv::OpFunctionEnd, {});
  }

  [[nodiscard]] std::vector<std::byte> finish() const {
    Words words{spv::MagicNumber, 0x10100, 0, next_, 0};
    for (const auto capability :
         {spv::CapabilityAddresses, spv::CapabilityKernel, spv::CapabilityInt8, spv::CapabilityInt16,
          spv::CapabilityInt64, spv::CapabilityVector16, spv::CapabilitySubgroupDispatch})
      append(words, spv::OpCapability, {static_cast<std::uint32_t>(capability)});
    append(words, spv::OpMemoryModel, {spv::AddressingModelPhysical64, spv::MemoryModelOpenCL});
    for (const Words* section : {&entries_, &modes_, &decorations_, &types_, &body_})
      words.insert(words.end(), section->begin(), section->end());
    const auto bytes = std::as_bytes(std::span(words));
    return {bytes.begin(), bytes.end()};
  }

 private:
  Id fresh() { return next_++; }

  /// Types and constants are made once: SPIR-V forbids two equal ones.
  Id type(spv::Op op, std::initializer_list<std::uint32_t> operands, const Words& more = {}) {
    Words key{op};
    key.insert(key.end(), operands);
    key.insert(key.end(), more.begin(), more.end());
    const auto [place, is_new] = known_.try_emplace(std::move(key), 0);
    if (!is_new) return place->second;
    place->second = fresh();
    Words all{place->second};
    all.insert(all.end(), operands);
    all.insert(all.end(), more.begin(), more.end());
    append(types_, op, {}, all);
    return place->second;
  }
  Id integer(std::uint32_t bits) { return type(spv::OpTypeInt, {bits, 0}); }
  Id pointer(spv::StorageClass storage, Id pointee) {
    return type(spv::OpTypePointer, {static_cast<std::uint32_t>(storage), pointee});
  }
  /// Vectors of ulong from 16 bytes on.
  Id element(std::uint32_t bytes) {
    return bytes <= 8 ? integer(bytes * 8) : type(spv::OpTypeVector, {index_, bytes / 8});
  }
  Id made_of(spv::Op op, Id of, const Words& value) {
    Words key{op, of};
    key.insert(key.end(), value.begin(), value.end());
    const auto [place, is_new] = known_.try_emplace(std::move(key), 0);
    if (is_new) {
      place->second = fresh();
      append(types_, op, {of, place->second}, value);
    }
    return place->second;
  }
  Id null(Id of) { return made_of(spv::OpConstantNull, of, {}); }
  Id word(std::uint32_t value) { return made_of(spv::OpConstant, word_, {value}); }
  Id constant(std::uint64_t value) {
    return made_of(spv::OpConstant, index_,
                   {static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32)});
  }
  Id array(Id of, std::uint32_t count) { return type(spv::OpTypeArray, {of, constant(count)}); }

  Words declare_arrays(const KernelPlan& plan) {
    Words variables;
    for (const StaticArray& each : plan.arrays) {
      variables.push_back(fresh());
      append(types_, spv::OpVariable,
             {pointer(spv::StorageClassWorkgroup, array(element(each.element), each.count)), variables.back(),
              spv::StorageClassWorkgroup});
    }
    return variables;
  }

  template <class... Operands>
  Id value(spv::Op op, Id result_type, Operands... operands) {
    const Id result = fresh();
    append(body_, op, {result_type, result, operands...});
    return result;
  }
  Id modulo(Id index, std::uint32_t count) { return value(spv::OpUMod, index_, index, constant(count)); }
  /// Writes a zero there and reads it back: neither can be left out.
  void touch(Id place, Id of) {
    append(body_, spv::OpStore, {place, null(of), spv::MemoryAccessVolatileMask});
    value(spv::OpLoad, of, place, std::uint32_t{spv::MemoryAccessVolatileMask});
  }

  void barrier(std::uint32_t scope, std::uint32_t memory) {
    append(body_, spv::OpControlBarrier,
           {word(scope), word(scope), word(memory | spv::MemorySemanticsSequentiallyConsistentMask)});
  }

  void write_body(const KernelPlan& plan, const Words& arguments, const Words& arrays) {
    Id scratch = 0;
    const Id private_array = plan.private_words ? array(word_, plan.private_words) : 0;
    if (private_array) {
      scratch = fresh();
      append(body_, spv::OpVariable,
             {pointer(spv::StorageClassFunction, private_array), scratch, spv::StorageClassFunction});
    }
    const Id item = value(spv::OpCompositeExtract, index_, value(spv::OpLoad, position_, ids_), 0u);
    const Id in_global = pointer(spv::StorageClassCrossWorkgroup, word_);
    const Id out = arguments[0];

    for (std::size_t i = 0; i < plan.arrays.size(); ++i) {
      const StaticArray& each = plan.arrays[i];
      if (!each.used) continue;
      const Id of = element(each.element);
      touch(value(spv::OpAccessChain, pointer(spv::StorageClassWorkgroup, of), arrays[i],
                  modulo(item, each.count)),
            of);
    }
    for (std::size_t i = 0; i < plan.locals.size(); ++i) {
      if (!plan.locals[i].used) continue;
      const Id of = element(plan.locals[i].element);
      touch(value(spv::OpPtrAccessChain, pointer(spv::StorageClassWorkgroup, of), arguments[1 + i], item),
            of);
    }
    if (private_array) {
      const Id in_private = pointer(spv::StorageClassFunction, word_);
      for (const std::uint32_t factor : {7u, 13u})
        touch(value(spv::OpAccessChain, in_private, scratch,
                    modulo(value(spv::OpIMul, index_, item, constant(factor)), plan.private_words)),
              word_);
    }
    Words live;
    for (std::uint32_t i = 0; i < plan.live_words; ++i)
      live.push_back(value(spv::OpLoad, word_,
                           value(spv::OpPtrAccessChain, in_global, out,
                                 value(spv::OpIAdd, index_, item, constant(std::uint64_t{i} * 1024))),
                           std::uint32_t{spv::MemoryAccessVolatileMask}));
    if (plan.barrier) barrier(spv::ScopeWorkgroup, spv::MemorySemanticsWorkgroupMemoryMask);
    if (plan.device_barrier) barrier(spv::ScopeDevice, spv::MemorySemanticsCrossWorkgroupMemoryMask);
    Id sum = null(word_);
    for (auto each = live.rbegin(); each != live.rend(); ++each) sum = value(spv::OpIAdd, word_, sum, *each);
    for (std::uint32_t i = 0; i < plan.values; ++i)
      sum = value(spv::OpIAdd, word_, sum, arguments[1 + plan.locals.size() + i]);
    append(body_, spv::OpStore,
           {value(spv::OpPtrAccessChain, in_global, out, item), sum, spv::MemoryAccessAlignedMask, 4});
  }

  Id next_ = 1;
  std::map<Words, Id> known_;
  Words entries_, modes_, decorations_, types_, body_;
  Id word_, index_, void_, position_, ids_;
};

}  // namespace

std::vector<std::byte> write_spirv(const std::vector<KernelPlan>& kernels) {
  Writer writer;
  for (const KernelPlan& kernel : kernels) writer.add(kernel);
  return writer.finish();
}

}  // namespace kiln::agreement
