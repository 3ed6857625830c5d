// SPDX-License-Identifier: MIT
// A kernel of the user's with its arguments in place, for `kiln run FILE` and whatever compares such runs.
#pragma once

#include "tool/kernel/load.hpp"
#include "tool/kernel/shape.hpp"
#include "tool/kernel/summary.hpp"
#include "tool/run/measure.hpp"

namespace kiln::tool {

/// What the options say of the kernel and its arguments, parsed.
struct FileRequest {
  KernelName name;
  std::vector<Specification> given{};
  ShapeRequest shape{};
  std::vector<NamedText> saves{};  ///< out:1000:FILE.npy too
  std::vector<Specification> expects{};
  Tolerance tolerance{};
  std::string flags{};
  std::string build_flags{};  ///< more of them, for a build from SPIR-V alone
  std::uint64_t seed = 1;
  const KernelCode* code = nullptr;  ///< read already, for create(); null: `name` is read
};
/// Errors: K0430, and K0400 for what only samples take. Looks whether a file to save to is the kernel's own.
[[nodiscard]] Result<FileRequest> parse_file_request(const RunOptions& options);

/// What is in a buffer after the run.
struct BufferResult {
  std::size_t place = 0;  ///< of the argument
  std::string label;
  Array data;
  std::string save{};  ///< file; empty: none
  std::optional<Array> expected{};
  bool is_output = false;  ///< the kernel may have written it
};

/// Memory of one kernel's launches. The device must outlive it. Neither copied nor moved: its launches point
/// into it.
class FileRun {
 public:
  /// Reads, compiles and binds. `watched`: counted and checked by the CPU device. Errors: of read_kernel(),
  /// Bundle::load(), bind_arguments() and choose_shape(), and K0207 and the like for buffers; what is made is
  /// not made before the device has room for it.
  [[nodiscard]] static Result<std::unique_ptr<FileRun>> create(const OpenDevice& device,
                                                               const FileRequest& request, bool watched);
  FileRun(const FileRun&) = delete;

  /// The buffers as they were before; launches are checked.
  [[nodiscard]] samples::Prepared prepare(const LaunchShape& shape);
  /// K0434 where something behind the end of a buffer was written. After a launch that was executed.
  [[nodiscard]] std::optional<Error> overrun() const;
  /// All buffers, in the order of the arguments.
  [[nodiscard]] std::vector<BufferResult> results() const;

  [[nodiscard]] const CheckedKernel& kernel() const { return *kernel_; }
  [[nodiscard]] const Bundle& bundle() const { return bundle_; }
  [[nodiscard]] const KernelCode& code() const { return code_; }
  [[nodiscard]] const LaunchShape& shape() const { return shape_; }
  [[nodiscard]] const std::vector<Bound>& arguments() const { return bound_; }
  [[nodiscard]] std::uint64_t slm_arguments() const;  ///< bytes

 private:
  FileRun(const OpenDevice& device, const FileRequest& request) : device_(device), request_(request) {}
  Result<void> load(bool watched);
  Result<void> place(bool guarded);

  const OpenDevice& device_;
  const FileRequest request_;
  KernelCode code_;
  Bundle bundle_;
  const CheckedKernel* kernel_ = nullptr;
  std::vector<Bound> bound_;
  std::vector<std::optional<Array>> expected_;
  std::vector<HostBuffer> buffers_;  // empty where the argument is none
  std::vector<void*> pointers_;
  std::vector<LaunchArgument> arguments_;
  LaunchShape shape_;
  std::size_t guard_ = 0;  // bytes behind each buffer
};

}  // namespace kiln::tool
