// SPDX-License-Identifier: MIT
// Alternatives to the run of a sample, each compared with the host's answer.
#include <algorithm>

#include "tool/advise/spirv_edit.hpp"
#include "tool/common/progress.hpp"
#include "tool/run/advise.hpp"
#include "tool/run/fault.hpp"
#include "tool/run/measure.hpp"
#include "tool/samples/counters.hpp"

namespace kiln::tool {
namespace {

constexpr Extent kAnyItems{std::uint32_t{1} << 20};  // a sample makes groups of any power of two

class SampleTrials {
 public:
  SampleTrials(const OpenDevice& device, const RunOptions& options, const samples::Sample& sample)
      : device_(device),
        sample_(sample),
        choices_{options.size, options.group, options.slm, options.seed.value_or(1)},
        natives_(std::string(sample.family) + ".spv", sample.kernel,
                 device.properties.ip_version ? find_target(*device.properties.ip_version) : nullptr) {}

  Result<AdviseSpace> space(const samples::Prepared& given, std::vector<NotTried>& not_tried);
  Result<Trial> run(const Alternative& what);
  [[nodiscard]] std::string product() const { return native_ ? std::string(natives_.target()->name) : ""; }
  [[nodiscard]] std::string basis() const { return basis_of(natives_, native_); }

 private:
  Result<void> load(const Alternative& what);

  const OpenDevice& device_;
  const samples::Sample& sample_;
  const samples::Choices choices_;
  NativeCodes natives_;
  std::vector<std::byte> spirv_;
  std::uint32_t width_ = 0;
  std::optional<NativeUse> native_, loaded_native_;
  struct Loaded {
    std::uint32_t width;
    Bundle bundle;
    const CheckedKernel* kernel;  // in the bundle
  };
  std::optional<Loaded> loaded_;
  Progress progress_{kExpectedTrials};
};

Result<AdviseSpace> SampleTrials::space(const samples::Prepared& given, std::vector<NotTried>& not_tried) {
  KILN_TRY(auto files, find_kernel_files(kernel_folder(), sample_.family));
  // The CPU device has variants of its own, which say nothing of a GPU.
  for (KernelFile& file : files)
    if (file.name == std::string(sample_.family) + ".spv") spirv_ = std::move(file.bytes);
  const auto facts = read_spirv(spirv_);
  const KernelFacts* kernel = facts ? facts->find(sample_.kernel) : nullptr;
  if (!kernel)
    return tl::unexpected(samples::bad_choice("the sample has no SPIR-V", "install Kiln's kernels"));
  AdviseSpace space;
  space.items = kAnyItems;
  space.group = {static_cast<std::uint32_t>(total(given.shape.group_size))};
  native_ = natives_.find("", spirv_, "");
  const auto fits = [&](std::optional<std::uint64_t> group, std::optional<std::uint64_t> slm) {
    samples::Choices choices = choices_;
    if (group) choices.group = group;
    if (slm) choices.slm = slm;
    return sample_.prepare(device_, choices).has_value();
  };
  if (kernel->required_group_size[0] == 0 && fits(total(given.shape.group_size), std::nullopt))
    space.most_group = device_.compute.max_total_group_size;
  else
    not_tried.push_back({"other work-groups", "the sample has one size"});
  if (given.slm > 0 && fits(std::nullopt, given.slm))
    space.slm = {given.slm / 4, given.slm / 2, given.slm * 2, given.slm * 4};
  else
    not_tried.push_back({"other tiles", "the sample has none that --slm sets"});
  const std::uint32_t required = kernel->required_sub_group_size;
  if (required == 0 && native_) width_ = native_->facts.simd_size;
  space.sub_group_sizes = other_sub_groups(device_, required ? required : width_ ? width_ : 16u);
  space.registers = may_have_more_registers(native_, "", not_tried);
  return space;
}

Result<void> SampleTrials::load(const Alternative& what) {
  const std::uint32_t width = what.sub_group_size ? what.sub_group_size : width_;
  std::vector<std::byte> spirv = spirv_;
  if (width != 0)
    if (auto changed = with_sub_group_size(spirv_, sample_.kernel, width); !changed.empty())
      spirv = std::move(changed);
  const std::string flags = what.large_registers ? kLargeRegisters : "";
  loaded_native_ = what.sub_group_size || what.large_registers
                       ? natives_.find(std::to_string(width) + flags, spirv, flags)
                       : native_;
  if (loaded_ && loaded_->width == width) return {};
  loaded_.reset();
  KILN_TRY(const auto settings, cache_options());
  Cache cache = Cache::open(settings);
  std::vector<KernelFile> files;
  files.push_back({std::string(sample_.family) + ".spv", std::move(spirv)});
  KILN_TRY(auto bundle, Bundle::load(device_, std::move(files), counted_build(), &cache));
  KILN_TRY(const auto* kernel, bundle.kernel(sample_.kernel));
  loaded_ = Loaded{width, std::move(bundle), kernel};
  return {};
}

Result<Trial> SampleTrials::run(const Alternative& what) {
  progress_.next(words_of(what).c_str());
  Trial trial;
  const auto refused = [&](const Error& error) -> Result<Trial> {
    if (what == Alternative() || !is_refusal(error)) return tl::unexpected(error);
    trial.refused = error.diagnostic()->code;
    return trial;
  };
  if (what.slm) trial.how.push_back("--slm " + std::to_string(*what.slm));
  if (what.group) trial.how.push_back("--group " + std::to_string(what.group->x));
  add_how(what, trial.how);
  if (const auto loaded = load(what); !loaded) return refused(loaded.error());
  samples::Choices choices = choices_;
  if (what.slm) choices.slm = what.slm;
  if (what.group) choices.group = what.group->x;
  const auto prepared = sample_.prepare(device_, choices);
  if (!prepared) return refused(prepared.error());
  const CheckedKernel& kernel = *loaded_->kernel;
  const std::uint64_t slm = kernel.facts().static_slm + prepared->slm;
  if (what != Alternative()) {
    const KernelRequest request{prepared->shape.group_size, {}, prepared->shape.groups};
    trial.refused = refusal_of(native_, loaded_native_, natives_.target(), request);
    if (!trial.refused.empty()) return trial;
  }
  const auto outcome = [&] {
    const QuietErrors quiet;
    return measure(device_, *prepared, kernel, 1);
  }();
  if (!outcome) return refused(outcome.error());
  KILN_TRY(const auto counters, read_counters(device_, kernel.kernel()));
  if (!counters.defects.empty()) {
    trial.refused = to_diagnostic(counters, counters.defects.front()).code;
    return trial;
  }
  if (outcome->mismatch) {
    trial.refused = "answer differs";
    return trial;
  }
  trial.cost = cost_of(counters, total(prepared->shape.group_size), slm, loaded_native_);
  return trial;
}

}  // namespace

Result<Advice> advise_sample(const OpenDevice& device, const RunOptions& options,
                             const samples::Sample& sample, const samples::Prepared& given) {
  SampleTrials trials(device, options, sample);
  std::vector<NotTried> not_tried;
  KILN_TRY(const auto space, trials.space(given, not_tried));
  return go_through(trials, space, options.tries, std::move(not_tried));
}

}  // namespace kiln::tool
