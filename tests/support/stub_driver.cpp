// SPDX-License-Identifier: MIT
// The entry points of the fake driver: one template for all, and an overload of answer() where success alone
// would not do.
#include "support/stub_driver.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <span>
#include <utility>

namespace kiln::test {
namespace {

StubDriver* the_stub = nullptr;

template <Call C>
using Tag = std::integral_constant<Call, C>;

struct AnyArgument {
  template <class T>
  AnyArgument(const T&) {}
};

/// Level Zero's two-call pattern over anything that can be copied.
template <class T>
ze_result_t fill(std::uint32_t* count, T* out, const std::vector<T>& items) {
  if (!out) {
    *count = static_cast<std::uint32_t>(items.size());
    return ZE_RESULT_SUCCESS;
  }
  const std::size_t gone = std::min<std::size_t>(StubDriver::current().vanishing, items.size());
  *count = std::min(*count, static_cast<std::uint32_t>(items.size() - gone));
  std::copy_n(items.begin(), *count, out);
  return ZE_RESULT_SUCCESS;
}

/// Copies an answer into the caller's struct, whose stype and chain stay as they are.
template <class T>
void copy_answer(T* out, T value) {
  value.stype = out->stype;
  value.pNext = out->pNext;
  *out = value;
}

// ---- handles

template <class Handle>
ze_result_t hand_out(StubDriver& stub, Handle* out) {
  *out = stub.new_handle<Handle>();
  return ZE_RESULT_SUCCESS;
}

#define KILN_CREATES(call, Handle, ...)                                             \
  ze_result_t answer(StubDriver& stub, Tag<Call::call>, __VA_ARGS__, Handle* out) { \
    return hand_out(stub, out);                                                     \
  }
ze_result_t answer(StubDriver& stub, Tag<Call::zeInitDrivers>, std::uint32_t* count, ze_driver_handle_t* out,
                   abi::InitDriverType*) {
  return fill(count, out, std::vector{stub.driver});
}
KILN_CREATES(zeContextCreate, ze_context_handle_t, AnyArgument, AnyArgument)
KILN_CREATES(zeCommandQueueCreate, ze_command_queue_handle_t, AnyArgument, AnyArgument, AnyArgument)
KILN_CREATES(zeFenceCreate, ze_fence_handle_t, AnyArgument, AnyArgument)
KILN_CREATES(zeEventPoolCreate, ze_event_pool_handle_t, AnyArgument, AnyArgument, AnyArgument, AnyArgument)
KILN_CREATES(zeEventCreate, ze_event_handle_t, AnyArgument, AnyArgument)
KILN_CREATES(zeEventCounterBasedCreate, ze_event_handle_t, AnyArgument, AnyArgument, AnyArgument)
KILN_CREATES(zexCounterBasedEventCreate2, ze_event_handle_t, AnyArgument, AnyArgument, AnyArgument)
KILN_CREATES(zeCommandListCreate, ze_command_list_handle_t, AnyArgument, AnyArgument, AnyArgument)
KILN_CREATES(zeCommandListCreateImmediate, ze_command_list_handle_t, AnyArgument, AnyArgument, AnyArgument)
KILN_CREATES(zeKernelCreate, ze_kernel_handle_t, AnyArgument, AnyArgument)
#undef KILN_CREATES

ze_result_t gone(StubDriver& stub, Call call, const void* handle) {
  if (stub.recording) stub.destroyed.push_back({call, handle});
  return ZE_RESULT_SUCCESS;
}

#define KILN_DESTROYS(call)                                                   \
  ze_result_t answer(StubDriver& stub, Tag<Call::call>, const void* handle) { \
    return gone(stub, Call::call, handle);                                    \
  }
KILN_DESTROYS(zeContextDestroy)
KILN_DESTROYS(zeCommandQueueDestroy)
KILN_DESTROYS(zeFenceDestroy)
KILN_DESTROYS(zeEventPoolDestroy)
KILN_DESTROYS(zeEventDestroy)
KILN_DESTROYS(zeCommandListDestroy)
KILN_DESTROYS(zeModuleDestroy)
KILN_DESTROYS(zeModuleBuildLogDestroy)
KILN_DESTROYS(zeKernelDestroy)
#undef KILN_DESTROYS

// ---- memory: real, so that spans over it can be read and written

constexpr std::size_t kPage = 4096;  // bytes; drivers align to it at least

ze_result_t allocate(StubDriver& stub, std::size_t size, void** out) {
  std::size_t room = size + kPage;
  *out = stub.memory.emplace_back(std::make_unique<std::byte[]>(room)).get();
  std::align(kPage, size, *out, room);
  return ZE_RESULT_SUCCESS;
}

ze_result_t answer(StubDriver& stub, Tag<Call::zeMemAllocDevice>, AnyArgument, AnyArgument, std::size_t size,
                   AnyArgument, AnyArgument, void** out) {
  return allocate(stub, size, out);
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeMemAllocHost>, AnyArgument, AnyArgument, std::size_t size,
                   AnyArgument, void** out) {
  return allocate(stub, size, out);
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeMemAllocShared>, AnyArgument, AnyArgument, AnyArgument,
                   std::size_t size, AnyArgument, AnyArgument, void** out) {
  return allocate(stub, size, out);
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeMemFree>, AnyArgument, void* data) {
  return gone(stub, Call::zeMemFree, data);
}

// ---- properties

ze_result_t answer(StubDriver& stub, Tag<Call::zeDriverGet>, std::uint32_t* count, ze_driver_handle_t* out) {
  return fill(count, out, std::vector{stub.driver});
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeDeviceGet>, AnyArgument, std::uint32_t* count,
                   ze_device_handle_t* out) {
  return fill(count, out, std::vector{stub.device});
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeDriverGetProperties>, AnyArgument,
                   ze_driver_properties_t* out) {
  out->driverVersion = stub.driver_version;
  return ZE_RESULT_SUCCESS;
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeDriverGetApiVersion>, AnyArgument, ze_api_version_t* out) {
  *out = static_cast<ze_api_version_t>(stub.api_version);
  return ZE_RESULT_SUCCESS;
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeDriverGetExtensionFunctionAddress>, AnyArgument,
                   const char* name, void** address) {
  const auto found = stub.extension_functions.find(name);
  if (found == stub.extension_functions.end()) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  *address = found->second;
  return ZE_RESULT_SUCCESS;
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeDeviceGetProperties>, AnyArgument,
                   ze_device_properties_t* out) {
  auto* chained = static_cast<abi::DeviceUsableMemory*>(out->pNext);
  copy_answer(out, stub.device_properties);
  if (chained && chained->stype == StructureType<abi::DeviceUsableMemory>::value)
    chained->currUsableMemSize = stub.free_memory;
  return ZE_RESULT_SUCCESS;
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeDeviceGetComputeProperties>, AnyArgument,
                   ze_device_compute_properties_t* out) {
  copy_answer(out, stub.compute);
  return ZE_RESULT_SUCCESS;
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeDevicePciGetPropertiesExt>, AnyArgument,
                   ze_pci_ext_properties_t* out) {
  out->address = stub.pci;
  return ZE_RESULT_SUCCESS;
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeDeviceGetExternalMemoryProperties>, AnyArgument,
                   ze_device_external_memory_properties_t* out) {
  out->memoryAllocationExportTypes = out->memoryAllocationImportTypes = stub.external;
  return ZE_RESULT_SUCCESS;
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeDeviceGetCommandQueueGroupProperties>, AnyArgument,
                   std::uint32_t* count, ze_command_queue_group_properties_t* out) {
  return fill(count, out, stub.queue_groups);
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeDeviceGetMemoryProperties>, AnyArgument,
                   std::uint32_t* count, ze_device_memory_properties_t* out) {
  auto memory = make<ze_device_memory_properties_t>();
  memory.totalSize = stub.total_memory;
  return fill(count, out, std::vector{memory});
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeCommandListGetDeviceHandle>, AnyArgument,
                   ze_device_handle_t* out) {
  *out = stub.device;
  return ZE_RESULT_SUCCESS;
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeDeviceGetStatus>, AnyArgument) { return stub.device_status; }
ze_result_t answer(StubDriver& stub, Tag<Call::zeDriverGetLastErrorDescription>, AnyArgument,
                   const char** out) {
  *out = stub.last_error.c_str();
  return ZE_RESULT_SUCCESS;
}

ze_result_t answer(StubDriver& stub, Tag<Call::zelLoaderTranslateHandle>, int, void* handle, void** out) {
  *out = stub.loader_wraps ? static_cast<char*>(handle) + 1 : handle;
  return ZE_RESULT_SUCCESS;
}

// ---- modules and kernels

void give_log(StubDriver& stub, const ze_module_desc_t* description, ze_module_build_log_handle_t* log) {
  stub.open_log = description->format == ZE_MODULE_FORMAT_NATIVE ? stub.native_build_log : stub.build_log;
  if (log) *log = stub.new_handle<ze_module_build_log_handle_t>();
}

void give_log(StubDriver& stub, ze_module_build_log_handle_t* log) {
  stub.open_log = stub.build_log;
  if (log) *log = stub.new_handle<ze_module_build_log_handle_t>();
}

ze_result_t answer(StubDriver& stub, Tag<Call::zeModuleDynamicLink>, AnyArgument, AnyArgument,
                   ze_module_build_log_handle_t* log) {
  give_log(stub, log);
  return ZE_RESULT_SUCCESS;
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeModuleCreate>, AnyArgument, AnyArgument,
                   const ze_module_desc_t* description, ze_module_handle_t* out,
                   ze_module_build_log_handle_t* log) {
  if (stub.recording) stub.module_formats.push_back(description->format);
  give_log(stub, description, log);
  return hand_out(stub, out);
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeModuleBuildLogGetString>, AnyArgument, std::size_t* size,
                   char* out) {
  const std::size_t whole = stub.open_log.size() + 1;
  if (out && *size < whole) return ZE_RESULT_ERROR_INVALID_SIZE;
  if (out) std::copy_n(stub.open_log.c_str(), whole, out);
  *size = whole;
  return ZE_RESULT_SUCCESS;
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeModuleGetNativeBinary>, AnyArgument, std::size_t* size,
                   std::uint8_t* out) {
  const std::size_t gone = out ? std::min<std::size_t>(stub.vanishing, stub.native_binary.size()) : 0;
  *size = std::min(out ? *size : SIZE_MAX, stub.native_binary.size() - gone);
  if (out) std::copy_n(reinterpret_cast<const std::uint8_t*>(stub.native_binary.data()), *size, out);
  return ZE_RESULT_SUCCESS;
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeModuleGetKernelNames>, AnyArgument, std::uint32_t* count,
                   const char** out) {
  std::vector<const char*> names;
  for (const std::string& name : stub.kernel_names) names.push_back(name.c_str());
  return fill(count, out, names);
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeKernelGetProperties>, AnyArgument,
                   ze_kernel_properties_t* out) {
  if (stub.refuses_chained && out->pNext) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  copy_answer(out, stub.kernel);
  auto* chained = static_cast<abi::KernelMaxGroupSize*>(out->pNext);
  if (chained && stub.max_group_size) chained->maxGroupSize = stub.max_group_size;
  return ZE_RESULT_SUCCESS;
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeKernelSetArgumentValue>, const void* kernel,
                   std::uint32_t index, std::size_t size, const void* value) {
  if (!stub.recording) return ZE_RESULT_SUCCESS;
  SentArgument sent{kernel, index, size, value != nullptr, {}};
  const auto* bytes = static_cast<const std::byte*>(value);
  if (bytes) sent.value.assign(bytes, bytes + size);
  stub.arguments.push_back(std::move(sent));
  return ZE_RESULT_SUCCESS;
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeKernelSetGroupSize>, const void* kernel, std::uint32_t x,
                   std::uint32_t y, std::uint32_t z) {
  if (stub.recording) stub.group_sizes.push_back({kernel, {x, y, z}});
  return ZE_RESULT_SUCCESS;
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeKernelSetIndirectAccess>, AnyArgument,
                   ze_kernel_indirect_access_flags_t kinds) {
  stub.indirect_access = kinds;
  return ZE_RESULT_SUCCESS;
}

ze_result_t answer(StubDriver& stub, Tag<Call::zeKernelSuggestMaxCooperativeGroupCount>, const void*,
                   std::uint32_t* count) {
  *count = stub.cooperative_groups;
  return ZE_RESULT_SUCCESS;
}

// ---- commands, events

ze_result_t answer(StubDriver& stub, Tag<Call::zeCommandListAppendLaunchKernel>, const void* list,
                   const void* kernel, const ze_group_count_t* groups, const void* signal,
                   std::uint32_t count, ze_event_handle_t* wait) {
  if (!stub.recording) return ZE_RESULT_SUCCESS;
  stub.launches.push_back({list,
                           kernel,
                           {groups->groupCountX, groups->groupCountY, groups->groupCountZ},
                           signal,
                           std::vector<const void*>(wait, wait + count)});
  return ZE_RESULT_SUCCESS;
}
ze_result_t wait_for(StubDriver& stub, std::uint64_t timeout) {
  if (stub.recording) stub.timeouts.push_back(timeout);
  return stub.signalled ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeEventHostSynchronize>, AnyArgument, std::uint64_t timeout) {
  return wait_for(stub, timeout);
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeFenceHostSynchronize>, AnyArgument, std::uint64_t timeout) {
  return wait_for(stub, timeout);
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeCommandQueueSynchronize>, AnyArgument,
                   std::uint64_t timeout) {
  return wait_for(stub, timeout);
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeCommandListHostSynchronize>, AnyArgument,
                   std::uint64_t timeout) {
  return wait_for(stub, timeout);
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeEventQueryStatus>, AnyArgument) {
  return stub.signalled ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeFenceQueryStatus>, AnyArgument) {
  return stub.signalled ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}
ze_result_t answer(StubDriver& stub, Tag<Call::zeEventQueryKernelTimestamp>, AnyArgument,
                   ze_kernel_timestamp_result_t* out) {
  *out = stub.timestamps;
  return ZE_RESULT_SUCCESS;
}

/// A failed build still gives a log, as Intel's driver does.
template <class... A>
void on_failure(StubDriver&, A...) {}
void on_failure(StubDriver& stub, ze_context_handle_t, ze_device_handle_t,
                const ze_module_desc_t* description, ze_module_handle_t*, ze_module_build_log_handle_t* log) {
  give_log(stub, description, log);
}
void on_failure(StubDriver& stub, std::uint32_t, ze_module_handle_t*, ze_module_build_log_handle_t* log) {
  give_log(stub, log);
}

// ---- what every call is given

struct Link {  // as all structs begin
  ze_structure_type_t type;
  const Link* next;
};

bool is_known_extension(ze_structure_type_t type) {
  static const ze_structure_type_t kKnown[] = {StructureType<abi::DeviceIpVersion>::value,
                                               StructureType<abi::DeviceUsableMemory>::value,
                                               StructureType<abi::KernelMaxGroupSize>::value,
                                               StructureType<ze_module_program_exp_desc_t>::value,
                                               StructureType<ze_device_luid_ext_properties_t>::value,
                                               StructureType<ze_external_memory_export_fd_t>::value,
                                               StructureType<ze_external_memory_export_desc_t>::value,
                                               StructureType<ze_external_memory_import_fd_t>::value,
                                               StructureType<ze_relaxed_allocation_limits_exp_desc_t>::value};
  return std::ranges::find(kKnown, type) != std::end(kKnown);
}

template <class T>
void look_at(StubDriver& stub, Call call, const T& given) {
  if constexpr (requires {
                  given->stype;
                  given->pNext;
                }) {
    using Struct = std::remove_cvref_t<decltype(*given)>;
    if (!given) return;
    const auto complain = [&](const char* what, ze_structure_type_t type) {
      stub.complaints.push_back(std::string(name_of(call)) + ": " + what + " " + std::to_string(type));
    };
    if (given->stype != StructureType<Struct>::value) complain("wrong stype", given->stype);
    SentStruct sent{call, given->stype, {}, {}};
    for (auto* link = static_cast<const Link*>(given->pNext); link; link = link->next) {
      if (!is_known_extension(link->type)) complain("unknown struct at pNext", link->type);
      sent.chain.push_back(link->type);
    }
    if (!stub.recording) return;
    const auto bytes = std::as_bytes(std::span(given, 1));
    sent.bytes.assign(bytes.begin(), bytes.end());
    stub.structs.push_back(std::move(sent));
  }
}
/// A list of structs, all of which must be ready.
template <class Handle, class T>
void look_at_all(StubDriver& stub, Call call, Handle, std::uint32_t* count, T* items) {
  for (std::uint32_t i = 0; items && i < *count; ++i) look_at(stub, call, items + i);
}
template <class... A>
void look_at_all(StubDriver& stub, Call call, A... a) {
  (look_at(stub, call, a), ...);
}

// ---- the table

template <Call C, class Function>
struct Entry;
template <Call C, class... A>
struct Entry<C, ze_result_t(ZE_APICALL*)(A...)> {
  static ze_result_t ZE_APICALL call(A... a) {
    StubDriver& stub = StubDriver::current();
    if (C == Call::zeModuleCreate && stub.on_build) stub.on_build();
    const std::lock_guard lock(stub.mutex);
    look_at_all(stub, C, a...);
    if (const ze_result_t code = stub.enter(C); code != ZE_RESULT_SUCCESS) {
      on_failure(stub, a...);
      return code;
    }
    if constexpr (requires { answer(stub, Tag<C>{}, a...); })
      return answer(stub, Tag<C>{}, a...);
    else
      return ZE_RESULT_SUCCESS;
  }
};

Api make_table(bool optional) {
  Api table;
  table.zeInit = Entry<Call::zeInit, decltype(table.zeInit)>::call;
#define KILN_REQUIRED(group, name) \
  table.ze##group##name = Entry<Call::ze##group##name, decltype(table.ze##group##name)>::call;
#define KILN_OPTIONAL(name, type) \
  if (optional) table.name = Entry<Call::name, type>::call;
  KILN_ENTRY_POINTS(KILN_REQUIRED, KILN_OPTIONAL)
#undef KILN_REQUIRED
#undef KILN_OPTIONAL
  return table;
}

}  // namespace

const char* name_of(Call call) {
  static constexpr const char* kNames[] = {"zeInit",
#define KILN_REQUIRED(table, name) "ze" #table #name,
#define KILN_OPTIONAL(name, type) #name,
                                           KILN_ENTRY_POINTS(KILN_REQUIRED, KILN_OPTIONAL)
#undef KILN_REQUIRED
#undef KILN_OPTIONAL
  };
  return kNames[static_cast<std::size_t>(call)];
}

StubDriver::StubDriver(Optional optional) {
  if (the_stub) std::abort();  // two at a time would mix up their records
  the_stub = this;
  driver = new_handle<ze_driver_handle_t>();
  device = new_handle<ze_device_handle_t>();
  device_properties.type = ZE_DEVICE_TYPE_GPU;
  device_properties.maxMemAllocSize = std::uint64_t{1} << 30;
  queue_groups = {{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES, nullptr,
                   ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE, 1, 1}};
  compute.maxTotalGroupSize = 1024;
  compute.maxGroupSizeX = compute.maxGroupSizeY = compute.maxGroupSizeZ = 1024;
  compute.maxGroupCountX = compute.maxGroupCountY = compute.maxGroupCountZ = UINT32_MAX;
  compute.maxSharedLocalMemory = 65536;
  load_table(make_table(optional == Optional::present));
}

StubDriver::~StubDriver() {
  for (const std::string& complaint : complaints) std::fprintf(stderr, "%s\n", complaint.c_str());
  if (!complaints.empty()) std::abort();
  load_table(Api{});
  the_stub = nullptr;
}

StubDriver& StubDriver::current() {
  if (!the_stub) std::abort();  // a handle outlived its driver
  return *the_stub;
}

void StubDriver::fail(Call call, ze_result_t code, std::size_t nth) {
  failures_[static_cast<std::size_t>(call)].push_back({nth, code});
}
void StubDriver::fail_any(ze_result_t code, std::size_t nth) { any_failures_.push_back({nth, code}); }

ze_result_t StubDriver::strike(std::deque<Failure>& failures) {
  ze_result_t code = ZE_RESULT_SUCCESS;
  for (Failure& failure : failures)
    if (--failure.left == 0) code = failure.code;
  std::erase_if(failures, [](const Failure& failure) { return failure.left == 0; });
  return code;
}

ze_result_t StubDriver::enter(Call call) {
  ++calls_[static_cast<std::size_t>(call)];
  ++all_calls_;
  ze_result_t code = strike(failures_[static_cast<std::size_t>(call)]);
  if (const ze_result_t any = strike(any_failures_); any != ZE_RESULT_SUCCESS) code = any;
  if (code != ZE_RESULT_SUCCESS && !last_error_of_next.empty())
    last_error = std::exchange(last_error_of_next, {});
  return code;
}

void StubDriver::forget() {
  calls_ = {};
  all_calls_ = 0;
  arguments.clear();
  group_sizes.clear();
  launches.clear();
  destroyed.clear();
  module_formats.clear();
  structs.clear();
  timeouts.clear();
}

}  // namespace kiln::test
