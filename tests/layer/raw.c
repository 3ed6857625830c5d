// SPDX-License-Identifier: MIT
// A program that knows nothing of Kiln: calls of Level Zero, good and bad, each with its answer on a line of
// its own. raw FOLDER_OF_KERNELS [NAME]: without NAME what every driver survives, with NAME one call that may
// end the process.
#include <level_zero/ze_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* folder;
static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;
static ze_command_list_handle_t list;

static ze_result_t answer(const char* what, ze_result_t code) {
  printf("%s: 0x%x\n", what, (unsigned)code);
  fflush(stdout);
  return code;
}
#define CALL(name, ...) answer(#name, name(__VA_ARGS__))
#define NEED(name, ...) \
  if (CALL(name, __VA_ARGS__) != ZE_RESULT_SUCCESS) exit(1)

static ze_module_handle_t module_of(const char* file) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  FILE* in = fopen(path, "rb");
  if (!in) {
    perror(path);
    exit(2);
  }
  static uint8_t code[1 << 20];
  const size_t size = fread(code, 1, sizeof code, in);
  fclose(in);
  const ze_module_desc_t description = {
      ZE_STRUCTURE_TYPE_MODULE_DESC, NULL, ZE_MODULE_FORMAT_IL_SPIRV, size, code, "", NULL};
  ze_module_handle_t module = NULL;
  CALL(zeModuleCreate, context, device, &description, &module, NULL);
  return module;
}

static ze_kernel_handle_t kernel_of(ze_module_handle_t module, const char* name) {
  const ze_kernel_desc_t description = {ZE_STRUCTURE_TYPE_KERNEL_DESC, NULL, 0, name};
  ze_kernel_handle_t kernel = NULL;
  CALL(zeKernelCreate, module, &description, &kernel);
  return kernel;
}

static void* memory_of(size_t size) {
  const ze_device_mem_alloc_desc_t on_device = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, NULL, 0, 0};
  const ze_host_mem_alloc_desc_t on_host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
  void* data = NULL;
  CALL(zeMemAllocShared, context, &on_device, &on_host, size, 64, device, &data);
  return data;
}

static void set_up(void) {
  NEED(zeInit, 0);
  uint32_t one = 1;
  NEED(zeDriverGet, &one, &driver);
  one = 1;
  NEED(zeDeviceGet, driver, &one, &device);
  const ze_context_desc_t description = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
  NEED(zeContextCreate, driver, &description, &context);
  ze_command_queue_desc_t queue = {
      ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
      ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  NEED(zeCommandListCreateImmediate, context, device, &queue, &list);
}

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

/// What a driver may follow, or index by.
static void danger(const char* name) {
  if (strcmp(name, "nothing") == 0) return;
  if (strcmp(name, "queue") == 0) {
    const ze_command_queue_desc_t queue = {
        ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, 77, 0, 0, ZE_COMMAND_QUEUE_MODE_DEFAULT,
        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    ze_command_queue_handle_t made = NULL;
    CALL(zeCommandQueueCreate, context, device, &queue, &made);
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
  } else {
    danger(argv[2]);
  }
  CALL(zeCommandListDestroy, list);
  CALL(zeContextDestroy, context);
  return 0;
}
