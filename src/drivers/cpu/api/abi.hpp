// SPDX-License-Identifier: MIT
// The parts of the Level Zero interface that are newer than the oldest headers Kiln builds with (1.4, Debian
// 12).
#pragma once

#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>

#include <cstddef>
#include <cstdint>

namespace kiln::cpu::abi {

// Own names, so that newer headers, which have them too, do not clash. Values and layouts:
// specification 1.17.
constexpr auto structure_type(std::uint32_t value) { return static_cast<ze_structure_type_t>(value); }
inline constexpr auto kDeviceIpVersion = structure_type(0x1000f);
inline constexpr auto kKernelMaxGroupSize = structure_type(0x10013);
inline constexpr auto kRelaxedLimitsExt = structure_type(0x10016);
inline constexpr auto kCounterBasedPool = structure_type(0x20014);
inline constexpr auto kDriverDdiHandles = structure_type(0x20027);
inline constexpr auto kDeviceCacheLineSize = structure_type(0x20028);
inline constexpr auto kAppendCooperative = structure_type(0x20036);
inline constexpr auto kExternalSystemMemory = structure_type(0x20037);
inline constexpr auto kCounterExternalSync = structure_type(0x2003b);
inline constexpr auto kIpcHandleType = structure_type(0x2003d);
inline constexpr auto kDeviceEventProperties = structure_type(0x2003e);
inline constexpr auto kCounterExternalStorage = structure_type(0x2003f);
inline constexpr auto kDeviceUsableMemory = structure_type(0x20041);

inline constexpr auto kAddressNotFound = static_cast<ze_result_t>(0x78000021);

inline constexpr std::uint32_t kRelaxedLimitsMaxSize = 1;  // the only flag, EXP and EXT alike
inline constexpr std::uint32_t kDdiHandlesSupported = 1;
inline constexpr std::uint32_t kInitDriverTypeGpu = 1;
inline constexpr std::uint32_t kEventPoolMappedTimestamp = 8;
inline constexpr std::uint32_t kQueueInOrder = 2;  // of immediate lists
inline constexpr std::uint32_t kListInOrder = 8;
// All flags of a queue (in order, copy offload hint), a list (also cloneable) and a pool up to 1.17.
inline constexpr std::uint32_t kQueueFlags = 0x7;
inline constexpr std::uint32_t kListFlags = 0x3f;
inline constexpr std::uint32_t kEventPoolFlags = 0xf;

// Counter-based events, since 1.15.
inline constexpr std::uint32_t kCounterIpc = 0x8;
inline constexpr std::uint32_t kCounterDeviceTimestamp = 0x10;
inline constexpr std::uint32_t kCounterHostTimestamp = 0x20;
inline constexpr std::uint32_t kCounterFlags = 0x7f;
inline constexpr std::uint32_t kDeviceCountersByIpc = 0x2;

// Kinds of IPC memory handles, since 1.15: default, over a fabric.
inline constexpr std::uint32_t kIpcHandleDefault = 0x1;
inline constexpr std::uint32_t kIpcHandleTypes = 0x3;

inline constexpr std::uint32_t kAtomicAccessFlags = 0x7f;  // of an allocation, since 1.7

/// The beginning of every structure that may hang on a pNext chain.
struct Chained {
  ze_structure_type_t stype;
  Chained* next;
};

struct DeviceIpVersion {
  ze_structure_type_t stype;
  const void* pNext;
  std::uint32_t ipVersion;
};

struct KernelMaxGroupSize {
  ze_structure_type_t stype;
  void* pNext;
  std::uint32_t maxGroupSize;
};

struct RelaxedLimits {
  ze_structure_type_t stype;
  const void* pNext;
  std::uint32_t flags;
};

struct ExternalSystemMemory {  // ze_external_memmap_sysmem_ext_desc_t, 1.14
  ze_structure_type_t stype;
  const void* pNext;
  void* pSystemMemory;
  std::uint64_t size;
};

struct DriverDdiHandles {
  ze_structure_type_t stype;
  void* pNext;
  std::uint32_t flags;
};

struct DeviceCacheLineSize {
  ze_structure_type_t stype;
  const void* pNext;
  std::size_t cacheLineSize;
};

struct AppendCooperative {
  ze_structure_type_t stype;
  const void* pNext;
  ze_bool_t isCooperative;
};

struct DeviceUsableMemory {
  ze_structure_type_t stype;
  void* pNext;
  std::uint64_t currUsableMemSize;
};

struct Flags {
  ze_structure_type_t stype;
  const void* pNext;
  std::uint32_t flags;
};

struct CounterBasedDesc {
  ze_structure_type_t stype;
  const void* pNext;
  std::uint32_t flags;
  ze_event_scope_flags_t signal;
  ze_event_scope_flags_t wait;
};

struct CounterIpcHandle {
  char data[ZE_MAX_IPC_HANDLE_SIZE];
};

struct PhysicalMemoryProperties {
  ze_structure_type_t stype;
  void* pNext;
  std::uint64_t id;
  std::uint64_t size;
};

struct InitDriverType {
  ze_structure_type_t stype;
  const void* pNext;
  std::uint32_t flags;
};

struct GroupSize {
  std::uint32_t x, y, z;
};

struct SynchronizedTimestamp {
  std::uint64_t global_start, global_end, context_start, context_end;  ///< ns, host's clock
};

struct KernelTimestampResults {
  ze_structure_type_t stype;
  void* pNext;
  ze_kernel_timestamp_result_t* pKernelTimestampsBuffer;
  SynchronizedTimestamp* pSynchronizedTimestampsBuffer;
};

}  // namespace kiln::cpu::abi
