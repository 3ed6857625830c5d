// SPDX-License-Identifier: MIT
// The sample kernels: how each is launched, and the host reference that its answer is compared with.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kiln/kiln.hpp"

namespace kiln::samples {

/// What the user chose; what is not set takes the sample's default.
struct Choices {
  std::optional<std::uint64_t> size{};   ///< elements, or the edge of the matrices
  std::optional<std::uint64_t> group{};  ///< work-items a group
  std::optional<std::uint64_t> slm{};    ///< bytes a work-group asks for
  std::uint32_t seed = 1;                ///< of the random input
};

/// The first element that differs from the reference.
struct Mismatch {
  std::uint64_t index = 0;
  double got = 0, wanted = 0;
};

/// Which counter of the CPU device a prediction is about.
enum class Counter : std::uint8_t {
  none,           ///< of another kernel, or nothing that is counted
  reads,          ///< of the memory behind an argument, by work-items
  lines,          ///< cache lines of the first sub-group's reads of the memory behind an argument
  written_lines,  ///< the same of its writes
  read_width,     ///< bytes that a work-item reads of it at once, neighbours joined
  lanes,          ///< work-items that make such a read together
  slm_turns,      ///< turns for the first sub-group's reads of SLM
  global_reads,   ///< of all work-items, as the next ones
  global_writes,
  global_atomics,
  slm_reads,
  slm_writes,
  slm_read_width,       ///< as read_width
  slm_writes_together,  ///< by sub-groups
};

/// What a kernel costs by construction, to be held against what is counted or measured.
struct Predicted {
  const char* what;  ///< with its unit
  std::uint64_t value;
  Counter count = Counter::none;
  std::int32_t argument = 0;
};

/// A sample with its data in place.
struct Prepared {
  Launch shape;
  std::uint64_t slm = 0;       ///< bytes of `__local` arguments
  std::uint64_t elements = 0;  ///< of the answer
  double bytes = 0;            ///< global memory that one run has to move
  double operations = 0;       ///< floating-point operations of one run, 0: not the point
  std::vector<Predicted> predicted{};
  std::span<const std::byte> answer{};  ///< memory that the kernel writes, while this lives
  std::function<void()> reset;          ///< puts inputs and outputs back before a run
  std::function<Result<void>(CommandListRef, const CheckedKernel&, Sync)> launch;
  std::function<std::optional<Mismatch>()> verify;  ///< against a reference computed on the host
};

struct Sample {
  const char* name;    ///< "matmul", or "slm_table.strided"
  const char* family;  ///< the kernel files' name
  const char* kernel;
  const char* summary;
  Result<Prepared> (*prepare)(const OpenDevice&, const Choices&);
};

/// All samples; the first of a family is what the family's name alone means.
[[nodiscard]] std::span<const Sample> all();

/// By name, or by FAMILY.KERNEL, or by the beginning of a name up to a dot, or behind the dot up to an
/// underscore: the first of those that it stands for. Null: no such sample.
[[nodiscard]] const Sample* find(std::string_view name);

/// A choice that the sample cannot take. Code K0401.
[[nodiscard]] Error bad_choice(std::string message, std::string help);

/// No sample has this name. Code K0401, with the nearest one.
[[nodiscard]] Error unknown_sample(const std::string& name);

// The samples of each family, or of a part of it.
std::span<const Sample> saxpy();
std::span<const Sample> matmul();
std::span<const Sample> slm_limit();
std::span<const Sample> slm_table();
std::span<const Sample> bank_conflict();
std::span<const Sample> histogram();
std::span<const Sample> convolution();
std::span<const Sample> access_patterns();  ///< which addresses, and how wide
std::span<const Sample> access_spaces();    ///< which kind of memory
std::span<const Sample> access_control();   ///< loops and branches
std::span<const Sample> coalescing();
std::span<const Sample> share_values();
std::span<const Sample> slm_scatter();

}  // namespace kiln::samples
