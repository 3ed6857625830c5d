// SPDX-License-Identifier: MIT
// Alternatives to the run of a kernel file.
#include <algorithm>
#include <map>

#include "tool/advise/spirv_edit.hpp"
#include "tool/common/progress.hpp"
#include "tool/run/advise.hpp"
#include "tool/run/fault.hpp"
#include "tool/samples/counters.hpp"

namespace kiln::tool {
namespace {

constexpr std::size_t kMostDefaults = 8;  // macros of the source that are looked at: each is compiled

std::string extent_option(const Extent& is) {
  return std::to_string(is.x) + (is.y > 1 || is.z > 1 ? "," + std::to_string(is.y) : "") +
         (is.z > 1 ? "," + std::to_string(is.z) : "");
}

class FileTrials {
 public:
  FileTrials(const OpenDevice& device, const RunOptions& options, const FileRequest& request,
             const FileRun& given)
      : device_(device),
        request_(request),
        is_json_(options.json),
        code_(given.code()),
        natives_(given.code().path, given.code().facts.name,
                 device.properties.ip_version ? find_target(*device.properties.ip_version) : nullptr),
        wanted_(given.results()) {}

  Result<AdviseSpace> space(const FileRun& given, std::vector<NotTried>& not_tried);
  Result<Trial> run(const Alternative& what);
  [[nodiscard]] std::string product() const { return native_ ? std::string(natives_.target()->name) : ""; }
  [[nodiscard]] std::string basis() const { return basis_of(natives_, native_); }

 private:
  struct Code {
    KernelCode code;
    std::string flags, key;
    std::uint32_t barriers = 0;              // of those that order SLM alone, before one is left out
    std::optional<SlmBarrier> without = {};  // that one
  };
  Result<const KernelCode*> compiled(const std::string& flags);
  Result<bool> sets_a_size(const Macro& macro);
  Result<Code> changed_code(const Alternative& what);
  Result<FileRequest> changed_request(const Alternative& what, const Code& code) const;
  Result<void> load(const Alternative& what, Trial& trial);
  [[nodiscard]] static std::vector<std::string> how_of(const Alternative& what, const Code& code,
                                                       const FileRequest& request);
  [[nodiscard]] bool answers_agree() const;

  const OpenDevice& device_;
  const FileRequest& request_;
  const bool is_json_;
  const KernelCode code_;
  std::map<std::string, KernelCode> compiled_;  // by its options, where they differ
  NativeCodes natives_;
  const std::vector<BufferResult> wanted_;
  Extent items_{}, group_{};
  std::uint32_t width_ = 0;  // of sub-groups as the product has them; 0: as the device does
  std::optional<NativeUse> native_;
  std::unique_ptr<FileRun> loaded_;
  std::string loaded_key_;
  FileRequest loaded_request_{};
  std::optional<NativeUse> loaded_native_;
  Progress progress_{kExpectedTrials};
};

/// All work-items of a launch; nothing where they do not fit a dimension.
std::optional<Extent> items_of(const LaunchShape& shape) {
  const std::uint64_t items[] = {std::uint64_t{shape.groups.x} * shape.group_size.x,
                                 std::uint64_t{shape.groups.y} * shape.group_size.y,
                                 std::uint64_t{shape.groups.z} * shape.group_size.z};
  if (std::ranges::max(items) > UINT32_MAX) return std::nullopt;
  return Extent{static_cast<std::uint32_t>(items[0]), static_cast<std::uint32_t>(items[1]),
                static_cast<std::uint32_t>(items[2])};
}

/// What a kernel says of the sizes of its groups, tiles and loops.
struct KernelSizes {
  std::array<std::uint32_t, 3> group;
  std::uint64_t slm;
  std::vector<std::uint64_t> compared;
  friend bool operator==(const KernelSizes&, const KernelSizes&) = default;
};

KernelSizes sizes_of(const KernelCode& code) {
  return {code.facts.required_group_size, code.facts.static_slm,
          compared_numbers(code.spirv, code.facts.name)};
}

Result<const KernelCode*> FileTrials::compiled(const std::string& flags) {
  if (flags == request_.flags) return &code_;
  auto known = compiled_.find(flags);
  if (known == compiled_.end()) {
    const QuietErrors quiet;  // warnings were told of the given one
    KILN_TRY(auto code, read_kernel({code_.path, code_.facts.name}, device_, flags, true));
    known = compiled_.emplace(flags, std::move(code)).first;
  }
  return &known->second;
}

/// By what building with another value changes; with its own, it must be the same.
Result<bool> FileTrials::sets_a_size(const Macro& macro) {
  const KernelSizes given = sizes_of(code_);
  const auto sizes = [&](std::uint64_t value) -> Result<std::optional<KernelSizes>> {
    const auto code = compiled(with_macros(request_.flags, {{macro.name, value}}));
    if (code) return sizes_of(**code);
    if (!is_refusal(code.error())) return tl::unexpected(code.error());
    return std::optional<KernelSizes>();
  };
  KILN_TRY(const auto same, sizes(macro.value));
  if (same != given) return false;
  for (const std::uint64_t value : {macro.value * 2, macro.value / 2}) {
    KILN_TRY(const auto other, sizes(value));
    if (other) return *other != given;
  }
  return false;
}

Result<AdviseSpace> FileTrials::space(const FileRun& given, std::vector<NotTried>& not_tried) {
  const auto without = [&](const char* what, const std::string& why) { not_tried.push_back({what, why}); };
  AdviseSpace space;
  group_ = given.shape().group_size;
  items_ = items_of(given.shape()).value_or(Extent{});
  space.items = items_;
  space.group = group_;
  const KernelFacts& facts = given.kernel().facts();
  if (facts.required_group_size[0] != 0)
    without("other work-groups", "the kernel requires one size");
  else
    space.most_group = given.kernel().limits().max_group_size;
  space.has_locals = given.slm_arguments() > 0;
  if (!code_.source.empty()) {
    space.macros = size_macros(request_.flags, code_.source);
    const std::vector<Macro> defaults = default_macros(request_.flags, code_.source);
    for (std::size_t i = 0; i < std::min(defaults.size(), kMostDefaults); ++i) {
      KILN_TRY(const bool is_size, sets_a_size(defaults[i]));
      if (is_size) space.macros.push_back(defaults[i]);
    }
  }
  if (space.macros.empty())
    without("other tiles",
            "neither --options (-DNAME=SIZE) nor the source (#ifndef NAME) gives a size as a power of two");
  native_ = natives_.find("", code_.spirv, request_.flags);
  if (code_.spirv.empty()) {
    without("other sub-groups", "the file has no SPIR-V");
  } else {
    const std::uint32_t required = facts.required_sub_group_size;
    if (required == 0 && native_) width_ = native_->facts.simd_size;
    space.sub_group_sizes = other_sub_groups(device_, required ? required : width_ ? width_ : 16u);
  }
  space.registers = may_have_more_registers(native_, request_.flags, not_tried);
  return space;
}

Result<FileTrials::Code> FileTrials::changed_code(const Alternative& what) {
  Code changed{code_, with_macros(request_.flags, what.macros), {}};
  changed.key = changed.flags;
  if (!what.macros.empty()) {
    KILN_TRY(const KernelCode* code, compiled(changed.flags));
    changed.code = *code;
  }
  KernelCode& code = changed.code;
  const auto replace = [&](std::vector<std::byte> spirv) {
    if (spirv.empty()) return;
    code.spirv = std::move(spirv);
    code.files = {{code.path, code.spirv}};
  };
  const auto barriers = slm_barriers(code.spirv, code.facts.name);
  changed.barriers = static_cast<std::uint32_t>(barriers.size());
  if (what.barrier) {
    if (*what.barrier >= barriers.size())
      return tl::unexpected(
          bad_specification("the code has no barrier " + std::to_string(*what.barrier), {}));
    changed.without = barriers[*what.barrier];
    replace(without_barrier(code.spirv, *changed.without));
    changed.key += "\n-" + std::to_string(*what.barrier);
  }
  const std::uint32_t width = what.sub_group_size ? what.sub_group_size : width_;
  if (width != 0) {
    replace(with_sub_group_size(code.spirv, code.facts.name, width));
    changed.key += "\n" + std::to_string(width);
  }
  return changed;
}

Result<FileRequest> FileTrials::changed_request(const Alternative& what, const Code& code) const {
  FileRequest request = request_;
  request.code = &code.code;
  request.flags = code.flags;
  request.saves.clear();
  request.expects.clear();
  request.shape = {{}, group_, items_};
  for (Specification& each : request.given) {
    each.path = each.form == Specification::Form::out ? "" : each.path;
    if (each.form != Specification::Form::local || what.local_times == what.local_divided) continue;
    const std::uint64_t bytes = each.count();
    if (bytes * what.local_times % what.local_divided != 0 || bytes * what.local_times < what.local_divided)
      return tl::unexpected(
          bad_specification("the bytes of `" + each.argument + "` do not go with this", {}));
    each.shape = {bytes * what.local_times / what.local_divided};
  }
  return request;
}

/// Unless it is there already.
Result<void> FileTrials::load(const Alternative& what, Trial& trial) {
  KILN_TRY(const auto code, changed_code(what));
  std::string flags = code.flags;
  if (what.large_registers) flags += (flags.empty() ? "" : " ") + std::string(kLargeRegisters);
  KILN_TRY(auto request, changed_request(what, code));
  const std::string key =
      code.key + "\n" + std::to_string(what.local_times) + "/" + std::to_string(what.local_divided);
  trial.how = how_of(what, code, request);
  trial.barriers = code.barriers;
  const bool is_plain = what.macros.empty() && !what.barrier && !what.sub_group_size && !what.large_registers;
  loaded_native_ =
      is_plain ? native_
               : natives_.find(code.key + (what.large_registers ? "\nlarge" : ""), code.code.spirv, flags);
  if (loaded_ && key == loaded_key_) return {};
  loaded_.reset();  // its memory goes first
  KILN_TRY(loaded_, FileRun::create(device_, request, true));
  loaded_key_ = key;
  request.code = nullptr;
  loaded_request_ = std::move(request);
  return {};
}

std::vector<std::string> FileTrials::how_of(const Alternative& what, const Code& code,
                                            const FileRequest& request) {
  std::vector<std::string> how;
  if (!what.macros.empty()) how.push_back("--options \"" + request.flags + "\"");
  if (what.global) how.push_back("--global " + extent_option(*what.global));
  if (what.group) how.push_back("--group " + extent_option(*what.group));
  if (what.local_times != what.local_divided)
    for (const Specification& each : request.given)
      if (each.form == Specification::Form::local)
        how.push_back("--local " + each.argument + "=" + std::to_string(each.count()));
  add_how(what, how);
  if (code.without) {
    const std::uint32_t line = code.without->line;
    how.push_back("leave out the barrier" + (line ? " in line " + std::to_string(line) : std::string()) +
                  ": no work-items of this run needed it; see whether others can");
  }
  return how;
}

bool FileTrials::answers_agree() const {
  // All buffers: what one of the two does not write may be what the other does.
  return std::ranges::equal(loaded_->results(), wanted_,
                            [&](const BufferResult& is, const BufferResult& was) {
                              return is.place == was.place && is.data.bytes.size() == was.data.bytes.size() &&
                                     compare_arrays(is.data, was.data, request_.tolerance).count == 0;
                            });
}

Result<Trial> FileTrials::run(const Alternative& what) {
  progress_.next(words_of(what).c_str());
  Trial trial;
  const auto refused = [&](std::string why) {
    trial.refused = std::move(why);
    return trial;
  };
  const bool is_given = what == Alternative();
  if (const auto ready = load(what, trial); !ready) {
    loaded_.reset();
    if (is_given || !is_refusal(ready.error())) return tl::unexpected(ready.error());
    const std::string& code = ready.error().diagnostic()->code;
    return refused(code == "K0430" ? "does not divide" : code);
  }
  FileRun& run = *loaded_;
  ShapeRequest shape{{}, what.group.value_or(group_), what.global.value_or(items_)};
  const auto chosen =
      choose_shape(shape, run.kernel().facts(), run.kernel().limits(), run.arguments(), run.code().signature);
  if (!chosen) return refused("does not divide");
  KernelRequest launch{chosen->group_size, {}, chosen->groups};
  for (const Bound& each : run.arguments()) launch.local_bytes.push_back(each.local_bytes);
  if (std::string why = refusal_of(native_, loaded_native_, natives_.target(), launch);
      !why.empty() && !is_given)
    return refused(std::move(why));
  const FaultGuard guard(device_, code_.facts.name, is_json_, {words_of(what)});
  const auto outcome = [&] {
    const QuietErrors quiet;
    return measure(device_, run.prepare(*chosen), run.kernel(), 1);
  }();
  if (!outcome) {
    if (is_given || !is_refusal(outcome.error())) return tl::unexpected(outcome.error());
    return refused(outcome.error().diagnostic()->code);
  }
  KILN_TRY(const auto counters, read_counters(device_, run.kernel().kernel()));
  if (!counters.defects.empty()) return refused(to_diagnostic(counters, counters.defects.front()).code);
  if (!answers_agree()) return refused("answer differs");
  trial.cost = cost_of(counters, total(chosen->group_size),
                       run.kernel().facts().static_slm + run.slm_arguments(), loaded_native_);
  return trial;
}

}  // namespace

Result<Advice> advise_file(const OpenDevice& device, const RunOptions& options, const FileRequest& request,
                           const FileRun& given) {
  if (!items_of(given.shape()))
    return Advice{.not_tried = {{"alternatives", "a dimension has 4294967296 work-items or more"}}};
  FileTrials trials(device, options, request, given);
  std::vector<NotTried> not_tried;
  KILN_TRY(const auto space, trials.space(given, not_tried));
  return go_through(trials, space, options.tries, std::move(not_tried));
}

}  // namespace kiln::tool
