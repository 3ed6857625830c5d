// SPDX-License-Identifier: MIT
// A program that knows nothing of Kiln: calls of Level Zero, good and bad, each with its answer on a line of
// its own. raw FOLDER_OF_KERNELS [NAME [FILE]]: without NAME what every driver survives, with NAME one call
// that may end the process.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"

static ze_module_handle_t module_of(const char* name) { return module_with(name, ""); }

static void set_matmul(ze_kernel_handle_t kernel, void* data, size_t local) {
  const uint32_t size = 16;
  for (uint32_t i = 0; i < 3; ++i) CALL(zeKernelSetArgumentValue, kernel, i, sizeof data, &data);
  for (uint32_t i = 3; i < 7; ++i) CALL(zeKernelSetArgumentValue, kernel, i, sizeof size, &size);
  for (uint32_t i = 7; i < 9; ++i) CALL(zeKernelSetArgumentValue, kernel, i, local, NULL);
}

static void launches(void) {
  const ze_module_handle_t module = module_of("matmul.spv");
  kernel_of(module, "tilde");
  const ze_kernel_handle_t kernel = kernel_of(module, "tiled");
  float* data = memory_of(16 * 16 * sizeof(float));
  for (int i = 0; data && i < 16 * 16; ++i) data[i] = 1;
  const ze_group_count_t groups = {1, 1, 1};
  set_matmul(kernel, data, 16 * 16 * 4);
  const uint64_t wide = 1;
  CALL(zeKernelSetArgumentValue, kernel, 3, sizeof wide, &wide);
  CALL(zeKernelSetArgumentValue, kernel, 77, sizeof wide, &wide);
  CALL(zeKernelSetGroupSize, kernel, 0, 1, 1);
  CALL(zeKernelSetGroupSize, kernel, 4096, 4096, 1);
  CALL(zeKernelSetGroupSize, kernel, 16, 16, 1);
  CALL(zeCommandListAppendLaunchKernel, list, kernel, &groups, NULL, 0, NULL);
  set_matmul(kernel, data, 150000);
  uint32_t x = 0, y = 0, z = 0;
  CALL(zeKernelSuggestGroupSize, kernel, 64, 64, 1, &x, &y, &z);
  CALL(zeCommandListAppendLaunchKernel, list, kernel, &groups, NULL, 0, NULL);
  CALL(zeCommandListAppendLaunchKernel, list, kernel, &groups, NULL, 0, NULL);
  CALL(zeKernelDestroy, kernel);
  // Often the same address again.
  const ze_kernel_handle_t again = kernel_of(module, "tiled");
  set_matmul(again, data, 1024);
  CALL(zeKernelSetGroupSize, again, 8, 8, 1);
  CALL(zeCommandListAppendLaunchKernel, list, again, &groups, NULL, 0, NULL);
  if (data) CALL(zeMemFree, context, data);
  CALL(zeKernelDestroy, again);
  CALL(zeModuleDestroy, module);
}

static void saxpy(void) {
  const ze_module_handle_t module = module_of("saxpy.spv");
  const ze_kernel_handle_t kernel = kernel_of(module, "saxpy");
  const uint32_t count = 1000;
  const float by = 3;
  float* x = memory_of(count * sizeof(float));
  float* y = memory_of(count * sizeof(float));
  if (!x || !y) exit(1);
  for (uint32_t i = 0; i < count; ++i) x[i] = 2, y[i] = 1;
  CALL(zeKernelSetArgumentValue, kernel, 0, sizeof by, &by);
  CALL(zeKernelSetArgumentValue, kernel, 1, sizeof x, &x);
  CALL(zeKernelSetArgumentValue, kernel, 2, sizeof y, &y);
  CALL(zeKernelSetArgumentValue, kernel, 3, sizeof count, &count);
  CALL(zeKernelSetGroupSize, kernel, 250, 1, 1);
  const ze_group_count_t groups = {4, 1, 1};
  CALL(zeCommandListAppendLaunchKernel, list, kernel, &groups, NULL, 0, NULL);
  if (getenv("RAW_EXECUTES")) printf("y[999] = %g\n", y[999]);
  float of_host = 0;
  const float* stray = &of_host;
  CALL(zeKernelSetArgumentValue, kernel, 1, sizeof stray, &stray);
  CALL(zeMemFree, context, x);
  CALL(zeMemFree, context, y);
  CALL(zeKernelDestroy, kernel);
  CALL(zeModuleDestroy, module);
}

static void allocations(void) {
  const ze_device_mem_alloc_desc_t on_device = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, NULL, 0, 0};
  const ze_host_mem_alloc_desc_t on_host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
  void* data = NULL;
  CALL(zeMemAllocDevice, context, &on_device, (size_t)1 << 45, 64, device, &data);
  CALL(zeMemAllocShared, context, &on_device, &on_host, (size_t)1 << 45, 64, device, &data);
  CALL(zeMemAllocHost, context, &on_host, (size_t)1 << 45, 64, &data);
  const ze_event_pool_desc_t pool = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                     0xffffffff};
  ze_event_pool_handle_t made = NULL;
  CALL(zeEventPoolCreate, context, &pool, 1, &device, &made);
}

static void builds(void) {
  module_of("slm_limit.spv");  // a kernel of 256 KiB of static SLM, where the folder has it
  // Native code that is none.
  const uint8_t code[] = "this is no ELF file, and no archive either";
  const ze_module_desc_t description = {
      ZE_STRUCTURE_TYPE_MODULE_DESC, NULL, ZE_MODULE_FORMAT_NATIVE, sizeof code, code, "", NULL};
  ze_module_handle_t module = NULL;
  ze_module_build_log_handle_t log = NULL;
  CALL(zeModuleCreate, context, device, &description, &module, &log);
  size_t size = 0;
  if (log) CALL(zeModuleBuildLogGetString, log, &size, NULL);
  if (log) CALL(zeModuleBuildLogDestroy, log);
}

static ze_kernel_handle_t matmul(size_t local) {
  const ze_kernel_handle_t kernel = kernel_of(module_of("matmul.spv"), "tiled");
  set_matmul(kernel, NULL, local);
  CALL(zeKernelSetGroupSize, kernel, 8, 8, 1);
  return kernel;
}

static void refused_queue(void) {
  const ze_command_queue_desc_t queue = {
      ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, 77, 0, 0, ZE_COMMAND_QUEUE_MODE_DEFAULT,
      ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  ze_command_queue_handle_t made = NULL;
  CALL(zeCommandQueueCreate, context, device, &queue, &made);
}

static ze_kernel_handle_t saxpy_kernel(void) {
  const ze_kernel_handle_t kernel = kernel_of(module_of("saxpy.spv"), "saxpy");
  const uint32_t none = 0;
  const float by = 3;
  void* data = memory_of(64);
  CALL(zeKernelSetArgumentValue, kernel, 0, sizeof by, &by);
  CALL(zeKernelSetArgumentValue, kernel, 1, sizeof data, &data);
  CALL(zeKernelSetArgumentValue, kernel, 2, sizeof data, &data);
  CALL(zeKernelSetArgumentValue, kernel, 3, sizeof none, &none);
  CALL(zeKernelSetGroupSize, kernel, 16, 1, 1);
  return kernel;
}

typedef struct {  // ze_group_size_t, 1.14
  uint32_t x, y, z;
} group_size;
typedef ze_result_t (*with_arguments)(ze_command_list_handle_t, ze_kernel_handle_t, ze_group_count_t,
                                      group_size, void**, const void*, ze_event_handle_t, uint32_t,
                                      ze_event_handle_t*);
typedef ze_result_t (*with_parameters)(ze_command_list_handle_t, ze_kernel_handle_t, const ze_group_count_t*,
                                       const void*, ze_event_handle_t, uint32_t, ze_event_handle_t*);

/// A function that old headers have not; `place` is a pointer to one.
static void extension(const char* name, void* place) {
  void* function = NULL;
  zeDriverGetExtensionFunctionAddress(driver, name, &function);
  if (!function) {
    printf("skipped: no %s\n", name);
    exit(77);
  }
  memcpy(place, &function, sizeof function);
}

/// Of `tiled`, with so many bytes for each `__local` argument.
static void append_with_arguments(ze_kernel_handle_t kernel, size_t local, uint32_t edge) {
  with_arguments append = NULL;
  extension("zeCommandListAppendLaunchKernelWithArguments", &append);
  void* data = memory_of(16 * 16 * sizeof(float));
  uint32_t size = 16;
  void* arguments[] = {&data, &data, &data, &size, &size, &size, &size, &local, &local};
  const ze_group_count_t groups = {1, 1, 1};
  const group_size group = {edge, edge, 1};
  answer("zeCommandListAppendLaunchKernelWithArguments",
         append(list, kernel, groups, group, arguments, NULL, NULL, 0, NULL));
}

/// A value of no bytes, and a null pointer for one.
static void no_bytes(void) {
  with_arguments append = NULL;
  const uint32_t none = 0;
  void* data = memory_of(64);
  const ze_group_count_t groups = {1, 1, 1};
  const group_size group = {16, 1, 1};
  void* arguments[] = {NULL, &data, &data, (void*)&none};
  const ze_kernel_handle_t kernel = kernel_of(module_of("saxpy.spv"), "saxpy");
  CALL(zeKernelSetArgumentValue, kernel, 0, 0, &none);
  CALL(zeKernelSetArgumentValue, kernel, 1, sizeof data, &data);
  CALL(zeKernelSetArgumentValue, kernel, 2, sizeof data, &data);
  CALL(zeKernelSetArgumentValue, kernel, 3, sizeof none, &none);
  CALL(zeKernelSetGroupSize, kernel, 16, 1, 1);
  CALL(zeCommandListAppendLaunchKernel, list, kernel, &groups, NULL, 0, NULL);
  extension("zeCommandListAppendLaunchKernelWithArguments", &append);
  answer("zeCommandListAppendLaunchKernelWithArguments",
         append(list, saxpy_kernel(), groups, group, arguments, NULL, NULL, 0, NULL));
}

/// Launches until the device is lost: KILN_CPU_FAULT=lost=10.
static void until_lost(void) {
  const ze_kernel_handle_t kernel = saxpy_kernel();
  for (uint32_t i = 1; i <= 10; ++i) {
    const ze_group_count_t groups = {i, 1, 1};
    CALL(zeCommandListAppendLaunchKernel, list, kernel, &groups, NULL, 0, NULL);
  }
}

/// One launch of each kind, and the fourth loses the device.
static void kinds_of_launches(void) {
  with_parameters append = NULL;
  const ze_kernel_handle_t kernel = saxpy_kernel();
  const ze_group_count_t groups = {2, 1, 1};
  ze_group_count_t* in_memory = memory_of(sizeof groups);
  *in_memory = groups;
  CALL(zeCommandListAppendLaunchKernelIndirect, list, kernel, in_memory, NULL, 0, NULL);
  extension("zeCommandListAppendLaunchKernelWithParameters", &append);
  answer("zeCommandListAppendLaunchKernelWithParameters", append(list, kernel, &groups, NULL, NULL, 0, NULL));
  append_with_arguments(kernel_of(module_of("matmul.spv"), "tiled"), 1024, 16);
  CALL(zeCommandListAppendLaunchKernel, list, kernel, &groups, NULL, 0, NULL);
}

static void launch_on(ze_command_list_handle_t on, ze_kernel_handle_t kernel, uint32_t groups,
                      ze_event_handle_t signal) {
  const ze_group_count_t count = {groups, 1, 1};
  CALL(zeCommandListAppendLaunchKernel, on, kernel, &count, signal, 0, NULL);
}

/// Two launches on an immediate list, and two on a list that is executed, of each the second with an event
/// that is waited for; then one more, and the end. `in_order`: the lists are so, whose bits are newer than
/// the headers.
static void die_in_order(int in_order) {
  const ze_command_queue_desc_t mode = {
      ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, 0, 0, in_order ? 2 : 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
      ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  const ze_command_queue_desc_t ordinary = {
      ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
      ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  const ze_command_list_desc_t recording = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, NULL, 0, in_order ? 8 : 0};
  ze_command_queue_handle_t queue = NULL;
  ze_command_list_handle_t lists[2] = {NULL, NULL};
  NEED(zeCommandQueueCreate, context, device, &ordinary, &queue);
  NEED(zeCommandListCreateImmediate, context, device, &mode, &lists[0]);
  NEED(zeCommandListCreate, context, device, &recording, &lists[1]);
  const ze_event_pool_desc_t events = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL,
                                       ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 2};
  ze_event_pool_handle_t pool = NULL;
  NEED(zeEventPoolCreate, context, &events, 1, &device, &pool);
  const ze_kernel_handle_t kernel = saxpy_kernel();
  for (uint32_t i = 0; i < 2; ++i) {
    const ze_event_desc_t description = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, i, 0, ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_handle_t event = NULL;
    NEED(zeEventCreate, pool, &description, &event);
    launch_on(lists[i], kernel, 10 * i + 1, NULL);
    launch_on(lists[i], kernel, 10 * i + 2, event);
    if (i == 1) {
      CALL(zeCommandListClose, lists[1]);
      CALL(zeCommandQueueExecuteCommandLists, queue, 1, &lists[1], NULL);
    }
    CALL(zeEventHostSynchronize, event, UINT64_MAX);
  }
  launch_on(lists[0], kernel, 3, NULL);
  abort();
}

/// Work that was waited for, by the queue of a list and by an event, and work that was not, and then an end.
static void die(const char* how) {
  if (strcmp(how, "in-order") == 0) die_in_order(1);
  if (strcmp(how, "any-order") == 0) die_in_order(0);
  const ze_command_queue_desc_t mode = {
      ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
      ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  const ze_command_list_desc_t ordinary = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, NULL, 0, 0};
  ze_command_queue_handle_t queue = NULL;
  ze_command_list_handle_t immediate = NULL, recorded = NULL;
  NEED(zeCommandQueueCreate, context, device, &mode, &queue);
  NEED(zeCommandListCreateImmediate, context, device, &mode, &immediate);
  NEED(zeCommandListCreate, context, device, &ordinary, &recorded);
  const ze_event_pool_desc_t events = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL,
                                       ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
  ze_event_pool_handle_t pool = NULL;
  NEED(zeEventPoolCreate, context, &events, 1, &device, &pool);
  const ze_event_desc_t one = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, 0, 0, ZE_EVENT_SCOPE_FLAG_HOST};
  ze_event_handle_t event = NULL;
  NEED(zeEventCreate, pool, &one, &event);
  const ze_kernel_handle_t kernel = saxpy_kernel();
  launch_on(list, kernel, 1, NULL);
  launch_on(recorded, kernel, 2, NULL);
  CALL(zeCommandListClose, recorded);
  CALL(zeCommandQueueExecuteCommandLists, queue, 1, &recorded, NULL);
  CALL(zeCommandQueueSynchronize, queue, UINT64_MAX);
  CALL(zeCommandListReset, recorded);
  launch_on(immediate, kernel, 3, event);
  CALL(zeEventHostSynchronize, event, UINT64_MAX);
  launch_on(recorded, kernel, 4, NULL);
  CALL(zeCommandListClose, recorded);
  CALL(zeCommandQueueExecuteCommandLists, queue, 1, &recorded, NULL);
  launch_on(immediate, kernel, 5, NULL);
  if (strcmp(how, "spin") == 0) {  // for an event that nobody signals
    CALL(zeEventHostReset, event);
    for (int i = 0; i < 5000; ++i) zeEventHostSynchronize(event, 0);
    how = "abort";
  }
  if (strcmp(how, "many-lists") == 0) {  // and a synchronous list that is older than they
    CALL(zeCommandQueueSynchronize, queue, UINT64_MAX);
    CALL(zeCommandListDestroy, immediate);
    for (int i = 0; i < 300; ++i) {
      ze_command_list_handle_t other = NULL;
      if (zeCommandListCreate(context, device, &ordinary, &other) != ZE_RESULT_SUCCESS) exit(1);
      zeCommandListDestroy(other);
    }
    launch_on(list, kernel, 6, NULL);
    abort();
  }
  if (strcmp(how, "query") == 0) {
    CALL(zeEventHostReset, event);
    launch_on(immediate, kernel, 6, event);
    while (zeEventQueryStatus(event) == ZE_RESULT_NOT_READY) continue;
    for (int i = 0; i < 5000; ++i) zeEventQueryStatus(event);
    abort();
  }
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "segv") == 0) raise(SIGSEGV);
  if (strcmp(how, "kill") == 0) raise(SIGKILL);
  if (strcmp(how, "_exit") == 0) _exit(0);
  CALL(zeCommandQueueSynchronize, queue, UINT64_MAX);
  exit(0);
}

static ze_kernel_handle_t busy_kernel;
static atomic_int busy;
static void* explained_beside(void* none) {
  atomic_store(&busy, 1);
  zeKernelSetGroupSize(busy_kernel, 0, 1, 1);
  return none;
}

/// A child that is made while another thread finds out why its call was refused, and has one refused, too.
static void forks_beside(void) {
  int late = 0;
  for (int i = 0; i < 60; ++i) {
    busy_kernel = matmul(1024);
    atomic_store(&busy, 0);
    pthread_t thread;
    pthread_create(&thread, NULL, explained_beside, NULL);
    while (!atomic_load(&busy)) continue;
    for (volatile int wait = 0; wait < i * 10000; ++wait) continue;  // each time at another place of its work
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      zeKernelSetGroupSize(busy_kernel, 0, 1, 1);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    late += status != 0;
    pthread_join(thread, NULL);
  }
  printf("children that did not come back: %d\n", late);
}

/// A launch that is refused while it waits for an event that the program then never signals.
static void refused_waiter(void) {
  ze_command_queue_desc_t queue = {
      ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
      ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  ze_command_list_handle_t own = NULL;
  CALL(zeCommandListCreateImmediate, context, device, &queue, &own);
  const ze_event_pool_desc_t of_pool = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL,
                                        ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 2};
  ze_event_pool_handle_t pool = NULL;
  CALL(zeEventPoolCreate, context, &of_pool, 1, &device, &pool);
  ze_event_handle_t events[2];
  for (uint32_t i = 0; i < 2; ++i) {
    const ze_event_desc_t of_event = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, i, ZE_EVENT_SCOPE_FLAG_HOST, 0};
    CALL(zeEventCreate, pool, &of_event, &events[i]);
  }
  const ze_group_count_t groups = {1, 1, 1};
  CALL(zeCommandListAppendLaunchKernel, own, matmul(150000), &groups, NULL, 1, &events[0]);
  CALL(zeCommandListAppendBarrier, own, events[1], 0, NULL);
  CALL(zeEventHostSynchronize, events[1], 5000000000u);
  CALL(zeCommandListDestroy, own);
}

/// A smaller launch after one that was too large, and values in ways that drivers take.
static void retried(void) {
  const ze_kernel_handle_t kernel = matmul(150000);
  const ze_group_count_t groups = {1, 1, 1};
  CALL(zeCommandListAppendLaunchKernel, list, kernel, &groups, NULL, 0, NULL);
  float* data = memory_of(16 * 16 * sizeof(float));
  set_matmul(kernel, data, 1024);
  CALL(zeCommandListAppendLaunchKernel, list, kernel, &groups, NULL, 0, NULL);
  const ze_kernel_handle_t scaled = saxpy_kernel();
  const uint8_t half[2] = {0, 0};
  CALL(zeKernelSetArgumentValue, scaled, 0, sizeof half, half);  // the upper half stays
  CALL(zeCommandListAppendLaunchKernel, list, scaled, &groups, NULL, 0, NULL);
}

/// What a layer may get wrong. 0: not of these.
static int edge(const char* name, const char* file) {
  if (strcmp(name, "garbage-log") == 0) {
    const uint8_t code[] = "kernel void k() {}";
    const ze_module_desc_t description = {
        ZE_STRUCTURE_TYPE_MODULE_DESC, NULL, (ze_module_format_t)3, sizeof code, code, "", NULL};
    ze_module_handle_t none = NULL;
    ze_module_build_log_handle_t log = (ze_module_build_log_handle_t)0x5a5a5a5a5a5a5a50;
    CALL(zeModuleCreate, context, device, &description, &none, &log);
    printf("log as it was: %d\n", log == (ze_module_build_log_handle_t)0x5a5a5a5a5a5a5a50);
    log = (ze_module_build_log_handle_t)0x5a5a5a5a5a5a5a50;
    CALL(zeModuleDynamicLink, 1, &none, &log);
    printf("log as it was: %d\n", log == (ze_module_build_log_handle_t)0x5a5a5a5a5a5a5a50);
  } else if (strcmp(name, "close-files") == 0) {
    for (int each = 3; each < 256; ++each) close(each);
    for (int i = 0; i < 8; ++i)
      if (open(file, O_WRONLY | O_CREAT, 0666) < 0) exit(2);
    refused_queue();
  } else if (strcmp(name, "fork") == 0) {
    refused_queue();
    const pid_t child = fork();
    if (child == 0) exit(0);
    int status = 0;
    waitpid(child, &status, 0);
    printf("child: %d\n", status);
  } else if (strcmp(name, "forks-beside") == 0) {
    forks_beside();
  } else if (strcmp(name, "refused-waiter") == 0) {
    refused_waiter();
  } else if (strcmp(name, "retried") == 0) {
    retried();
  } else if (strcmp(name, "asks-often") == 0) {
    const ze_module_handle_t module = module_of("saxpy.spv");
    for (int i = 0; i < 50; ++i) kernel_of(module, "nothing");
  } else if (strcmp(name, "die") == 0) {
    die(file);
  } else if (strcmp(name, "small-files") == 0) {
    const struct rlimit none = {0, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &none);
    refused_queue();
    raise(SIGXFSZ);  // what the layer blocks for a while is the program's again
  } else if (strcmp(name, "fork-launches") == 0) {
    launch_on(list, saxpy_kernel(), 1, NULL);
    struct rlimit room;
    getrlimit(RLIMIT_AS, &room);
    const struct rlimit none = {1 << 20, room.rlim_max};
    if (strcmp(file, "no-room") == 0) setrlimit(RLIMIT_AS, &none);
    const pid_t child = fork();
    setrlimit(RLIMIT_AS, &room);
    if (child == 0) {
      launch_on(list, saxpy_kernel(), 2, NULL);
      _exit(0);
    }
    waitpid(child, NULL, 0);
    launch_on(list, saxpy_kernel(), 3, NULL);
    printf("child %d\n", (int)child);
    fflush(stdout);
    _exit(0);
  } else if (strcmp(name, "wait") == 0) {
    const ze_event_pool_desc_t events = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL,
                                         ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
    const ze_event_desc_t one = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, 0, 0, ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_pool_handle_t pool = NULL;
    ze_event_handle_t event = NULL;
    NEED(zeEventPoolCreate, context, &events, 1, &device, &pool);
    NEED(zeEventCreate, pool, &one, &event);
    launch_on(list, saxpy_kernel(), 7, NULL);
    CALL(zeEventHostSynchronize, event, UINT64_MAX);  // nobody signals it
  } else if (strcmp(name, "no-bytes") == 0) {
    no_bytes();
  } else if (strcmp(name, "until-lost") == 0) {
    until_lost();
  } else if (strcmp(name, "kinds-of-launches") == 0) {
    kinds_of_launches();
  } else if (strcmp(name, "arguments-over") == 0) {
    append_with_arguments(matmul(1024), 150000, 16);
  } else if (strcmp(name, "arguments-group") == 0) {
    append_with_arguments(matmul(1024), 1024, 4096);
  } else if (strcmp(name, "arguments-after") == 0) {
    const ze_group_count_t groups = {1, 1, 1};
    const ze_kernel_handle_t kernel = matmul(150000);
    append_with_arguments(kernel, 1024, 16);
    CALL(zeCommandListAppendLaunchKernel, list, kernel, &groups, NULL, 0, NULL);
    append_with_arguments(kernel, 150000, 16);
    append_with_arguments(kernel, 1024, 16);
    CALL(zeCommandListAppendLaunchKernel, list, kernel, &groups, NULL, 0, NULL);
  } else if (strcmp(name, "sizes") == 0) {
    const ze_device_mem_alloc_desc_t on_device = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, NULL, 0, 0};
    void* data = NULL;
    for (size_t i = 0; i < 20; ++i)
      CALL(zeMemAllocDevice, context, &on_device, ((size_t)1 << 24) + i * 4096, 64, device, &data);
  } else if (strcmp(name, "errno") == 0) {
    const ze_device_mem_alloc_desc_t on_device = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, NULL, 0, 0};
    void* data = NULL;
    errno = EDOM;
    zeMemAllocDevice(context, &on_device, (size_t)1 << 45, 64, device, &data);
    printf("errno as it was: %d\n", errno == EDOM);
  } else {
    return 0;
  }
  return 1;
}

/// One call that a driver may follow into nowhere, index by, or end the process over.
static void danger(const char* name, const char* file) {
  const ze_device_mem_alloc_desc_t on_device = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, NULL, 0, 0};
  const ze_host_mem_alloc_desc_t on_host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
  const ze_group_count_t groups = {1, 1, 1};
  void* data = NULL;
  if (strcmp(name, "nothing") == 0) return;
  if (strcmp(name, "queue") == 0) {
    refused_queue();
  } else if (strcmp(name, "cooperative") == 0) {
    uint32_t most = 0;
    CALL(zeKernelSuggestMaxCooperativeGroupCount, matmul(150000), &most);
  } else if (strcmp(name, "null-kernel") == 0) {
    CALL(zeKernelSetGroupSize, NULL, 1, 1, 1);
  } else if (strcmp(name, "null-list") == 0) {
    CALL(zeCommandListAppendLaunchKernel, NULL, matmul(1024), &groups, NULL, 0, NULL);
  } else if (strcmp(name, "null-groups") == 0) {
    CALL(zeCommandListAppendLaunchKernel, list, matmul(1024), NULL, NULL, 0, NULL);
  } else if (strcmp(name, "null-value") == 0) {
    CALL(zeKernelSetArgumentValue, matmul(1024), 3, sizeof(uint32_t), NULL);
  } else if (strcmp(name, "null-image") == 0) {
    const ze_image_handle_t none = NULL;
    CALL(zeKernelSetArgumentValue, kernel_of(module_of(file), "reads_image"), 0, sizeof none, &none);
  } else if (strcmp(name, "null-copy") == 0) {
    CALL(zeCommandListAppendMemoryCopy, list, NULL, memory_of(64), 64, NULL, 0, NULL);
  } else if (strcmp(name, "fill") == 0) {
    CALL(zeCommandListAppendMemoryFill, list, memory_of(64), "abc", 3, 63, NULL, 0, NULL);
  } else if (strcmp(name, "file") == 0) {
    module_of(file);
  } else if (strcmp(name, "no-spirv") == 0) {
    const uint8_t code[] = "this is no SPIR-V, it is text";
    const ze_module_desc_t description = {
        ZE_STRUCTURE_TYPE_MODULE_DESC, NULL, ZE_MODULE_FORMAT_IL_SPIRV, sizeof code, code, "", NULL};
    ze_module_handle_t module = NULL;
    CALL(zeModuleCreate, context, device, &description, &module, NULL);
  } else if (strcmp(name, "alignment") == 0) {
    CALL(zeMemAllocShared, context, &on_device, &on_host, 64, (size_t)1 << 63, device, &data);
  } else if (strcmp(name, "odd-alignment") == 0) {
    CALL(zeMemAllocDevice, context, &on_device, 64, 3, device, &data);
  } else if (strcmp(name, "size") == 0) {
    const ze_relaxed_allocation_limits_exp_desc_t relaxed = {
        ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC, NULL,
        ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE};
    const ze_host_mem_alloc_desc_t any = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, &relaxed, 0};
    CALL(zeMemAllocHost, context, &any, SIZE_MAX, 64, &data);
  } else if (strcmp(name, "no-events") == 0) {
    const ze_event_pool_desc_t none = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, 0, 0};
    ze_event_pool_handle_t pool = NULL;
    CALL(zeEventPoolCreate, context, &none, 1, &device, &pool);
  } else if (strcmp(name, "properties") == 0) {
    ze_kernel_preferred_group_size_properties_t one = {
        ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES, NULL, 0};
    ze_kernel_preferred_group_size_properties_t two = {
        ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES, &one, 0};
    ze_kernel_properties_t properties;
    memset(&properties, 0, sizeof properties);
    properties.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES;
    properties.pNext = &two;
    CALL(zeKernelGetProperties, matmul(1024), &properties);
    printf("both the same: %d\n", one.preferredMultiple == two.preferredMultiple && properties.pNext == &two);
  } else {
    printf("no call of that name\n");
    exit(2);
  }
}

int main(int argc, char** argv) {
  folder = argc > 1 ? argv[1] : ".";
  set_up();
  if (argc <= 2) {
    saxpy();
    launches();
    allocations();
    builds();
  } else if (!edge(argv[2], argc > 3 ? argv[3] : "")) {
    danger(argv[2], argc > 3 ? argv[3] : "");
  }
  CALL(zeCommandListDestroy, list);
  CALL(zeContextDestroy, context);
  return 0;
}
