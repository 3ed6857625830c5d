// SPDX-License-Identifier: MIT
// An in-process fake Level Zero driver that counts calls, fails on demand and records what it was sent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "kiln/api.hpp"
#include "kiln/structures.hpp"

namespace kiln::test {

/// One value for each entry point of the dispatch table, zeInit first.
enum class Call : std::size_t {
  zeInit,
#define KILN_REQUIRED(table, name) ze##table##name,
#define KILN_OPTIONAL(name, type) name,
  KILN_ENTRY_POINTS(KILN_REQUIRED, KILN_OPTIONAL)
#undef KILN_REQUIRED
#undef KILN_OPTIONAL
      count
};
inline constexpr std::size_t kCalls = static_cast<std::size_t>(Call::count);

[[nodiscard]] const char* name_of(Call call);

struct SentArgument {
  const void* kernel = nullptr;
  std::uint32_t index = 0;
  std::size_t size = 0;
  bool has_value = false;  // false: a null pointer, as for `__local` arguments
  std::vector<std::byte> value;

  template <class T>
  [[nodiscard]] T as() const {
    static_assert(std::is_trivially_copyable_v<T>);
    T result{};
    if (value.size() == sizeof(T)) std::memcpy(&result, value.data(), sizeof(T));
    return result;
  }
};

struct SentGroupSize {
  const void* kernel = nullptr;
  std::array<std::uint32_t, 3> size{};
};

struct SentLaunch {
  const void* list = nullptr;
  const void* kernel = nullptr;
  std::array<std::uint32_t, 3> groups{};
  const void* signal = nullptr;
  std::vector<const void*> wait;
};

/// A struct that a call was given, as it was when the call came.
struct SentStruct {
  Call call;
  ze_structure_type_t type{};
  std::vector<std::byte> bytes;
  std::vector<ze_structure_type_t> chain;  // types of what hangs at pNext
};

struct Destroyed {
  Call call;
  const void* handle = nullptr;
  friend bool operator==(const Destroyed&, const Destroyed&) = default;
};

/// What the fake answers, and what it was sent. A struct whose `stype` is not that of its type, or with one
/// that no driver knows at pNext, is a complaint; one that is left when the stub goes ends the test. One at a
/// time; constructing it fills Kiln's dispatch table.
class StubDriver {
 public:
  enum class Optional : bool { absent, present };

  /// `optional`: whether the entry points marked OPTIONAL are in the table.
  explicit StubDriver(Optional optional = Optional::present);
  ~StubDriver();
  StubDriver(const StubDriver&) = delete;
  StubDriver& operator=(const StubDriver&) = delete;

  /// The `nth` call (1 is the next one) of that entry point gives `code`; earlier and later ones succeed.
  void fail(Call call, ze_result_t code, std::size_t nth = 1);
  /// The `nth` call of any entry point gives `code`.
  void fail_any(ze_result_t code, std::size_t nth = 1);

  [[nodiscard]] std::size_t calls(Call call) const { return calls_[static_cast<std::size_t>(call)]; }
  [[nodiscard]] std::size_t all_calls() const { return all_calls_; }
  /// Forgets counts and records, not answers and pending failures.
  void forget();

  /// The struct of that type that a call was given last; all zero when none was, or nothing is recorded.
  template <class T>
  [[nodiscard]] T last() const {
    T result{};
    for (const SentStruct& each : structs)
      if (each.type == StructureType<T>::value) std::memcpy(&result, each.bytes.data(), sizeof result);
    return result;
  }

  /// A handle that no other call has returned.
  template <class Handle>
  [[nodiscard]] Handle new_handle() {
    return reinterpret_cast<Handle>(next_handle_ += 16);
  }

  // Answers.
  ze_driver_handle_t driver = nullptr;
  ze_device_handle_t device = nullptr;
  ze_device_properties_t device_properties{};
  ze_external_memory_type_flags_t external = 0;  ///< what the device exports and imports
  ze_device_compute_properties_t compute{};
  ze_pci_address_ext_t pci{};
  ze_kernel_properties_t kernel{};
  std::uint32_t max_group_size = 0;  // of a kernel, 0: the driver does not know the chained struct
  bool refuses_chained = false;      // as validation layers do
  std::uint32_t driver_version = 0;
  std::uint32_t api_version = ZE_MAKE_VERSION(1, 3);
  std::uint64_t total_memory = std::uint64_t{8} << 30, free_memory = 0;  // bytes; 0: not told
  ze_result_t device_status = ZE_RESULT_SUCCESS;
  std::vector<ze_command_queue_group_properties_t> queue_groups;
  std::string build_log, native_build_log;  // of a build from SPIR-V, and from a native binary
  bool loader_wraps = false;                // the application's handles are the loader's own
  std::string last_error;                   // zeDriverGetLastErrorDescription, as it stands
  std::string last_error_of_next;           // takes its place when the next injected failure strikes
  std::vector<std::byte> native_binary;
  std::vector<std::string> kernel_names;
  ze_kernel_timestamp_result_t timestamps{};
  bool signalled = true;
  std::uint32_t cooperative_groups = 4;  // what zeKernelSuggestMaxCooperativeGroupCount gives
  ze_kernel_indirect_access_flags_t indirect_access = 0;  // what zeKernelSetIndirectAccess was given last
  std::map<std::string, void*, std::less<>> extension_functions;  // that the driver has by name
  std::uint32_t vanishing = 0;     // items that are gone when a list is asked for the second time
  std::function<void()> on_build;  // called by zeModuleCreate before it begins
  bool recording = true;           // false: only counts, which allocates nothing

  // Records.
  std::vector<std::unique_ptr<std::byte[]>> memory;  // USM stays until the stub goes, so fake frees are safe
  std::vector<SentArgument> arguments;
  std::vector<SentGroupSize> group_sizes;
  std::vector<SentLaunch> launches;
  std::vector<Destroyed> destroyed;
  std::vector<ze_module_format_t> module_formats;
  std::vector<SentStruct> structs;
  std::vector<std::string> complaints;
  std::vector<std::uint64_t> timeouts;

  // For the entry points themselves.
  [[nodiscard]] ze_result_t enter(Call call);
  std::string open_log;  // of the last build
  std::mutex mutex;      // held by each
  [[nodiscard]] static StubDriver& current();

 private:
  struct Failure {
    std::size_t left;
    ze_result_t code;
  };
  [[nodiscard]] ze_result_t strike(std::deque<Failure>& failures);

  std::array<std::size_t, kCalls> calls_{};
  std::size_t all_calls_ = 0;
  std::uintptr_t next_handle_ = 0x10000;
  std::array<std::deque<Failure>, kCalls> failures_;
  std::deque<Failure> any_failures_;
};

}  // namespace kiln::test
