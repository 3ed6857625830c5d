// SPDX-License-Identifier: MIT
// Baking: sources of kernels in, one bundle for several products out. Of libkiln-offline.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "kiln/bundle.hpp"
#include "kiln/diagnostic.hpp"
#include "kiln/long_work.hpp"
#include "kiln/result.hpp"

namespace kiln {

/// What to bake. All sources become one module: a function that one declares and another defines is linked.
struct BakeOptions {
  /// Sources on disk: OpenCL C where the name ends in .cl, SPIR-V by its first bytes.
  std::vector<std::string> files{};
  /// Sources in memory, behind those and told apart in the same way. `name` stands in messages, and OpenCL C
  /// finds its headers beside it.
  std::vector<KernelFile> sources{};
  /// Products, as find_targets() takes them ("pvc", "dg2", "12.60.7", "xe2"), each once. None: SPIR-V alone,
  /// which every driver compiles.
  std::vector<std::string> targets{};
  /// OpenCL build options, such as "-cl-mad-enable -I include". Words are parted at blanks outside of double
  /// quotes.
  std::string flags{};
  /// Object code for the CPU device on this machine too. It is opened for that, as open_device() says.
  bool cpu = false;
  std::string output{};   ///< file for the bundle: written whole, or left as it was; empty: none is written
  std::string depfile{};  ///< file for a rule of make: what the bundle depends on; empty: none is written
  std::chrono::milliseconds time_limit = std::chrono::minutes(2);  ///< for one run of ocloc
  std::size_t threads = 0;  ///< targets that are compiled at the same time, at most; 0: one a processor
  LongWork work{};          ///< a piece is a target
};

enum class MessageKind : std::uint8_t { error, warning, note };

/// What the compiler said of a place in a source.
struct CompilerMessage {
  MessageKind kind = MessageKind::warning;
  std::string file;                    ///< the source by its name, or a file that it includes
  std::uint32_t line = 0, column = 0;  ///< from 1 on
  std::string text;                    ///< the compiler's own words, of one line
  std::vector<std::string> targets{};  ///< those for which it said so
};

/// The message as K0424: an error, or a warning, which a note is too. Pure.
[[nodiscard]] Diagnostic to_diagnostic(const CompilerMessage& message);

/// Member of a bundle.
struct BakedMember {
  std::string name;    ///< "64.12.60.7"
  std::string target;  ///< "pvc", "cpu"; empty: SPIR-V, for any other device
  std::vector<std::byte> content;
};

struct BakedKernel {
  std::string name;
  std::string file;  ///< the source that it is from
};

struct BakeResult {
  std::vector<std::byte> bundle;     ///< what Bundle::load takes as a file NAME.ar
  std::vector<BakedMember> members;  ///< what is in it, in its order; SPIR-V goes last
  std::vector<BakedKernel> kernels;
  std::vector<std::byte> spirv;           ///< all sources as one module
  std::vector<CompilerMessage> messages;  ///< warnings and notes, in the order of the targets
  /// Files that the result depends on: BakeOptions::files, and what any source includes, as far as it is
  /// there; whatever the conditions around an `#include`, but not where a macro names the file.
  std::vector<std::string> dependencies;
};

/// Why nothing was baked. Turns into its first error where a Result is returned, so that KILN_TRY takes it.
struct BakeFailure {
  std::vector<Error> errors;  ///< one for each cause, which is told once for all targets; never empty
  std::vector<CompilerMessage> messages;  ///< all that the compiler said of places in sources

  operator Error() const { return errors.front(); }  // NOLINT(google-explicit-constructor)
};

/// Compiles the sources by ocloc (of PATH) for every target, in processes and folders of its own, and puts
/// the binaries and the SPIR-V into one bundle. The same sources, options and releases make the same bytes.
/// What `output` names is written at the end, or left as it was.
///
/// Errors, INVALID_ARGUMENT unless something else is named: K0404 a target, or an output that is a source;
/// K0201, K0209, K0420 a source; K0405 no ocloc, K0406 it does not compile a source for a target; K0130 a
/// function that is defined nowhere; K0421 an output that cannot be written; K0422 and K0306 the CPU device;
/// K0423 stopped (NOT_READY).
///
/// Thread-safe, but for `cpu`, which changes the environment; relative paths start at the current folder. It
/// needs memory for all that it makes, and room in the temporary folder (TMPDIR).
[[nodiscard]] tl::expected<BakeResult, BakeFailure> bake(const BakeOptions& options);

}  // namespace kiln
