// SPDX-License-Identifier: MIT
// `kiln run NAME --report FILE.html`: one run as a page that is looked at. Values in, HTML out; the file
// stands at the edge.
#pragma once

#include <optional>

#include "kiln/counters.hpp"
#include "kiln/occupancy.hpp"
#include "support/json.hpp"
#include "tool/report/findings.hpp"
#include "tool/samples/samples.hpp"

namespace kiln::tool {

// As the CPU device counts: docs/counters.md.
inline constexpr std::uint64_t kLineBytes = 64, kBankBytes = 4;

/// What one work-group takes of something that the work-groups of a core share.
struct ResourceUse {
  Resource resource = Resource::threads;
  std::uint64_t of_group = 0, of_core = 0;  ///< threads, bytes or barriers
  std::uint64_t groups = 0;                 ///< that this resource alone would allow
};

/// How full a core of some product is.
struct CoreUse {
  std::string product, basis;  ///< ocloc's name; where SIMD width, registers and barriers come from, in words
  Generation generation = Generation::gen12lp;
  Occupancy occupancy;
  std::vector<ResourceUse> uses;
};

/// What the page says beyond the JSON of the run.
struct ReportFacts {
  std::string summary;          ///< of the sample
  std::uint64_t slm = 0;        ///< bytes a work-group, of `__local` arrays and arguments
  std::uint64_t slm_limit = 0;  ///< bytes, the most one work-group can have
  std::optional<CoreUse> core;  ///< nothing: the product is not known
  /// Of private and scratch memory that native code for the product keeps; nothing: there is no such code.
  std::optional<std::uint64_t> native_private;
  std::string source_file;          ///< with `source`, its lines
  std::vector<std::string> source;  ///< empty: `no_source` says why
  std::string no_source;
  std::string executed;  ///< HTML of what a simulated GPU executed, a `<section>`; empty: nothing is known
};

/// Pure. `group_size` in work-items, `slm` in bytes a group.
[[nodiscard]] CoreUse core_use(const KernelFacts& kernel, const Target& target, std::uint64_t group_size,
                               std::uint64_t slm, std::string basis);

/// The source that a kernel was made of, as its SPIR-V says it: spirv/lines.py writes it there.
struct NamedSource {
  std::string name, sha256;  ///< the file's, without a folder; 64 digits
  friend bool operator==(const NamedSource&, const NamedSource&) = default;
};

/// What the SPIR-V in a kernel file says; nothing where it does not, or is damaged. Pure.
[[nodiscard]] std::optional<NamedSource> named_source(std::span<const std::byte> file);

/// FAMILY.cl of the folder, if it is the source that is named: its lines, else `no_source`.
void find_source(const std::filesystem::path& folder, const std::string& family,
                 const std::optional<NamedSource>& named, ReportFacts& facts);

/// The page: `run` is what `kiln run --counters --json` prints; without `counters` it says that they are
/// missing. Asks for nothing else, not even over a network. Pure.
[[nodiscard]] std::string report_page(const Json& run, const ReportFacts& facts);

/// What `kiln run … --sweep` and `--against` print as JSON, as pages. `is_cpu`: times are the CPU device's.
/// Pure.
[[nodiscard]] std::string sweep_page(const Json& sweep, bool is_cpu);
[[nodiscard]] std::string against_page(const Json& comparison, bool is_cpu);

/// What all pages have. All but the title is HTML.
struct PageFrame {
  std::string title, over, headline, lead, summary;
};
[[nodiscard]] std::string whole_page(const PageFrame& frame, const std::string& main);
/// A diagnostic with its advice; `figure` beside it, or nothing. Pure.
[[nodiscard]] std::string finding_article(const Diagnostic& diagnostic, const std::string& figure);
/// One of those that a glance takes in. Pure.
[[nodiscard]] std::string glance_tile(const char* name, const std::string& value, const std::string& more);

/// Accesses of sub-groups that look the same, drawn once.
struct Picture {
  std::string svg;
  std::vector<std::size_t> instructions;  ///< of the counters, in their order
  std::uint64_t surplus = 0;              ///< cache lines, or turns, beyond the least
};

/// The costliest first. Pure.
[[nodiscard]] std::vector<Picture> pictures_of(const Json& counters);

// Its parts, in the order of the page; each a `<section>`, or nothing. All pure.
[[nodiscard]] std::string predictions_section(const Json& run);
[[nodiscard]] std::string findings_section(const Json& run, const std::vector<Finding>& found,
                                           const std::vector<Picture>& pictures);
/// What was tried by `--advise`; empty: nothing was.
[[nodiscard]] std::string advice_section(const Json& run);
/// Without those that `found` shows.
[[nodiscard]] std::string access_section(const Json& counters, const std::vector<Finding>& found,
                                         const std::vector<Picture>& pictures);
/// What the pictures mean, for whoever has not read the documents.
[[nodiscard]] std::string legend_section(const Json& counters);
[[nodiscard]] std::string core_section(const ReportFacts& facts);
[[nodiscard]] std::string source_section(const Json& counters, const ReportFacts& facts,
                                         const std::vector<Finding>& found);
[[nodiscard]] std::string counts_section(const Json& counters);

/// One picture with what it is of. Pure.
[[nodiscard]] std::string figure(const Json& counters, const Picture& picture);

/// The picture that shows what a finding is about; null: it is about none. Pure.
[[nodiscard]] const Picture* picture_of(const Finding& finding, const std::vector<Picture>& pictures);

/// The most cache lines that one access of a sub-group touched. Pure.
[[nodiscard]] std::uint64_t most_lines(const Json& instruction);

/// Of SLM, whose accesses take turns at its banks. Pure.
[[nodiscard]] bool is_slm(const Json& instruction);

/// "SLM" for "slm"; other names are words. Pure.
[[nodiscard]] std::string shown_memory(const std::string& memory);

/// "4 × 2", without dimensions of one behind the first. Pure.
[[nodiscard]] std::string shown_extent(const Json& extent);

/// "SLM reads" for "slm_reads". Pure.
[[nodiscard]] std::string shown_total(const std::string& name);

/// Where an instruction is: a line of the source, else a SPIR-V id. Pure.
[[nodiscard]] std::string place_of(const Json& at);

/// Whose memory an instruction touches: an argument's name where it has one. Pure.
[[nodiscard]] std::string owner_of(const Json& instruction);

/// One access of a sub-group as SVG: lanes in the cache lines, or in the banks of SLM, that they touch. Empty
/// for an instruction without `example`.
[[nodiscard]] std::string lanes_svg(const Json& instruction);

/// Lines, or turns, that the bytes of the `example` need at least. 0: there is none.
[[nodiscard]] std::uint64_t least_of_example(const Json& instruction);

/// Native code for a product, made now; nothing where it cannot be.
using CompileFor = std::function<std::optional<KernelFacts>(const Target&)>;

/// Looks up the device's product, a native binary for it among the kernel's files, else what `compile` makes,
/// and the source beside them. `file` is that which the kernel was made from, `named` the source that it
/// names, `folder` that of its files.
[[nodiscard]] ReportFacts report_facts(const OpenDevice& device, const CheckedKernel& kernel,
                                       const samples::Sample& sample, const samples::Prepared& prepared,
                                       const std::string& file, const std::optional<NamedSource>& named,
                                       const std::optional<Counters>& counters,
                                       const std::filesystem::path& folder = kernel_folder(),
                                       const CompileFor& compile = {});

/// The lines of a source, as far as a page shows them.
void show_source(const std::string& file, std::string_view text, ReportFacts& facts);

/// K0410.
[[nodiscard]] Error unwritable_report(const std::string& path, std::string reason);

/// Puts the page there whole, or leaves what was there. Error: UNKNOWN (K0410).
[[nodiscard]] Result<void> write_report(const std::string& path, const std::string& page);

}  // namespace kiln::tool
