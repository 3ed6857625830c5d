// SPDX-License-Identifier: MIT
// Rules as places of words, so that a line is read once for all of them.
#include "diagnose/rules/matcher.hpp"

#include <algorithm>

namespace kiln::detail {
namespace {

/// Calls it for each part of the text between such letters.
template <typename Each>
void each_part(std::string_view text, char between, Each&& each) {
  while (!text.empty()) {
    const auto end = text.find(between);
    if (end != 0) each(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
}

struct Read {
  ReadWord word;
  std::string_view text;  // in small letters
};
// In the order of ReadWord.
constexpr Read kRead[] = {{ReadWord::size_of_slm, "size of slm ("},
                          {ReadWord::out_of_shared_memory, "out of resource: shared memory"},
                          {ReadWord::unresolved_external, "unresolved external symbol "},
                          {ReadWord::at_offset, " at offset "},
                          {ReadWord::unresolved_imported, "unresolved imported symbol <"},
                          {ReadWord::undefined_reference, "error: undefined reference to `"},
                          {ReadWord::linker, "ld:"},
                          {ReadWord::linker_variant, "ld."},
                          {ReadWord::abort_called, "abort was called at "},
                          {ReadWord::slm_per_group, "slm per work group"},
                          {ReadWord::segmentation_fault, "segmentation fault"},
                          {ReadWord::sigsegv, "sigsegv"},
                          {ReadWord::signal_11, "caught signal 11"},
                          {ReadWord::allocation, "allocat"},
                          {ReadWord::malloc, "malloc"},
                          {ReadWord::free_memory, "free device memory"},
                          {ReadWord::opencl_device, "[opencl:"},
                          {ReadWord::level_zero_device, "[level_zero:"},
                          {ReadWord::level_zero_extension, "[ext_oneapi_level_zero"},
                          {ReadWord::gpu, "gpu"},
                          {ReadWord::i915, "i915"},
                          {ReadWord::xe, "xe "},
                          {ReadWord::drm, "[drm]"},
                          {ReadWord::process, "process:"},
                          {ReadWord::clinfo, "clinfo"},
                          {ReadWord::sycl_ls, "sycl-ls"},
                          {ReadWord::xpu_smi, "xpu-smi"},
                          {ReadWord::zello_world, "zello_world"},
                          {ReadWord::query_device, "hello_query_device"},
                          {ReadWord::ocloc_command, "ocloc "},
                          {ReadWord::llvm_spirv_command, "llvm-spirv "},
                          {ReadWord::icpx_command, "icpx "},
                          {ReadWord::pci_controller, "controller: intel corporation"},
                          {ReadWord::pci_region, "region 2: memory at"}};
constexpr bool in_order() {
  std::size_t place = 0;
  for (const Read& read : kRead)
    if (static_cast<std::size_t>(read.word) != place++) return false;
  return place == static_cast<std::size_t>(ReadWord::count);
}
static_assert(in_order(), "each ReadWord has its text, in the order of the enumeration");

}  // namespace

const RuleMatcher& RuleMatcher::get() {
  static const RuleMatcher matcher;
  return matcher;
}

std::vector<std::string_view> RuleMatcher::words() {
  for (const Rule& rule : log_rules()) {
    Compiled compiled;
    compiled.all.push_back(group(rule.word));
    if (rule.also != kGpuLibrary)
      each_part(rule.also, '&', [&](std::string_view part) { compiled.all.push_back(group(part)); });
    compiled.none = group(rule.without);
    rules_.push_back(std::move(compiled));
  }
  for (const KindWord& kind : kind_words()) kinds_.push_back({place_of(kind.word)});
  codes_ = group(code_words());
  gpus_ = group(gpu_words());
  any_gpus_ = group(any_gpu_words());
  media_ = group(media_words());
  for (const Read& read : kRead) read_.push_back(place_of(read.text));
  places_.clear();
  return words_;
}

std::uint16_t RuleMatcher::place_of(std::string_view word) {
  const auto [known, added] = places_.try_emplace(word, static_cast<std::uint16_t>(words_.size()));
  if (added) words_.push_back(word);
  return known->second;
}

RuleMatcher::Group RuleMatcher::group(std::string_view alternatives) {
  Group places;
  each_part(alternatives, '|', [&](std::string_view word) { places.push_back(place_of(word)); });
  return places;
}

RuleMatcher::Group RuleMatcher::group(std::span<const std::string_view> words) {
  Group places;
  for (const std::string_view word : words) places.push_back(place_of(word));
  return places;
}

bool RuleMatcher::any(const Group& group, const WordFinder::Found& found) {
  return std::ranges::any_of(group, [&](std::uint16_t place) { return found[place]; });
}

bool RuleMatcher::holds(std::size_t rule, const WordFinder::Found& found, std::string_view small) const {
  const Compiled& compiled = rules_[rule];
  for (const Group& each : compiled.all)
    if (!any(each, found)) return false;
  if (any(compiled.none, found)) return false;
  const Rule& read = log_rules()[rule];
  if (read.also == kGpuLibrary && !names_gpu_library(small)) return false;
  return (read.cause != Cause::library && read.rank > kFallbackRank) || !names_optional_library(small);
}

bool RuleMatcher::reads(const WordFinder::Found& found, std::initializer_list<ReadWord> words) const {
  return std::ranges::any_of(words,
                             [&](ReadWord word) { return found[read_[static_cast<std::size_t>(word)]]; });
}

CallKind RuleMatcher::kind(const WordFinder::Found& found) const {
  for (std::size_t i = 0; i < kinds_.size(); ++i)
    if (any(kinds_[i], found)) return kind_words()[i].kind;
  return CallKind::unknown;
}

}  // namespace kiln::detail
