// SPDX-License-Identifier: MIT
// Reserved addresses, physical memory and what kernels do with them.
#include <doctest/doctest.h>
#include <unistd.h>

#include "fixture.hpp"

namespace {

struct Physical {
  Physical(const Fixture& f, std::size_t size) : context(f.context) {
    auto desc = make<ze_physical_mem_desc_t>(ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC);
    desc.size = size;
    REQUIRE(api.PhysicalMemCreate(f.context, f.device, &desc, &handle) == ZE_RESULT_SUCCESS);
  }
  ~Physical() { CHECK(api.PhysicalMemDestroy(context, handle) == ZE_RESULT_SUCCESS); }
  ze_context_handle_t context;
  ze_physical_mem_handle_t handle = nullptr;
};

// Anywhere; the loader's parameter checks (1.8) refuse the null that the specification allows.
const void* const kAnywhere = reinterpret_cast<const void*>(std::uintptr_t{1} << 40);
constexpr auto kReadWrite = ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE;

}  // namespace

TEST_CASE("kernels run on mapped memory, and one physical memory shows at two addresses") {
  Fixture f;
  std::size_t page = 0;
  REQUIRE(api.VirtualMemQueryPageSize(f.context, f.device, 100000, &page) == ZE_RESULT_SUCCESS);
  const Physical physical(f, 2 * page);
  void* base = nullptr;
  REQUIRE(api.VirtualMemReserve(f.context, kAnywhere, 4 * page, &base) == ZE_RESULT_SUCCESS);
  auto* first = static_cast<std::uint32_t*>(base);
  auto* second = first + 2 * page / 4;
  const auto kernel = f.kernel(f.module(), "add");
  CHECK(api.KernelSetArgumentValue(kernel, 0, sizeof first, &first) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  for (void* where : {first, second})
    REQUIRE(api.VirtualMemMap(f.context, where, 2 * page, physical.handle, 0, kReadWrite) ==
            ZE_RESULT_SUCCESS);
  first[3] = 40;
  CHECK(second[3] == 40);
  std::uint32_t* argument = second + 3;
  const std::uint32_t two = 2;
  REQUIRE(api.KernelSetArgumentValue(kernel, 0, sizeof argument, &argument) == ZE_RESULT_SUCCESS);
  REQUIRE(api.KernelSetArgumentValue(kernel, 1, sizeof two, &two) == ZE_RESULT_SUCCESS);
  const ze_group_count_t one{1, 1, 1};
  REQUIRE(api.CommandListAppendLaunchKernel(f.immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS), kernel, &one,
                                            nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
  CHECK(first[3] == 42);
  // A range of it can be shared as an allocation can.
  ze_ipc_mem_handle_t shared{};
  void* third = nullptr;
  REQUIRE(api.MemGetIpcHandle(f.context, second, &shared) == ZE_RESULT_SUCCESS);
  REQUIRE(api.MemOpenIpcHandle(f.context, f.device, shared, 0, &third) == ZE_RESULT_SUCCESS);
  CHECK(static_cast<std::uint32_t*>(third)[3] == 42);
  CHECK(api.MemCloseIpcHandle(f.context, third) == ZE_RESULT_SUCCESS);
  // Exported as a descriptor, which is the application's: closing it does no harm.
  for (int round = 0; round < 2; ++round) {
    auto exported = make<ze_external_memory_export_fd_t>(ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD);
    exported.flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD;
    exported.fd = -1;
    auto properties = make<ze_memory_allocation_properties_t>(ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES);
    properties.pNext = &exported;
    REQUIRE(api.MemGetAllocProperties(f.context, second, &properties, nullptr) == ZE_RESULT_SUCCESS);
    std::uint32_t word = 0;
    CHECK(pread(exported.fd, &word, sizeof word, 12) == sizeof word);
    CHECK(word == 42);
    CHECK(close(exported.fd) == 0);
  }
  CHECK(api.VirtualMemUnmap(f.context, second, 2 * page) == ZE_RESULT_SUCCESS);
  CHECK(api.KernelSetArgumentValue(kernel, 0, sizeof argument, &argument) ==
        ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(api.VirtualMemFree(f.context, base, 4 * page) == ZE_RESULT_SUCCESS);
  argument = first;
  CHECK(api.KernelSetArgumentValue(kernel, 0, sizeof argument, &argument) ==
        ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("access attributes are those that were set, and mistakes come back") {
  Fixture f;
  std::size_t page = 0;
  REQUIRE(api.VirtualMemQueryPageSize(f.context, f.device, 1, &page) == ZE_RESULT_SUCCESS);
  const Physical physical(f, 2 * page);
  void* base = nullptr;
  REQUIRE(api.VirtualMemReserve(f.context, kAnywhere, 2 * page, &base) == ZE_RESULT_SUCCESS);
  auto access = kReadWrite;
  std::size_t size = 0;
  CHECK(api.VirtualMemGetAccessAttribute(f.context, base, page, &access, &size) == ZE_RESULT_SUCCESS);
  CHECK(access == ZE_MEMORY_ACCESS_ATTRIBUTE_NONE);
  for (const auto wanted : {ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY, ZE_MEMORY_ACCESS_ATTRIBUTE_NONE}) {
    CHECK(api.VirtualMemSetAccessAttribute(f.context, base, page, wanted) == ZE_RESULT_SUCCESS);
    CHECK(api.VirtualMemGetAccessAttribute(f.context, base, page, &access, &size) == ZE_RESULT_SUCCESS);
    CHECK(access == wanted);
  }
  CHECK(api.VirtualMemMap(f.context, base, 3 * page, physical.handle, 0, kReadWrite) ==
        ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(api.VirtualMemMap(f.context, base, 2 * page, physical.handle, page, kReadWrite) ==
        ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(api.VirtualMemMap(f.context, base, 100, physical.handle, 0, kReadWrite) ==
        ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
  REQUIRE(api.VirtualMemMap(f.context, base, page, physical.handle, page, ZE_MEMORY_ACCESS_ATTRIBUTE_NONE) ==
          ZE_RESULT_SUCCESS);
  CHECK(api.VirtualMemMap(f.context, base, page, physical.handle, 0, kReadWrite) ==
        ZE_RESULT_ERROR_INVALID_ARGUMENT);
  REQUIRE(api.VirtualMemSetAccessAttribute(f.context, base, page, kReadWrite) == ZE_RESULT_SUCCESS);
  static_cast<std::uint32_t*>(base)[1] = 5;
  CHECK(api.VirtualMemGetAccessAttribute(f.context, base, page, &access, &size) == ZE_RESULT_SUCCESS);
  CHECK(access == kReadWrite);
  CHECK(size == page);
  CHECK(api.VirtualMemUnmap(f.context, static_cast<char*>(base) + page, page) ==
        ZE_RESULT_SUCCESS);  // nothing is mapped there
  REQUIRE(api.VirtualMemMap(f.context, static_cast<char*>(base) + page, page, physical.handle, 0,
                            kReadWrite) == ZE_RESULT_SUCCESS);
  CHECK(api.VirtualMemUnmap(f.context, base, 2 * page) == ZE_RESULT_SUCCESS);  // both at once
  REQUIRE(api.VirtualMemMap(f.context, base, 2 * page, physical.handle, 0, kReadWrite) == ZE_RESULT_SUCCESS);
  for (std::size_t half : {std::size_t{0}, page})
    CHECK(api.VirtualMemUnmap(f.context, static_cast<char*>(base) + half, page) ==
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
  for (int round = 0; round < 2; ++round)
    CHECK(api.VirtualMemUnmap(f.context, base, 2 * page) == ZE_RESULT_SUCCESS);
  CHECK(api.VirtualMemFree(f.context, base, page) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(api.VirtualMemFree(f.context, base, 2 * page) == ZE_RESULT_SUCCESS);
  CHECK(api.VirtualMemFree(f.context, base, 2 * page) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  auto desc = make<ze_physical_mem_desc_t>(ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC);
  ze_physical_mem_handle_t memory = nullptr;
  CHECK(api.PhysicalMemCreate(f.context, f.device, &desc, &memory) == ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
  desc.size = std::size_t{1} << 50;
  CHECK(api.PhysicalMemCreate(f.context, f.device, &desc, &memory) == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
}
