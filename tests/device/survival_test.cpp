// SPDX-License-Identifier: MIT
// Calls that end the process inside Intel's drivers when they are made raw: through Kiln each must come back.
// Which of them kill was tried by the raw calls on drivers 22.43 and 26.27 without a GPU.
#include <elf.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "device_test.hpp"

namespace kiln::test {
namespace {

template <class T>
std::string code_of(const Result<T>& result) {
  return result || !result.error().diagnostic() ? "" : result.error().diagnostic()->code;
}

/// A native binary with another `.ze_info`: the text goes to the end of the file, and its header points
/// there.
KernelFile with_info(KernelFile file, const std::string& from, const std::string& to) {
  Elf64_Ehdr header;
  std::memcpy(&header, file.bytes.data(), sizeof header);
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    std::byte* const place = file.bytes.data() + header.e_shoff + i * sizeof(Elf64_Shdr);
    Elf64_Shdr section;
    std::memcpy(&section, place, sizeof section);
    if (section.sh_type != 0xff000011) continue;  // .ze_info
    std::string text(reinterpret_cast<const char*>(file.bytes.data()) + section.sh_offset, section.sh_size);
    const auto at = text.find(from);
    REQUIRE(at != text.npos);
    text.replace(at, from.size(), to);
    section.sh_offset = file.bytes.size();
    section.sh_size = text.size();
    std::memcpy(place, &section, sizeof section);
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    file.bytes.insert(file.bytes.end(), bytes, bytes + text.size());
    return file;
  }
  FAIL("no .ze_info");
  return file;
}

/// The same with the size of its constants changed, in a section that takes no room in the file.
KernelFile with_constants(KernelFile file, std::uint64_t size) {
  Elf64_Ehdr header;
  std::memcpy(&header, file.bytes.data(), sizeof header);
  const auto section = [&](std::size_t i) {
    Elf64_Shdr entry;
    std::memcpy(&entry, file.bytes.data() + header.e_shoff + i * sizeof entry, sizeof entry);
    return entry;
  };
  const Elf64_Shdr names = section(header.e_shstrndx);
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr entry = section(i);
    auto* name = reinterpret_cast<char*>(file.bytes.data()) + names.sh_offset + entry.sh_name;
    if (std::strcmp(name, ".data.const") != 0) continue;
    std::memcpy(name, ".bss.const", sizeof ".bss.const");
    entry.sh_type = SHT_NOBITS;
    entry.sh_size = size;
    std::memcpy(file.bytes.data() + header.e_shoff + i * sizeof entry, &entry, sizeof entry);
    return file;
  }
  FAIL("no .data.const");
  return file;
}

/// Each product has damage of its own, so that together they have more of it.
std::mt19937 damage(unsigned seed) { return std::mt19937(seed + device().properties.device_id); }

/// How many damaged copies of each file: more by hand, with KILN_FLIPS.
int flips(int usual) {
  const char* const wanted = std::getenv("KILN_FLIPS");
  return wanted ? std::atoi(wanted) : usual;
}

KernelFile native_file() {
  return need(read_kernel_file(std::filesystem::path(KILN_TEST_DATA) / "memory.pvc.bin"));
}

}  // namespace

TEST_CASE("empty handles come back") {
  const auto empty = [](const char* call, const auto& result) {
    CAPTURE(call);
    REQUIRE(!result);
    CHECK(result.error().code() == ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    CHECK(code_of(result) == "K0222");
    CHECK(std::string(result.error().call()) == call);
  };
  const DeviceRef here = device().device;
  empty("zeMemAllocDevice", ContextRef().allocate_device(here, 64));
  empty("zeMemAllocDevice", context().allocate_device({}, 64));
  empty("zeMemAllocHost", ContextRef().allocate_host(64));
  empty("zeMemAllocShared", ContextRef().allocate_shared(here, 64));
  empty("zeContextCreate", ContextRef::create({}));
  empty("zeEventPoolCreate", EventPoolRef::create({}, 1));
  empty("zeEventCreate", EventPoolRef().event(0));
  empty("zeEventHostSynchronize", EventRef().wait());
  empty("zeEventQueryStatus", EventRef().is_signalled());
  empty("zeEventHostSignal", EventRef().signal());
  empty("zeEventHostReset", EventRef().reset());
  empty("zeEventQueryKernelTimestamp", EventRef().timestamps());
  empty("zeFenceHostSynchronize", FenceRef().wait());
  empty("zeFenceQueryStatus", FenceRef().is_signalled());
  empty("zeFenceReset", FenceRef().reset());
  empty("zeFenceCreate", CommandQueueRef().create_fence());
  empty("zeCommandQueueSynchronize", CommandQueueRef().synchronize());
  empty("zeCommandListCreate", CommandListRef::create({}, here));
  empty("zeDeviceGetCommandQueueGroupProperties", CommandListRef::create_immediate(context(), {}));
  empty("zeCommandQueueCreate", CommandQueueRef::create({}, here));
  empty("zeCommandListClose", CommandListRef().close());
  empty("zeCommandListReset", CommandListRef().reset());
  empty("zeCommandListAppendBarrier", CommandListRef().barrier());
  empty("zeCommandListAppendSignalEvent", CommandListRef().signal({}));
  empty("zeDeviceGetProperties", DeviceRef().properties());
  empty("zeDeviceGetMemoryProperties", DeviceRef().memory_properties());
  empty("zeDriverGetProperties", DriverRef().version());
  empty("zeDeviceGet", DriverRef().devices());
  empty("zeKernelCreate", ModuleRef().kernel("k"));
  empty("zeModuleGetKernelNames", ModuleRef().kernel_names());
  empty("zeModuleGetNativeBinary", ModuleRef().native_binary());
  empty("zeKernelGetProperties", KernelRef().properties());
  empty("zeKernelSetGroupSize", KernelRef().set_group_size({1}));
  empty("zeKernelSuggestGroupSize", KernelRef().suggest_group_size({1}));
  empty("zeKernelSetArgumentValue", KernelRef().set_argument(0, 4, nullptr));
  CHECK(DeviceRef().status() == ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  CHECK(DriverRef().last_error_description().empty());
  const auto code = test_kernel("limits.spv");
  const ModuleInput input{ModuleFormat::spirv, code.bytes};
  CHECK(build_module({}, context(), {}, {&input, 1}).code() == ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  CHECK(build_module(device().driver, {}, here, {&input, 1}).code() == ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  CHECK(build_module(device().driver, context(), here, {}).code() == ZE_RESULT_ERROR_INVALID_SIZE);

  const CommandList list = immediate_list();
  const HostBuffer buffer = need(context().allocate_shared(here, 64));
  const EventRef events[] = {{}};
  const Sync waiting{{}, events};
  empty("zeCommandListAppendSignalEvent", list->signal({}));
  empty("zeCommandListAppendEventReset", list->reset_event({}));
  empty("zeCommandListAppendWaitOnEvents", list->wait(events));
  empty("zeCommandListAppendBarrier", list->barrier(waiting));
  empty("zeCommandListAppendMemoryCopy", list->copy(buffer.data(), buffer.data(), 0, waiting));
  empty("zeCommandListAppendMemoryFill", list->fill(buffer.data(), std::array<std::byte, 1>{}, 64, waiting));
  empty("zeCommandListAppendLaunchKernel", list->launch_unchecked({}, {1}));
  const auto group = need(device().device.compute_queue_group());
  const CommandQueue queue = need(CommandQueueRef::create(context(), here, {}, group));
  empty("zeCommandQueueExecuteCommandLists", queue->execute(CommandListRef()));
  CHECK(code_of(queue->execute(std::span<const CommandListRef>())) == "K0222");
}

TEST_CASE("null pointers, and owners that were moved from, come back") {
  const CommandList list = immediate_list();
  HostBuffer from = need(context().allocate_shared(device().device, 64));
  const HostBuffer to = std::move(from);
  CHECK(code_of(list->copy(to, from)) == "K0222");
  CHECK(code_of(list->copy(from.data(), to.data(), 64)) == "K0222");
  CHECK(code_of(list->copy(nullptr, nullptr, 0)) == "K0222");
  CHECK(code_of(list->fill(nullptr, std::array<std::byte, 4>{}, 64)) == "K0222");
  for (const std::size_t width : {0, 3, 5, 12, 129})
    CHECK(code_of(list->fill(to.data(), std::vector<std::byte>(width), 0)) == "K0226");
  Bundle bundle = need(Bundle::load(device(), {sample_kernel("saxpy.spv")}));
  CHECK(code_of(bundle.module().kernel(nullptr)) == "K0222");
  CHECK(!bundle.module().kernel(""));
}

TEST_CASE("queue groups and events that are not there come back") {
  const auto groups = static_cast<std::uint32_t>(need(device().device.queue_groups()).size());
  for (const std::uint32_t group : {groups, groups + 4, std::numeric_limits<std::uint32_t>::max()}) {
    CAPTURE(group);
    CHECK(code_of(CommandListRef::create(context(), device().device, group)) == "K0224");
    CHECK(code_of(CommandListRef::create_immediate(context(), device().device, {}, group)) == "K0224");
    CHECK(code_of(CommandQueueRef::create(context(), device().device, {}, group)) == "K0224");
  }
  for (const std::uint32_t count : {0u, (1u << 24) + 1, 1u << 30, UINT32_MAX}) {
    CAPTURE(count);
    CHECK(code_of(EventPoolRef::create(context(), count)) == "K0223");
  }
  const EventPool pool = need(EventPoolRef::create(context(), 2, {.timestamps = true}));
  for (const std::uint32_t index : {2u, 1000u, UINT32_MAX}) CHECK(!pool->event(index));
  const Event event = need(pool->event(1));
  need(event->signal());
}

TEST_CASE("allocations of any size and alignment come back") {
  constexpr std::size_t kTop = std::numeric_limits<std::size_t>::max();
  const DeviceRef here = device().device;
  for (const bool relaxed : {false, true})
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1} << 47, std::size_t{1} << 62, kTop - 4096, kTop}) {
      CAPTURE(relaxed);
      CAPTURE(size);
      const AllocationOptions options{64, relaxed};
      CHECK(!context().allocate_device(here, size, options));
      CHECK(!context().allocate_shared(here, size, options));
      CHECK(!context().allocate_host(size, options));
    }
  for (std::size_t alignment = 1; alignment != 0; alignment *= 2) {
    CAPTURE(alignment);
    const AllocationOptions options{alignment, false};
    const auto fits = [&](const auto& answer) {
      if (answer) return reinterpret_cast<std::uintptr_t>(answer->data()) % alignment == 0;
      return code_of(answer) == "K0205" && alignment > 4096;
    };
    CHECK(fits(context().allocate_device(here, 64, options)));
    CHECK(fits(context().allocate_shared(here, 64, options)));
    CHECK(fits(context().allocate_host(64, options)));
  }
}

TEST_CASE("allocations: Kiln's answer is the driver's where the driver refuses") {
  const DeviceRef here = device().device;
  const std::uint64_t largest = device().properties.largest_allocation;
  std::uint64_t memory = 0;
  for (const MemoryProperties& each : need(here.memory_properties())) memory += each.total;
  for (const bool relaxed : {false, true})
    for (const std::uint64_t size : {largest + 1, memory + 1, 2 * memory, std::uint64_t{1} << 40}) {
      CAPTURE(relaxed);
      CAPTURE(size);
      const AllocationVerdict verdict =
          check_allocation({largest, memory, {}}, {MemoryKind::device, size, 64, relaxed});
      if (verdict == AllocationVerdict::fits) continue;  // whether it is there is the driver's to say
      ze_device_mem_alloc_desc_t description = make<ze_device_mem_alloc_desc_t>();
      auto limits = make<ze_relaxed_allocation_limits_exp_desc_t>();
      limits.flags = ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE;
      if (relaxed) chain(description, limits);
      void* data = nullptr;
      CHECK(result_name(here.api().zeMemAllocDevice(context().raw(), &description, size, 64, here.raw(),
                                                    &data)) == result_name(code_of(verdict)));
    }
}

TEST_CASE("what is no SPIR-V comes back") {
  const KernelFile good = test_kernel("limits.spv");
  for (const std::size_t size : {0, 1, 4, 19, 21}) {
    CAPTURE(size);
    CHECK(build(ModuleFormat::spirv, std::span(good.bytes).first(size)).code() != ZE_RESULT_SUCCESS);
  }
  CHECK(build(ModuleFormat::spirv, std::vector<std::byte>(4096, std::byte{'x'})).code() != ZE_RESULT_SUCCESS);
  CHECK(build(ModuleFormat::native, {}).code() != ZE_RESULT_SUCCESS);
}

TEST_CASE("SPIR-V with program-scope variables that no memory holds never reaches the compiler") {
  const auto loaded = Bundle::load(device(), {test_kernel("over_global.spv")});
  CHECK(code_of(loaded) == "K0113");
}

TEST_CASE("native binaries that end the process inside drivers never reach one") {
  const KernelFile good = native_file();
  const auto refused = [&](const char* code, const KernelFile& file) {
    const auto loaded = Bundle::load(device(), {file});
    REQUIRE(!loaded);
    CHECK(loaded.error().code() == ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    CHECK(code_of(loaded) == code);
    // Beside a good file it is passed over.
    Bundle both = need(Bundle::load(device(), {file, sample_kernel("saxpy.spv")}));
    CHECK(both.file() == "saxpy.spv");
    CHECK(both.passed_over().size() == 1);
  };
  const std::string environment = "execution_env:\n", mode = "      slm_alloc_mode: 7\n";
  refused("K0114", with_info(good, environment, environment + mode));
  refused("K0114",
          with_info(good, environment, environment + "      required_work_group_size: [ 32, 0, 1 ]\n"));
  refused("K0202", with_info(good, "arg_index:       0", "arg_index:       -1"));
  refused("K0202", with_info(good, "arg_index:       0", "arg_index:       2147483647"));
  refused("K0113", with_constants(good, std::uint64_t{1} << 60));
}

TEST_CASE("damaged native code comes back, and so do the kernels of what the driver takes") {
  std::vector<KernelFile> files{native_file()};
  files.push_back(need(read_kernel_file(std::filesystem::path(KILN_TEST_DATA) / "saxpy.ocloc-26.27.ar")));
  for (const char* family : {"saxpy", "matmul", "slm_table"})
    for (KernelFile& file : need(find_kernel_files(KILN_NATIVE_KERNELS, family)))
      if (!file.name.ends_with(".spv")) files.push_back(std::move(file));
  const int times = flips(24);
  int refused = 0;
  for (const KernelFile& file : files) {
    CAPTURE(file.name);
    CHECK(build(ModuleFormat::native, file.bytes).log.find("malformed") == std::string::npos);
    std::mt19937 random = damage(5);
    for (int i = 0; i < times; ++i) {
      // The second half strikes the end, where the text and the section headers are.
      const std::size_t first = i < times / 2 ? 0 : file.bytes.size() / 4 * 3;
      KernelFile bad = file;
      bad.bytes[first + random() % (bad.bytes.size() - first)] ^= static_cast<std::byte>(1u << random() % 8);
      const ModuleBuild built = build(ModuleFormat::native, bad.bytes);
      refused += built.code() != ZE_RESULT_SUCCESS;
      if (built.code() != ZE_RESULT_SUCCESS) continue;
      for (const std::string& name : need(built.module->kernel_names())) {
        const auto kernel = built.module->kernel(name.c_str());
        if (kernel) CHECK(kernel->get().properties());
      }
    }
    for (std::size_t size = 0; size < file.bytes.size(); size += file.bytes.size() / 29 + 1)
      CHECK(build(ModuleFormat::native, std::span(file.bytes).first(size)).code() != ZE_RESULT_SUCCESS);
  }
  CHECK(refused > 0);
  MESSAGE(files.size() << " files, " << times << " flips each, refused " << refused);
}

TEST_CASE("damaged SPIR-V comes back, also from a compiler that ends its process") {
  std::vector<KernelFile> files{test_kernel("limits.spv"), test_kernel("over_static.spv")};
  for (const char* name : {"saxpy.spv", "matmul.spv", "slm_limit.spv", "slm_table.spv"})
    files.push_back(sample_kernel(name));
  int refused = 0, died = 0;
  std::mt19937 random = damage(3);
  const int times = flips(5);  // each a process, and a driver's start or a compilation
  for (const KernelFile& file : files)
    for (int i = 0; i < times; ++i) {
      CAPTURE(file.name);
      CAPTURE(i);
      KernelFile bad = file;
      bad.bytes[random() % bad.bytes.size()] ^= static_cast<std::byte>(1u << random() % 8);
      const ModuleBuild built = build(ModuleFormat::spirv, bad.bytes);
      refused += built.code() != ZE_RESULT_SUCCESS;
      died += built.compiler_died;
      CHECK(static_cast<bool>(built.module) == (built.code() == ZE_RESULT_SUCCESS));
      if (built.compiler_died) CHECK(!built.log.empty());
    }
  CHECK(refused > 0);
  MESSAGE(files.size() << " files, " << times << " flips each, refused " << refused
                       << ", the compiler ended its process " << died << " times");
}

TEST_CASE("the compiler's process: what it says at its end, and doing without it") {
  if (is_kilns_own()) return;  // which compiles in a process of its own
  const auto path = std::filesystem::temp_directory_path() /
                    ("kiln-fake-compiler-" + std::to_string(std::random_device()()));
  const auto with = [&](const char* script) {
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    setenv("KILN_COMPILER", path.c_str(), 1);
    return build(ModuleFormat::spirv, sample_kernel("saxpy.spv").bytes);
  };
  const ModuleBuild crashed = with("echo start; echo last words >&2; kill -SEGV $$");
  CHECK(crashed.code() == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
  CHECK(crashed.compiler_died);
  CHECK(crashed.log.find("SIGSEGV") != std::string::npos);
  CHECK(crashed.log.find("last words") != std::string::npos);
  CHECK(code_of(Bundle::load(device(), {sample_kernel("saxpy.spv")})) == "K0227");
  CHECK(with("echo start; exit 3").compiler_died);
  const ModuleBuild killed = with("echo start; kill -KILL $$");
  CHECK(killed.code() == ZE_RESULT_ERROR_NOT_AVAILABLE);
  CHECK_FALSE(killed.compiler_died);
  CHECK(with("echo start; echo kiln-compile answer; head -c 1000 /dev/urandom").compiler_died);
  // One that never starts to compile is as good as none: this process does it.
  CHECK(with("exit 1").module);
  CHECK(with("cat").module);
  std::filesystem::remove(path);
  CHECK(build(ModuleFormat::spirv, sample_kernel("saxpy.spv").bytes).module);
  unsetenv("KILN_COMPILER");
  const ModuleBuild apart = build(ModuleFormat::spirv, sample_kernel("saxpy.spv").bytes);
  CHECK(apart.module);
  CHECK(!apart.native.empty());  // so it was made in a process of its own
}

}  // namespace kiln::test
