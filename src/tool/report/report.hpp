// SPDX-License-Identifier: MIT
// `kiln run NAME --report FILE.html`: one run as a page that is looked at. Values in, HTML out; the file
// stands at the edge.
#pragma once

#include <optional>

#include "kiln/occupancy.hpp"
#include "support/json.hpp"
#include "tool/samples/samples.hpp"

namespace kiln::tool {

using detail::Json;

/// What one work-group takes of something that the work-groups of a core share.
struct ResourceUse {
  Resource resource = Resource::threads;
  std::uint64_t of_group = 0, of_core = 0;  ///< threads, bytes or barriers
  std::uint64_t groups = 0;                 ///< that this resource alone would allow
};

/// How full a core of some product is.
struct CoreUse {
  std::string product, basis;  ///< ocloc's name; where SIMD width, registers and barriers come from, in words
  Occupancy occupancy;
  std::vector<ResourceUse> uses;
};

/// What the page says beyond the JSON of the run.
struct ReportFacts {
  std::string summary;          ///< of the sample
  std::uint64_t slm = 0;        ///< bytes a work-group, of `__local` arrays and arguments
  std::uint64_t slm_limit = 0;  ///< bytes, the most one work-group can have
  std::optional<CoreUse> core;  ///< nothing: the product is not known
  std::string source_file;      ///< with `source`, its lines; empty: not found
  std::vector<std::string> source;
};

/// Pure. `group_size` in work-items, `slm` in bytes a group.
[[nodiscard]] CoreUse core_use(const KernelFacts& kernel, const Target& target, std::uint64_t group_size,
                               std::uint64_t slm, std::string basis);

/// The page: `run` is what `kiln run --counters --json` prints; without `counters` it says that they are
/// missing. Asks for nothing else, not even over a network. Pure.
[[nodiscard]] std::string report_page(const Json& run, const ReportFacts& facts);

// Its parts, in the order of the page; each a `<section>`, or nothing. All pure.
[[nodiscard]] std::string predictions_section(const Json& run);
[[nodiscard]] std::string defects_section(const Json& run);
[[nodiscard]] std::string access_section(const Json& counters);
[[nodiscard]] std::string core_section(const ReportFacts& facts);
[[nodiscard]] std::string source_section(const Json& counters, const ReportFacts& facts);
[[nodiscard]] std::string counts_section(const Json& counters);

/// The most cache lines that one access of a sub-group touched. Pure.
[[nodiscard]] std::uint64_t most_lines(const Json& instruction);

/// Of SLM, whose accesses take turns at its banks. Pure.
[[nodiscard]] bool is_slm(const Json& instruction);

/// "SLM" for "slm"; other names are words. Pure.
[[nodiscard]] std::string shown_memory(const std::string& memory);

/// Where an instruction is: a line of the source, else a SPIR-V id. Pure.
[[nodiscard]] std::string place_of(const Json& at);

/// Whose memory an instruction touches: an argument's name where it has one. Pure.
[[nodiscard]] std::string owner_of(const Json& instruction);

/// One access of a sub-group as SVG: lanes in the cache lines, or in the banks of SLM, that they touch. Empty
/// for an instruction without `example`. `id` is unique on the page.
[[nodiscard]] std::string lanes_svg(const Json& instruction, const std::string& id);

/// Lines, or turns, that the bytes of the `example` need at least. 0: there is none.
[[nodiscard]] std::uint64_t least_of_example(const Json& instruction);

/// Looks up the device's product, a native binary for it among the sample kernels, and the source beside
/// them. `file` is that which the kernel was made from.
[[nodiscard]] ReportFacts report_facts(const OpenDevice& device, const CheckedKernel& kernel,
                                       const samples::Sample& sample, const samples::Prepared& prepared,
                                       const std::string& file, const Json& counters);

/// K0410.
[[nodiscard]] Error unwritable_report(const std::string& path, std::string reason);

/// Puts the page there whole, or leaves what was there. Error: UNKNOWN (K0410).
[[nodiscard]] Result<void> write_report(const std::string& path, const std::string& page);

}  // namespace kiln::tool
