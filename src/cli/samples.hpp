// SPDX-License-Identifier: MIT
// The sample kernels: how each is launched, and the host reference that its answer is compared with.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

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

/// A sample with its data in place.
struct Prepared {
  Launch shape;
  std::uint64_t slm = 0;        ///< bytes of `__local` arguments
  std::uint64_t elements = 0;   ///< of the answer
  double bytes = 0;             ///< global memory that one run has to move
  double operations = 0;        ///< floating-point operations of one run, 0: not the point
  std::function<void()> reset;  ///< puts inputs and outputs back before a run
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

/// By name, or by family. Null: no such sample.
[[nodiscard]] const Sample* find(std::string_view name);

/// A choice that the sample cannot take. Code K0401.
[[nodiscard]] Error bad_choice(std::string message, std::string help);

Result<Prepared> prepare_saxpy(const OpenDevice&, const Choices&);
Result<Prepared> prepare_matmul(const OpenDevice&, const Choices&);
Result<Prepared> prepare_slm_limit(const OpenDevice&, const Choices&);
Result<Prepared> prepare_every_item(const OpenDevice&, const Choices&);
Result<Prepared> prepare_strided(const OpenDevice&, const Choices&);
Result<Prepared> prepare_one_each(const OpenDevice&, const Choices&);
Result<Prepared> prepare_one_each_smaller(const OpenDevice&, const Choices&);
Result<Prepared> prepare_one_each_bigger(const OpenDevice&, const Choices&);
Result<Prepared> prepare_one_each_any(const OpenDevice&, const Choices&);

}  // namespace kiln::samples
