// SPDX-License-Identifier: MIT
// Checks that need processes or settings of their own.
#include "processes.hpp"

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <set>

#include "fixture.hpp"

namespace {

#define NEED(condition)                                                          \
  if (!(condition)) {                                                            \
    std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
    return 1;                                                                    \
  }                                                                              \
  static_assert(true)

struct Device {
  ze_driver_handle_t driver = nullptr;
  ze_device_handle_t device = nullptr;
  ze_context_handle_t context = nullptr;
  bool open() {
    std::uint32_t one = 1;
    const auto desc = make<ze_context_desc_t>(ZE_STRUCTURE_TYPE_CONTEXT_DESC);
    return api.Init(0) == ZE_RESULT_SUCCESS && api.DriverGet(&one, &driver) == ZE_RESULT_SUCCESS &&
           api.DeviceGet(driver, &one, &device) == ZE_RESULT_SUCCESS &&
           api.ContextCreate(driver, &desc, &context) == ZE_RESULT_SUCCESS;
  }
};

struct Message {
  ze_ipc_mem_handle_t memory;
  ze_ipc_event_pool_handle_t pool;
};

constexpr std::size_t kBytes = 10000;

// Sends the message, and the descriptors that its handles begin with when `descriptors` is set.
bool send(int socket, Message& message, bool descriptors) {
  iovec data{&message, sizeof message};
  alignas(cmsghdr) char room[CMSG_SPACE(2 * sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (descriptors) {
    header.msg_control = room;
    header.msg_controllen = sizeof room;
    cmsghdr* control = CMSG_FIRSTHDR(&header);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(2 * sizeof(int));
    std::memcpy(CMSG_DATA(control), message.memory.data, sizeof(int));
    std::memcpy(CMSG_DATA(control) + sizeof(int), message.pool.data, sizeof(int));
  }
  return sendmsg(socket, &header, 0) == static_cast<ssize_t>(sizeof message);
}

// Puts the descriptors that arrived in the place of those that the handles came with.
bool receive(int socket, Message& message) {
  iovec data{&message, sizeof message};
  alignas(cmsghdr) char room[CMSG_SPACE(2 * sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = room;
  header.msg_controllen = sizeof room;
  if (recvmsg(socket, &header, 0) != static_cast<ssize_t>(sizeof message)) return false;
  if (const cmsghdr* control = CMSG_FIRSTHDR(&header)) {
    std::memcpy(message.memory.data, CMSG_DATA(control), sizeof(int));
    std::memcpy(message.pool.data, CMSG_DATA(control) + sizeof(int), sizeof(int));
  }
  return true;
}

// Opens what arrives, adds one to each byte, and answers through the second event.
int other_process(const char* driver, int socket) {
  NEED(load_straight(driver).empty());
  Device d;
  Message message;
  NEED(d.open());
  NEED(receive(socket, message));
  void* pointer = nullptr;
  NEED(api.MemOpenIpcHandle(d.context, d.device, message.memory, 0, &pointer) == ZE_RESULT_SUCCESS);
  ze_event_pool_handle_t pool = nullptr;
  NEED(api.EventPoolOpenIpcHandle(d.context, message.pool, &pool) == ZE_RESULT_SUCCESS);
  ze_event_handle_t events[2] = {};
  for (std::uint32_t i = 0; i < 2; ++i) {
    auto desc = make<ze_event_desc_t>(ZE_STRUCTURE_TYPE_EVENT_DESC);
    desc.index = i;
    NEED(api.EventCreate(pool, &desc, &events[i]) == ZE_RESULT_SUCCESS);
  }
  NEED(api.EventHostSynchronize(events[0], kForever) == ZE_RESULT_SUCCESS);
  auto* bytes = static_cast<unsigned char*>(pointer);
  for (std::size_t i = 0; i < kBytes; ++i) ++bytes[i];
  NEED(api.EventHostSignal(events[1]) == ZE_RESULT_SUCCESS);
  for (ze_event_handle_t event : events) NEED(api.EventDestroy(event) == ZE_RESULT_SUCCESS);
  NEED(api.EventPoolCloseIpcHandle(pool) == ZE_RESULT_SUCCESS);
  NEED(api.MemCloseIpcHandle(d.context, pointer) == ZE_RESULT_SUCCESS);
  NEED(api.MemCloseIpcHandle(d.context, pointer) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  return 0;
}

// Everything from here to the end happens before any thread of the driver is there to be forked.
int share(const char* driver, bool descriptors) {
  int sockets[2];
  NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    const int status = other_process(driver, sockets[1]);
    _exit(getpid() == parent ? 2 : status);
  }
  close(sockets[1]);
  NEED(load_straight(driver).empty());
  Device d;
  NEED(d.open());
  const auto device_desc = make<ze_device_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
  void* pointer = nullptr;
  NEED(api.MemAllocDevice(d.context, &device_desc, kBytes, 0, d.device, &pointer) == ZE_RESULT_SUCCESS);
  auto* bytes = static_cast<unsigned char*>(pointer);
  for (std::size_t i = 0; i < kBytes; ++i) bytes[i] = static_cast<unsigned char>(i);
  auto pool_desc = make<ze_event_pool_desc_t>(ZE_STRUCTURE_TYPE_EVENT_POOL_DESC);
  pool_desc.flags = ZE_EVENT_POOL_FLAG_IPC;
  pool_desc.count = 2;
  ze_event_pool_handle_t pool = nullptr;
  NEED(api.EventPoolCreate(d.context, &pool_desc, 1, &d.device, &pool) == ZE_RESULT_SUCCESS);
  ze_event_handle_t events[2] = {};
  for (std::uint32_t i = 0; i < 2; ++i) {
    auto desc = make<ze_event_desc_t>(ZE_STRUCTURE_TYPE_EVENT_DESC);
    desc.index = i;
    NEED(api.EventCreate(pool, &desc, &events[i]) == ZE_RESULT_SUCCESS);
  }
  Message message;
  NEED(api.MemGetIpcHandle(d.context, pointer, &message.memory) == ZE_RESULT_SUCCESS);
  NEED(api.EventPoolGetIpcHandle(pool, &message.pool) == ZE_RESULT_SUCCESS);
  NEED(send(sockets[0], message, descriptors));
  // The device signals, the other process waits.
  auto queue_desc = make<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
  ze_command_list_handle_t list = nullptr;
  NEED(api.CommandListCreateImmediate(d.context, d.device, &queue_desc, &list) == ZE_RESULT_SUCCESS);
  NEED(api.CommandListAppendSignalEvent(list, events[0]) == ZE_RESULT_SUCCESS);
  NEED(api.CommandListAppendWaitOnEvents(list, 1, &events[1]) == ZE_RESULT_SUCCESS);
  NEED(api.EventHostSynchronize(events[1], 20 * 1000 * kMillisecond) == ZE_RESULT_SUCCESS);
  for (std::size_t i = 0; i < kBytes; ++i) NEED(bytes[i] == static_cast<unsigned char>(i + 1));
  int status = 1;
  NEED(waitpid(child, &status, 0) == child && status == 0);
  NEED(api.CommandListDestroy(list) == ZE_RESULT_SUCCESS);
  for (ze_event_handle_t event : events) NEED(api.EventDestroy(event) == ZE_RESULT_SUCCESS);
  NEED(api.EventPoolDestroy(pool) == ZE_RESULT_SUCCESS);
  NEED(api.MemFree(d.context, pointer) == ZE_RESULT_SUCCESS);
  // The memory is gone with its owner's allocation.
  NEED(api.MemOpenIpcHandle(d.context, d.device, message.memory, 0, &pointer) ==
       ZE_RESULT_ERROR_INVALID_ARGUMENT);
  return 0;
}

int in_child(int (*check)(const char*), const char* driver) {
  const pid_t child = fork();
  if (child == 0) _exit(check(driver));
  int status = 1;
  return waitpid(child, &status, 0) == child ? status : 1;
}

// Writes so many bytes behind an allocation, with others around it that must keep theirs.
int write_behind(const char* driver, std::size_t first, std::size_t last) {
  NEED(load_straight(driver).empty());
  Device d;
  NEED(d.open());
  const auto desc = make<ze_device_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
  for (const std::size_t size : {std::size_t{1}, std::size_t{64}, std::size_t{4096}, std::size_t{100000}}) {
    unsigned char* memory[3] = {};
    for (auto& pointer : memory) {
      void* made = nullptr;
      NEED(api.MemAllocDevice(d.context, &desc, size, 0, d.device, &made) == ZE_RESULT_SUCCESS);
      pointer = static_cast<unsigned char*>(made);
      std::memset(pointer, 7, size);
    }
    for (std::size_t i = first; i < last; ++i) static_cast<volatile unsigned char*>(memory[1])[size + i] = 1;
    for (std::size_t i = 0; i < size; ++i) NEED(memory[0][i] == 7 && memory[2][i] == 7);
    for (unsigned char* pointer : memory) NEED(api.MemFree(d.context, pointer) == ZE_RESULT_SUCCESS);
  }
  return 0;
}

}  // namespace

int share_between_processes(const char* driver) {
  NEED(in_child([](const char* name) { return share(name, false); }, driver) == 0);
  NEED(in_child([](const char* name) { return share(name, true); }, driver) == 0);
  return 0;
}

int overrun(const char* driver) {
  NEED(in_child([](const char* name) { return write_behind(name, 0, 128); }, driver) == 0);
  // Two pages: past the padding whatever the size is.
  const int status = in_child(
      [](const char* name) {
        for (const int signal : {SIGSEGV, SIGBUS}) std::signal(signal, SIG_DFL);
        return write_behind(name, 8192, 8193);
      },
      driver);
#if defined(__SANITIZE_ADDRESS__)
  NEED(status != 0);  // its runtime ends the process with a report
#else
  NEED(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
#endif
  return 0;
}

namespace {

ze_kernel_handle_t load_kernel(const Device& d, const char* name) {
  const auto bytes = read_file("kernels.spv");
  auto desc = make<ze_module_desc_t>(ZE_STRUCTURE_TYPE_MODULE_DESC);
  desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
  desc.inputSize = bytes.size();
  desc.pInputModule = bytes.data();
  ze_module_handle_t module = nullptr;
  ze_kernel_handle_t kernel = nullptr;
  auto kernel_desc = make<ze_kernel_desc_t>(ZE_STRUCTURE_TYPE_KERNEL_DESC);
  kernel_desc.pKernelName = name;
  if (api.ModuleCreate(d.context, d.device, &desc, &module, nullptr) != ZE_RESULT_SUCCESS) return nullptr;
  return api.KernelCreate(module, &kernel_desc, &kernel) == ZE_RESULT_SUCCESS ? kernel : nullptr;
}

std::uint32_t* allocate_words(const Device& d, std::size_t words) {
  const auto device_desc = make<ze_device_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
  void* pointer = nullptr;
  if (api.MemAllocDevice(d.context, &device_desc, words * 4, 0, d.device, &pointer) != ZE_RESULT_SUCCESS)
    return nullptr;
  std::memset(pointer, 0, words * 4);
  return static_cast<std::uint32_t*>(pointer);
}

bool set_arguments(ze_kernel_handle_t kernel, std::uint32_t* data, std::uint32_t value) {
  return api.KernelSetArgumentValue(kernel, 0, sizeof data, &data) == ZE_RESULT_SUCCESS &&
         api.KernelSetArgumentValue(kernel, 1, sizeof value, &value) == ZE_RESULT_SUCCESS;
}

// "slow" over 64 items, with so many rounds that it does not end by itself.
ze_kernel_handle_t load_endless(const Device& d) {
  const auto kernel = load_kernel(d, "slow");
  std::uint32_t* data = allocate_words(d, 64);
  return kernel && data && set_arguments(kernel, data, UINT32_MAX) ? kernel : nullptr;
}

// Bytes of address space that this process takes now.
std::size_t address_space() {
  std::size_t pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%zu", &pages) != 1) pages = 0;
  if (file != nullptr) std::fclose(file);
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// A launch of 4,096 groups with so many bytes of address space left, of which each thread's stack takes 8
// MiB.
int launch_within(const char* driver, std::size_t left) {
  NEED(load_straight(driver).empty());
  Device d;
  NEED(d.open());
  const auto kernel = load_kernel(d, "add");
  std::uint32_t* data = allocate_words(d, 4096);
  NEED(kernel && data && set_arguments(kernel, data, 3));
  const auto queue_desc = make<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
  ze_command_list_handle_t list = nullptr;
  NEED(api.CommandListCreateImmediate(d.context, d.device, &queue_desc, &list) == ZE_RESULT_SUCCESS);
  const rlimit limit{address_space() + left, address_space() + left};
  NEED(setrlimit(RLIMIT_AS, &limit) == 0);
  const ze_group_count_t groups{4096, 1, 1};
  NEED(api.CommandListAppendLaunchKernel(list, kernel, &groups, nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
  NEED(api.CommandListDestroy(list) == ZE_RESULT_SUCCESS);
  for (std::size_t i = 0; i < 4096; ++i) NEED(data[i] == 3);
  std::uint32_t count = 0;
  NEED(api.KernelSuggestMaxCooperativeGroupCount(kernel, &count) == ZE_RESULT_SUCCESS);
  NEED(count >= 1 && count < 512);
  return 0;
}

}  // namespace

int few_threads(const char* driver) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  std::puts("skipped: the sanitizer's runtime takes all address space that a limit would leave");
  return driver ? 77 : 1;
#else
  NEED(in_child([](const char* name) { return launch_within(name, std::size_t{200} << 20); }, driver) == 0);
  NEED(in_child([](const char* name) { return launch_within(name, std::size_t{4} << 20); }, driver) == 0);
  return 0;
#endif
}

int endless(const char* driver) {
  NEED(load_straight(driver).empty());
  Device d;
  NEED(d.open());
  const auto kernel = load_endless(d);
  NEED(kernel);
  const auto queue_desc = make<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
  ze_command_list_handle_t list = nullptr;
  NEED(api.CommandListCreateImmediate(d.context, d.device, &queue_desc, &list) == ZE_RESULT_SUCCESS);
  const ze_group_count_t groups{64, 1, 1};
  NEED(api.CommandListAppendLaunchKernel(list, kernel, &groups, nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
  NEED(api.CommandListDestroy(list) == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
  NEED(api.CommandListAppendBarrier(list, nullptr, 0, nullptr) == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
  std::fflush(nullptr);
  _exit(0);  // with the kernel still running
}

int tell_of_waits(const char* driver) {
  NEED(load_straight(driver).empty());
  Device d;
  NEED(d.open());
  auto pool_desc = make<ze_event_pool_desc_t>(ZE_STRUCTURE_TYPE_EVENT_POOL_DESC);
  pool_desc.count = 2;
  ze_event_pool_handle_t pool = nullptr;
  NEED(api.EventPoolCreate(d.context, &pool_desc, 1, &d.device, &pool) == ZE_RESULT_SUCCESS);
  auto desc = make<ze_event_desc_t>(ZE_STRUCTURE_TYPE_EVENT_DESC);
  ze_event_handle_t never = nullptr, reset = nullptr;
  NEED(api.EventCreate(pool, &desc, &never) == ZE_RESULT_SUCCESS);
  desc.index = 1;
  NEED(api.EventCreate(pool, &desc, &reset) == ZE_RESULT_SUCCESS);
  NEED(api.EventHostSignal(reset) == ZE_RESULT_SUCCESS && api.EventHostReset(reset) == ZE_RESULT_SUCCESS);

  int ends[2];
  NEED(pipe(ends) == 0);
  const int own = dup(STDERR_FILENO);
  NEED(dup2(ends[1], STDERR_FILENO) >= 0);
  const auto queue_desc = make<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
  ze_command_list_handle_t lists[2] = {};
  ze_event_handle_t events[] = {never, reset};
  for (int i = 0; i < 2; ++i) {
    NEED(api.CommandListCreateImmediate(d.context, d.device, &queue_desc, &lists[i]) == ZE_RESULT_SUCCESS);
    NEED(api.CommandListAppendBarrier(lists[i], nullptr, 1, &events[i]) == ZE_RESULT_SUCCESS);
  }
  std::string text;
  while (std::count(text.begin(), text.end(), '\n') < 2) {
    char part[512];
    const ssize_t count = read(ends[0], part, sizeof part);  // the test's time limit is this one's too
    NEED(count > 0);
    text.append(part, static_cast<std::size_t>(count));
  }
  dup2(own, STDERR_FILENO);
  NEED(text.find("waited 10 s or more for an event that nothing has signalled, ") != text.npos);
  NEED(text.find(
           "waited 10 s or more for an event that was reset after its last signal, which was number 1, ") !=
       text.npos);
  for (int i = 0; i < 2; ++i) {
    NEED(api.EventHostSignal(events[i]) == ZE_RESULT_SUCCESS);
    NEED(api.CommandListDestroy(lists[i]) == ZE_RESULT_SUCCESS);
  }
  return 0;
}

int silent_while_running(const char* driver) {
  NEED(load_straight(driver).empty());
  Device d;
  NEED(d.open());
  const auto kernel = load_endless(d);
  NEED(kernel);
  auto pool_desc = make<ze_event_pool_desc_t>(ZE_STRUCTURE_TYPE_EVENT_POOL_DESC);
  pool_desc.count = 1;
  ze_event_pool_handle_t pool = nullptr;
  NEED(api.EventPoolCreate(d.context, &pool_desc, 1, &d.device, &pool) == ZE_RESULT_SUCCESS);
  const auto desc = make<ze_event_desc_t>(ZE_STRUCTURE_TYPE_EVENT_DESC);
  ze_event_handle_t awaited = nullptr;
  NEED(api.EventCreate(pool, &desc, &awaited) == ZE_RESULT_SUCCESS);
  const auto queue_desc = make<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
  ze_command_list_handle_t busy = nullptr, waiting = nullptr;
  NEED(api.CommandListCreateImmediate(d.context, d.device, &queue_desc, &busy) == ZE_RESULT_SUCCESS);
  NEED(api.CommandListCreateImmediate(d.context, d.device, &queue_desc, &waiting) == ZE_RESULT_SUCCESS);

  int ends[2];
  NEED(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) >= 0);
  const ze_group_count_t groups{64, 1, 1};
  NEED(api.CommandListAppendLaunchKernel(busy, kernel, &groups, nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
  NEED(api.CommandListAppendBarrier(waiting, nullptr, 1, &awaited) == ZE_RESULT_SUCCESS);
  pollfd told{ends[0], POLLIN, 0};
  NEED(poll(&told, 1, 12'000) == 0);
  NEED(api.EventHostSignal(awaited) == ZE_RESULT_SUCCESS);
  NEED(api.CommandListDestroy(waiting) == ZE_RESULT_SUCCESS);
  std::fflush(nullptr);
  _exit(0);  // with the kernel still running
}

int stop_endless(const char* driver) {
#if defined(__SANITIZE_THREAD__)
  std::puts("skipped: the thread sanitizer holds back the signal that stops a kernel");
  return driver ? 77 : 1;
#else
  NEED(load_straight(driver).empty());
  Device d;
  NEED(d.open());
  const auto kernel = load_kernel(d, "slow");
  std::uint32_t* data = allocate_words(d, 64);
  NEED(kernel && data && set_arguments(kernel, data, UINT32_MAX));
  auto queue_desc = make<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
  ze_command_list_handle_t list = nullptr;
  const ze_group_count_t groups{64, 1, 1};
  NEED(api.CommandListCreateImmediate(d.context, d.device, &queue_desc, &list) == ZE_RESULT_SUCCESS);
  NEED(api.CommandListAppendLaunchKernel(list, kernel, &groups, nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
  NEED(api.CommandListDestroy(list) == ZE_RESULT_SUCCESS);

  queue_desc.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
  NEED(api.CommandListCreateImmediate(d.context, d.device, &queue_desc, &list) == ZE_RESULT_SUCCESS);
  NEED(api.CommandListAppendLaunchKernel(list, kernel, &groups, nullptr, 0, nullptr) ==
       ZE_RESULT_ERROR_DEVICE_LOST);
  using GetText = ze_result_t (*)(ze_driver_handle_t, const char**);
  void* get_text = nullptr;
  NEED(api.DriverGetExtensionFunctionAddress(d.driver, "zeDriverGetLastErrorDescription", &get_text) ==
       ZE_RESULT_SUCCESS);
  const char* text = nullptr;
  NEED(reinterpret_cast<GetText>(get_text)(d.driver, &text) == ZE_RESULT_SUCCESS);
  NEED(std::string(text) ==
       "kernel 'slow' took longer than the 0.05 s that KILN_CPU_TIMEOUT gives a launch, and was stopped in "
       "its "
       "middle");
  NEED(api.DeviceGetStatus(d.device) == ZE_RESULT_SUCCESS);
  const auto good = load_kernel(d, "add");
  NEED(good && set_arguments(good, data, 3));
  data[63] = 4;
  NEED(api.CommandListAppendLaunchKernel(list, good, &groups, nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
  NEED(data[63] == 7);
  NEED(api.CommandListDestroy(list) == ZE_RESULT_SUCCESS);
  return 0;
#endif
}

int three_gpus(const char* driver) {
  NEED(load_straight(driver).empty());
  Device d;
  NEED(d.open());
  std::uint32_t count = 0;
  NEED(api.DeviceGet(d.driver, &count, nullptr) == ZE_RESULT_SUCCESS && count == 3);
  ze_device_handle_t devices[3] = {};
  NEED(api.DeviceGet(d.driver, &count, devices) == ZE_RESULT_SUCCESS);
  std::set<std::string> identities;
  for (ze_device_handle_t device : devices) {
    auto properties = make<ze_device_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES);
    NEED(api.DeviceGetProperties(device, &properties) == ZE_RESULT_SUCCESS);
    NEED(properties.type == ZE_DEVICE_TYPE_GPU && properties.vendorId == 0x8086);
    NEED(properties.deviceId == 0x4f80);
    NEED(std::string(properties.name).find("Intel(R) Graphics [0x4f80]") == 0);
    NEED((properties.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED) == 0);
    identities.insert(
        std::string(reinterpret_cast<const char*>(properties.uuid.id), sizeof properties.uuid.id));
  }
  NEED(identities.size() == 3);
  // Memory knows its device, and so does a list; all devices reach it.
  const auto desc = make<ze_device_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
  void* pointer = nullptr;
  NEED(api.MemAllocDevice(d.context, &desc, 64, 0, devices[2], &pointer) == ZE_RESULT_SUCCESS);
  auto kind = make<ze_memory_allocation_properties_t>(ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES);
  ze_device_handle_t owner = nullptr;
  NEED(api.MemGetAllocProperties(d.context, pointer, &kind, &owner) == ZE_RESULT_SUCCESS);
  NEED(owner == devices[2]);
  const auto queue_desc = make<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
  ze_command_list_handle_t list = nullptr;
  NEED(api.CommandListCreateImmediate(d.context, devices[1], &queue_desc, &list) == ZE_RESULT_SUCCESS);
  const unsigned char pattern = 9;
  NEED(api.CommandListAppendMemoryFill(list, pointer, &pattern, 1, 64, nullptr, 0, nullptr) ==
       ZE_RESULT_SUCCESS);
  NEED(api.CommandListDestroy(list) == ZE_RESULT_SUCCESS);
  NEED(static_cast<unsigned char*>(pointer)[63] == 9);
  NEED(api.MemFree(d.context, pointer) == ZE_RESULT_SUCCESS);
  return 0;
}

int masked_devices(const char* driver) {
  NEED(load_straight(driver).empty());
  Device d;
  NEED(d.open());
  std::uint32_t count = 0;
  NEED(api.DeviceGet(d.driver, &count, nullptr) == ZE_RESULT_SUCCESS && count == 2);
  ze_device_handle_t devices[2] = {};
  NEED(api.DeviceGet(d.driver, &count, devices) == ZE_RESULT_SUCCESS);
  const unsigned char numbers[2] = {1, 3};  // the last byte of the identity, the same with and without a mask
  for (int i = 0; i < 2; ++i) {
    auto properties = make<ze_device_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES);
    NEED(api.DeviceGetProperties(devices[i], &properties) == ZE_RESULT_SUCCESS);
    NEED(properties.uuid.id[15] == numbers[i]);
  }
  NEED(api.ContextDestroy(d.context) == ZE_RESULT_SUCCESS);
  return 0;
}
