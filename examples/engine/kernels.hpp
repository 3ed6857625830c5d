// SPDX-License-Identifier: MIT
// The engine's kernels: what was baked, and one that is compiled again when its source changes.
#pragma once

#include <filesystem>
#include <kiln/kiln.hpp>

#include "options.hpp"

namespace engine {

/// The kernels of one thread: arguments and group size are a kernel's state.
struct Kernels {
  kiln::OwnKernel multiply, histogram, scan, reduce, convolve;
};

/// A file, and whether it changed since it was last asked about.
class Watch {
 public:
  Watch() = default;
  explicit Watch(std::filesystem::path file) : file_(std::move(file)) {}

  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  /// True for the first time too, where the file is there.
  [[nodiscard]] bool changed();

 private:
  std::filesystem::path file_;
  std::filesystem::file_time_type time_{};
  std::uintmax_t bytes_ = 0;
};

/// The modules. make…() are thread-safe, as long as no thread replaces one.
class Library {
 public:
  Library() = default;
  /// `folder` holds the families `passes` and `convolve`.
  [[nodiscard]] static kiln::Result<Library> load(const kiln::OpenDevice& device,
                                                  const std::filesystem::path& folder, kiln::Cache& cache);

  [[nodiscard]] kiln::Result<Kernels> make() const;
  [[nodiscard]] kiln::Result<kiln::OwnKernel> make_multiply() const {
    return passes_.make_kernel("multiply");
  }

  /// Compiles OpenCL C; the library stays as it is.
  [[nodiscard]] static kiln::Result<kiln::Bundle> compile(const kiln::OpenDevice& device,
                                                          const std::filesystem::path& source,
                                                          kiln::Cache& cache);
  /// Takes the new `convolve`; no kernel of the old one may be left.
  void replace_convolve(kiln::Bundle bundle) { convolve_ = std::move(bundle); }

 private:
  kiln::Bundle passes_, convolve_;
};

}  // namespace engine
