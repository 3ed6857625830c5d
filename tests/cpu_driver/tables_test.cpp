// SPDX-License-Identifier: MIT
// The dispatch tables: all there, never longer than the version asked for, and reachable through handles.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <level_zero/ze_ddi.h>

#include <array>
#include <cstring>

#include "fixture.hpp"

namespace {

using Get = ze_result_t (*)(ze_api_version_t, void*);

Get getter(const char* name) { return reinterpret_cast<Get>(dlsym(api.library, name)); }

constexpr auto version(std::uint32_t major, std::uint32_t minor) {
  return static_cast<ze_api_version_t>(major << 16 | minor);
}

// Members written into a table that is full of a pattern, and nothing but a prefix of it.
std::size_t written(const char* name, ze_api_version_t asked) {
  std::array<std::uint64_t, 128> table{};
  constexpr std::uint64_t kPattern = 0xfeedfacecafebeef;
  table.fill(kPattern);
  REQUIRE(getter(name)(asked, table.data()) == ZE_RESULT_SUCCESS);
  std::size_t count = 0;
  while (count < table.size() && table[count] != kPattern) ++count;
  for (std::size_t i = count; i < table.size(); ++i) REQUIRE(table[i] == kPattern);
  return count;
}

}  // namespace

TEST_CASE("straight: every table that loader 1.8 asks for is exported") {
  const char* names[] = {"zeGetGlobal",
                         "zeGetDriver",
                         "zeGetDevice",
                         "zeGetDeviceExp",
                         "zeGetContext",
                         "zeGetCommandQueue",
                         "zeGetCommandList",
                         "zeGetImage",
                         "zeGetImageExp",
                         "zeGetMem",
                         "zeGetFence",
                         "zeGetEventPool",
                         "zeGetEvent",
                         "zeGetEventExp",
                         "zeGetModule",
                         "zeGetModuleBuildLog",
                         "zeGetKernel",
                         "zeGetKernelExp",
                         "zeGetSampler",
                         "zeGetPhysicalMem",
                         "zeGetVirtualMem",
                         "zeGetFabricVertexExp",
                         "zeGetFabricEdgeExp",
                         "zetGetDevice",
                         "zetGetContext",
                         "zetGetCommandList",
                         "zetGetModule",
                         "zetGetKernel",
                         "zetGetMetricGroup",
                         "zetGetMetricGroupExp",
                         "zetGetMetric",
                         "zetGetMetricStreamer",
                         "zetGetMetricQueryPool",
                         "zetGetMetricQuery",
                         "zetGetTracerExp",
                         "zetGetDebug",
                         "zesGetDevice",
                         "zesGetDriver",
                         "zesGetDiagnostics",
                         "zesGetEngine",
                         "zesGetFabricPort",
                         "zesGetFan",
                         "zesGetFirmware",
                         "zesGetFrequency",
                         "zesGetLed",
                         "zesGetMemory",
                         "zesGetPerformanceFactor",
                         "zesGetPower",
                         "zesGetPsu",
                         "zesGetRas",
                         "zesGetScheduler",
                         "zesGetStandby",
                         "zesGetTemperature"};
  CHECK(std::size(names) == 53);
  for (const char* name : names) {
    const std::string symbol = std::string(name) + "ProcAddrTable";
    CAPTURE(symbol);
    CHECK(static_cast<bool>(getter(symbol.c_str())));
  }
  for (const char* name : {"zerGetGlobalProcAddrTable", "zesGetGlobalProcAddrTable",
                           "zesGetOverclockProcAddrTable", "zesGetVFManagementExpProcAddrTable"})
    CHECK(static_cast<bool>(getter(name)));
}

TEST_CASE("straight: only what the asked version has is written") {
  // Lengths: ze_ddi.h of specifications 1.0 to 1.17.
  CHECK(written("zeGetGlobalProcAddrTable", version(1, 0)) == 1);
  CHECK(written("zeGetGlobalProcAddrTable", version(1, 10)) == 2);
  CHECK(written("zeGetDriverProcAddrTable", version(1, 0)) == 5);
  CHECK(written("zeGetDriverProcAddrTable", version(1, 4)) == 6);
  CHECK(written("zeGetDriverProcAddrTable", version(1, 6)) == 7);
  CHECK(written("zeGetCommandListProcAddrTable", version(1, 0)) == 26);
  CHECK(written("zeGetCommandListProcAddrTable", version(1, 4)) == 28);
  CHECK(written("zeGetCommandListProcAddrTable", version(1, 6)) == 29);
  CHECK(written("zeGetCommandListProcAddrTable", version(1, 17)) == 52);
  CHECK(written("zeGetKernelProcAddrTable", version(1, 17)) == 12);
  CHECK(written("zerGetGlobalProcAddrTable", version(1, 13)) == 0);
  CHECK(written("zerGetGlobalProcAddrTable", version(1, 14)) == 4);
  // A loader newer than the driver gets what the driver knows.
  CHECK(written("zeGetCommandListProcAddrTable", version(1, 99)) == 52);
  CHECK(written("zesGetDeviceProcAddrTable", version(1, 99)) == 25);
}

TEST_CASE("straight: no member of a core table is null, and what is not implemented says so") {
  std::array<void*, 128> table{};
  REQUIRE(getter("zeGetCommandListExpProcAddrTable")(version(1, 17), table.data()) == ZE_RESULT_SUCCESS);
  for (std::size_t i = 0; i < written("zeGetCommandListExpProcAddrTable", version(1, 17)); ++i) {
    CAPTURE(i);
    CHECK(table[i] != nullptr);
  }
  const auto mutate = reinterpret_cast<ze_result_t (*)(void*, const void*)>(table[3]);
  CHECK(mutate(nullptr, nullptr) == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
}

TEST_CASE("straight: other major versions and null tables are refused") {
  std::array<void*, 128> table{};
  for (const char* name :
       {"zeGetDriverProcAddrTable", "zesGetDeviceProcAddrTable", "zerGetGlobalProcAddrTable"}) {
    CHECK(getter(name)(version(2, 0), table.data()) == ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
    CHECK(getter(name)(version(0, 91), table.data()) == ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
    CHECK(getter(name)(version(1, 4), nullptr) == ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  }
}

TEST_CASE("straight: the lengths agree with the headers at hand") {
  constexpr auto kHeaders = ZE_API_VERSION_CURRENT;
  CHECK(written("zeGetDriverProcAddrTable", kHeaders) == sizeof(ze_driver_dditable_t) / sizeof(void*));
  CHECK(written("zeGetDeviceProcAddrTable", kHeaders) == sizeof(ze_device_dditable_t) / sizeof(void*));
  CHECK(written("zeGetContextProcAddrTable", kHeaders) == sizeof(ze_context_dditable_t) / sizeof(void*));
  CHECK(written("zeGetCommandListProcAddrTable", kHeaders) ==
        sizeof(ze_command_list_dditable_t) / sizeof(void*));
  CHECK(written("zeGetCommandQueueProcAddrTable", kHeaders) ==
        sizeof(ze_command_queue_dditable_t) / sizeof(void*));
  CHECK(written("zeGetMemProcAddrTable", kHeaders) == sizeof(ze_mem_dditable_t) / sizeof(void*));
  CHECK(written("zeGetEventProcAddrTable", kHeaders) == sizeof(ze_event_dditable_t) / sizeof(void*));
  CHECK(written("zeGetEventPoolProcAddrTable", kHeaders) == sizeof(ze_event_pool_dditable_t) / sizeof(void*));
  CHECK(written("zeGetModuleProcAddrTable", kHeaders) == sizeof(ze_module_dditable_t) / sizeof(void*));
  CHECK(written("zeGetKernelProcAddrTable", kHeaders) == sizeof(ze_kernel_dditable_t) / sizeof(void*));
  CHECK(written("zeGetKernelExpProcAddrTable", kHeaders) == sizeof(ze_kernel_exp_dditable_t) / sizeof(void*));
  CHECK(written("zeGetImageProcAddrTable", kHeaders) == sizeof(ze_image_dditable_t) / sizeof(void*));
  CHECK(written("zeGetVirtualMemProcAddrTable", kHeaders) ==
        sizeof(ze_virtual_mem_dditable_t) / sizeof(void*));
}

TEST_CASE("straight: handles begin with pointers to tables") {
  const Fixture f;
  struct CoreTables {
    std::uint32_t version;
    std::uint8_t valid;
    void** tables[32];
  };
  const auto* core = *reinterpret_cast<const CoreTables* const*>(f.context);
  CHECK(core->version >= static_cast<std::uint32_t>(ZE_API_VERSION_1_4));
  CHECK(core->valid == 1);
  constexpr int kContextTable = 9;  // its place in ze_dditable_driver_t
  CHECK(core->tables[kContextTable][1] == reinterpret_cast<void*>(api.ContextDestroy));
}

TEST_CASE("zeInit may be called again") {
  CHECK(api.Init(0) == ZE_RESULT_SUCCESS);
  CHECK(api.Init(ZE_INIT_FLAG_GPU_ONLY) == ZE_RESULT_SUCCESS);
}

TEST_CASE("straight: zeInit refuses flags that do not exist") {
  CHECK(api.Init(0x80) == ZE_RESULT_ERROR_INVALID_ENUMERATION);
}
