// SPDX-License-Identifier: MIT
// A program that knows nothing of Kiln, as engines work: a list that is filled once and executed twice,
// device memory with two arrays in one allocation, events between commands. queue SAXPY.spv
#include <level_zero/ze_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define NEED(name, ...)                            \
  do {                                             \
    const ze_result_t code = name(__VA_ARGS__);    \
    if (code != ZE_RESULT_SUCCESS) {               \
      printf("%s: 0x%x\n", #name, (unsigned)code); \
      exit(1);                                     \
    }                                              \
  } while (0)

enum { kCount = 1000, kApart = 4096 };

int main(int argc, char** argv) {
  FILE* in = argc >= 2 ? fopen(argv[1], "rb") : NULL;
  const int turns = argc == 3 ? atoi(argv[2]) : 0;  // without a wait in between
  if (!in) return 2;
  static uint8_t code[1 << 16];
  const size_t size = fread(code, 1, sizeof code, in);
  fclose(in);
  NEED(zeInit, 0);
  uint32_t one = 1;
  ze_driver_handle_t driver;
  NEED(zeDriverGet, &one, &driver);
  ze_device_handle_t device;
  NEED(zeDeviceGet, driver, &one, &device);
  const ze_context_desc_t of_context = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
  ze_context_handle_t context;
  NEED(zeContextCreate, driver, &of_context, &context);
  const ze_module_desc_t of_module = {
      ZE_STRUCTURE_TYPE_MODULE_DESC, NULL, ZE_MODULE_FORMAT_IL_SPIRV, size, code, "", NULL};
  ze_module_handle_t module;
  NEED(zeModuleCreate, context, device, &of_module, &module, NULL);
  const ze_kernel_desc_t of_kernel = {ZE_STRUCTURE_TYPE_KERNEL_DESC, NULL, 0, "saxpy"};
  ze_kernel_handle_t kernel;
  NEED(zeKernelCreate, module, &of_kernel, &kernel);

  const ze_device_mem_alloc_desc_t on_device = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, NULL, 0, 0};
  const ze_host_mem_alloc_desc_t on_host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
  uint8_t* arrays;
  float* values;
  NEED(zeMemAllocDevice, context, &on_device, 2 * kApart, 64, device, (void**)&arrays);
  NEED(zeMemAllocHost, context, &on_host, 2 * kApart, 64, (void**)&values);
  for (int i = 0; i < 2 * kApart / 4; ++i) values[i] = 1;
  const ze_event_pool_desc_t of_pool = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL,
                                        ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 2};
  ze_event_pool_handle_t pool;
  NEED(zeEventPoolCreate, context, &of_pool, 0, NULL, &pool);
  ze_event_handle_t events[2];
  for (uint32_t i = 0; i < 2; ++i) {
    const ze_event_desc_t of_event = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, i, ZE_EVENT_SCOPE_FLAG_HOST, 0};
    NEED(zeEventCreate, pool, &of_event, &events[i]);
  }

  const ze_command_queue_desc_t of_queue = {
      ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
      ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  ze_command_queue_handle_t queue;
  NEED(zeCommandQueueCreate, context, device, &of_queue, &queue);
  const ze_command_list_desc_t of_list = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, NULL, 0, 0};
  ze_command_list_handle_t list;
  NEED(zeCommandListCreate, context, device, &of_list, &list);
  NEED(zeCommandListAppendMemoryCopy, list, arrays, values, 2 * kApart, events[0], 0, NULL);
  const float by = 2;
  const uint32_t count = kCount;
  const void *x = arrays, *y = arrays + kApart;
  NEED(zeKernelSetArgumentValue, kernel, 0, sizeof by, &by);
  NEED(zeKernelSetArgumentValue, kernel, 1, sizeof x, &x);
  NEED(zeKernelSetArgumentValue, kernel, 2, sizeof y, &y);
  NEED(zeKernelSetArgumentValue, kernel, 3, sizeof count, &count);
  NEED(zeKernelSetGroupSize, kernel, 100, 1, 1);
  const ze_group_count_t groups = {10, 1, 1};
  NEED(zeCommandListAppendLaunchKernel, list, kernel, &groups, events[1], 1, &events[0]);
  NEED(zeCommandListAppendMemoryCopy, list, values, arrays, 2 * kApart, NULL, 1, &events[1]);
  NEED(zeCommandListClose, list);
  for (int turn = 0; turn < 2 && !turns; ++turn) {
    for (uint32_t i = 0; i < 2; ++i) NEED(zeEventHostReset, events[i]);
    NEED(zeCommandQueueExecuteCommandLists, queue, 1, &list, NULL);
    NEED(zeCommandQueueSynchronize, queue, UINT64_MAX);
    printf("%g %g\n", values[0], values[kApart / 4]);
  }
  for (int turn = 0; turn < turns; ++turn) {
    for (uint32_t i = 0; i < 2 && turn == 0; ++i) NEED(zeEventHostReset, events[i]);
    NEED(zeCommandQueueExecuteCommandLists, queue, 1, &list, NULL);
  }
  NEED(zeCommandQueueSynchronize, queue, UINT64_MAX);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) exit(0);
  waitpid(child, NULL, 0);
  NEED(zeCommandListDestroy, list);
  NEED(zeCommandQueueDestroy, queue);
  for (uint32_t i = 0; i < 2; ++i) NEED(zeEventDestroy, events[i]);
  NEED(zeEventPoolDestroy, pool);
  NEED(zeMemFree, context, values);
  NEED(zeMemFree, context, arrays);
  NEED(zeKernelDestroy, kernel);
  NEED(zeModuleDestroy, module);
  NEED(zeContextDestroy, context);
  return 0;
}
