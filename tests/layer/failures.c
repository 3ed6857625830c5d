// SPDX-License-Identifier: MIT
// One call, or a few, that Intel's drivers fail at for want of something: failures FOLDER NAME [FILE], where
// NAME is one of the table at the end. Each call says its answer; the last line of a program that survives is
// `survived`.
#include <sys/resource.h>
#include <unistd.h>

#include "calls.h"

static const char* file;

/// `tiled`, whose two `__local` arguments have these sizes.
static ze_kernel_handle_t tiled(size_t first, size_t second) {
  const ze_kernel_handle_t kernel = kernel_of(module_with("matmul.spv", ""), "tiled");
  if (!kernel) exit(1);
  const uint32_t size = 8;
  void* data = memory_of(4096);
  for (uint32_t i = 0; i < 3; ++i) CALL(zeKernelSetArgumentValue, kernel, i, sizeof data, &data);
  for (uint32_t i = 3; i < 7; ++i) CALL(zeKernelSetArgumentValue, kernel, i, sizeof size, &size);
  CALL(zeKernelSetArgumentValue, kernel, 7, first, NULL);
  CALL(zeKernelSetArgumentValue, kernel, 8, second, NULL);
  CALL(zeKernelSetGroupSize, kernel, 8, 8, 1);
  return kernel;
}

static void launch(ze_kernel_handle_t kernel) {
  const ze_group_count_t groups = {1, 1, 1};
  if (kernel) CALL(zeCommandListAppendLaunchKernel, list, kernel, &groups, NULL, 0, NULL);
}

static void builds(void) { kernel_of(module_with(file, ""), "too_much"); }

static void local_over_4_gib(void) { launch(tiled(((size_t)1 << 32) + 16, 1024)); }

static void local_wraps(void) { launch(tiled((size_t)1 << 31, ((size_t)1 << 31) + 1024)); }

static void local_over(void) { launch(tiled(66560, 0x100)); }

static void cooperative_launch(void) {
  const ze_group_count_t groups = {1, 1, 1};
  CALL(zeCommandListAppendLaunchCooperativeKernel, list, tiled(150000, 150000), &groups, NULL, 0, NULL);
}

static void cooperative_product(void) {
  const ze_group_count_t groups = {65536, 65536, 1};
  CALL(zeCommandListAppendLaunchCooperativeKernel, list, tiled(1024, 1024), &groups, NULL, 0, NULL);
}

/// Of `file`, with memory for the kernel's one pointer and a count.
static void runs(const char* name) {
  const ze_kernel_handle_t kernel = kernel_of(module_with(file, ""), name);
  if (!kernel) return;
  void* data = memory_of(4096);
  const uint32_t none = 0;
  CALL(zeKernelSetArgumentValue, kernel, 0, sizeof data, &data);
  CALL(zeKernelSetArgumentValue, kernel, 1, sizeof none, &none);
  CALL(zeKernelSetGroupSize, kernel, 1, 1, 1);
  launch(kernel);
}

static void private_memory(void) { runs("private_array"); }
static void required_twice(void) {
  const ze_kernel_handle_t kernel = kernel_of(module_with(file, ""), "fixed_group");
  for (int i = 0; i < 2; ++i) CALL(zeKernelSetGroupSize, kernel, 3, 1, 1);
}

static void unlinked(void) { kernel_of(module_with(file, "-library-compilation"), "doubled"); }

static ze_event_pool_handle_t pool_of(uint32_t count) {
  const ze_event_pool_desc_t description = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL,
                                            ZE_EVENT_POOL_FLAG_HOST_VISIBLE, count};
  ze_event_pool_handle_t pool = NULL;
  CALL(zeEventPoolCreate, context, &description, 1, &device, &pool);
  return pool;
}

static void many_events(void) { pool_of(0xffffffff); }

static void event_index(void) {
  const ze_event_desc_t description = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, 1000000, 0, 0};
  ze_event_handle_t event = NULL;
  CALL(zeEventCreate, pool_of(2), &description, &event);
}

static void fill_nothing(void) {
  CALL(zeCommandListAppendMemoryFill, list, memory_of(64), "a", 0, 64, NULL, 0, NULL);
}

static void no_wait_list(void) {
  char* data = memory_of(128);
  CALL(zeCommandListAppendMemoryCopy, list, data, data + 64, 64, NULL, 3, NULL);
}

static void launch_without_wait_list(void) {
  const ze_group_count_t groups = {1, 1, 1};
  CALL(zeCommandListAppendLaunchKernel, list, tiled(1024, 1024), &groups, NULL, 3, NULL);
}

static ze_image_handle_t image_of(uint64_t width, uint32_t height) {
  ze_image_desc_t description;
  memset(&description, 0, sizeof description);
  description.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC;
  description.type = ZE_IMAGE_TYPE_2D;
  description.format.layout = ZE_IMAGE_FORMAT_LAYOUT_32;
  description.format.type = ZE_IMAGE_FORMAT_TYPE_UINT;
  description.width = width;
  description.height = height;
  description.depth = 1;
  ze_image_handle_t image = NULL;
  CALL(zeImageCreate, context, device, &description, &image);
  return image;
}

/// 64 KiB of memory are the other side.
static void copy_region(const ze_image_region_t region) {
  CALL(zeCommandListAppendImageCopyToMemory, list, memory_of(1 << 16), image_of(16, 16), &region, NULL, 0,
       NULL);
}
static void region_outside(void) { copy_region((ze_image_region_t){1000, 0, 0, 16, 16, 1}); }
static void region_far_outside(void) {
  alarm(3);  // the driver does not come back
  copy_region((ze_image_region_t){0, 0, 0, 16, 0xffffffff, 1});
}

static void large_image(void) { image_of(1 << 20, 16); }
static void image_of_no_width(void) { image_of(0, 16); }

static void virtual_size(void) {
  void* place = NULL;
  CALL(zeVirtualMemReserve, context, NULL, (size_t)1 << 60, &place);
}

static void physical_size(void) {
  ze_physical_mem_desc_t description = {ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, NULL, 0, 100};
  ze_physical_mem_handle_t memory = NULL;
  CALL(zePhysicalMemCreate, context, device, &description, &memory);
}

static void ipc_of_stack(void) {
  ze_ipc_mem_handle_t handle;
  memset(&handle, 0, sizeof handle);
  CALL(zeMemGetIpcHandle, context, &handle, &handle);
}

/// A context of one device, and memory of another.
static void foreign_device(void) {
  ze_device_handle_t both[2] = {NULL, NULL};
  uint32_t count = 2;
  CALL(zeDeviceGet, driver, &count, both);
  if (count < 2 || !both[1]) {
    printf("skipped: one device\n");
    exit(77);
  }
  const ze_context_desc_t description = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
  const ze_device_mem_alloc_desc_t on_device = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, NULL, 0, 0};
  ze_context_handle_t own = NULL;
  void* data = NULL;
  NEED(zeContextCreateEx, driver, &description, 1, both, &own);
  CALL(zeMemAllocDevice, own, &on_device, 64, 64, both[1], &data);
}

/// No more memory than the process has: what the driver cannot have of the host.
static void no_memory_left(void) {
  const struct rlimit none = {1 << 20, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &none);
}

static void append_without_memory(void) {
  const ze_group_count_t groups = {1, 1, 1};
  const ze_command_list_desc_t description = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, NULL, 0, 0};
  ze_command_list_handle_t own = NULL;
  NEED(zeCommandListCreate, context, device, &description, &own);
  const ze_kernel_handle_t kernel = tiled(1024, 1024);
  no_memory_left();
  ze_result_t code = ZE_RESULT_SUCCESS;
  for (int i = 0; i < 100000 && code == ZE_RESULT_SUCCESS; ++i)
    code = zeCommandListAppendLaunchKernel(own, kernel, &groups, NULL, 0, NULL);
  answer("zeCommandListAppendLaunchKernel", code);
}

static void prints_without_memory(void) {
  const ze_module_handle_t module = module_with(file, "");
  no_memory_left();
  kernel_of(module, "prints");
}

static const struct {
  const char* name;
  void (*of)(void);
} all[] = {
    {"builds", builds},
    {"local-over", local_over},
    {"local-over-4-gib", local_over_4_gib},
    {"local-wraps", local_wraps},
    {"cooperative-launch", cooperative_launch},
    {"cooperative-product", cooperative_product},
    {"private-memory", private_memory},
    {"required-twice", required_twice},
    {"unlinked", unlinked},
    {"many-events", many_events},
    {"event-index", event_index},
    {"fill-nothing", fill_nothing},
    {"no-wait-list", no_wait_list},
    {"launch-without-wait-list", launch_without_wait_list},
    {"large-image", large_image},
    {"image-of-no-width", image_of_no_width},
    {"region-outside", region_outside},
    {"region-far-outside", region_far_outside},
    {"virtual-size", virtual_size},
    {"physical-size", physical_size},
    {"ipc-of-stack", ipc_of_stack},
    {"foreign-device", foreign_device},
    {"append-without-memory", append_without_memory},
    {"prints-without-memory", prints_without_memory},
};

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  folder = argv[1];
  file = argc > 3 ? argv[3] : "";
  set_up();
  ze_driver_properties_t properties;
  memset(&properties, 0, sizeof properties);
  properties.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES;
  NEED(zeDriverGetProperties, driver, &properties);
  printf("driver: %u\n", properties.driverVersion & 0xffff);
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
    if (strcmp(all[i].name, argv[2]) == 0) {
      all[i].of();
      printf("survived\n");
      return 0;
    }
  printf("no failure of that name\n");
  return 2;
}
