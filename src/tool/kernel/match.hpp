// SPDX-License-Identifier: MIT
// What the user gave, held against what the kernel takes: one argument each, with its bytes.
#pragma once

#include <functional>

#include "kiln/bundle.hpp"
#include "tool/kernel/signature.hpp"
#include "tool/kernel/specification.hpp"

namespace kiln::tool {

/// An argument that is ready to be passed.
struct Bound {
  std::string label;  ///< its name, else its place
  ArgumentKind kind = ArgumentKind::value;
  Array data{};                   ///< the value, or what a buffer holds before the kernel runs
  std::uint64_t items = 0;        ///< elements of the kernel's in a buffer; 0: nobody knows how many
  std::uint64_t local_bytes = 0;  ///< of a `__local` one
  bool is_null = false;
  Access access = Access::both;
  std::string save{};  ///< file for what is in it afterwards; empty: none

  [[nodiscard]] bool is_buffer() const { return kind == ArgumentKind::global_pointer && !is_null; }
  /// Is what it holds afterwards worth a look?
  [[nodiscard]] bool is_output() const {
    return is_buffer() && (access == Access::write || access == Access::both);
  }
};

/// How files are read: the edge.
using ReadFile = std::function<Result<KernelFile>(const std::string& path)>;

/// K0431: arguments that do not go with the kernel; the rows say what it takes, the last help how to call it.
[[nodiscard]] Error wrong_arguments(std::string message, std::vector<std::string> help,
                                    const Signature& signature);

/// K0434: byte `at`, counted from the buffer's begin, is behind its `bytes`, and was written.
[[nodiscard]] Error written_behind(const std::string& kernel, const std::string& buffer, std::uint64_t bytes,
                                   std::uint64_t at);

/// What a kernel ran with in place of what was given; both empty: as it was given.
struct RunInstead {
  std::string alternative{};  ///< of --advise, in its words
  std::uint32_t swept = 0;    ///< group size of --sweep; 0: none
};

/// K0438: a kernel that faulted on the CPU device, by an address or by a division of integers by zero.
[[nodiscard]] Error faulted_kernel(const std::string& kernel, bool of_memory, const RunInstead& instead = {});

/// K0437: the run to compare with ended so, and said this.
[[nodiscard]] Error failed_other_run(const std::string& other, std::string ended_by, std::string said);

/// Place of an argument that is named, or given by its place. Error: K0431 with the nearest name. Pure.
[[nodiscard]] Result<std::size_t> place_of_argument(const std::string& name, const Signature& signature);

/// One for each argument of the kernel, in its order. Errors: K0431 one that is unknown, missing, given twice
/// or of another type; K0432 a file that cannot be taken; what `read` says. Pure but for `read`.
[[nodiscard]] Result<std::vector<Bound>> bind_arguments(const Signature& signature,
                                                        const std::vector<Specification>& given,
                                                        std::uint64_t seed, const ReadFile& read);

/// Bytes of each argument that is made, as random:1000 is, in the order of the kernel's; 0: it is not, or not
/// known. Pure.
[[nodiscard]] std::vector<std::uint64_t> made_bytes(const Signature& signature,
                                                    const std::vector<Specification>& given);

/// Elements of the type that `bytes` hold, for a buffer; of unknown type they are bytes.
[[nodiscard]] Array raw_array(std::span<const std::byte> bytes, const ElementType& type);

/// What `expected` says of an output of this form, of the kernel `kernel`: its elements. Errors as above.
[[nodiscard]] Result<Array> expected_array(const std::string& kernel, const Specification& expected,
                                           const Bound& output, std::uint64_t seed, const ReadFile& read);

}  // namespace kiln::tool
