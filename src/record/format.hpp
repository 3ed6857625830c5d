// SPDX-License-Identifier: MIT
// The record of calls that `kiln exec --record` keeps: how it lies in memory and in the file, which is the
// same. Written by the program that is watched, into pages that the kernel keeps should it die; read by
// anyone, who must not trust it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kiln::record {

inline constexpr char kMagic[8] = {'k', 'i', 'l', 'n', 'r', 'e', 'c', '\n'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint64_t kCalls = 2048;  ///< of which are kept; a power of two
inline constexpr std::uint64_t kLists = 256;   ///< of lists and queues; likewise
inline constexpr std::size_t kNames = 65536;   ///< bytes of names of kernels

/// OF(name here, entry point)
#define KILN_RECORDED(OF)                                            \
  OF(launch, zeCommandListAppendLaunchKernel)                        \
  OF(cooperative, zeCommandListAppendLaunchCooperativeKernel)        \
  OF(indirect, zeCommandListAppendLaunchKernelIndirect)              \
  OF(with_parameters, zeCommandListAppendLaunchKernelWithParameters) \
  OF(with_arguments, zeCommandListAppendLaunchKernelWithArguments)   \
  OF(copy, zeCommandListAppendMemoryCopy)                            \
  OF(fill, zeCommandListAppendMemoryFill)                            \
  OF(device_memory, zeMemAllocDevice)                                \
  OF(shared_memory, zeMemAllocShared)                                \
  OF(host_memory, zeMemAllocHost)                                    \
  OF(free, zeMemFree)                                                \
  OF(build, zeModuleCreate)                                          \
  OF(link, zeModuleDynamicLink)                                      \
  OF(kernel, zeKernelCreate)                                         \
  OF(submit, zeCommandQueueExecuteCommandLists)                      \
  OF(wait_queue, zeCommandQueueSynchronize)                          \
  OF(wait_list, zeCommandListHostSynchronize)                        \
  OF(wait_event, zeEventHostSynchronize)                             \
  OF(wait_fence, zeFenceHostSynchronize)                             \
  OF(query_event, zeEventQueryStatus)                                \
  OF(query_fence, zeFenceQueryStatus)                                \
  OF(image_copy, zeCommandListAppendImageCopy)                       \
  OF(image_region, zeCommandListAppendImageCopyRegion)               \
  OF(from_image, zeCommandListAppendImageCopyToMemory)               \
  OF(to_image, zeCommandListAppendImageCopyFromMemory)

enum class Call : std::uint32_t {
  none,
#define KILN_OF(name, entry_point) name,
  KILN_RECORDED(KILN_OF)
#undef KILN_OF
};

inline constexpr std::uint32_t kInside = UINT32_MAX;  ///< instead of a result: the call has not come back

/// Addresses and handles are the program's, and mean nothing to a reader but what is the same.
struct Slot {
  std::uint64_t number;  ///< of the call, from 0. Written last: until then what lies here is of two calls
  Call call;
  std::uint32_t result;  ///< a ze_result_t, or kInside
  std::uint64_t thread;
  std::uint64_t object;   ///< list of a launch, copy, fill or submission; what is waited for; memory; module
  std::uint64_t other;    ///< event that a launch signals; bytes; queue of a submission
  std::uint64_t more;     ///< work-items a group, 21 bits each; event of a copy; fence of a submission
  std::uint32_t x, y, z;  ///< groups; of a build the module's number; of a submission which of how many lists
  std::uint32_t name;     ///< of a kernel: a place in the names; 0: not known
};
static_assert(sizeof(Slot) == 64);

/// A list or queue. Places of destroyed ones are used again first.
struct List {
  std::uint64_t handle;
  std::uint64_t number;  ///< of calls that began before
  std::uint32_t flags;
  std::uint32_t unused;
};
enum : std::uint32_t { kQueue = 1, kImmediate = 2, kSynchronous = 4, kInOrder = 8, kDestroyed = 16 };

inline constexpr std::uint32_t kSubmitted = 32;  ///< of the lists of one submission so many are recorded

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t process;  ///< 0: none has opened the file
  std::uint64_t since;    ///< its start, as /proc/PID/stat has it
  std::int64_t started;   ///< seconds since 1970
  std::uint32_t ended;    ///< 1: by exit()
  std::uint32_t lost;     ///< 1: a device was found to be lost, whatever the code of the call
  std::uint64_t calls;  ///< that were made, without waits that gave "not ready" and no other call came after
  std::uint64_t lists;  ///< that were made, and queues
  char program[256];    ///< ends with a zero
  char padding[4096 - 312];
};
static_assert(sizeof(Header) == 4096);

/// Whole pages, so that a file can be mapped in its place.
struct alignas(4096) Image {
  Header header;
  Slot calls[kCalls];
  List lists[kLists];
  char names[kNames];  ///< each ends with a zero; the first is empty
};

}  // namespace kiln::record
