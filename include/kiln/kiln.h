// SPDX-License-Identifier: MIT
// Kiln for C, and for every language that can call C: the same library, checks and diagnostics.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kiln/version.hpp"

// What holds for every function here
//
// Results. Every function that can fail gives a kiln_result, whose values are Level Zero's. `error` is the
// last parameter; null: not wanted. It is set by every call: to null on success and where a wait was over
// (KILN_NOT_READY), else to a kiln_error with Kiln's code ("K0101"), a text that says what to change, and the
// same as JSON. No exception leaves the library, and none may come in through a log sink.
//
// Ownership. What a function gives through a handle belongs to the caller, who destroys it once, in any
// order: an object keeps what it was made of (a kernel its bundle, a bundle its device), and that goes with
// the last of them. Destroying null does nothing. The device must be done with what is destroyed, with the
// memory that its kernels use too. A `const char*` that comes out belongs to the object it was asked of and
// lives as long; it is never null, and "" where there is nothing to say. What goes in is only read, and not
// after the call, except for memory that commands of a list work on: that must live until they have ended.
//
// Bad input. A null where none may be, a handle that was destroyed, was never given or is of another kind, a
// struct of a size or version that the library does not know or whose `reserved` is not 0, a string of more
// than 65,535 bytes: each gives a result and a diagnostic (K0901 to K0903) and no more happens. A pointer to
// memory that is not there cannot be recognized.
//
// Threads. Handles of devices, bundles, caches, files and targets, findings, meanings and accounts may be
// used by any threads at once. A list, a queue for submission, a kernel and a buffer belong to one thread at
// a time; events may be asked and waited for by any. An object is destroyed when no other thread uses its
// handle.
//
// Structs begin with their size and version, so that both sides may grow: KILN_INIT(name) makes one with both
// set and the rest zero, which is the default of every member. A newer program's struct is taken as long as
// what an older library does not know is zero. Sizes are in bytes, times in nanoseconds.

#if defined(__GNUC__)
#define KILN_CHECKED __attribute__((warn_unused_result))
#else
#define KILN_CHECKED
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t kiln_result;

enum {
  KILN_SUCCESS = 0,
  KILN_NOT_READY = 1,  ///< a wait that was over before what it waited for; a compilation that was cancelled
  KILN_ERROR_DEVICE_LOST = 0x70000001,
  KILN_ERROR_OUT_OF_HOST_MEMORY = 0x70000002,
  KILN_ERROR_OUT_OF_DEVICE_MEMORY = 0x70000003,
  KILN_ERROR_MODULE_BUILD_FAILURE = 0x70000004,
  KILN_ERROR_MODULE_LINK_FAILURE = 0x70000005,
  KILN_ERROR_UNINITIALIZED = 0x78000001,
  KILN_ERROR_UNSUPPORTED_VERSION = 0x78000002,
  KILN_ERROR_UNSUPPORTED_FEATURE = 0x78000003,
  KILN_ERROR_INVALID_ARGUMENT = 0x78000004,
  KILN_ERROR_INVALID_NULL_HANDLE = 0x78000005,
  KILN_ERROR_INVALID_NULL_POINTER = 0x78000007,
  KILN_ERROR_INVALID_SIZE = 0x78000008,
  KILN_ERROR_UNSUPPORTED_SIZE = 0x78000009,
  KILN_ERROR_UNSUPPORTED_ALIGNMENT = 0x7800000a,
  KILN_ERROR_INVALID_ENUMERATION = 0x7800000c,
  KILN_ERROR_INVALID_NATIVE_BINARY = 0x7800000f,
  KILN_ERROR_INVALID_KERNEL_NAME = 0x78000011,
  KILN_ERROR_INVALID_GROUP_SIZE_DIMENSION = 0x78000013,
  KILN_ERROR_INVALID_KERNEL_ARGUMENT_INDEX = 0x78000015,
  KILN_ERROR_INVALID_KERNEL_ARGUMENT_SIZE = 0x78000016,
  KILN_ERROR_UNKNOWN = 0x7ffffffe
};

/// Objects behind numbers that look like pointers: each use is checked, and none is followed.
typedef struct kiln_error_s* kiln_error;
typedef struct kiln_file_s* kiln_file;
typedef struct kiln_findings_s* kiln_findings;
typedef struct kiln_meaning_s* kiln_meaning;
typedef struct kiln_device_s* kiln_device;
typedef struct kiln_buffer_s* kiln_buffer;
typedef struct kiln_cache_s* kiln_cache;
typedef struct kiln_bundle_s* kiln_bundle;
typedef struct kiln_kernel_s* kiln_kernel;
typedef struct kiln_list_s* kiln_list;
typedef struct kiln_queue_s* kiln_queue;
typedef struct kiln_event_pool_s* kiln_event_pool;
typedef struct kiln_event_s* kiln_event;
typedef struct kiln_account_s* kiln_account;

/// The version of every struct here.
#define KILN_STRUCT_VERSION 1u
/// `kiln_launch_info launch = KILN_INIT(kiln_launch_info);`
#define KILN_INIT(name) name##_init()
#define KILN_DETAIL_STRUCT(name)                \
  static inline name name##_init(void) {        \
    name value;                                 \
    memset(&value, 0, sizeof value);            \
    value.struct_size = (uint32_t)sizeof value; \
    value.struct_version = KILN_STRUCT_VERSION; \
    return value;                               \
  }

/// A size in up to three dimensions. 0 in `y` or `z` stands for 1.
typedef struct kiln_extent {
  uint32_t x, y, z;
} kiln_extent;

// ---- The library

/// KILN_VERSION_NUMBER of the library that runs. Reentrant.
uint32_t kiln_library_version(void);

/// "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY" and so on, of static storage; "unknown" for what has no name.
/// Thread-safe.
const char* kiln_result_name(kiln_result result);

enum { KILN_LOG_DEBUG = 0, KILN_LOG_INFO = 1, KILN_LOG_WARNING = 2, KILN_LOG_ERROR = 3 };
/// `message` has `size` bytes, a zero behind them, and lives as long as the call.
typedef void (*kiln_log_sink)(void* user, uint32_t level, const char* message, size_t size);

/// Where the library's few log lines go, for the whole process; null: nowhere, as in the beginning. Once this
/// returns the sink before gets no line any more, so that what its `user` points to may go: lines under way
/// on other threads are waited for. The sink must be thread-safe, and must not wait for a thread that
/// replaces it. Thread-safe.
KILN_CHECKED kiln_result kiln_set_log_sink(kiln_log_sink sink, void* user, kiln_error* error);
/// The same, which gives the sink before, to be set again later; also one that was set from C++. Either of
/// the last two may be null.
KILN_CHECKED kiln_result kiln_replace_log_sink(kiln_log_sink sink, void* user, kiln_log_sink* before,
                                               void** before_user, kiln_error* error);

// ---- Errors. Thread-safe. Of null, or of a handle that is no error, they give KILN_SUCCESS and "".

kiln_result kiln_error_result(kiln_error error);
/// The function of Level Zero, or of Kiln, that failed: "zeModuleCreate".
const char* kiln_error_call(kiln_error error);
/// Kiln's code, "K0101"; "" where the result is all that is known. docs/diagnostics.md has them.
const char* kiln_error_code(kiln_error error);
/// Lines for people, the last one ended.
const char* kiln_error_text(kiln_error error);
/// One JSON object: code, severity, message, rows, help, call, result, result_value, answered_by. All of them
/// are there, also where the result is all that is known.
const char* kiln_error_json(kiln_error error);
void kiln_error_destroy(kiln_error error);

// ---- Kernel files: what they say about their kernels. No device is needed.

enum {
  KILN_FORMAT_UNKNOWN = 0,
  KILN_FORMAT_SPIRV = 1,
  KILN_FORMAT_ELF = 2,
  KILN_FORMAT_ARCHIVE = 3,
  KILN_FORMAT_PATCH_TOKENS = 4
};

/// The file itself, or a member of a fat binary.
typedef struct kiln_part_info {
  uint32_t struct_size, struct_version;
  const char* name;        ///< the member's; "" for the file itself
  const char* target;      ///< the product it was compiled for, "pvc"; "" for SPIR-V or where it is not said
  const char* unreadable;  ///< why nothing could be read; "": it could
  uint64_t unreadable_at;  ///< the place in the file, in bytes
  uint64_t global_data, constant_data;  ///< bytes of program-scope variables
  uint32_t format;                      ///< KILN_FORMAT_…
  uint32_t kernels;                     ///< how many; 0 where nothing could be read
  uint32_t ip_version;                  ///< architecture << 22 | release << 14 | revision; 0: not said
  uint32_t spirv_version;               ///< major << 16 | minor << 8; 0: native
} kiln_part_info;
KILN_DETAIL_STRUCT(kiln_part_info)

enum {
  KILN_KERNEL_ARGUMENTS_KNOWN = 1u << 0,  ///< the list of arguments is complete
  KILN_KERNEL_STACK_CALLS = 1u << 1,
  KILN_KERNEL_PRINTF = 1u << 2,
  KILN_KERNEL_GLOBAL_ATOMICS = 1u << 3,
  KILN_KERNEL_COOPERATIVE = 1u << 4,    ///< synchronizes work-groups: for cooperative launches only
  KILN_KERNEL_LARGE_BUFFERS = 1u << 5,  ///< may be given buffers of 4 GiB and more
  KILN_KERNEL_INVALID = 1u << 6         ///< the compiler marked it as one that must not be launched
};

typedef struct kiln_kernel_info {
  uint32_t struct_size, struct_version;
  const char* name;
  uint64_t static_slm;                                  ///< bytes of its own `__local` arrays
  uint64_t private_per_thread;                          ///< bytes of device memory for each hardware thread
  uint64_t scratch_per_thread[2];                       ///< bytes for each hardware thread, by slot
  uint32_t arguments;                                   ///< how many
  uint32_t flags;                                       ///< KILN_KERNEL_…
  uint32_t required_group_size[3], group_size_hint[3];  ///< zeros: none
  uint32_t required_sub_group_size;                     ///< 0: none
  uint32_t simd_size, grf_count;                        ///< 0: not known (SPIR-V)
  uint32_t barriers;
  uint32_t private_size, spill_size;  ///< bytes
} kiln_kernel_info;
KILN_DETAIL_STRUCT(kiln_kernel_info)

enum {
  KILN_ARGUMENT_VALUE = 0,
  KILN_ARGUMENT_POINTER = 1,  ///< to global or constant memory
  KILN_ARGUMENT_LOCAL = 2,    ///< a `__local` pointer
  KILN_ARGUMENT_OTHER = 3,    ///< nobody says what; in facts alone
  KILN_ARGUMENT_IMAGE = 4,    ///< a ze_image_handle_t
  KILN_ARGUMENT_SAMPLER = 5,  ///< a ze_sampler_handle_t
  KILN_ARGUMENT_BUFFER = 6    ///< a kiln_buffer where a pointer is wanted; in launches alone
};

typedef struct kiln_argument_info {
  uint32_t struct_size, struct_version;
  const char* name;          ///< of the source, where the file has it
  uint32_t kind;             ///< KILN_ARGUMENT_…
  uint32_t size;             ///< bytes of a value or pointer; 0: not said
  uint32_t local_alignment;  ///< bytes, of a `__local` pointer
  uint32_t reserved;
} kiln_argument_info;
KILN_DETAIL_STRUCT(kiln_argument_info)

/// Reads what a kernel file says: SPIR-V, a native binary, or a fat binary of ocloc or `kiln bake`. A part
/// that cannot be read has its reason in its info. Errors: K0201 the file cannot be read.
KILN_CHECKED kiln_result kiln_file_read(const char* path, kiln_file* file, kiln_error* error);
/// The same for `size` bytes in memory, which are copied. `name` is for messages; null: none.
KILN_CHECKED kiln_result kiln_file_from_memory(const char* name, const void* bytes, size_t size,
                                               kiln_file* file, kiln_error* error);
/// At least 1.
KILN_CHECKED kiln_result kiln_file_part_count(kiln_file file, uint32_t* count, kiln_error* error);
/// Parts, kernels and arguments count from 0; K0903 for one that is not there.
KILN_CHECKED kiln_result kiln_file_part(kiln_file file, uint32_t part, kiln_part_info* info,
                                        kiln_error* error);
KILN_CHECKED kiln_result kiln_file_kernel(kiln_file file, uint32_t part, uint32_t kernel,
                                          kiln_kernel_info* info, kiln_error* error);
KILN_CHECKED kiln_result kiln_file_argument(kiln_file file, uint32_t part, uint32_t kernel, uint32_t argument,
                                            kiln_argument_info* info, kiln_error* error);
/// The number of a kernel by its name. Error: INVALID_KERNEL_NAME (K0208) with the names there are.
KILN_CHECKED kiln_result kiln_file_find_kernel(kiln_file file, uint32_t part, const char* name,
                                               uint32_t* kernel, kiln_error* error);
void kiln_file_destroy(kiln_file file);

// ---- Products, and whether a kernel fits one. No device is needed.

typedef struct kiln_target_info {
  uint32_t struct_size, struct_version;
  const char* name;          ///< ocloc's: "dg2-g10"
  const char* release_name;  ///< of the generation: "xe-hpg"
  uint32_t architecture, release;
  uint64_t slm_per_group;              ///< bytes
  uint64_t max_scratch_per_thread;     ///< bytes
  uint64_t slm_per_core;               ///< bytes, for all groups of an Xe-core
  uint32_t max_group_size;             ///< work-items, any kernel
  uint32_t smallest_sub_group;         ///< work-items; from there powers of two up to 32
  uint32_t max_arguments_size;         ///< bytes of all arguments of a kernel
  uint32_t fp64, fp16, int64_atomics;  ///< 1: it has them
} kiln_target_info;
KILN_DETAIL_STRUCT(kiln_target_info)

/// How many products are known.
uint32_t kiln_target_count(void);
KILN_CHECKED kiln_result kiln_target_get(uint32_t index, kiln_target_info* info, kiln_error* error);
/// By name or alias ("acm-g10"), family ("dg2") or version ("12.60.7"). K0903: not known.
KILN_CHECKED kiln_result kiln_target_find(const char* name, kiln_target_info* info, kiln_error* error);

/// What a launch would ask for, as far as it is known.
typedef struct kiln_request {
  uint32_t struct_size, struct_version;
  kiln_extent group_size;       ///< work-items; x = 0: not known
  kiln_extent groups;           ///< x = 0: not known
  const uint64_t* local_bytes;  ///< for each argument; those of `__local` ones count
  uint32_t local_count;         ///< entries there, at most as many as the kernel has arguments
  uint32_t reserved;
} kiln_request;
KILN_DETAIL_STRUCT(kiln_request)

enum { KILN_SEVERITY_ERROR = 0, KILN_SEVERITY_WARNING = 1 };
typedef struct kiln_finding {
  uint32_t struct_size, struct_version;
  const char* code;     ///< "K0101"
  const char* message;  ///< a line, without a final period
  const char* text;     ///< with the evidence and what to change, as kiln_error_text()
  const char* json;
  uint32_t severity;  ///< KILN_SEVERITY_…
  uint32_t reserved;
} kiln_finding;
KILN_DETAIL_STRUCT(kiln_finding)

/// All reasons why that kernel of that part cannot be compiled, made or launched on the product, and
/// warnings; it fits where `errors` in kiln_findings_count() is 0. `request` null: nothing is asked for.
/// K0101 to K0105, K0109 to K0111, K0116 to K0119, K0130, K0132. Errors: K0903 no such part, kernel or
/// product.
KILN_CHECKED kiln_result kiln_check(kiln_file file, uint32_t part, uint32_t kernel, const char* target,
                                    const kiln_request* request, kiln_findings* findings, kiln_error* error);
/// `errors`: how many of `count` are errors. Either may be null.
KILN_CHECKED kiln_result kiln_findings_count(kiln_findings findings, uint32_t* count, uint32_t* errors,
                                             kiln_error* error);
KILN_CHECKED kiln_result kiln_findings_get(kiln_findings findings, uint32_t index, kiln_finding* finding,
                                           kiln_error* error);
void kiln_findings_destroy(kiln_findings findings);

/// What an engine may choose by itself, in place of what does not fit. Each value is for itself: give one of
/// them, not all. 0: it does not apply, or nothing fits.
typedef struct kiln_room {
  uint32_t struct_size, struct_version;
  uint64_t slm_per_group;  ///< bytes, of the product or device
  uint64_t static_slm;     ///< bytes, of the kernel's own arrays
  uint64_t asked_slm;      ///< bytes, with the `__local` arguments of the request
  uint64_t local_bytes;    ///< the most that all `__local` arguments can have together, alignment included
  uint64_t local_bytes_per_item;  ///< as asked for, where `largest_group` follows from it
  // Where the `__local` arguments asked for are square tiles of one edge, and do not fit:
  uint64_t tile_edge;     ///< of the largest that fit, in elements
  uint64_t tile_element;  ///< bytes of an element
  /// Bytes of elements that fit where the ones asked for, of twice that, do not.
  uint64_t element_size;
  uint32_t tiles;           ///< how many there are
  uint32_t max_group_size;  ///< work-items, for this kernel with its registers
  /// Work-items of the largest group: with as many bytes of each `__local` argument a work-item, where these
  /// decide.
  uint32_t largest_group;
  uint32_t required_group_size[3];  ///< the kernel takes no other; zeros: any
} kiln_room;
KILN_DETAIL_STRUCT(kiln_room)
KILN_CHECKED kiln_result kiln_what_fits(kiln_file file, uint32_t part, uint32_t kernel, const char* target,
                                        const kiln_request* request, kiln_room* room, kiln_error* error);

enum { KILN_RESOURCE_THREADS = 0, KILN_RESOURCE_SLM = 1, KILN_RESOURCE_BARRIERS = 2 };
/// Of one Xe-core, or dual sub-slice. All 0 for SPIR-V, whose SIMD width nobody knows yet.
typedef struct kiln_occupancy {
  uint32_t struct_size, struct_version;
  uint64_t slm_per_group;  ///< bytes, as the hardware sets them aside
  uint32_t threads_per_group, threads_per_core;
  uint32_t groups_per_core;  ///< 0: not even one fits
  uint32_t percent;          ///< of the hardware threads that have work
  uint32_t limit;            ///< KILN_RESOURCE_…: what stops it from being more
  uint32_t reserved;
} kiln_occupancy;
KILN_DETAIL_STRUCT(kiln_occupancy)
/// `group_size` in work-items, `slm` in bytes a group, static part included.
KILN_CHECKED kiln_result kiln_get_occupancy(kiln_file file, uint32_t part, uint32_t kernel,
                                            const char* target, uint64_t group_size, uint64_t slm,
                                            kiln_occupancy* occupancy, kiln_error* error);

// ---- What codes mean and why a program failed. No device is needed.

typedef struct kiln_meaning_info {
  uint32_t struct_size, struct_version;
  const char* name;           ///< "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"
  const char* meaning;        ///< what the specification says by it
  const char* const* causes;  ///< what makes Intel's driver give it
  const char* const* cures;
  uint32_t cause_count, cure_count;
  uint32_t has_value, value;  ///< Level Zero's number
} kiln_meaning_info;
KILN_DETAIL_STRUCT(kiln_meaning_info)
/// Takes a name or a number of Level Zero, OpenCL or SYCL. K0903: not known.
KILN_CHECKED kiln_result kiln_explain_code(const char* word, kiln_meaning* meaning, kiln_error* error);
KILN_CHECKED kiln_result kiln_meaning_get(kiln_meaning meaning, kiln_meaning_info* info, kiln_error* error);
void kiln_meaning_destroy(kiln_meaning meaning);
/// Why the program behind a log failed (K0501 to K0527): one finding, or none. `log` has `size` bytes.
KILN_CHECKED kiln_result kiln_explain_log(const char* log, size_t size, kiln_findings* findings,
                                          kiln_error* error);

// ---- Devices

enum {
  KILN_DEVICE_GPU = 0,
  KILN_DEVICE_CPU = 1,
  KILN_DEVICE_CAPTURE = 2,
  KILN_DEVICE_DRIVER = 3,
  KILN_DEVICE_SIMULATED = 4
};
enum { KILN_MAX_SUB_GROUP_SIZES = 8 };
typedef struct kiln_device_info {
  uint32_t struct_size, struct_version;
  const char* name;
  uint64_t memory;              ///< bytes in all
  uint64_t free_memory;         ///< bytes at the time of the call; 0: not told
  uint64_t largest_allocation;  ///< bytes
  uint64_t slm_per_group;       ///< bytes
  uint64_t timer_ticks_per_second;
  uint32_t kind;  ///< KILN_DEVICE_…
  uint32_t vendor_id, device_id;
  uint32_t ip_version;  ///< 0: not told
  uint32_t driver_version;
  uint32_t slices, sub_slices_per_slice, eus_per_sub_slice, threads_per_eu, simd_width;
  uint32_t max_group_size;       ///< work-items
  uint32_t max_group_extent[3];  ///< work-items by dimension
  uint32_t max_groups[3];
  uint32_t sub_group_size_count, sub_group_sizes[KILN_MAX_SUB_GROUP_SIZES];
  uint32_t timestamp_bits;
  uint32_t fp64, int64_atomics;  ///< 1: it has them
  uint32_t reserved;
} kiln_device_info;
KILN_DETAIL_STRUCT(kiln_device_info)

/// Level Zero's own handles, for calls that are not here. They stay Kiln's.
typedef struct kiln_native_device {
  uint32_t struct_size, struct_version;
  void *driver, *device, *context;  ///< ze_driver_handle_t, ze_device_handle_t, ze_context_handle_t
} kiln_native_device;
KILN_DETAIL_STRUCT(kiln_native_device)

/// Opens a device: "gpu", "cpu", "cpu:PRODUCT", "capture:PRODUCT", "sim:PRODUCT" or "driver:LIBRARY"; null:
/// what KILN_DEVICE says, or a GPU. Never falls back. One thread at a time, and before others read the
/// environment, which "cpu", "capture" and "sim" change. Errors: K0301 to K0311.
KILN_CHECKED kiln_result kiln_device_open(const char* request, kiln_device* device, kiln_error* error);
KILN_CHECKED kiln_result kiln_device_get_info(kiln_device device, kiln_device_info* info, kiln_error* error);
KILN_CHECKED kiln_result kiln_device_get_native(kiln_device device, kiln_native_device* native,
                                                kiln_error* error);
/// KILN_SUCCESS, or DEVICE_LOST (K0220).
KILN_CHECKED kiln_result kiln_device_status(kiln_device device, kiln_error* error);
/// Devices of the same driver, the device itself among them, in the driver's order: GPUs beside each other.
KILN_CHECKED kiln_result kiln_device_count(kiln_device device, uint32_t* count, kiln_error* error);
/// One of them in the context of `device`, so that both use the same memory, events and modules' files.
KILN_CHECKED kiln_result kiln_device_at(kiln_device device, uint32_t index, kiln_device* other,
                                        kiln_error* error);
/// The tiles of a device of several; none of one. They take what a device takes, in the same context.
KILN_CHECKED kiln_result kiln_device_sub_device_count(kiln_device device, uint32_t* count, kiln_error* error);
KILN_CHECKED kiln_result kiln_device_sub_device(kiln_device device, uint32_t index, kiln_device* sub_device,
                                                kiln_error* error);
/// A device whose context is an engine's own, and stays so: it must outlive what is made of the device. The
/// handles are those of the Level Zero loader, or of the driver of `driver_of` where that is not null. Its
/// kind is then that of `driver_of`, else what the driver says the device is.
/// Errors: K0228, or the driver's.
KILN_CHECKED kiln_result kiln_device_lend(kiln_device driver_of, const kiln_native_device* native,
                                          kiln_device* device, kiln_error* error);
/// `can` is 1 where kernels of this device reach the memory of that one.
KILN_CHECKED kiln_result kiln_device_can_access(kiln_device device, kiln_device peer, uint32_t* can,
                                                kiln_error* error);

enum {
  KILN_IDENTITY_INTEGRATED = 1u << 0,        ///< shares the memory of the host
  KILN_IDENTITY_SUB_DEVICE = 1u << 1,        ///< a tile of a device
  KILN_IDENTITY_ERROR_CORRECTION = 1u << 2,  ///< of memory
  KILN_IDENTITY_ON_DEMAND_PAGING = 1u << 3,
  KILN_IDENTITY_PCI = 1u << 4,  ///< the PCI address is known
  KILN_IDENTITY_LUID = 1u << 5  ///< the system has LUIDs (Windows)
};
/// What tells a device from another, also in Vulkan.
typedef struct kiln_identity {
  uint32_t struct_size, struct_version;
  uint8_t uuid[16];                                        ///< VkPhysicalDeviceIDProperties::deviceUUID
  uint8_t luid[8];                                         ///< VkPhysicalDeviceIDProperties::deviceLUID
  uint32_t luid_nodes;                                     ///< VkPhysicalDeviceIDProperties::deviceNodeMask
  uint32_t pci_domain, pci_bus, pci_device, pci_function;  ///< VkPhysicalDevicePCIBusInfoPropertiesEXT
  uint32_t flags;                                          ///< KILN_IDENTITY_…
  uint32_t sub_device_id;                                  ///< of a sub-device
  uint32_t reserved;
} kiln_identity;
KILN_DETAIL_STRUCT(kiln_identity)
KILN_CHECKED kiln_result kiln_device_get_identity(kiln_device device, kiln_identity* identity,
                                                  kiln_error* error);

/// What not every driver or loader has. What needs one that is lacking gives UNSUPPORTED_FEATURE (K0230).
enum {
  KILN_FEATURE_IN_ORDER_LISTS = 0,
  KILN_FEATURE_COPY_OFFLOAD = 1,  ///< KILN_LIST_COPY_OFFLOAD is heard
  KILN_FEATURE_LIST_SYNCHRONIZE = 2,
  KILN_FEATURE_COUNTER_BASED_EVENTS = 3,
  KILN_FEATURE_APPEND_LISTS = 4,
  KILN_FEATURE_HOST_FUNCTIONS = 5,
  KILN_FEATURE_IMPORT_HOST = 6
};
/// `has` is 1 where driver and loader have the KILN_FEATURE_…
KILN_CHECKED kiln_result kiln_device_has(kiln_device device, uint32_t feature, uint32_t* has,
                                         kiln_error* error);

enum {
  KILN_QUEUE_GROUP_COMPUTE = 1u << 0,
  KILN_QUEUE_GROUP_COPY = 1u << 1,
  KILN_QUEUE_GROUP_COOPERATIVE = 1u << 2
};
typedef struct kiln_queue_group {
  uint32_t struct_size, struct_version;
  uint64_t max_fill_pattern;  ///< bytes
  uint32_t flags;             ///< KILN_QUEUE_GROUP_…
  uint32_t queues;            ///< how many work side by side
} kiln_queue_group;
KILN_DETAIL_STRUCT(kiln_queue_group)
KILN_CHECKED kiln_result kiln_device_queue_group_count(kiln_device device, uint32_t* count,
                                                       kiln_error* error);
KILN_CHECKED kiln_result kiln_device_get_queue_group(kiln_device device, uint32_t index,
                                                     kiln_queue_group* group, kiln_error* error);

/// An entry point that is not here, by its name, of the library that the device was opened by, or an
/// extension of the driver: "zeImageCreate". It takes handles of this driver alone. Error: K0232.
KILN_CHECKED kiln_result kiln_device_entry_point(kiln_device device, const char* name, void** address,
                                                 kiln_error* error);
/// Memory is kept where the device reaches it, or may leave again, for kernels that find it through pointers
/// alone; Kiln does what most need.
KILN_CHECKED kiln_result kiln_device_make_resident(kiln_device device, const void* data, size_t size,
                                                   kiln_error* error);
KILN_CHECKED kiln_result kiln_device_evict(kiln_device device, const void* data, size_t size,
                                           kiln_error* error);
void kiln_device_destroy(kiln_device device);

// ---- Memory

enum { KILN_MEMORY_DEVICE = 0, KILN_MEMORY_HOST = 1, KILN_MEMORY_SHARED = 2 };
enum {
  KILN_ALLOCATE_RELAXED_LIMITS = 1u << 0,    ///< above the device's largest allocation
  KILN_ALLOCATE_EXPORT_OPAQUE_FD = 1u << 1,  ///< device memory, for kiln_buffer_export_fd()
  KILN_ALLOCATE_EXPORT_DMA_BUF = 1u << 2
};
typedef struct kiln_buffer_options {
  uint32_t struct_size, struct_version;
  uint64_t alignment;  ///< bytes, a power of two; 0: 64
  uint32_t flags;      ///< KILN_ALLOCATE_…
  uint32_t reserved;
} kiln_buffer_options;
KILN_DETAIL_STRUCT(kiln_buffer_options)

/// `kind` is KILN_MEMORY_…, `size` in bytes; `options` may be null. Errors: K0204, K0205, K0207, K0214 to
/// K0216, K0225, K0234.
KILN_CHECKED kiln_result kiln_buffer_allocate(kiln_device device, uint32_t kind, size_t size,
                                              const kiln_buffer_options* options, kiln_buffer* buffer,
                                              kiln_error* error);
/// The address, which the host may follow unless the memory is the device's; null for a bad handle.
void* kiln_buffer_data(kiln_buffer buffer);
/// Bytes asked for; 0 for a bad handle.
size_t kiln_buffer_size(kiln_buffer buffer);
/// Frees the memory. The device must be done with it.
void kiln_buffer_destroy(kiln_buffer buffer);

/// As what memory leaves a device, or comes to it, also from and to Vulkan.
enum {
  KILN_EXTERNAL_OPAQUE_FD = 0,  ///< VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
  KILN_EXTERNAL_DMA_BUF = 1     ///< VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT
};
enum {
  KILN_EXPORTS_OPAQUE_FD = 1u << 0,
  KILN_EXPORTS_DMA_BUF = 1u << 1,
  KILN_IMPORTS_OPAQUE_FD = 1u << 2,
  KILN_IMPORTS_DMA_BUF = 1u << 3
};
/// `flags` are KILN_EXPORTS_… and KILN_IMPORTS_…
KILN_CHECKED kiln_result kiln_device_get_external_memory(kiln_device device, uint32_t* flags,
                                                         kiln_error* error);
/// A descriptor of memory that was allocated for that kind, KILN_EXTERNAL_…; you close it, once where the
/// driver gives the same again. Error: K0235 where it gives none.
KILN_CHECKED kiln_result kiln_buffer_export_fd(kiln_buffer buffer, uint32_t kind, int* fd, kiln_error* error);
/// Memory of another device, process or interface; you close `fd` unless the driver says otherwise. Errors:
/// K0204, K0234; K0238 for a descriptor that the driver does not take.
KILN_CHECKED kiln_result kiln_buffer_import_fd(kiln_device device, int fd, size_t size, uint32_t kind,
                                               kiln_buffer* buffer, kiln_error* error);
/// A ze_ipc_mem_handle_t. Of fixed size.
typedef struct kiln_ipc_handle {
  char data[64];
} kiln_ipc_handle;
/// What another process opens; how its descriptor gets there is the platform's and the driver's. It stays
/// until kiln_buffer_put_ipc() or the end of the memory.
KILN_CHECKED kiln_result kiln_buffer_get_ipc(kiln_buffer buffer, kiln_ipc_handle* ipc, kiln_error* error);
KILN_CHECKED kiln_result kiln_buffer_put_ipc(kiln_buffer buffer, const kiln_ipc_handle* ipc,
                                             kiln_error* error);
/// Memory of another process, whose `size` that one tells.
KILN_CHECKED kiln_result kiln_buffer_open_ipc(kiln_device device, const kiln_ipc_handle* ipc, size_t size,
                                              kiln_buffer* buffer, kiln_error* error);
/// Memory of the host that the program has already, such as a mapped file, as a buffer: kernels and copies
/// take its address. Whole pages, in no import that is still there, and yours: they must stay until this
/// buffer was destroyed. Errors: K0237 where they are not whole; K0230 without KILN_FEATURE_IMPORT_HOST; or
/// the driver's, as for memory that it cannot map.
KILN_CHECKED kiln_result kiln_buffer_import_host(kiln_device device, void* data, size_t size,
                                                 kiln_buffer* buffer, kiln_error* error);

// ---- Where the memory went: docs/memory.md. No device is needed.

typedef struct kiln_account_options {
  uint32_t struct_size, struct_version;
  const char* root;  ///< where proc and sys are; null or "": what KILN_MEMORY_ROOT says, else "/"
  uint32_t process;  ///< 0: the calling one
  uint32_t reserved;
} kiln_account_options;
KILN_DETAIL_STRUCT(kiln_account_options)
/// Looks at this machine as it is now, some files for each process: milliseconds where there are hundreds.
/// `options` may be null. What cannot be read is left empty, so it fails for want of memory alone.
/// Thread-safe.
KILN_CHECKED kiln_result kiln_account_take(const kiln_account_options* options, kiln_account* account,
                                           kiln_error* error);

/// Bytes; 0 where they are not known.
typedef struct kiln_account_info {
  uint32_t struct_size, struct_version;
  const char* json;  ///< all of the account, as `kiln memory --json`
  uint64_t host_total, host_available, swap_free;
  uint64_t group_left;                        ///< of the tightest control group, where `has_group_limit`
  uint64_t own_device, own_host, own_shared;  ///< what buffers own, of the calling process
  uint64_t unread_processes;                  ///< whose clients this user may not see
  uint32_t process;
  uint32_t process_found;    ///< 0: there is none of that number
  uint32_t hides_processes;  ///< 1: of other users' processes nothing is seen at all (hidepid)
  uint32_t has_group_limit;  ///< 0: no control group bounds it
  uint32_t cards;            ///< for kiln_account_card()
  uint32_t reserved;
} kiln_account_info;
KILN_DETAIL_STRUCT(kiln_account_info)
KILN_CHECKED kiln_result kiln_account_get(kiln_account account, kiln_account_info* info, kiln_error* error);

enum { KILN_KNOWN_TOTAL = 1u << 0, KILN_KNOWN_FREE = 1u << 1 };
typedef struct kiln_card_info {
  uint32_t struct_size, struct_version;
  const char* address;  ///< "0000:03:00.0"
  const char* driver;   ///< the kernel driver, "xe"; "": none
  uint64_t total;       ///< bytes, where `known` has KILN_KNOWN_TOTAL
  uint64_t free;        ///< bytes, where `known` has KILN_KNOWN_FREE
  uint64_t window;      ///< bytes that the host reaches: the largest prefetchable BAR
  uint64_t own;         ///< bytes that the account's process holds
  uint64_t others;      ///< bytes that the other processes hold that are seen
  uint32_t device_id;
  uint32_t known;  ///< KILN_KNOWN_…: what the kernel tells; i915 tells it to root alone
} kiln_card_info;
KILN_DETAIL_STRUCT(kiln_card_info)
/// K0903: no such card.
KILN_CHECKED kiln_result kiln_account_card(kiln_account account, uint32_t index, kiln_card_info* info,
                                           kiln_error* error);

enum { KILN_INTEGRATED_UNKNOWN = 0, KILN_INTEGRATED_NO = 1, KILN_INTEGRATED_YES = 2 };
/// What was asked for when memory ran out, or is about to be, as far as it is known.
typedef struct kiln_memory_request {
  uint32_t struct_size, struct_version;
  uint64_t size;        ///< bytes; 0: not known
  const char* card;     ///< "0000:03:00.0"; null or "": the only one of the account, else none
  uint64_t largest;     ///< bytes that one allocation can have; 0: not known
  uint64_t total;       ///< bytes of the device, by its driver, where `known` has KILN_KNOWN_TOTAL
  uint64_t free;        ///< of it, free at the moment, where `known` has KILN_KNOWN_FREE
  uint32_t kind;        ///< KILN_MEMORY_…
  uint32_t known;       ///< KILN_KNOWN_…
  uint32_t integrated;  ///< KILN_INTEGRATED_…, by the device's driver
  uint32_t reserved;
} kiln_memory_request;
KILN_DETAIL_STRUCT(kiln_memory_request)
/// Why it would be refused, the most certain first: K0207, K0240 to K0249. An error is certain as far as the
/// numbers go; a warning stands in the way, and may not be the reason. `request` null: nothing is asked for.
KILN_CHECKED kiln_result kiln_account_causes(kiln_account account, const kiln_memory_request* request,
                                             kiln_findings* findings, kiln_error* error);
void kiln_account_destroy(kiln_account account);

// ---- The kernel cache

enum { KILN_CACHE_DEFAULT = 0, KILN_CACHE_OFF = 1, KILN_CACHE_READ = 2, KILN_CACHE_ON = 3 };
typedef struct kiln_cache_options {
  uint32_t struct_size, struct_version;
  const char* folder;            ///< null or "": $XDG_CACHE_HOME/kiln, else ~/.cache/kiln
  uint64_t max_size;             ///< bytes on disk; 0: 1 GiB
  uint64_t memory_size;          ///< bytes kept in this process; 0: 64 MiB
  const char* const* read_only;  ///< folders that are read before it and never written
  double verify;          ///< share of the hits, 0 to 1, that are compiled again; what differs is replaced
  uint64_t longest_wait;  ///< nanoseconds for another process that compiles the same; 0: 10 minutes
  uint32_t read_only_count;
  uint32_t mode;  ///< KILN_CACHE_…; default: on
  /// Stores of several machines that are asked after the folders, as URLs with options behind commas:
  /// "rediss://cache.example,read-only" (docs/fleet.md).
  const char* const* remote;
  uint64_t remote_wait;     ///< nanoseconds for all of them together, 10 minutes at most; 0: 200 ms
  const char* trust_file;   ///< the list of keys whose signatures count; null or "": the user's own
  const char* signing_key;  ///< a file, to sign what is uploaded with; null or "": nothing is signed
  uint64_t keep_inputs;  ///< bytes on disk for what is compiled, for `kiln cache rewarm`; 0: nothing is kept
  uint32_t remote_count;
  uint32_t reserved;
} kiln_cache_options;
KILN_DETAIL_STRUCT(kiln_cache_options)

typedef struct kiln_cache_counts {
  uint32_t struct_size, struct_version;
  uint64_t memory_hits, read_only_hits, user_hits, compilations, waited, stored, store_failures, damaged,
      remembered_failures, verified, verify_differences;
  uint64_t remote_hits;     ///< from stores of several machines
  uint64_t remote_refused;  ///< that a store gave, and that were not used
} kiln_cache_counts;
KILN_DETAIL_STRUCT(kiln_cache_counts)

/// What the variables KILN_CACHE… say goes before `options`, which may be null. A folder that cannot be used
/// is no error: then everything is compiled, and the log says why. Errors: K0701, K0903.
KILN_CHECKED kiln_result kiln_cache_open(const kiln_cache_options* options, kiln_cache* cache,
                                         kiln_error* error);
KILN_CHECKED kiln_result kiln_cache_get_counts(kiln_cache cache, kiln_cache_counts* counts,
                                               kiln_error* error);
void kiln_cache_destroy(kiln_cache cache);

// ---- Bundles: kernel files in, code for this device out

/// Registers of a hardware thread: with 256 less is spilled to memory, and half as many threads run.
enum {
  KILN_REGISTERS_AS_GIVEN = 0,   ///< by the flags, else the driver's own choice
  KILN_REGISTERS_AUTOMATIC = 1,  ///< and again with 256 where a kernel spills; what spills less is kept
  KILN_REGISTERS_128 = 2,
  KILN_REGISTERS_256 = 3
};
typedef struct kiln_bundle_options {
  uint32_t struct_size, struct_version;
  const char* flags;                ///< OpenCL build options for a build from SPIR-V; null: none
  const uint32_t* constant_ids;     ///< specialization constants, and
  const uint64_t* constant_values;  ///< as many of the low bytes as the constant has
  uint32_t constant_count;
  uint32_t only_spirv;    ///< 1: native code is passed over
  uint32_t same_process;  ///< 1: SPIR-V is compiled in this process, for inputs that you vouch for
  uint32_t registers;     ///< KILN_REGISTERS_…, for what is compiled; flags that say how many win
  uint32_t spill_limit;   ///< AUTOMATIC: bytes that a hardware thread may spill before 256 are tried
  uint32_t reserved;
} kiln_bundle_options;
KILN_DETAIL_STRUCT(kiln_bundle_options)

/// A kernel file in memory. Of fixed size.
typedef struct kiln_memory_file {
  const char* name;  ///< for messages
  const void* bytes;
  size_t size;
} kiln_memory_file;

enum { KILN_ORIGIN_NATIVE = 0, KILN_ORIGIN_CACHE = 1, KILN_ORIGIN_JIT = 2 };
enum { KILN_FIT_EXACT = 0, KILN_FIT_COMPATIBLE = 1, KILN_FIT_SPIRV = 2 };
typedef struct kiln_bundle_info {
  uint32_t struct_size, struct_version;
  const char* file;             ///< that the code was made from
  const char* member;           ///< of that file
  const char* target;           ///< the product that native code was compiled for
  const char* build_log;        ///< the driver's, also after success
  const char* register_choice;  ///< what KILN_REGISTERS_AUTOMATIC decided, and why; "": nothing spills
  uint64_t build_time;          ///< nanoseconds
  uint32_t origin;              ///< KILN_ORIGIN_…
  uint32_t fit;                 ///< KILN_FIT_…
  uint32_t kernels;             ///< how many
  uint32_t registers;           ///< KILN_REGISTERS_… that it was built with; AS_GIVEN: nothing to change
} kiln_bundle_info;
KILN_DETAIL_STRUCT(kiln_bundle_info)

/// What lies at a path: `kernels/saxpy` is the family of files `saxpy` in the folder `kernels`, a path that
/// ends in .ar, .spv or .bin that file. Native code where there is some for the device, else SPIR-V, through
/// `cache` where it is not null. `options` may be null. Errors: K0109, K0201 to K0203, K0210, K0227.
KILN_CHECKED kiln_result kiln_bundle_load(kiln_device device, const char* path,
                                          const kiln_bundle_options* options, kiln_cache cache,
                                          kiln_bundle* bundle, kiln_error* error);
/// The same for files in memory, of which the one that fits best is taken.
KILN_CHECKED kiln_result kiln_bundle_load_memory(kiln_device device, const kiln_memory_file* files,
                                                 uint32_t file_count, const kiln_bundle_options* options,
                                                 kiln_cache cache, kiln_bundle* bundle, kiln_error* error);
/// Links SPIR-V files into one module, in this order.
KILN_CHECKED kiln_result kiln_bundle_link(kiln_device device, const kiln_memory_file* files,
                                          uint32_t file_count, const kiln_bundle_options* options,
                                          kiln_cache cache, kiln_bundle* bundle, kiln_error* error);

/// A header of a source, found by `#include "name"`, or a macro: `#define name text`. Of fixed size.
typedef struct kiln_named_text {
  const char* name;
  const char* text;  ///< null: ""
} kiln_named_text;
/// OpenCL C.
typedef struct kiln_source {
  uint32_t struct_size, struct_version;
  const char* name;                ///< for messages and __FILE__; without a text the file that is read
  const char* text;                ///< null: that of the file, whose folder then holds headers too
  const kiln_named_text* headers;  ///< looked at before the folders
  const kiln_named_text* macros;   ///< defined before the first line
  const char* const* folders;      ///< that hold headers, in the order of looking
  uint32_t header_count, macro_count, folder_count;
  uint32_t reserved;
} kiln_source;
KILN_DETAIL_STRUCT(kiln_source)
/// Compiles OpenCL C, or takes what was compiled before from the cache: by the driver where it takes it, else
/// by libocloc. Errors: K0250 a header or a macro that cannot be taken, K0251 what is wrong with the
/// source, by line and excerpt, K0405 no compiler; then as above.
KILN_CHECKED kiln_result kiln_bundle_compile(kiln_device device, const kiln_source* source,
                                             const kiln_bundle_options* options, kiln_cache cache,
                                             kiln_bundle* bundle, kiln_error* error);
KILN_CHECKED kiln_result kiln_bundle_get_info(kiln_bundle bundle, kiln_bundle_info* info, kiln_error* error);
KILN_CHECKED kiln_result kiln_bundle_kernel_name(kiln_bundle bundle, uint32_t index, const char** name,
                                                 kiln_error* error);
/// A variable at program scope, in memory of the device: lists copy to it and from it. Error: K0233 for a
/// name that the module does not export, which OpenCL C's do where the flags say `-ze-take-global-address`.
KILN_CHECKED kiln_result kiln_bundle_global(kiln_bundle bundle, const char* name, void** data, size_t* size,
                                            kiln_error* error);
/// The address of a function on the device, for kernels that call through pointers. Error: K0233.
KILN_CHECKED kiln_result kiln_bundle_function(kiln_bundle bundle, const char* name, void** address,
                                              kiln_error* error);
void* kiln_bundle_native(kiln_bundle bundle);  ///< a ze_module_handle_t; null for a bad handle
/// Links modules after their build: what one declares and another defines, circles too. All are built with
/// the flag `-library-compilation`, and no kernel is made before. All or nothing. In whatever order the
/// bundles are destroyed, their code stays as long as a kernel or bundle of one of them. Errors: K0236 with
/// the names that are missing; K0228. kiln_bundle_link() links before the build, which is faster to call.
/// Thread-safe.
KILN_CHECKED kiln_result kiln_link_modules(const kiln_bundle* bundles, uint32_t count, kiln_error* error);
void kiln_bundle_destroy(kiln_bundle bundle);

/// A kernel of its own each time, so that every thread can have one. Errors: K0208 with the names there are,
/// K0115, K0211 to K0213.
KILN_CHECKED kiln_result kiln_kernel_create(kiln_bundle bundle, const char* name, kiln_kernel* kernel,
                                            kiln_error* error);
KILN_CHECKED kiln_result kiln_kernel_get_info(kiln_kernel kernel, kiln_kernel_info* info, kiln_error* error);
KILN_CHECKED kiln_result kiln_kernel_get_argument(kiln_kernel kernel, uint32_t argument,
                                                  kiln_argument_info* info, kiln_error* error);
/// The driver's proposal for so many work-items in all, by dimension.
KILN_CHECKED kiln_result kiln_kernel_suggest_group_size(kiln_kernel kernel, kiln_extent global_size,
                                                        kiln_extent* group_size, kiln_error* error);
void* kiln_kernel_native(kiln_kernel kernel);  ///< a ze_kernel_handle_t; null for a bad handle
void kiln_kernel_destroy(kiln_kernel kernel);

// ---- What a program may watch Kiln do
//
// Each observer is one function and one pointer for the whole process, as the log's sink is, and null in the
// beginning, which costs nothing. What sets another, or null, waits for calls of the one before that are
// under way on other threads, so that what `user` points to may then go; one that was set from C++ is
// replaced too. An observer is called on the thread that does the work, with no lock held, by several threads
// at the same time. It may call Kiln, of which it is told again; it must throw nothing, and not wait for a
// thread that sets another. Structs, texts and errors are good until it returns. All functions here are
// thread-safe. A struct here is the library's: `struct_size` says how much of it is there, which may be less
// or more than the header of the program knows.

enum {
  KILN_COMPILATION_FRONT_END = 0,  ///< libocloc: OpenCL C to SPIR-V
  KILN_COMPILATION_CODE = 1        ///< the driver: SPIR-V, or OpenCL C where it takes that, to code
};
/// Told twice, before a compilation and when it has ended; how far it is in between, nobody says. What comes
/// from the cache, or waits for another thread that compiles the same, is no compilation.
typedef struct kiln_compilation_news {
  uint32_t struct_size, struct_version;
  uint64_t number;   ///< of this compilation in the process, from 1 on: both calls have the same
  const char* name;  ///< the file or source; "" where nobody said
  const char* log;   ///< the compiler's, where it has ended
  uint64_t time;     ///< nanoseconds, where it has ended
  uint32_t step;     ///< KILN_COMPILATION_…
  uint32_t ended;    ///< 1: it has
  kiln_result result;
  uint32_t reserved;
} kiln_compilation_news;
KILN_DETAIL_STRUCT(kiln_compilation_news)
typedef void (*kiln_compilation_observer)(void* user, const kiln_compilation_news* news);
KILN_CHECKED kiln_result kiln_set_compilation_observer(kiln_compilation_observer observer, void* user,
                                                       kiln_error* error);
/// Cancels a compilation that the observer was told of: from any thread, the observer's own too. Its process
/// is ended where it has one, at the latest after 50 ms; else it runs to its end, and what it made is
/// dropped. The build gives KILN_NOT_READY (K0423), nothing is kept in a cache, and nothing else is tried.
/// Gives 1 where the compilation hears it; 0 where none of that number is under way any more, or the observer
/// that was told of it is not set any more.
uint32_t kiln_compilation_cancel(uint64_t number);

enum {
  KILN_REFUSED_LAUNCH = 0,      ///< kiln_launch(), kiln_max_cooperative_groups()
  KILN_REFUSED_ALLOCATION = 1,  ///< kiln_buffer_allocate(), kiln_buffer_import_fd()
  KILN_REFUSED_BUILD = 2,       ///< kiln_bundle_load(), its kin and kiln_bundle_compile()
  KILN_REFUSED_KERNEL = 3       ///< kiln_kernel_create()
};
/// Told once for each of these calls that fails, be it that Kiln refused or the driver, just before the
/// caller gets the same error; not of what C's own parameters have wrong (K0901 to K0903). `what` is
/// KILN_REFUSED_… The error stays Kiln's.
typedef void (*kiln_refusal_observer)(void* user, uint32_t what, kiln_error error);
KILN_CHECKED kiln_result kiln_set_refusal_observer(kiln_refusal_observer observer, void* user,
                                                   kiln_error* error);

/// Memory that Kiln got from a driver, or is about to give back: told behind the one call and before the
/// other, so that no address is told twice without its end.
typedef struct kiln_allocation_news {
  uint32_t struct_size, struct_version;
  const void* data;
  uint64_t size;   ///< bytes asked for
  void* context;   ///< a ze_context_handle_t
  uint32_t kind;   ///< KILN_MEMORY_…
  uint32_t freed;  ///< 1: it is about to be
} kiln_allocation_news;
KILN_DETAIL_STRUCT(kiln_allocation_news)
typedef void (*kiln_allocation_observer)(void* user, const kiln_allocation_news* news);
KILN_CHECKED kiln_result kiln_set_allocation_observer(kiln_allocation_observer observer, void* user,
                                                      kiln_error* error);

// ---- Events

enum {
  KILN_EVENTS_TIMESTAMPS = 1u << 0,
  KILN_EVENTS_DEVICE_ONLY = 1u << 1  ///< the host neither asks nor waits
};
#define KILN_FOREVER UINT64_MAX
typedef struct kiln_timestamps {
  uint32_t struct_size, struct_version;
  uint64_t global_start, global_end, context_start, context_end;  ///< ticks
  uint64_t duration;                                              ///< nanoseconds, wrap-around included
} kiln_timestamps;
KILN_DETAIL_STRUCT(kiln_timestamps)

/// A pool of `count` events that the host can wait for. `flags` is KILN_EVENTS_… Errors: K0217, K0223.
KILN_CHECKED kiln_result kiln_event_pool_create(kiln_device device, uint32_t count, uint32_t flags,
                                                kiln_event_pool* pool, kiln_error* error);
void kiln_event_pool_destroy(kiln_event_pool pool);
/// `index` below the pool's count (K0903), each once at a time. Thread-safe.
KILN_CHECKED kiln_result kiln_event_create(kiln_event_pool pool, uint32_t index, kiln_event* event,
                                           kiln_error* error);

/// How far what was written before a signal is seen behind it, or what a wait makes visible. Less is cheaper:
/// HOST flushes the caches of the device. Each holds those before it.
enum {
  KILN_SCOPE_DEFAULT = 0,     ///< HOST; of waiting for a counter-based event DEVICE
  KILN_SCOPE_NONE = 1,        ///< order alone: commands of one list, or lists of one queue
  KILN_SCOPE_SUB_DEVICE = 2,  ///< other queues of the sub-device
  KILN_SCOPE_DEVICE = 3,      ///< other queues of the device
  KILN_SCOPE_HOST = 4         ///< other devices and the host too
};
typedef struct kiln_event_options {
  uint32_t struct_size, struct_version;
  uint32_t signal_scope, wait_scope;  ///< KILN_SCOPE_…
  uint32_t flags;  ///< KILN_EVENTS_…, of one that is counter-based; else the pool's count
  uint32_t reserved;
} kiln_event_options;
KILN_DETAIL_STRUCT(kiln_event_options)
KILN_CHECKED kiln_result kiln_event_create_with(kiln_event_pool pool, uint32_t index,
                                                const kiln_event_options* options, kiln_event* event,
                                                kiln_error* error);
/// An event without a pool, which is never reset or signalled by the host: each append that signals it makes
/// it stand for that command alone; before the first it is signalled. Lists in order alone signal it; any may
/// wait. `options` may be null. UNSUPPORTED_FEATURE (K0230) without KILN_FEATURE_COUNTER_BASED_EVENTS.
KILN_CHECKED kiln_result kiln_event_create_counter_based(kiln_device device,
                                                         const kiln_event_options* options, kiln_event* event,
                                                         kiln_error* error);
/// `timeout` in nanoseconds, or KILN_FOREVER. KILN_NOT_READY when it is over first.
KILN_CHECKED kiln_result kiln_event_wait(kiln_event event, uint64_t timeout, kiln_error* error);
/// KILN_SUCCESS when it is signalled, KILN_NOT_READY when not.
KILN_CHECKED kiln_result kiln_event_status(kiln_event event, kiln_error* error);
KILN_CHECKED kiln_result kiln_event_signal(kiln_event event, kiln_error* error);
/// When nobody waits.
KILN_CHECKED kiln_result kiln_event_reset(kiln_event event, kiln_error* error);
/// Of the kernel that signalled it; the pool needs KILN_EVENTS_TIMESTAMPS. KILN_NOT_READY where it is not
/// signalled yet.
KILN_CHECKED kiln_result kiln_event_get_timestamps(kiln_event event, kiln_timestamps* timestamps,
                                                   kiln_error* error);
void* kiln_event_native(kiln_event event);  ///< a ze_event_handle_t; null for a bad handle
/// An event that is an engine's own, and stays so: `native`, a ze_event_handle_t of the device's driver,
/// which must outlive what is made here.
KILN_CHECKED kiln_result kiln_event_lend(kiln_device device, void* native, kiln_event* event,
                                         kiln_error* error);
void kiln_event_destroy(kiln_event event);

// ---- Lists of commands, and queues that run them

enum {
  KILN_LIST_IMMEDIATE = 1u << 0,    ///< commands start as they are appended
  KILN_LIST_SYNCHRONOUS = 1u << 1,  ///< with it: an append returns when its command has ended
  /// Each command starts when the one before it has ended, and sees what that wrote.
  KILN_LIST_IN_ORDER = 1u << 2,
  KILN_LIST_COPY_OFFLOAD = 1u << 3,  ///< a hint: copies may run on another engine
  KILN_LIST_QUEUE_GROUP = 1u << 4    ///< the queue group is the options'
};
enum {
  KILN_QUEUE_SYNCHRONOUS = 1u << 0,  ///< a submission returns when it has ended
  KILN_QUEUE_QUEUE_GROUP = 1u << 1   ///< the queue group is the options'
};
enum { KILN_PRIORITY_NORMAL = 0, KILN_PRIORITY_LOW = 1, KILN_PRIORITY_HIGH = 2 };

/// Of a list. Priority and index are a queue's, which lists that are immediate have.
typedef struct kiln_list_options {
  uint32_t struct_size, struct_version;
  uint32_t flags;        ///< KILN_LIST_…
  uint32_t priority;     ///< KILN_PRIORITY_…
  uint32_t queue_group;  ///< its number, with KILN_LIST_QUEUE_GROUP; else the first that can compute
  uint32_t queue_index;  ///< below the group's `queues`
} kiln_list_options;
KILN_DETAIL_STRUCT(kiln_list_options)

typedef struct kiln_queue_options {
  uint32_t struct_size, struct_version;
  uint32_t flags;        ///< KILN_QUEUE_…
  uint32_t priority;     ///< KILN_PRIORITY_…
  uint32_t queue_group;  ///< its number, with KILN_QUEUE_QUEUE_GROUP; else the first that can compute
  uint32_t queue_index;  ///< below the group's `queues`
} kiln_queue_options;
KILN_DETAIL_STRUCT(kiln_queue_options)

/// What a command waits for and what it signals. Null stands for neither.
typedef struct kiln_sync {
  uint32_t struct_size, struct_version;
  kiln_event signal;       ///< null: none
  const kiln_event* wait;  ///< `wait_count` events
  uint32_t wait_count;
  uint32_t reserved;
} kiln_sync;
KILN_DETAIL_STRUCT(kiln_sync)

/// A list on the device's first queue group that can compute. Unless it is in order, commands start in order
/// and may end in any other, as in Level Zero: what one leaves in memory the next one sees behind a barrier
/// or an event. Lists that are immediate and synchronous are in order. `flags` are KILN_LIST_… Errors: K0218,
/// K0224, K0230.
KILN_CHECKED kiln_result kiln_list_create(kiln_device device, uint32_t flags, kiln_list* list,
                                          kiln_error* error);
KILN_CHECKED kiln_result kiln_list_create_with(kiln_device device, const kiln_list_options* options,
                                               kiln_list* list, kiln_error* error);
KILN_CHECKED kiln_result kiln_list_barrier(kiln_list list, const kiln_sync* sync, kiln_error* error);
/// Copies `bytes` between any memory that the device can reach. Errors: K0222.
KILN_CHECKED kiln_result kiln_list_copy(kiln_list list, void* to, const void* from, size_t bytes,
                                        const kiln_sync* sync, kiln_error* error);
/// Copies all of `from` into `to`. Error: K0206 when it does not fit.
KILN_CHECKED kiln_result kiln_list_copy_buffer(kiln_list list, kiln_buffer to, kiln_buffer from,
                                               const kiln_sync* sync, kiln_error* error);
/// Repeats a pattern, whose size is a power of two, over `bytes`. Errors: K0222, K0226.
KILN_CHECKED kiln_result kiln_list_fill(kiln_list list, void* to, const void* pattern, size_t pattern_size,
                                        size_t bytes, const kiln_sync* sync, kiln_error* error);
/// A place in memory of rows: `x` in bytes, `y` in rows, `z` in slices. Of fixed size.
typedef struct kiln_region_place {
  uint32_t x, y, z;
  uint32_t pitch;        ///< bytes from one row to the next
  uint32_t slice_pitch;  ///< bytes from one slice to the next; of one slice it counts where z is not 0
} kiln_region_place;
/// Copies a box of `size` (bytes of a row, rows, slices) out of memory of rows into another. Level Zero fills
/// no regions. Error: K0231 for one that is empty, or does not fit the pitches.
KILN_CHECKED kiln_result kiln_list_copy_region(kiln_list list, void* to, const kiln_region_place* to_place,
                                               const void* from, const kiln_region_place* from_place,
                                               kiln_extent size, const kiln_sync* sync, kiln_error* error);
/// A hint for shared memory: the list's device reads it next.
KILN_CHECKED kiln_result kiln_list_prefetch(kiln_list list, const void* data, size_t bytes,
                                            kiln_error* error);
/// As ze_memory_advice_t counts.
enum {
  KILN_ADVICE_SET_READ_MOSTLY = 0,
  KILN_ADVICE_CLEAR_READ_MOSTLY = 1,
  KILN_ADVICE_SET_PREFERRED_LOCATION = 2,
  KILN_ADVICE_CLEAR_PREFERRED_LOCATION = 3,
  KILN_ADVICE_SET_NON_ATOMIC_MOSTLY = 4,
  KILN_ADVICE_CLEAR_NON_ATOMIC_MOSTLY = 5,
  KILN_ADVICE_BIAS_CACHED = 6,
  KILN_ADVICE_BIAS_UNCACHED = 7
};
/// A hint for shared memory: how the list's device will use it.
KILN_CHECKED kiln_result kiln_list_advise(kiln_list list, const void* data, size_t bytes, uint32_t advice,
                                          kiln_error* error);
/// The device writes its clock there: ticks, of which kiln_device_info has the number a second and the bits.
/// Error: K0239 for an address that is no multiple of 8.
KILN_CHECKED kiln_result kiln_list_write_timestamp(kiln_list list, uint64_t* to, const kiln_sync* sync,
                                                   kiln_error* error);
/// Closed lists run as one command of this immediate list. Error: K0230 without KILN_FEATURE_APPEND_LISTS.
KILN_CHECKED kiln_result kiln_list_append(kiln_list list, const kiln_list* lists, uint32_t count,
                                          const kiln_sync* sync, kiln_error* error);
typedef void (*kiln_host_function)(void* user);
/// The host calls `function(user)`, on some thread, when the device gets there. It must be short, throw
/// nothing, and call neither Level Zero nor Kiln. Error: K0230 without KILN_FEATURE_HOST_FUNCTIONS.
KILN_CHECKED kiln_result kiln_list_host_function(kiln_list list, kiln_host_function function, void* user,
                                                 const kiln_sync* sync, kiln_error* error);
KILN_CHECKED kiln_result kiln_list_signal(kiln_list list, kiln_event event, kiln_error* error);
KILN_CHECKED kiln_result kiln_list_wait(kiln_list list, const kiln_event* events, uint32_t count,
                                        kiln_error* error);
KILN_CHECKED kiln_result kiln_list_reset_event(kiln_list list, kiln_event event, kiln_error* error);
/// Waits for an immediate list. KILN_NOT_READY when the time is over first; UNSUPPORTED_FEATURE before Level
/// Zero 1.6: wait for an event there.
KILN_CHECKED kiln_result kiln_list_synchronize(kiln_list list, uint64_t timeout, kiln_error* error);
/// Of a list that is not immediate: no more commands, then it can be executed, and reset when that has ended.
KILN_CHECKED kiln_result kiln_list_close(kiln_list list, kiln_error* error);
KILN_CHECKED kiln_result kiln_list_reset(kiln_list list, kiln_error* error);
void* kiln_list_native(kiln_list list);  ///< a ze_command_list_handle_t; null for a bad handle
/// The same of a list, a ze_command_list_handle_t: what is launched on it is checked as on Kiln's own.
KILN_CHECKED kiln_result kiln_list_lend(kiln_device device, void* native, kiln_list* list, kiln_error* error);
void kiln_list_destroy(kiln_list list);

/// `flags` are KILN_QUEUE_…
KILN_CHECKED kiln_result kiln_queue_create(kiln_device device, uint32_t flags, kiln_queue* queue,
                                           kiln_error* error);
KILN_CHECKED kiln_result kiln_queue_create_with(kiln_device device, const kiln_queue_options* options,
                                                kiln_queue* queue, kiln_error* error);
/// Runs closed lists. Errors: K0220, K0221.
KILN_CHECKED kiln_result kiln_queue_execute(kiln_queue queue, const kiln_list* lists, uint32_t count,
                                            kiln_error* error);
KILN_CHECKED kiln_result kiln_queue_synchronize(kiln_queue queue, uint64_t timeout, kiln_error* error);
void* kiln_queue_native(kiln_queue queue);  ///< a ze_command_queue_handle_t; null for a bad handle
void kiln_queue_destroy(kiln_queue queue);

// ---- Launches, checked before the driver hears of them

/// An argument, of fixed size; kiln_value() and the others make one.
typedef struct kiln_argument {
  uint32_t kind;      ///< KILN_ARGUMENT_…, but for OTHER
  uint32_t reserved;  ///< 0
  uint64_t size;      ///< bytes of a value; of a `__local` argument its bytes a work-group; else not read
  const void* data;   ///< where the value, pointer or handle stands; not read for a `__local` argument
} kiln_argument;

enum { KILN_LAUNCH_COOPERATIVE = 1u << 0 };  ///< all work-groups at the same time

typedef struct kiln_launch_info {
  uint32_t struct_size, struct_version;
  kiln_extent groups;      ///< work-groups; x = 0: nothing is run
  kiln_extent group_size;  ///< work-items of a group
  const kiln_argument* arguments;
  uint32_t argument_count;
  uint32_t flags;          ///< KILN_LAUNCH_…
  kiln_event signal;       ///< null: none
  const kiln_event* wait;  ///< `wait_count` events
  uint32_t wait_count;
  uint32_t reserved;
} kiln_launch_info;
KILN_DETAIL_STRUCT(kiln_launch_info)

/// Compares the launch with kernel and device, sets arguments and group size, and appends it. What does not
/// fit never reaches the driver. Errors: K0101 to K0108, K0112, K0118, K0120 to K0122, or the driver's with
/// what is known around it (K0219, K0220, K0228, K0229).
KILN_CHECKED kiln_result kiln_launch(kiln_list list, kiln_kernel kernel, const kiln_launch_info* launch,
                                     kiln_error* error);
/// The most work-groups that a cooperative launch may have; `groups` and events of `launch` are not read.
KILN_CHECKED kiln_result kiln_max_cooperative_groups(kiln_kernel kernel, const kiln_launch_info* launch,
                                                     uint64_t* groups, kiln_error* error);

/// What would fit instead of such a launch: after a refusal, or before. Events of `launch` are not read.
KILN_CHECKED kiln_result kiln_kernel_what_fits(kiln_kernel kernel, const kiln_launch_info* launch,
                                               kiln_room* room, kiln_error* error);

/// `size` bytes at `value`.
static inline kiln_argument kiln_value(const void* value, uint64_t size) {
  kiln_argument argument = {KILN_ARGUMENT_VALUE, 0, size, value};
  return argument;
}
/// The memory of the buffer at `buffer`, whose size is compared with what the kernel was built for (K0112).
static inline kiln_argument kiln_buffer_argument(const kiln_buffer* buffer) {
  kiln_argument argument = {KILN_ARGUMENT_BUFFER, 0, 0, buffer};
  return argument;
}
/// The address at `pointer`.
static inline kiln_argument kiln_pointer_argument(void* const* pointer) {
  kiln_argument argument = {KILN_ARGUMENT_POINTER, 0, 0, pointer};
  return argument;
}
/// Bytes of SLM a work-group.
static inline kiln_argument kiln_local_argument(uint64_t bytes) {
  kiln_argument argument = {KILN_ARGUMENT_LOCAL, 0, bytes, 0};
  return argument;
}

#ifdef __cplusplus
}
#endif
