// SPDX-License-Identifier: MIT
// `kiln run … --advise`: alternatives to what was given, run while counting, by their cost.
#pragma once

#include "tool/advise/search.hpp"
#include "tool/run/file_run.hpp"
#include "tool/samples/samples.hpp"

namespace kiln::tool {

/// Of a kernel file. The device counts. Errors end the search; what is refused is part of the advice.
[[nodiscard]] Result<Advice> advise_file(const OpenDevice& device, const RunOptions& options,
                                         const FileRequest& request, const FileRun& given);
/// Of a sample.
[[nodiscard]] Result<Advice> advise_sample(const OpenDevice& device, const RunOptions& options,
                                           const samples::Sample& sample, const samples::Prepared& given);

/// What both have in common: goes through the space of `trials`, and says what it stands on.
template <class Trials>
[[nodiscard]] Result<Advice> go_through(Trials& trials, const AdviseSpace& space, std::size_t tries,
                                        std::vector<NotTried> not_tried) {
  KILN_TRY(auto advice, search(space, tries, [&](const Alternative& what) { return trials.run(what); }));
  advice.not_tried = std::move(not_tried);
  advice.product = trials.product();
  advice.basis = trials.basis();
  return advice;
}

/// Native code of the alternatives, each compiled once by ocloc; nothing where there is no ocloc, or it does
/// not know the product.
class NativeCodes {
 public:
  NativeCodes(std::string path, std::string kernel, const Target* target)
      : path_(std::move(path)), kernel_(std::move(kernel)), target_(target) {}

  /// `key`: what tells this code from the others.
  [[nodiscard]] std::optional<NativeUse> find(const std::string& key, std::span<const std::byte> spirv,
                                              const std::string& flags);
  [[nodiscard]] const Target* target() const { return target_; }

 private:
  std::string path_, kernel_;
  const Target* target_;
  std::map<std::string, std::optional<NativeUse>> known_;
};

inline constexpr const char* kLargeRegisters = "-ze-opt-large-register-file";
inline constexpr std::size_t kExpectedTrials = 10;  ///< for the count on a terminal, until there are more

/// Sub-group sizes that the device takes other than `own`. Pure.
[[nodiscard]] std::vector<std::uint32_t> other_sub_groups(const OpenDevice& device, std::uint32_t own);
/// May the code be built with 256 registers instead? Where not, `not_tried` says why. Pure.
[[nodiscard]] bool may_have_more_registers(const std::optional<NativeUse>& native, const std::string& flags,
                                           std::vector<NotTried>& not_tried);
/// What to change for that sub-group size, or for more registers.
void add_how(const Alternative& what, std::vector<std::string>& how);
/// Why the product does not take an alternative: the code of the first reason, or that ocloc makes no native
/// code of it where it did of what was given, whose cost has parts that this one's would lack. Empty: it
/// does. Pure.
[[nodiscard]] std::string refusal_of(const std::optional<NativeUse>& given,
                                     const std::optional<NativeUse>& native, const Target* target,
                                     const KernelRequest& request);
/// Of a run that was wrong, or has defects: those come first.
[[nodiscard]] Advice no_advice();
/// Where occupancy comes from, in words; empty: it is not known.
[[nodiscard]] std::string basis_of(const NativeCodes& natives, const std::optional<NativeUse>& native);

}  // namespace kiln::tool
