// SPDX-License-Identifier: MIT
// What the layer remembers of a program's objects, beside the driver's own handles.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "drivers/layer/handle_map.hpp"
#include "kiln/check.hpp"
#include "kiln/device.hpp"
#include "kiln/module.hpp"

namespace kiln::layer {

/// A module, and from what it was made. Lives as long as it or one of its kernels is known. Thread-safe.
class KnownModule {
 public:
  /// `spirv` is what it is compiled from; empty: native code, or several inputs.
  KnownModule(std::uint64_t number, ze_context_handle_t context, ze_device_handle_t device,
              std::vector<std::byte> spirv)
      : number(number),
        context(context),
        device(device),
        spirv_(std::make_shared<const std::vector<std::byte>>(std::move(spirv))) {}

  const std::uint64_t number;  ///< in the order of creation, from 1
  const ze_context_handle_t context;
  const ze_device_handle_t device;

  void made(ze_module_handle_t handle);
  void destroyed();
  /// What its code says, read when somebody asks first. Asks the driver: without any lock of the layer.
  [[nodiscard]] const ModuleFacts& facts();

 private:
  // All behind Lock::facts, whichever module they are of.
  ze_module_handle_t handle_ = nullptr;
  std::shared_ptr<const std::vector<std::byte>> spirv_;  // until the facts are there
  std::optional<ModuleFacts> facts_;
};

/// An argument as it was set last.
struct KnownArgument {
  std::uint64_t size = UINT64_MAX;  ///< bytes; the largest: not set
  bool null = false;                ///< there was no value, as for `__local` arguments
  /// What --guard looks at before the driver does.
  enum class Guard : std::uint8_t { nothing, local, object } guard = Guard::nothing;

  [[nodiscard]] bool is_set() const { return size != UINT64_MAX; }
};

struct KernelGuard;

/// A group size as records have it.
[[nodiscard]] constexpr std::uint64_t packed(const Extent& size) {
  return size.x | std::uint64_t{size.y} << 21 | std::uint64_t{size.z} << 42;
}

/// A kernel, with the state that its launches take. One thread at a time, like the kernel.
struct KnownKernel {
  KnownArgument* arguments = nullptr;  ///< `count` of them
  std::uint32_t count = 0;
  Extent group_size{0, 0, 0};       ///< zeros: not set
  std::uint32_t recorded_name = 0;  ///< its place
  std::uint64_t packed_size = 0;    ///< the group size as it is recorded
  /// Of --guard: launches need not be looked at, as long as no `__local` argument changes.
  bool admitted = true;
  // Not looked at on the way of a launch that the driver takes.
  std::unique_ptr<KnownArgument[]> storage;
  std::shared_ptr<KnownModule> module;
  std::string name;
  KernelProperties properties;  ///< as it was when fresh

  void set_group_size(const Extent& size) {
    group_size = size;
    packed_size = packed(size);
  }
  /// Of --guard: are these the sizes of the `__local` arguments that were given last, and nothing an object
  /// that must be looked at? A place for each argument; at the place of a `__local` one is its size.
  [[nodiscard]] bool has_sizes(void* const* places) const {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (arguments[i].guard == KnownArgument::Guard::nothing) continue;
      if (arguments[i].guard == KnownArgument::Guard::object || !places[i] ||
          *static_cast<const std::size_t*>(places[i]) != arguments[i].size)
        return false;
    }
    return true;
  }
  /// What was given with a launch took the place of what was set before: how much is not known.
  void forget_arguments() {
    set_group_size({0, 0, 0});
    for (std::uint32_t i = 0; i < count; ++i) arguments[i].size = UINT64_MAX;
  }
  // Of --guard alone: null without.
  std::shared_ptr<KernelGuard> guard;
};

/// A module by its handle.
struct ModuleEntry {
  std::shared_ptr<KnownModule> module;
};

/// A list or a queue.
struct KnownQueue {
  ze_device_handle_t device = nullptr;
};

/// An image, of --guard alone.
struct KnownImage {
  std::array<std::uint64_t, 3> sides{};  ///< as regions count: pixels, and levels of an array
};

struct Known {
  HandleMap<KnownKernel> kernels{Lock::kernels};
  HandleMap<ModuleEntry> modules{Lock::modules};
  HandleMap<KnownQueue> queues{Lock::queues};  ///< and lists
  HandleMap<KnownImage> images{Lock::images};
};
static_assert(std::is_trivially_destructible_v<Known>, "calls come until the process is gone");
inline constinit Known known{};

/// A child of fork() must find no lock that a thread of its parent held, and has nothing of its parent's to
/// tell. Once.
void watch_forks();

}  // namespace kiln::layer
