// SPDX-License-Identifier: MIT
// Which words of all rules a line has, and which rules hold for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "diagnose/log_causes.hpp"
#include "diagnose/log_code.hpp"
#include "diagnose/rules/word_finder.hpp"

namespace kiln::detail {

/// A word that the reader of logs asks for by itself: the text of each stands in matcher.cpp, once.
enum class ReadWord : std::uint8_t {
  size_of_slm,
  out_of_shared_memory,
  unresolved_external,
  at_offset,
  unresolved_imported,
  undefined_reference,
  linker,
  linker_variant,
  abort_called,
  slm_per_group,
  segmentation_fault,
  sigsegv,
  signal_11,
  allocation,
  malloc,
  free_memory,
  opencl_device,
  level_zero_device,
  level_zero_extension,
  gpu,
  i915,
  xe,
  drm,
  process,
  clinfo,
  sycl_ls,
  xpu_smi,
  zello_world,
  query_device,
  ocloc_command,
  llvm_spirv_command,
  icpx_command,
  pci_controller,
  pci_region,
  count  ///< how many there are
};

/// Made once; then thread-safe.
class RuleMatcher {
 public:
  static const RuleMatcher& get();

  [[nodiscard]] WordFinder::Found find(std::string_view line) const { return finder_.find(line); }
  /// `rule`: its place in log_rules(); `small`: the line in small letters.
  [[nodiscard]] bool holds(std::size_t rule, const WordFinder::Found& found, std::string_view small) const;
  /// Has the line one of the words?
  [[nodiscard]] bool reads(const WordFinder::Found& found, std::initializer_list<ReadWord> words) const;
  [[nodiscard]] CallKind kind(const WordFinder::Found& found) const;
  [[nodiscard]] bool may_have_code(const WordFinder::Found& found) const { return any(codes_, found); }
  [[nodiscard]] bool names_gpu(const WordFinder::Found& found) const { return any(gpus_, found); }
  [[nodiscard]] bool names_media(const WordFinder::Found& found) const { return any(media_, found); }
  [[nodiscard]] bool may_name_gpu(const WordFinder::Found& found) const { return any(any_gpus_, found); }

 private:
  using Group = std::vector<std::uint16_t>;  // words of which one is enough
  struct Compiled {
    std::vector<Group> all;  // groups of which each has one
    Group none;
  };

  RuleMatcher() : finder_(words()) {}
  std::vector<std::string_view> words();
  std::uint16_t place_of(std::string_view word);
  Group group(std::string_view alternatives);
  Group group(std::span<const std::string_view> words);
  [[nodiscard]] static bool any(const Group& group, const WordFinder::Found& found);

  std::vector<std::string_view> words_;
  std::unordered_map<std::string_view, std::uint16_t> places_;  // of words_, while they are collected
  std::vector<Compiled> rules_;
  std::vector<Group> kinds_;
  Group codes_, gpus_, any_gpus_, media_;
  Group read_;  // by ReadWord
  WordFinder finder_;
};

}  // namespace kiln::detail
