// SPDX-License-Identifier: MIT
// What programs that know nothing of Kiln begin with: one device, a list that is immediate and synchronous,
// and calls that say their answer on a line of its own.
#pragma once

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

/// Of the folder, unless its path begins at the root; SPIR-V, or native code in a `.bin`.
static ze_module_handle_t module_with(const char* name, const char* options) {
  char path[4096];
  snprintf(path, sizeof path, "%s%s%s", *name == '/' ? "" : folder, *name == '/' ? "" : "/", name);
  FILE* in = fopen(path, "rb");
  if (!in) {
    perror(path);
    exit(2);
  }
  static uint8_t code[1 << 20];
  const size_t size = fread(code, 1, sizeof code, in);
  fclose(in);
  const int is_native = strcmp(path + strlen(path) - 4, ".bin") == 0;
  const ze_module_desc_t description = {ZE_STRUCTURE_TYPE_MODULE_DESC,
                                        NULL,
                                        is_native ? ZE_MODULE_FORMAT_NATIVE : ZE_MODULE_FORMAT_IL_SPIRV,
                                        size,
                                        code,
                                        options,
                                        NULL};
  ze_module_handle_t module = NULL;
  return CALL(zeModuleCreate, context, device, &description, &module, NULL) == ZE_RESULT_SUCCESS ? module
                                                                                                 : NULL;
}

static ze_kernel_handle_t kernel_of(ze_module_handle_t module, const char* name) {
  const ze_kernel_desc_t description = {ZE_STRUCTURE_TYPE_KERNEL_DESC, NULL, 0, name};
  ze_kernel_handle_t kernel = NULL;
  if (module) CALL(zeKernelCreate, module, &description, &kernel);
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
