// SPDX-License-Identifier: MIT
// What SPIR-V imports and which features it needs, by what its kernels reach.
#include "kiln/needs.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <spirv/unified1/spirv.hpp>
#include <utility>

#include "binary/spirv_operands.hpp"
#include "binary/zebin_symbols.hpp"

namespace kiln {
namespace {

using Words = std::span<const std::uint32_t>;
using Id = std::uint32_t;

constexpr std::size_t kMostMissing = 64;
constexpr std::size_t kMostSteps = std::size_t{4} << 20;  // calls followed, over all kernels

struct FunctionNeeds {
  std::set<Id> uses;  // functions that it calls, and variables that are imported
  bool doubles = false;
};

/// Gives a value from values and changes nothing: without use it is as if it were not there.
bool is_pure(spv::Op op) {
  const auto within = [&](spv::Op first, spv::Op last) { return op >= first && op <= last; };
  return op == spv::OpLoad || within(spv::OpAccessChain, spv::OpInBoundsPtrAccessChain) ||
         within(spv::OpVectorExtractDynamic, spv::OpTranspose) ||
         within(spv::OpConvertFToU, spv::OpBitcast) || within(spv::OpSNegate, spv::OpSMulExtended) ||
         within(spv::OpAny, spv::OpFUnordGreaterThanEqual) ||
         within(spv::OpShiftRightLogical, spv::OpBitCount) || op == spv::OpPhi || op == spv::OpUndef;
}

/// The instructions of one function: does one give a double on which something with an effect depends?
class Liveness {
 public:
  void add(spv::Op op, Words operands, Id result, bool gives_double) {
    if (result != 0 && is_pure(op)) {
      values_[result] = {operands, gives_double};
    } else {
      doubles_ |= gives_double;
      open_.insert(open_.end(), operands.begin(), operands.end());
    }
  }
  [[nodiscard]] bool has_doubles() {
    while (!open_.empty() && !doubles_) {
      const auto value = values_.find(open_.back());
      open_.pop_back();
      if (value == values_.end() || std::exchange(value->second.seen, true)) continue;
      doubles_ = value->second.gives_double;
      const Words& operands = value->second.operands;
      open_.insert(open_.end(), operands.begin(), operands.end());
    }
    return doubles_;
  }

 private:
  struct Value {
    Words operands;
    bool gives_double = false, seen = false;
  };
  std::map<Id, Value> values_;
  std::vector<Id> open_;
  bool doubles_ = false;
};

/// A module as far as it is needed here. What does not hold together is left out: read_spirv() refuses it.
class Module {
 public:
  explicit Module(Words words) {
    for (std::size_t at = 5; at < words.size();) {
      const std::size_t count = words[at] >> 16;
      if (count == 0 || count > words.size() - at) return;
      instruction(spv::Op(words[at] & 0xffff), words.subspan(at, count));
      at += count;
    }
  }

  [[nodiscard]] bool declares(spv::Capability capability) const { return capabilities_.contains(capability); }

  /// Calls `visit` with each kernel's name and the set of what it reaches.
  template <class Visit>
  void each_kernel(Visit visit) const {
    std::size_t steps = 0;
    for (const auto& [function, name] : kernels_) {
      std::set<Id> reached;
      std::vector<Id> open{function};
      while (!open.empty() && steps < kMostSteps) {
        const Id id = open.back();
        open.pop_back();
        if (!reached.insert(id).second) continue;
        const auto found = functions_.find(id);
        if (found == functions_.end()) continue;
        steps += 1 + found->second.uses.size();
        open.insert(open.end(), found->second.uses.begin(), found->second.uses.end());
      }
      visit(name, reached);
    }
  }
  [[nodiscard]] const std::string* import(Id id) const {
    const auto found = imports_.find(id);
    return found == imports_.end() || built_in_.contains(id) ? nullptr : &found->second;
  }
  [[nodiscard]] bool has_doubles(Id function) const {
    const auto found = functions_.find(function);
    return found != functions_.end() && found->second.doubles;
  }

 private:
  void instruction(spv::Op op, Words w) {
    switch (op) {
      case spv::OpCapability:
        if (w.size() > 1) capabilities_.insert(w[1]);
        return;
      case spv::OpEntryPoint:
        if (w.size() > 3 && w[1] == spv::ExecutionModelKernel)
          kernels_.emplace_back(w[2], detail::literal_string(w.subspan(3)));
        return;
      case spv::OpDecorate:
        if (w.size() > 3) decoration(w);
        return;
      case spv::OpTypeFloat:
        if (w.size() > 2 && w[2] == 64) double_types_.insert(w[1]);
        return;
      case spv::OpTypeVector:
        if (w.size() > 2 && double_types_.contains(w[2])) double_types_.insert(w[1]);
        return;
      case spv::OpFunction:
        if (w.size() < 3) return;
        current_ = &functions_[w[2]];
        lives_ = {};
        return;
      case spv::OpFunctionEnd:
        if (current_) current_->doubles |= lives_.has_doubles();
        current_ = nullptr;
        return;
      default:
        if (current_) body(op, w);
    }
  }

  void decoration(Words w) {
    if (w[2] == spv::DecorationBuiltIn) built_in_.insert(w[1]);
    if (w[2] != spv::DecorationLinkageAttributes) return;
    std::string name = detail::literal_string(w.subspan(3));
    const std::size_t type = 3 + name.size() / sizeof(std::uint32_t) + 1;
    if (type < w.size() && w[type] == spv::LinkageTypeImport) imports_[w[1]] = std::move(name);
  }

  void body(spv::Op op, Words w) {
    if (op == spv::OpFunctionCall && w.size() > 3) current_->uses.insert(w[3]);
    const Words operands = detail::id_operands(op, w);
    for (const Id id : operands)
      if (imports_.contains(id)) current_->uses.insert(id);
    if (double_types_.empty() || op == spv::OpFunctionParameter || op == spv::OpVariable) return;
    const detail::ResultWords words = detail::result_words(op);
    const std::size_t result = words.type ? 2 : 1;
    if (w.size() <= result && (words.id || words.type)) return;
    const bool decides = (op == spv::OpBranchConditional || op == spv::OpSwitch) && w.size() > 1;
    lives_.add(op, decides ? w.subspan(1, 1) : operands, words.id ? w[result] : 0,
               words.type && double_types_.contains(w[1]));
  }

  std::set<std::uint32_t> capabilities_;
  std::vector<std::pair<Id, std::string>> kernels_;
  std::map<Id, std::string> imports_;
  std::set<Id> built_in_, double_types_;
  std::map<Id, FunctionNeeds> functions_;
  FunctionNeeds* current_ = nullptr;
  Liveness lives_;
};

/// Calls `visit` with each instruction in front of the functions, until it says false. A look that most
/// modules need no more than: their functions are most of them.
template <class Visit>
void each_before_functions(std::span<const std::byte> spirv, Visit visit) {
  const auto word = [&](std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, spirv.data() + at * sizeof value, sizeof value);
    return value;
  };
  const std::size_t end = spirv.size() / sizeof(std::uint32_t);
  for (std::size_t at = 5; at < end;) {
    const std::size_t count = word(at) >> 16;
    const auto op = spv::Op(word(at) & 0xffff);
    if (count == 0 || count > end - at || op == spv::OpFunction) return;
    if (!visit(op, count, [&](std::size_t i) { return word(at + i); })) return;
    at += count;
  }
}

bool has_imports(std::span<const std::byte> spirv) {
  std::set<Id> imports, built_in;
  each_before_functions(spirv, [&](spv::Op op, std::size_t count, auto word) {
    if (op != spv::OpDecorate || count < 4) return true;
    if (word(2) == spv::DecorationBuiltIn) built_in.insert(word(1));
    const bool linked = word(2) == spv::DecorationLinkageAttributes;
    if (linked && word(count - 1) == spv::LinkageTypeImport) imports.insert(word(1));
    return true;
  });
  return !std::ranges::includes(built_in, imports);
}

bool declares_features(std::span<const std::byte> spirv) {
  bool found = false;
  each_before_functions(spirv, [&](spv::Op op, std::size_t count, auto word) {
    if (op != spv::OpCapability || count < 2) return false;  // they come first
    const std::uint32_t capability = word(1);
    found |= capability == spv::CapabilityFloat64 || capability == spv::CapabilityFloat16 ||
             capability == spv::CapabilityInt64Atomics;
    return !found;
  });
  return found;
}

std::vector<std::uint32_t> words_of(std::span<const std::byte> spirv) {
  std::vector<std::uint32_t> words(spirv.size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), spirv.data(), words.size() * sizeof(std::uint32_t));
  return words;
}

}  // namespace

std::vector<MissingSymbol> missing_symbols(std::span<const std::byte> code) {
  std::vector<MissingSymbol> missing;
  const auto add = [&](MissingSymbol symbol) {
    if (missing.size() < kMostMissing && std::ranges::find(missing, symbol) == missing.end())
      missing.push_back(std::move(symbol));
  };
  if (identify(code) == BinaryFormat::elf) {
    detail::each_undefined_symbol(code, add);
  } else if (identify(code) == BinaryFormat::spirv && has_imports(code)) {
    const auto words = words_of(code);
    const Module module(words);
    module.each_kernel([&](const std::string& kernel, const std::set<Id>& reached) {
      for (const Id id : reached)
        if (const std::string* name = module.import(id)) add({*name, kernel});
    });
  }
  return missing;
}

std::vector<NeededFeature> needed_features(std::span<const std::byte> spirv) {
  std::vector<NeededFeature> needed;
  if (identify(spirv) != BinaryFormat::spirv || !declares_features(spirv)) return needed;
  const auto words = words_of(spirv);
  const Module module(words);
  if (module.declares(spv::CapabilityFloat64)) {
    NeededFeature fp64{&DeviceFeatures::fp64, "fp64", {}};
    module.each_kernel([&](const std::string& kernel, const std::set<Id>& reached) {
      if (std::ranges::any_of(reached, [&](Id id) { return module.has_doubles(id); }))
        fp64.kernels.push_back(kernel);
    });
    if (!fp64.kernels.empty()) needed.push_back(std::move(fp64));
  }
  if (module.declares(spv::CapabilityFloat16)) needed.push_back({&DeviceFeatures::fp16, "fp16", {}});
  if (module.declares(spv::CapabilityInt64Atomics))
    needed.push_back({&DeviceFeatures::int64_atomics, "64-bit atomics", {}});
  return needed;
}

}  // namespace kiln
