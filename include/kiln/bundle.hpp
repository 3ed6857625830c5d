// SPDX-License-Identifier: MIT
// Bundle: kernel files in, a module for this device out, from a native binary where one fits, else from
// SPIR-V.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "kiln/build.hpp"
#include "kiln/cache.hpp"
#include "kiln/launch.hpp"
#include "kiln/module.hpp"
#include "kiln/open.hpp"
#include "kiln/source.hpp"
#include "kiln/target.hpp"

namespace kiln {

/// Where the code of a module came from.
enum class BinaryOrigin : std::uint8_t { native, cache, jit };
[[nodiscard]] const char* to_string(BinaryOrigin origin);

/// How what was taken goes with the device.
enum class BinaryFit : std::uint8_t {
  exact,       ///< native code for the IP version of the device, or for the CPU device on this machine
  compatible,  ///< native code that the driver took all the same, or whose version nobody says
  spirv,       ///< compiled for the device, now or before
};
[[nodiscard]] const char* to_string(BinaryFit fit);

/// A kernel file in memory. `name` is for messages.
struct KernelFile {
  std::string name;
  std::vector<std::byte> bytes;
};

/// Reads a whole file of at most 1 GiB, or what somebody writes into a pipe. Errors: INVALID_ARGUMENT (K0201)
/// when it cannot be read: no memory for it, a folder, a device, or a pipe without a writer among the
/// reasons.
[[nodiscard]] Result<KernelFile> read_kernel_file(const std::filesystem::path& path);

/// K0209 for a part that read_parts() found no facts in.
[[nodiscard]] Error unreadable_part(const std::string& file, const BinaryPart& part);

/// All files of one family in a folder: NAME.ar, NAME.spv, NAME.bin, and NAME.TARGET.bin for whatever
/// find_target() knows (`pvc`, `12.60.7`) and `cpu`; a file of another word there is logged and left. And
/// NAME.cpu.spv, which CPUs take before other SPIR-V, and no other device takes. Errors: INVALID_ARGUMENT
/// (K0201) when there is none.
[[nodiscard]] Result<std::vector<KernelFile>> find_kernel_files(const std::filesystem::path& folder,
                                                                const std::string& family);

/// The folder of this program's kernels: KILN_KERNEL_PATH; else `kernels` beside the program, where there is
/// one; else that of Kiln's samples. Not by the current folder, nor in a process with more rights than its
/// user by the first two.
[[nodiscard]] std::filesystem::path kernel_folder();

struct BundleOptions {
  std::string flags{};  ///< OpenCL build options for a build from SPIR-V
  Isolation isolation = Isolation::automatic;
  std::vector<SpecializationConstant> constants{};  ///< for a build from SPIR-V
  bool only_spirv = false;  ///< native code is passed over: no flag changes it any more
  /// For what is compiled. Flags that say how many win.
  Registers registers = Registers::as_given;
  /// Registers::automatic: so many bytes a hardware thread may spill before 256 are tried.
  std::uint32_t spill_limit = 0;
};

namespace detail {
struct CachedBuild;
}

/// A kernel with a handle of its own, for a thread of its own. Its bundle must outlive it. Movable; one
/// thread at a time.
class OwnKernel {
 public:
  OwnKernel() = default;

  [[nodiscard]] const CheckedKernel& get() const& { return checked_; }
  const CheckedKernel& get() const&& = delete;
  operator const CheckedKernel&() const& { return checked_; }
  operator const CheckedKernel&() const&& = delete;
  const CheckedKernel* operator->() const& { return &checked_; }
  const CheckedKernel* operator->() const&& = delete;

 private:
  friend class Bundle;
  OwnKernel(Kernel owner, CheckedKernel facts) : kernel_(std::move(owner)), checked_(std::move(facts)) {}

  Kernel kernel_;
  CheckedKernel checked_;
};

/// Owns a module and its kernels, in that order. The open device must outlive it. Movable; one thread at a
/// time.
class Bundle {
 public:
  Bundle() = default;
  Bundle(Bundle&&) noexcept = default;
  /// Not member by member: that would destroy the old module before its kernels.
  Bundle& operator=(Bundle&& other) noexcept {
    if (this == &other) return *this;
    std::destroy_at(this);
    return *std::construct_at(this, std::move(other));
  }
  ~Bundle() = default;

  /// Tries native code, then SPIR-V; the members of a fat binary (`kiln bake`, ocloc) as files of their own.
  /// First what is made for the IP version of the device, where the driver tells none what the driver takes
  /// by its name; then the others in the order given, which the driver may take. A native binary for another
  /// device is passed over in silence; a damaged file is an error only when nothing else serves, and then
  /// every file is named with its reason. Errors: K0202 nothing fits (INVALID_NATIVE_BINARY), K0203 build
  /// failure with the log, K0109 static SLM, K0210 refused without a word, K0227 the compiler crashed. A
  /// native binary that could end the process inside a driver (K0113, K0114) is never given to it.
  ///
  /// With a cache, SPIR-V that was compiled before comes from there, whatever the process
  /// (BinaryOrigin::cache); what the cache does never makes a load fail. A failure that is remembered has the
  /// log of then.
  [[nodiscard]] static Result<Bundle> load(const OpenDevice& device, std::vector<KernelFile> files,
                                           const BundleOptions& options = {}, Cache* cache = nullptr);

  /// The same for what lies at a path: `kernels/saxpy` is the family `saxpy` of the folder `kernels`, as
  /// find_kernel_files() takes it; a path that ends in .ar, .spv or .bin is that file alone, and so is any
  /// other where there is no such family. A program `saxpy` may therefore stand beside its `saxpy.ar`.
  /// Errors: INVALID_ARGUMENT (K0201) when nothing is there, for a folder, and for a file that cannot be
  /// read; then as above.
  [[nodiscard]] static Result<Bundle> load(const OpenDevice& device, const std::filesystem::path& path,
                                           const BundleOptions& options = {}, Cache* cache = nullptr);

  /// OpenCL C, compiled now, or taken from the cache before any compiler is opened: by the driver where it
  /// takes it (Intel's since 25.44), else by libocloc, in a process of its own as SPIR-V is; no file is
  /// written. `options.flags` are those of OpenCL C and of Level Zero; `constants` and `only_spirv` are for
  /// load(). What the compiler gets is one text, which the headers are part of, so that one that changed,
  /// came or went is never overlooked: docs/cache.md. Errors: K0250 an include that cannot be followed, a
  /// header that cannot be read, a macro that is none (all INVALID_ARGUMENT); K0251 what is wrong with the
  /// source, by file, line and excerpt (MODULE_BUILD_FAILURE); K0405 no compiler (DEPENDENCY_UNAVAILABLE),
  /// with what to install; then as load().
  [[nodiscard]] static Result<Bundle> compile(const OpenDevice& device, const Source& source,
                                              const BundleOptions& options = {}, Cache* cache = nullptr);

  /// Links SPIR-V files into one module, in this order; one may call what another defines. Errors: K0209 a
  /// file that cannot be read, K0203 the driver's refusal (it needs ZE_experimental_module_program), as
  /// load().
  [[nodiscard]] static Result<Bundle> link(const OpenDevice& device, std::vector<KernelFile> files,
                                           const BundleOptions& options = {}, Cache* cache = nullptr);

  /// The kernel of that name; made once, valid as long as the bundle.
  /// Errors: INVALID_KERNEL_NAME (K0208) with the names there are; OUT_OF_DEVICE_MEMORY (K0115) when its
  /// private or scratch memory for all hardware threads is above the device's; the driver's with what is
  /// known of the kernel (K0211 to K0213).
  [[nodiscard]] Result<CheckedKernel*> kernel(const std::string& name);

  /// The same with a handle of its own: arguments and group size are a kernel's state, so that each thread
  /// that launches it makes one. Thread-safe, as long as no thread calls anything that is not const.
  [[nodiscard]] Result<OwnKernel> make_kernel(const std::string& name) const;

  [[nodiscard]] ModuleRef module() const& { return code_.module.get(); }
  ModuleRef module() const&& = delete;
  [[nodiscard]] const ModuleFacts& facts() const { return facts_; }
  [[nodiscard]] BinaryOrigin origin() const { return origin_; }
  [[nodiscard]] const std::string& file() const { return file_; }  ///< the file the module was made from
  /// The member of that file; empty: the file itself.
  [[nodiscard]] const std::string& member() const { return member_; }
  /// The product that native code was compiled for ("pvc", "cpu"), where it says so; "cpu" of NAME.cpu.spv.
  [[nodiscard]] const std::string& target() const { return target_; }
  [[nodiscard]] BinaryFit fit() const { return fit_; }
  [[nodiscard]] const std::string& build_log() const {
    return build_log_;
  }  ///< the driver's, also after success
  /// What it was built with by BundleOptions::registers; as_given where that had nothing to change.
  [[nodiscard]] Registers registers() const { return registers_; }
  /// What Registers::automatic decided, and why, in words; empty where nothing spills. A cache keeps it.
  [[nodiscard]] const std::string& register_choice() const { return register_choice_; }
  [[nodiscard]] std::chrono::nanoseconds build_time() const { return build_time_; }
  /// Files that were passed over, each with the reason; for logs.
  [[nodiscard]] const std::vector<DiagnosticRow>& passed_over() const { return passed_over_; }

 private:
  Bundle(const OpenDevice& device, const BundleOptions& options);
  static Result<Bundle> load_files(const OpenDevice&, std::vector<KernelFile>, const BundleOptions&, Cache*);
  static Result<Bundle> link_files(const OpenDevice&, std::vector<KernelFile>, const BundleOptions&, Cache*);
  static Result<Bundle> compile_source(const OpenDevice&, const Source&, const BundleOptions&, Cache*);
  [[nodiscard]] Result<OwnKernel> make_own(const std::string& name) const;
  void note_registers(const OpenDevice& device, const BundleOptions& options);
  void take(detail::CachedBuild built, std::string file);

  /// Kernels go before their module, in destruction and in assignment.
  struct Code {
    Code() = default;
    Code(Code&&) noexcept = default;
    Code& operator=(Code&& other) noexcept {
      if (this == &other) return *this;
      kernels = std::move(other.kernels);
      module = std::move(other.module);
      return *this;
    }
    ~Code() = default;

    Module module;
    std::vector<std::unique_ptr<OwnKernel>> kernels;
  };

  Code code_;
  ModuleFacts facts_;
  ComputeProperties compute_;
  ThreadMemory memory_;
  KernelHome home_;
  std::uint64_t largest_allocation_ = 0;  // bytes
  BinaryOrigin origin_ = BinaryOrigin::jit;
  BinaryFit fit_ = BinaryFit::spirv;
  std::string file_, member_, target_, build_log_, flags_;
  std::string register_choice_;
  Registers registers_ = Registers::as_given;
  std::chrono::nanoseconds build_time_{};
  std::vector<DiagnosticRow> passed_over_;
};

}  // namespace kiln
