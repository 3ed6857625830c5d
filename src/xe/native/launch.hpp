// SPDX-License-Identifier: MIT
// A launch of a native kernel without a driver: payloads laid out, surfaces bound, groups run one by one.
#pragma once

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "xe/native/module.hpp"

namespace kiln::xe {

struct NativeArgument {
  std::span<const std::byte> value{};    ///< by value
  std::uint64_t address = 0, bytes = 0;  ///< of a buffer, and what lies there from the address on
  std::uint64_t local_bytes = 0;         ///< of a `__local` pointer
};

struct NativeShape {
  std::array<std::uint32_t, 3> groups{1, 1, 1}, local{1, 1, 1};
  std::array<std::uint64_t, 3> offset{};
};

/// Immutable once it is made; its workers may run at once, each in a thread of its own.
class NativeLaunch {
 public:
  /// Threads that may run groups of one launch at once.
  static constexpr std::uint32_t kMostWorkers = 8;

  /// `kernel` counts in module.kernels(). The arguments are copied, the module is kept. An error is a
  /// sentence: what the machine lacks, or what does not fit.
  [[nodiscard]] static tl::expected<std::unique_ptr<NativeLaunch>, std::string> make(
      std::shared_ptr<const NativeModule> module, std::size_t kernel, const NativeShape& shape,
      std::span<const NativeArgument> arguments, std::uint32_t workers);
  ~NativeLaunch();
  NativeLaunch(const NativeLaunch&) = delete;
  NativeLaunch& operator=(const NativeLaunch&) = delete;

  /// Of a thread's groups. 0 and no time: the defaults of Group.
  struct Limits {
    std::uint64_t instructions = 0;
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  };

  /// Runs groups in one thread. `outside` reaches the caller's memory.
  class Worker {
   public:
    Worker(const NativeLaunch& launch, std::uint32_t number, Bus& outside, const Limits& limits);
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;
    [[nodiscard]] std::optional<Fault> run(const std::array<std::uint32_t, 3>& group,
                                           Counts* counts = nullptr);

   private:
    class View;
    const NativeLaunch& launch_;
    std::unique_ptr<View> view_;
    std::vector<ThreadStart> starts_;
    Group group_;
  };

 private:
  /// Zeros from the system, which gives pages as they are touched.
  struct Block {
    std::byte* data = nullptr;
    std::uint64_t size = 0;
    [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(data); }
  };
  NativeLaunch() = default;
  [[nodiscard]] bool allocate(Block& block, std::uint64_t size);
  [[nodiscard]] std::string lay_out(const NativeShape& shape, std::span<const NativeArgument> arguments);
  [[nodiscard]] Stretch reach(std::uint64_t address, bool write) const;

  std::shared_ptr<const NativeModule> module_;
  std::shared_ptr<const Code> code_;
  const detail::KernelPayload* kernel_ = nullptr;
  std::uint32_t threads_ = 0, items_ = 0, slm_ = 0, scratch_pitch_ = 0, workers_ = 1;
  std::vector<std::byte> shared_, ids_;
  std::map<std::pair<SurfaceKind, std::uint32_t>, Surface> surfaces_;
  Block indirect_, scratch_, private_;
};

}  // namespace kiln::xe
