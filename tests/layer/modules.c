// SPDX-License-Identifier: MIT
// A program that knows nothing of Kiln: makes modules, and prints all that a driver says of them, but for
// addresses. modules COMMAND [WORD...]: what is below.
#include <level_zero/ze_api.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;

typedef struct {
  uint8_t* code;
  size_t size;
} bytes;

static bytes read_file(const char* path) {
  FILE* in = fopen(path, "rb");
  if (!in) {
    perror(path);
    exit(2);
  }
  bytes file = {malloc(1 << 20), 0};
  file.size = fread(file.code, 1, 1 << 20, in);
  fclose(in);
  return file;
}

static void need(const char* what, ze_result_t code) {
  if (code == ZE_RESULT_SUCCESS) return;
  printf("%s: 0x%x\n", what, (unsigned)code);
  exit(1);
}

static void set_up(void) {
  need("zeInit", zeInit(0));
  uint32_t one = 1;
  need("zeDriverGet", zeDriverGet(&one, &driver));
  one = 1;
  need("zeDeviceGet", zeDeviceGet(driver, &one, &device));
  const ze_context_desc_t description = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
  need("zeContextCreate", zeContextCreate(driver, &description, &context));
}

static void print_log(ze_module_build_log_handle_t log) {
  if (!log) {
    printf("no log\n");
    return;
  }
  static char text[1 << 16];
  size_t size = 0;
  const ze_result_t asked = zeModuleBuildLogGetString(log, &size, NULL);
  if (size > sizeof text) size = sizeof text;
  const ze_result_t code = size ? zeModuleBuildLogGetString(log, &size, text) : asked;
  printf("log: 0x%x, ends: %d, \"%s\"\n", (unsigned)code, size == 0 || text[size - 1] == 0, size ? text : "");
  printf("log destroyed: 0x%x\n", (unsigned)zeModuleBuildLogDestroy(log));
}

static void print_kernel(ze_module_handle_t module, const char* name) {
  const ze_kernel_desc_t description = {ZE_STRUCTURE_TYPE_KERNEL_DESC, NULL, 0, name};
  ze_kernel_handle_t kernel = NULL;
  const ze_result_t code = zeKernelCreate(module, &description, &kernel);
  printf("kernel %s: 0x%x\n", name, (unsigned)code);
  if (code != ZE_RESULT_SUCCESS) return;
  ze_kernel_properties_t facts;
  memset(&facts, 0, sizeof facts);
  facts.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES;
  const ze_result_t asked = zeKernelGetProperties(kernel, &facts);
  printf("  0x%x: %u arguments, group %u %u %u, sub-groups %u %u %u %u, memory %u %u %u, ids",
         (unsigned)asked, facts.numKernelArgs, facts.requiredGroupSizeX, facts.requiredGroupSizeY,
         facts.requiredGroupSizeZ, facts.requiredNumSubGroups, facts.requiredSubgroupSize,
         facts.maxSubgroupSize, facts.maxNumSubgroups, facts.localMemSize, facts.privateMemSize,
         facts.spillMemSize);
  for (int i = 0; i < ZE_MAX_KERNEL_UUID_SIZE; ++i) printf("%02x", facts.uuid.kid[i]);
  uint32_t size = 0;
  char* text = NULL;
  const ze_result_t attributes = zeKernelGetSourceAttributes(kernel, &size, NULL);
  printf("\n  attributes: 0x%x, %u bytes", (unsigned)attributes, size);
  if (attributes == ZE_RESULT_SUCCESS && size) {
    char* const room = text = calloc(size + 1, 1);
    zeKernelGetSourceAttributes(kernel, &size, &text);
    printf(", %s", text ? text : "");
    free(room);
  }
  uint32_t x = 0, y = 0, z = 0;
  const ze_result_t suggested = zeKernelSuggestGroupSize(kernel, 4096, 64, 1, &x, &y, &z);
  printf("\n  suggested: 0x%x, %u %u %u\n", (unsigned)suggested, x, y, z);
  zeKernelDestroy(kernel);
}

/// All but addresses.
static void print_module(ze_module_handle_t module) {
  ze_module_properties_t properties = {ZE_STRUCTURE_TYPE_MODULE_PROPERTIES, NULL, 0};
  const ze_result_t asked = zeModuleGetProperties(module, &properties);
  printf("properties: 0x%x, %x\n", (unsigned)asked, properties.flags);
  size_t size = 0;
  ze_result_t code = zeModuleGetNativeBinary(module, &size, NULL);
  uint8_t* native = calloc(size + 1, 1);
  if (code == ZE_RESULT_SUCCESS) code = zeModuleGetNativeBinary(module, &size, native);
  uint64_t sum = 14695981039346656037u;
  for (size_t i = 0; i < size; ++i) sum = (sum ^ native[i]) * 1099511628211u;
  printf("native binary: 0x%x, %zu bytes, %016lx\n", (unsigned)code, size, (unsigned long)sum);
  free(native);
  const char* const globals[] = {"counter", "none"};
  for (size_t i = 0; i < sizeof globals / sizeof *globals; ++i) {
    size_t bytes = 0;
    void* place = NULL;
    const ze_result_t found = zeModuleGetGlobalPointer(module, globals[i], &bytes, &place);
    printf("variable %s: 0x%x, %zu bytes, there: %d\n", globals[i], (unsigned)found, bytes, place != NULL);
  }
  const char* const functions[] = {"twice", "next", "none"};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
    void* place = NULL;
    const ze_result_t found = zeModuleGetFunctionPointer(module, functions[i], &place);
    printf("function %s: 0x%x, there: %d\n", functions[i], (unsigned)found, place != NULL);
  }
  uint32_t count = 0;
  code = zeModuleGetKernelNames(module, &count, NULL);
  const char** names = calloc(count + 1, sizeof *names);
  if (code == ZE_RESULT_SUCCESS) code = zeModuleGetKernelNames(module, &count, names);
  printf("names: 0x%x, %u\n", (unsigned)code, count);
  for (uint32_t i = 0; i < count; ++i) print_kernel(module, names[i]);
  print_kernel(module, "no such kernel");
  free(names);
}

static ze_module_handle_t make(const ze_module_desc_t* description, int with_log) {
  ze_module_handle_t module = NULL;
  ze_module_build_log_handle_t log = NULL;
  const ze_result_t code = zeModuleCreate(context, device, description, &module, with_log ? &log : NULL);
  printf("zeModuleCreate: 0x%x\n", (unsigned)code);
  if (with_log) print_log(log);
  return code == ZE_RESULT_SUCCESS ? module : NULL;
}

static ze_module_desc_t description_of(const bytes* file, const char* flags) {
  const ze_module_desc_t description = {
      ZE_STRUCTURE_TYPE_MODULE_DESC, NULL, ZE_MODULE_FORMAT_IL_SPIRV, file->size, file->code, flags, NULL};
  return description;
}

static ze_module_handle_t module_of(const char* path, const char* flags, int with_log) {
  const bytes file = read_file(path);
  const ze_module_desc_t description = description_of(&file, flags);
  ze_module_handle_t module = make(&description, with_log);
  free(file.code);
  return module;
}

/// facts FILE [FLAGS [ID=VALUE...]]
static void facts(int count, char** words) {
  uint32_t ids[16], constants = 0;
  uint64_t values[16];  // as wide as the widest constant: a driver reads as many bytes as the module says
  const void* places[16];
  for (int i = 2; i < count && i < 16; ++i, ++constants) {
    ids[constants] = (uint32_t)strtoul(words[i], NULL, 0);
    values[constants] = strtoull(strchr(words[i], '=') + 1, NULL, 0);
    places[constants] = &values[constants];
  }
  const ze_module_constants_t list = {constants, ids, places};
  const bytes file = read_file(words[0]);
  ze_module_desc_t description = description_of(&file, count > 1 ? words[1] : NULL);
  if (constants) description.pConstants = &list;
  const ze_module_handle_t module = make(&description, 1);
  if (!module) return;
  print_module(module);
  printf("zeModuleDestroy: 0x%x\n", (unsigned)zeModuleDestroy(module));
}

/// link FILE FILE: built each by itself, then linked; and one without the other before.
static void link_after(char** words) {
  ze_module_handle_t modules[2];
  for (int i = 0; i < 2; ++i) {
    modules[i] = module_of(words[i], "-library-compilation", 1);
    if (!modules[i]) return;
    print_module(modules[i]);
  }
  ze_module_build_log_handle_t log = NULL;
  printf("linked alone: 0x%x\n", (unsigned)zeModuleDynamicLink(1, modules, &log));
  print_log(log);
  log = NULL;
  printf("linked: 0x%x\n", (unsigned)zeModuleDynamicLink(2, modules, &log));
  print_log(log);
  print_kernel(modules[0], "doubled");
  const ze_kernel_desc_t of_kernel = {ZE_STRUCTURE_TYPE_KERNEL_DESC, NULL, 0, "doubled"};
  ze_kernel_handle_t kernel = NULL;
  if (zeKernelCreate(modules[0], &of_kernel, &kernel) != ZE_RESULT_SUCCESS) return;
  const ze_device_mem_alloc_desc_t on_device = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, NULL, 0, 0};
  const ze_host_mem_alloc_desc_t on_host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
  int* data = NULL;
  need("zeMemAllocShared", zeMemAllocShared(context, &on_device, &on_host, 64, 64, device, (void**)&data));
  data[0] = 21;
  const ze_command_queue_desc_t queue = {
      ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
      ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  ze_command_list_handle_t list = NULL;
  need("list", zeCommandListCreateImmediate(context, device, &queue, &list));
  need("argument", zeKernelSetArgumentValue(kernel, 0, sizeof data, &data));
  need("group size", zeKernelSetGroupSize(kernel, 1, 1, 1));
  const ze_group_count_t groups = {1, 1, 1};
  need("launch", zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
  printf("doubled: %d\n", data[0]);
}

/// program FILE FILE: linked before they are built.
static void program(char** words) {
  const bytes first = read_file(words[0]), second = read_file(words[1]);
  size_t sizes[] = {first.size, second.size};
  const uint8_t* codes[] = {first.code, second.code};
  ze_module_program_exp_desc_t both;
  memset(&both, 0, sizeof both);
  both.stype = ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC;
  both.count = 2;
  both.inputSizes = sizes;
  both.pInputModules = codes;
  ze_module_desc_t description = {
      ZE_STRUCTURE_TYPE_MODULE_DESC, &both, ZE_MODULE_FORMAT_IL_SPIRV, 0, NULL, NULL, NULL};
  const ze_module_handle_t module = make(&description, 1);
  if (module) print_module(module);
}

/// chained FILE: something that the specification does not have.
static void chained(char** words) {
  const struct {
    uint32_t stype;
    const void* next;
  } unknown = {0x7fff0001, NULL};
  const bytes file = read_file(words[0]);
  ze_module_desc_t description = description_of(&file, "");
  description.pNext = &unknown;
  const ze_module_handle_t module = make(&description, 1);
  if (module) print_module(module);
}

static const char* shared_path;
static void* build_beside(void* failed) {
  const bytes file = read_file(shared_path);
  const ze_module_desc_t description = description_of(&file, "");
  ze_module_handle_t module = NULL;
  if (zeModuleCreate(context, device, &description, &module, NULL) != ZE_RESULT_SUCCESS) *(int*)failed = 1;
  if (module) zeModuleDestroy(module);
  return NULL;
}

/// threads FILE: eight that make the same at once.
static void threads(char** words) {
  pthread_t all[8];
  int failed[8] = {0}, sum = 0;
  shared_path = words[0];
  for (int i = 0; i < 8; ++i) pthread_create(&all[i], NULL, build_beside, &failed[i]);
  for (int i = 0; i < 8; ++i) pthread_join(all[i], NULL), sum += failed[i];
  printf("failed: %d\n", sum);
}

/// fork FILE HELD: a child that builds while another thread of its parent is inside the driver, which waits
/// for HELD: KILN_COUNTING_HOLDS. And one that is made when no thread is.
static void forks(char** words) {
  shared_path = words[0];
  pthread_t thread;
  int failed = 0;
  pthread_create(&thread, NULL, build_beside, &failed);
  while (access(getenv("KILN_COUNTING"), F_OK) != 0) usleep(1000);
  for (int i = 0; i < 2; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      int own = 0;
      alarm(60);
      fclose(fopen(words[1], "w"));
      build_beside(&own);
      _exit(own);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("child: %d\n", status);
    if (i == 0) pthread_join(thread, NULL);
  }
  printf("parent: %d\n", failed);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* const command = argv[1];
  set_up();
  if (strcmp(command, "facts") == 0)
    facts(argc - 2, argv + 2);
  else if (strcmp(command, "again") == 0)  // closes what it does not know in between
    for (int i = 0; i < 2; ++i) {
      facts(argc - 2, argv + 2);
      fflush(stdout);
      for (int each = 3; each < 256; ++each) close(each);
    }
  else if (strcmp(command, "quiet") == 0)
    printf("made: %d\n", module_of(argv[2], "", 0) != NULL);
  else if (strcmp(command, "link") == 0)
    link_after(argv + 2);
  else if (strcmp(command, "program") == 0)
    program(argv + 2);
  else if (strcmp(command, "chained") == 0)
    chained(argv + 2);
  else if (strcmp(command, "threads") == 0)
    threads(argv + 2);
  else if (strcmp(command, "fork") == 0)
    forks(argv + 2);
  else
    return 2;
  zeContextDestroy(context);
  return 0;
}
