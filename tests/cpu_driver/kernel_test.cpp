// SPDX-License-Identifier: MIT
// Modules and kernels: building, refusing, arguments, group sizes, and shared local memory over the limit.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <string_view>

#include "fixture.hpp"

namespace {

struct Build {
  ze_result_t result = ZE_RESULT_SUCCESS;
  ze_module_handle_t module = nullptr;
  bool has_log = false;
  std::string log;
};

Build build(const Fixture& f, const std::vector<std::uint8_t>& bytes, ze_module_format_t format) {
  auto desc = make<ze_module_desc_t>(ZE_STRUCTURE_TYPE_MODULE_DESC);
  desc.format = format;
  desc.inputSize = bytes.size();
  desc.pInputModule = bytes.data();
  Build built;
  ze_module_build_log_handle_t log = nullptr;
  built.result = api.ModuleCreate(f.context, f.device, &desc, &built.module, &log);
  if (!log) return built;
  std::size_t size = 0;
  // Loaders that stand in between (1.8; 1.32 without driver handles) hand out the driver's own log after a
  // failure, and can neither read nor destroy it.
  if (!api.straight && built.result != ZE_RESULT_SUCCESS &&
      api.ModuleBuildLogGetString(log, &size, nullptr) == ZE_RESULT_ERROR_UNINITIALIZED) {
    static auto* lost = new std::vector<ze_module_build_log_handle_t>;
    lost->push_back(log);
    return built;
  }
  built.has_log = true;
  CHECK(api.ModuleBuildLogGetString(log, &size, nullptr) == ZE_RESULT_SUCCESS);
  built.log.resize(size);
  CHECK(api.ModuleBuildLogGetString(log, &size, built.log.data()) == ZE_RESULT_SUCCESS);
  built.log.resize(size - 1);
  CHECK(api.ModuleBuildLogDestroy(log) == ZE_RESULT_SUCCESS);
  return built;
}

std::vector<std::uint8_t> native_binary(ze_module_handle_t module) {
  std::size_t size = 0;
  REQUIRE(api.ModuleGetNativeBinary(module, &size, nullptr) == ZE_RESULT_SUCCESS);
  std::vector<std::uint8_t> bytes(size);
  REQUIRE(api.ModuleGetNativeBinary(module, &size, bytes.data()) == ZE_RESULT_SUCCESS);
  return bytes;
}

void set_pointer(ze_kernel_handle_t kernel, std::uint32_t index, const void* pointer) {
  REQUIRE(api.KernelSetArgumentValue(kernel, index, sizeof(pointer), &pointer) == ZE_RESULT_SUCCESS);
}

constexpr ze_group_count_t kOne{1, 1, 1};

}  // namespace

TEST_CASE("a native binary tells its build flags in the words of Intel's compiler") {
  Fixture f;
  const auto bytes = read_file("kernels.spv");
  auto desc = make<ze_module_desc_t>(ZE_STRUCTURE_TYPE_MODULE_DESC);
  desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
  desc.inputSize = bytes.size();
  desc.pInputModule = bytes.data();
  desc.pBuildFlags = "-ze-opt-level=1 -cl-mad-enable -ze-opt-level=O2";
  ze_module_handle_t module = nullptr;
  REQUIRE(api.ModuleCreate(f.context, f.device, &desc, &module, nullptr) == ZE_RESULT_SUCCESS);
  const auto native = native_binary(module);
  CHECK(api.ModuleDestroy(module) == ZE_RESULT_SUCCESS);
  const std::string_view text(reinterpret_cast<const char*>(native.data()), native.size());
  CHECK(text.find("-ze-opt-level=O1 -cl-mad-enable -ze-opt-level=O2") != text.npos);
  CHECK(text.find(".misc.buildOptions") != text.npos);
}

TEST_CASE("a module names its kernels") {
  Fixture f;
  const auto module = f.module();
  std::uint32_t count = 0;
  REQUIRE(api.ModuleGetKernelNames(module, &count, nullptr) == ZE_RESULT_SUCCESS);
  std::vector<const char*> names(count);
  REQUIRE(api.ModuleGetKernelNames(module, &count, names.data()) == ZE_RESULT_SUCCESS);
  CHECK(std::set<std::string>(names.begin(), names.end()) ==
        std::set<std::string>{"add", "slow", "rotate_left", "both", "fixed", "offset_ids", "bump"});
  auto properties = make<ze_module_properties_t>(ZE_STRUCTURE_TYPE_MODULE_PROPERTIES);
  CHECK(api.ModuleGetProperties(module, &properties) == ZE_RESULT_SUCCESS);
  CHECK(properties.flags == 0);
  void* pointer = nullptr;
  CHECK(api.ModuleGetFunctionPointer(module, "nothing", &pointer) == ZE_RESULT_ERROR_INVALID_FUNCTION_NAME);
  CHECK(api.ModuleGetGlobalPointer(module, "nothing", nullptr, &pointer) ==
        ZE_RESULT_ERROR_INVALID_GLOBAL_NAME);
  auto desc = make<ze_kernel_desc_t>(ZE_STRUCTURE_TYPE_KERNEL_DESC);
  desc.pKernelName = "nothing";
  ze_kernel_handle_t kernel = nullptr;
  CHECK(api.KernelCreate(module, &desc, &kernel) == ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
}

// Loader 1.8 takes the array of modules for a module when it stands in between, and crashes.
TEST_CASE("straight: modules have nothing to link") {
  Fixture f;
  ze_module_handle_t modules[] = {f.module(), f.module()};
  ze_module_build_log_handle_t log = nullptr;
  CHECK(api.ModuleDynamicLink(2, modules, &log) == ZE_RESULT_SUCCESS);
  std::size_t size = 0;
  CHECK(api.ModuleBuildLogGetString(log, &size, nullptr) == ZE_RESULT_SUCCESS);
  CHECK(size == 1);
  CHECK(api.ModuleBuildLogDestroy(log) == ZE_RESULT_SUCCESS);
  modules[1] = nullptr;
  CHECK(api.ModuleDynamicLink(2, modules, nullptr) == ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

TEST_CASE("a program-scope variable is found, written by the host and read by kernels") {
  Fixture f;
  const auto module = f.module();
  void* address = nullptr;
  std::size_t size = 0;
  REQUIRE(api.ModuleGetGlobalPointer(module, "counter", &size, &address) == ZE_RESULT_SUCCESS);
  CHECK(size == 4);
  auto* counter = static_cast<std::uint32_t*>(address);
  CHECK(*counter == 40);
  *counter = 7;
  const auto list = f.immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  auto* data = f.memory(1);
  const auto bump = f.kernel(module, "bump");
  set_pointer(bump, 0, data);
  REQUIRE(api.CommandListAppendLaunchKernel(list, bump, &kOne, nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
  CHECK(data[0] == 7);
  CHECK(*counter == 8);
  // The address itself is as good as USM.
  const auto add = f.kernel(module, "add");
  const std::uint32_t two = 2;
  set_pointer(add, 0, counter);
  REQUIRE(api.KernelSetArgumentValue(add, 1, 4, &two) == ZE_RESULT_SUCCESS);
  REQUIRE(api.CommandListAppendLaunchKernel(list, add, &kOne, nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
  CHECK(*counter == 10);
}

// Modules whose kernels come late share what was compiled, and with it their constants.
TEST_CASE("the constant of a module is known until the last module that gave its address is gone") {
  Fixture f;
  auto can = make<ze_device_module_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES);
  REQUIRE(api.DeviceGetModuleProperties(f.device, &can) == ZE_RESULT_SUCCESS);
  if (!(can.flags & ZE_DEVICE_MODULE_FLAG_FP64)) return;  // the module has a kernel of doubles
  const auto build_it = [&] {
    Build built = build(f, read_file("../cpu_program/spirv/regions.ocloc.spv"), ZE_MODULE_FORMAT_IL_SPIRV);
    REQUIRE(built.result == ZE_RESULT_SUCCESS);
    return built.module;
  };
  const auto rounds_of = [&](ze_module_handle_t module) {
    void* address = nullptr;
    std::size_t size = 0;
    REQUIRE(api.ModuleGetGlobalPointer(module, "kRounds", &size, &address) == ZE_RESULT_SUCCESS);
    CHECK(size == 12);
    return static_cast<std::uint32_t*>(address);
  };
  const auto type_of = [&](const void* address) {
    auto properties = make<ze_memory_allocation_properties_t>(ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES);
    CHECK(api.MemGetAllocProperties(f.context, address, &properties, nullptr) == ZE_RESULT_SUCCESS);
    return properties.type;
  };
  const auto first = build_it(), second = build_it();
  const std::uint32_t* rounds = rounds_of(first);
  CHECK(rounds_of(first) == rounds);
  CHECK(std::vector(rounds, rounds + 3) == std::vector<std::uint32_t>{4, 1, 3});
  const std::uint32_t* same = rounds_of(second);
  CHECK(std::vector(same, same + 3) == std::vector<std::uint32_t>{4, 1, 3});
  // It can be read, and a store would end the process.
  const auto list = f.immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  auto* data = f.memory(3);
  CHECK(api.CommandListAppendMemoryCopy(list, data, same, 12, nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
  CHECK(std::vector(data, data + 3) == std::vector<std::uint32_t>{4, 1, 3});
  CHECK(api.CommandListAppendMemoryCopy(list, const_cast<std::uint32_t*>(same), data, 12, nullptr, 0,
                                        nullptr) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(api.CommandListAppendMemoryFill(list, const_cast<std::uint32_t*>(same + 1), data, 4, 4, nullptr, 0,
                                        nullptr) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(api.ModuleDestroy(first) == ZE_RESULT_SUCCESS);
  CHECK(type_of(same) == ZE_MEMORY_TYPE_DEVICE);
  CHECK(api.ModuleDestroy(second) == ZE_RESULT_SUCCESS);
  CHECK(type_of(same) == ZE_MEMORY_TYPE_UNKNOWN);
}

TEST_CASE("a module that was built before is not compiled again, and its variables are its own") {
  Fixture f;
  const auto compilers = [] {  // what the child processes did that ended
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    return usage.ru_minflt;
  };
  const auto counter_of = [&](ze_module_handle_t module) {
    void* address = nullptr;
    REQUIRE(api.ModuleGetGlobalPointer(module, "counter", nullptr, &address) == ZE_RESULT_SUCCESS);
    return static_cast<std::uint32_t*>(address);
  };
  const auto first = f.module();
  const auto before = compilers();
  *counter_of(first) = 7;
  const auto second = f.module();
  CHECK(compilers() == before);
  CHECK(*counter_of(second) == 40);
  CHECK(*counter_of(first) == 7);
  CHECK(native_binary(first) == native_binary(second));
  auto bytes = read_file("kernels.spv");
  auto desc = make<ze_module_desc_t>(ZE_STRUCTURE_TYPE_MODULE_DESC);
  desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
  desc.inputSize = bytes.size();
  desc.pInputModule = bytes.data();
  desc.pBuildFlags = "-cl-mad-enable -cl-opt-disable";  // that no other test has
  ze_module_handle_t other = nullptr;
  REQUIRE(api.ModuleCreate(f.context, f.device, &desc, &other, nullptr) == ZE_RESULT_SUCCESS);
  CHECK(compilers() > before);
  CHECK(api.ModuleDestroy(other) == ZE_RESULT_SUCCESS);
}

TEST_CASE("a native binary makes the same module again") {
  Fixture f;
  const auto bytes = native_binary(f.module());
  const Build built = build(f, bytes, ZE_MODULE_FORMAT_NATIVE);
  REQUIRE(built.result == ZE_RESULT_SUCCESS);
  const auto kernel = f.kernel(built.module, "rotate_left");
  const auto list = f.immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  auto* data = f.memory(32);
  for (std::uint32_t i = 0; i < 32; ++i) data[i] = i;
  set_pointer(kernel, 0, data);
  REQUIRE(api.KernelSetArgumentValue(kernel, 1, 64, nullptr) == ZE_RESULT_SUCCESS);
  REQUIRE(api.KernelSetGroupSize(kernel, 16, 1, 1) == ZE_RESULT_SUCCESS);
  const ze_group_count_t two{2, 1, 1};
  REQUIRE(api.CommandListAppendLaunchKernel(list, kernel, &two, nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
  CHECK(data[0] == 1);
  CHECK(data[15] == 0);
  CHECK(data[31] == 16);
  CHECK(native_binary(built.module) == bytes);
  // The kernel keeps what it needs of the module.
  CHECK(api.ModuleDestroy(built.module) == ZE_RESULT_SUCCESS);
}

TEST_CASE("specialization constants are read with the width that the module gives them") {
  Fixture f;
  const auto bytes = read_file("spec.spv");
  const auto run = [&](const ze_module_constants_t* constants) {
    auto desc = make<ze_module_desc_t>(ZE_STRUCTURE_TYPE_MODULE_DESC);
    desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
    desc.inputSize = bytes.size();
    desc.pInputModule = bytes.data();
    desc.pConstants = constants;
    ze_module_handle_t module = nullptr;
    REQUIRE(api.ModuleCreate(f.context, f.device, &desc, &module, nullptr) == ZE_RESULT_SUCCESS);
    const auto kernel = f.kernel(module, "spec");
    auto* data = f.memory(2);
    set_pointer(kernel, 0, data);
    REQUIRE(api.CommandListAppendLaunchKernel(f.immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS), kernel, &kOne,
                                              nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
    std::uint64_t sum = 0;
    std::memcpy(&sum, data, sizeof(sum));
    CHECK(api.ModuleDestroy(module) == ZE_RESULT_SUCCESS);
    return sum;
  };
  CHECK(run(nullptr) == 11);
  // Bytes behind the narrow value must not be read; an unknown id has no effect.
  const std::uint32_t ids[] = {7, 9, 1000};
  const std::uint32_t narrow[] = {100, UINT32_MAX};
  const std::uint64_t wide = std::uint64_t{1} << 40;
  const void* values[] = {narrow, &wide, &wide};
  const ze_module_constants_t constants{3, ids, values};
  CHECK(run(&constants) == wide + 100);
}

TEST_CASE("damaged input is refused with a log and never crashes") {
  Fixture f;
  const auto spirv = read_file("kernels.spv");
  const auto native = native_binary(f.module());
  for (const std::size_t size : {1ul, 4ul, 19ul, 20ul, spirv.size() / 2, spirv.size() - 4}) {
    CAPTURE(size);
    const Build cut = build(f, {spirv.begin(), spirv.begin() + static_cast<std::ptrdiff_t>(size)},
                            ZE_MODULE_FORMAT_IL_SPIRV);
    CHECK(cut.result == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    CHECK((!cut.has_log || !cut.log.empty()));
  }
  for (const std::size_t size : {1ul, 64ul, native.size() / 2, native.size() - 1}) {
    CAPTURE(size);
    const Build cut = build(f, {native.begin(), native.begin() + static_cast<std::ptrdiff_t>(size)},
                            ZE_MODULE_FORMAT_NATIVE);
    CHECK(cut.result == ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    CHECK((!cut.has_log || !cut.log.empty()));
  }
  // Archives: one that is cut, and one whose member is in the format before zebin.
  const auto archive = [](std::string content, std::size_t bytes) {
    content.resize(32);
    std::string size = std::to_string(bytes);
    size.resize(10, ' ');
    const std::string text =
        "!<arch>\n64.12.55.8/     0           0     0     644     " + size + "`\n" + content;
    return std::vector<std::uint8_t>(text.begin(), text.end());
  };
  for (const auto& [bytes, why] :
       {std::pair{archive("", 64), "beyond"}, {archive("CTNI", 32), "before zebin"}}) {
    const Build refused = build(f, bytes, ZE_MODULE_FORMAT_NATIVE);
    CHECK(refused.result == ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    if (refused.has_log) CHECK_MESSAGE(refused.log.find(why) != std::string::npos, refused.log);
  }
  auto flipped = native;
  flipped[native.size() / 2] ^= 0x10;
  CHECK(build(f, flipped, ZE_MODULE_FORMAT_NATIVE).result == ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
  if (api.straight) CHECK(build(f, flipped, ZE_MODULE_FORMAT_NATIVE).has_log);
  CHECK(build(f, spirv, ZE_MODULE_FORMAT_NATIVE).result == ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
}

TEST_CASE("straight: module descriptions are checked") {
  Fixture f;
  const auto spirv = read_file("kernels.spv");
  CHECK(build(f, spirv, static_cast<ze_module_format_t>(7)).result == ZE_RESULT_ERROR_INVALID_ENUMERATION);
  auto desc = make<ze_module_desc_t>(ZE_STRUCTURE_TYPE_MODULE_DESC);
  ze_module_handle_t module = nullptr;
  CHECK(api.ModuleCreate(f.context, f.device, &desc, &module, nullptr) ==
        ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  desc.pInputModule = spirv.data();
  CHECK(api.ModuleCreate(f.context, f.device, &desc, &module, nullptr) == ZE_RESULT_ERROR_INVALID_SIZE);
}

TEST_CASE("one kernel with too much static memory refuses its whole module") {
  Fixture f;
  const auto limit = f.compute().maxSharedLocalMemory;
  const Build built = build(f, read_file("over_static.spv"), ZE_MODULE_FORMAT_IL_SPIRV);
  CHECK(built.result == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  const std::string text = "Size of SLM (163840) larger than available (" + std::to_string(limit) + ")";
  if (built.has_log) CHECK(built.log == text);
  CHECK(f.last_error() == text);
}

TEST_CASE("dynamic memory over the limit is refused everywhere and never aborts") {
  Fixture f;
  const std::uint64_t limit = f.compute().maxSharedLocalMemory;
  const auto kernel = f.kernel(f.module(), "both");
  const auto list = f.immediate();
  auto* data = f.memory(16);
  set_pointer(kernel, 0, data);
  REQUIRE(api.KernelSetGroupSize(kernel, 16, 1, 1) == ZE_RESULT_SUCCESS);
  std::uint32_t x = 0, y = 0, z = 0;
  struct Case {
    std::uint64_t bytes;
    bool fits;
  };
  // 4096 B are static; the dynamic part counts in whole KiB; sizes past 32 bits keep their value.
  const Case cases[] = {{limit - 4096, true},
                        {limit - 5120 + 1, true},
                        {limit - 4095, false},
                        {limit * 2, false},
                        {(std::uint64_t{1} << 32) + 16, false},
                        {UINT64_MAX, false},
                        {UINT64_MAX - 4096, false},
                        {64, true}};
  for (const Case& c : cases) {
    CAPTURE(c.bytes);
    REQUIRE(api.KernelSetArgumentValue(kernel, 1, c.bytes, nullptr) == ZE_RESULT_SUCCESS);
    const ze_result_t expected = c.fits ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    CHECK(api.KernelSuggestGroupSize(kernel, 16, 1, 1, &x, &y, &z) == expected);
    std::uint32_t groups = 0;
    CHECK(api.KernelSuggestMaxCooperativeGroupCount(kernel, &groups) == expected);
    if (c.fits) CHECK(groups >= 1);
    CHECK(api.CommandListAppendLaunchKernel(list, kernel, &kOne, nullptr, 0, nullptr) == expected);
    CHECK(api.CommandListAppendLaunchCooperativeKernel(list, kernel, &kOne, nullptr, 0, nullptr) == expected);
  }
  REQUIRE(api.KernelSetArgumentValue(kernel, 1, limit, nullptr) == ZE_RESULT_SUCCESS);
  CHECK(api.CommandListAppendLaunchKernel(list, kernel, &kOne, nullptr, 0, nullptr) != ZE_RESULT_SUCCESS);
  const std::string text = "Size of SLM (" + std::to_string(limit + 4096) + ") larger than available (" +
                           std::to_string(limit) + ")";
  CHECK(f.last_error() == text);
  // Success leaves the text as it was.
  CHECK(api.KernelSetArgumentValue(kernel, 1, 64, nullptr) == ZE_RESULT_SUCCESS);
  const auto done = f.event();
  CHECK(api.CommandListAppendLaunchKernel(list, kernel, &kOne, done, 0, nullptr) == ZE_RESULT_SUCCESS);
  CHECK(f.last_error() == text);
  CHECK(api.EventHostSynchronize(done, kForever) == ZE_RESULT_SUCCESS);
}

TEST_CASE("arguments are checked against the kernel") {
  Fixture f;
  const auto kernel = f.kernel(f.module(), "add");
  const auto list = f.immediate();
  auto* data = f.memory(16);
  const std::uint64_t value = 3;
  CHECK(api.KernelSetArgumentValue(kernel, 2, 4, &value) == ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
  CHECK(api.KernelSetArgumentValue(kernel, 0, 4, &data) == ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
  CHECK(api.KernelSetArgumentValue(kernel, 0, 8, nullptr) == ZE_RESULT_SUCCESS);
  int on_the_stack = 0;
  const void* wild = &on_the_stack;
  CHECK(api.KernelSetArgumentValue(kernel, 0, 8, &wild) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  set_pointer(kernel, 0, data + 8);
  CHECK(api.CommandListAppendLaunchKernel(list, kernel, &kOne, nullptr, 0, nullptr) ==
        ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(f.last_error() == "Argument 1 of kernel add was never set");
}

// As on Intel's drivers: of a longer value what fits, and a shorter one leaves the rest as it was, zero at
// first.
TEST_CASE("values of any size are taken, as far as they fit") {
  Fixture f;
  const auto kernel = f.kernel(f.module(), "add");
  const auto list = f.immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  auto* data = f.memory(16);
  const void* pointers[2] = {data, nullptr};
  REQUIRE(api.KernelSetArgumentValue(kernel, 0, sizeof pointers, pointers) == ZE_RESULT_SUCCESS);
  const auto sum = [&](std::size_t size, const void* value) {
    REQUIRE(api.KernelSetArgumentValue(kernel, 1, size, value) == ZE_RESULT_SUCCESS);
    data[0] = 0;
    REQUIRE(api.CommandListAppendLaunchKernel(list, kernel, &kOne, nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
    return data[0];
  };
  const std::uint64_t value[4] = {0x1122334455667788, 1, 2, 3};
  CHECK(sum(2, value) == 0x7788);
  CHECK(sum(32, value) == 0x55667788);
  CHECK(sum(8, value) == 0x55667788);
  CHECK(sum(1, value + 1) == 0x55667701);
  CHECK(sum(0, value) == 0x55667701);
  CHECK(sum(2, nullptr) == 0x55660000);
  CHECK(sum(4, nullptr) == 0);
}

TEST_CASE("group sizes are checked every time") {
  Fixture f;
  const auto limit = f.compute().maxTotalGroupSize;
  const auto module = f.module();
  const auto kernel = f.kernel(module, "add");
  CHECK(api.KernelSetGroupSize(kernel, 0, 1, 1) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(api.KernelSetGroupSize(kernel, limit, 1, 1) == ZE_RESULT_SUCCESS);
  CHECK(api.KernelSetGroupSize(kernel, limit, 2, 1) == ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
  CHECK(api.KernelSetGroupSize(kernel, 65536, 65536, 1) == ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
  const auto fixed = f.kernel(module, "fixed");
  for (int i = 0; i < 2; ++i)
    CHECK(api.KernelSetGroupSize(fixed, 16, 1, 1) == ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
  CHECK(api.KernelSetGroupSize(fixed, 8, 2, 1) == ZE_RESULT_SUCCESS);
  std::uint32_t x = 0, y = 0, z = 0;
  CHECK(api.KernelSuggestGroupSize(fixed, 64, 64, 1, &x, &y, &z) == ZE_RESULT_SUCCESS);
  CHECK(x == 8);
  CHECK(y == 2);
  for (const std::uint32_t global : {1u, 7u, 48u, 1000u, 4096u, 163841u, 163850u, UINT32_MAX}) {
    REQUIRE(api.KernelSuggestGroupSize(kernel, global, 6, 1, &x, &y, &z) == ZE_RESULT_SUCCESS);
    CHECK(global % x == 0);
    CHECK(6 % y == 0);
    CHECK(x * y * z <= limit);
  }
}

TEST_CASE("kernel properties") {
  Fixture f;
  const auto module = f.module();
  auto properties = make<ze_kernel_properties_t>(ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES);
  const auto both = f.kernel(module, "both");
  REQUIRE(api.KernelSetArgumentValue(both, 1, 100, nullptr) == ZE_RESULT_SUCCESS);
  REQUIRE(api.KernelGetProperties(both, &properties) == ZE_RESULT_SUCCESS);
  CHECK(properties.numKernelArgs == 2);
  CHECK(properties.requiredGroupSizeX == 0);
  CHECK(properties.localMemSize == 4096 + 1024);
  CHECK(properties.maxNumSubgroups * properties.maxSubgroupSize == f.compute().maxTotalGroupSize);
  const auto fixed = f.kernel(module, "fixed");
  auto preferred = make<ze_kernel_preferred_group_size_properties_t>(
      ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES);
  properties.pNext = &preferred;
  REQUIRE(api.KernelGetProperties(fixed, &properties) == ZE_RESULT_SUCCESS);
  CHECK(properties.requiredGroupSizeX == 8);
  CHECK(properties.requiredGroupSizeY == 2);
  CHECK(properties.requiredGroupSizeZ == 1);
  CHECK(preferred.preferredMultiple != 0);
  char name[16] = {};
  std::size_t size = 3;
  CHECK(api.KernelGetName(fixed, &size, name) == ZE_RESULT_ERROR_INVALID_SIZE);
  size = sizeof(name);
  CHECK(api.KernelGetName(fixed, &size, name) == ZE_RESULT_SUCCESS);
  CHECK(std::string(name) == "fixed");
  CHECK(size == 6);
  char text[128] = {};
  char* at = text;
  std::uint32_t text_size = sizeof(text);
  CHECK(api.KernelGetSourceAttributes(fixed, &text_size, &at) == ZE_RESULT_SUCCESS);
  CHECK(std::string(text) == "reqd_work_group_size(8,2,1)");
  CHECK(api.KernelSetIndirectAccess(both, ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE) == ZE_RESULT_SUCCESS);
  ze_kernel_indirect_access_flags_t flags = 0;
  CHECK(api.KernelGetIndirectAccess(both, &flags) == ZE_RESULT_SUCCESS);
  CHECK(flags == ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE);
  CHECK(api.KernelSetCacheConfig(both, ZE_CACHE_CONFIG_FLAG_LARGE_SLM) == ZE_RESULT_SUCCESS);
}

// The second build comes from memory, and counts as the first one does.
TEST_CASE("straight: a counted kernel tells of memory that zeKernelSetIndirectAccess does not allow") {
  Fixture f;
  const auto counters =
      f.extension<ze_result_t(ze_kernel_handle_t, std::size_t*, char*)>("kilnKernelGetCounters");
  for (int build = 0; build < 2; ++build) {
    const auto kernel = f.kernel(f.module("../unit/data/pointers.spv", "-kiln-counters"), "stored");
    auto* const target = f.memory(1);
    auto* const address = f.memory(2);
    std::memcpy(address, &target, sizeof target);
    set_pointer(kernel, 0, address);
    REQUIRE(api.KernelSetGroupSize(kernel, 1, 1, 1) == ZE_RESULT_SUCCESS);
    const auto list = f.immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    const auto run = [&] {
      *target = 0;
      REQUIRE(api.CommandListAppendLaunchKernel(list, kernel, &kOne, nullptr, 0, nullptr) ==
              ZE_RESULT_SUCCESS);
      CHECK(*target == 3);
      std::size_t size = 0;
      REQUIRE(counters(kernel, &size, nullptr) == ZE_RESULT_SUCCESS);
      std::string text(size, '\0');
      REQUIRE(counters(kernel, &size, text.data()) == ZE_RESULT_SUCCESS);
      return text.find("\"indirect_access\"") != text.npos && text.find("\"memory\":\"shared\"") != text.npos;
    };
    CHECK(run());
    REQUIRE(api.KernelSetIndirectAccess(kernel, ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE) == ZE_RESULT_SUCCESS);
    CHECK(run());
    REQUIRE(api.KernelSetIndirectAccess(kernel, ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED) == ZE_RESULT_SUCCESS);
    CHECK_FALSE(run());
  }
}

TEST_CASE("cooperative launches fit or are refused") {
  Fixture f;
  const auto kernel = f.kernel(f.module(), "add");
  auto* data = f.memory(1 << 16);
  const std::uint32_t value = 1;
  set_pointer(kernel, 0, data);
  REQUIRE(api.KernelSetArgumentValue(kernel, 1, 4, &value) == ZE_RESULT_SUCCESS);
  std::uint32_t most = 0;
  REQUIRE(api.KernelSuggestMaxCooperativeGroupCount(kernel, &most) == ZE_RESULT_SUCCESS);
  REQUIRE(most >= 1);
  const auto list = f.immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  const ze_group_count_t fits{most, 1, 1};
  const ze_group_count_t over{most, 2, 1};
  const ze_group_count_t wraps{65536, 65536, 1};  // 2^32, which is 0 in 32 bits
  CHECK(api.CommandListAppendLaunchCooperativeKernel(list, kernel, &fits, nullptr, 0, nullptr) ==
        ZE_RESULT_SUCCESS);
  CHECK(data[most - 1] == 1);
  CHECK(api.CommandListAppendLaunchCooperativeKernel(list, kernel, &over, nullptr, 0, nullptr) ==
        ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(api.CommandListAppendLaunchCooperativeKernel(list, kernel, &wraps, nullptr, 0, nullptr) ==
        ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("kernels whose work-groups wait for each other are launched cooperatively alone") {
  Fixture f;
  const auto module = f.module("../cpu_program/spirv/grid.spv");
  const auto kernel = f.kernel(module, "by_scope");
  std::uint32_t most = 0;
  REQUIRE(api.KernelSuggestMaxCooperativeGroupCount(kernel, &most) == ZE_RESULT_SUCCESS);
  auto* data = f.memory(most);
  auto* other = f.memory(most);
  for (std::uint32_t i = 0; i < most; ++i) data[i] = i;
  set_pointer(kernel, 0, data);
  set_pointer(kernel, 1, other);
  const auto list = f.immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  const ze_group_count_t groups{most, 1, 1};
  CHECK(api.CommandListAppendLaunchKernel(list, kernel, &groups, nullptr, 0, nullptr) ==
        ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(f.last_error() ==
        "Kernel by_scope has a barrier of all work-groups: launch it with "
        "zeCommandListAppendLaunchCooperativeKernel");
  CHECK(api.CommandListAppendLaunchKernelIndirect(list, kernel, &groups, nullptr, 0, nullptr) ==
        ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(api.CommandListAppendLaunchCooperativeKernel(list, kernel, &groups, nullptr, 0, nullptr) ==
        ZE_RESULT_SUCCESS);
  for (std::uint32_t i = 0; i < most; ++i) CHECK(data[i] == most - 1 - i);
}

TEST_CASE("straight: newer functions: offsets, launches with arguments, list synchronization") {
  Fixture f;
  const auto kernel = f.kernel(f.module(), "offset_ids");
  const auto list = f.immediate();
  auto* data = f.memory(16);
  const auto find = [&](const char* name) {
    void* address = nullptr;
    REQUIRE(api.DriverGetExtensionFunctionAddress(f.driver, name, &address) == ZE_RESULT_SUCCESS);
    return address;
  };
  using SetOffset = ze_result_t (*)(ze_kernel_handle_t, std::uint32_t, std::uint32_t, std::uint32_t);
  using Synchronize = ze_result_t (*)(ze_command_list_handle_t, std::uint64_t);
  struct Size {
    std::uint32_t x, y, z;
  };
  using Launch = ze_result_t (*)(ze_command_list_handle_t, ze_kernel_handle_t, ze_group_count_t, Size, void**,
                                 const void*, ze_event_handle_t, std::uint32_t, ze_event_handle_t*);
  const auto set_offset = reinterpret_cast<SetOffset>(find("zeKernelSetGlobalOffsetExp"));
  const auto synchronize = reinterpret_cast<Synchronize>(find("zeCommandListHostSynchronize"));
  const auto launch = reinterpret_cast<Launch>(find("zeCommandListAppendLaunchKernelWithArguments"));
  CHECK(set_offset(kernel, 1000, 0, 0) == ZE_RESULT_SUCCESS);
  void* arguments[] = {&data};
  REQUIRE(launch(list, kernel, {2, 1, 1}, {8, 1, 1}, arguments, nullptr, nullptr, 0, nullptr) ==
          ZE_RESULT_SUCCESS);
  REQUIRE(synchronize(list, kForever) == ZE_RESULT_SUCCESS);
  CHECK(data[0] == 1000);
  CHECK(data[15] == 1015);
  CHECK(synchronize(f.list(), 0) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  const auto rotate = f.kernel(f.module(), "rotate_left");
  std::size_t bytes = 64;
  void* with_local[] = {&data, &bytes};
  REQUIRE(launch(list, rotate, {1, 1, 1}, {16, 1, 1}, with_local, nullptr, nullptr, 0, nullptr) ==
          ZE_RESULT_SUCCESS);
  REQUIRE(synchronize(list, kForever) == ZE_RESULT_SUCCESS);
  CHECK(data[15] == 1000);
}
