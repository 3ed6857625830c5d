// SPDX-License-Identifier: MIT
// The functions that loaders look up in the library: one for each dispatch table, empty ones included.
#include <cstring>

#include "drivers/cpu/api/tables.hpp"

// ze_ddi.h is not included here: it declares the same functions with a type for each table.
namespace kiln::cpu {

ze_result_t fill_table(std::span<const Row> rows, ze_api_version_t version, void* table) {
  if (!table) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  const auto asked = static_cast<std::uint32_t>(version);
  if (ZE_MAJOR_VERSION(asked) != 1) return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
  auto* at = static_cast<unsigned char*>(table);
  for (const Row& row : rows) {
    if (row.since > ZE_MINOR_VERSION(asked)) break;
    for (std::uint8_t i = 0; i < row.count; ++i, at += sizeof(Address))
      std::memcpy(at, &row.address, sizeof(Address));
  }
  return ZE_RESULT_SUCCESS;
}

namespace {

ze_result_t fill_core(std::string_view name, ze_api_version_t version, void* table) {
  const Table* found = find_core_table(name);
  return found ? fill_table(found->rows, version, table) : ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

/// Tools and sysman: present for loaders that insist, and empty. Only members of version 1.0 are cleared,
/// because later ones were not always added at the end.
ze_result_t clear(std::uint8_t members, ze_api_version_t version, void* table) {
  const Row row{0, members, nullptr, nullptr};
  return fill_table({&row, 1}, version, table);
}

}  // namespace
}  // namespace kiln::cpu

#define KILN_EXPORT(prefix, name, body)                                                            \
  extern "C" __attribute__((visibility("default")))                                                \
  ze_result_t ZE_APICALL prefix##Get##name##ProcAddrTable(ze_api_version_t version, void* table) { \
    return body;                                                                                   \
  }
#define KILN_CORE(name) KILN_EXPORT(ze, name, kiln::cpu::fill_core(#name, version, table))
#define KILN_EMPTY(prefix, name, members) KILN_EXPORT(prefix, name, kiln::cpu::clear(members, version, table))

KILN_CORE(RTASBuilder)
KILN_CORE(RTASBuilderExp)
KILN_CORE(RTASParallelOperation)
KILN_CORE(RTASParallelOperationExp)
KILN_CORE(Global)
KILN_CORE(Driver)
KILN_CORE(DriverExp)
KILN_CORE(Device)
KILN_CORE(DeviceExp)
KILN_CORE(Context)
KILN_CORE(CommandQueue)
KILN_CORE(CommandList)
KILN_CORE(CommandListExp)
KILN_CORE(Image)
KILN_CORE(ImageExp)
KILN_CORE(Mem)
KILN_CORE(MemExp)
KILN_CORE(Fence)
KILN_CORE(EventPool)
KILN_CORE(Event)
KILN_CORE(EventExp)
KILN_CORE(Module)
KILN_CORE(ModuleBuildLog)
KILN_CORE(Kernel)
KILN_CORE(KernelExp)
KILN_CORE(Sampler)
KILN_CORE(PhysicalMem)
KILN_CORE(VirtualMem)
KILN_CORE(FabricVertexExp)
KILN_CORE(FabricEdgeExp)
KILN_CORE(Graph)
KILN_CORE(ExecutableGraph)

KILN_EMPTY(zet, MetricDecoderExp, 0)
KILN_EMPTY(zet, MetricProgrammableExp, 0)
KILN_EMPTY(zet, MetricTracerExp, 0)
KILN_EMPTY(zet, Device, 1)
KILN_EMPTY(zet, DeviceExp, 0)
KILN_EMPTY(zet, Context, 1)
KILN_EMPTY(zet, CommandList, 4)
KILN_EMPTY(zet, CommandListExp, 0)
KILN_EMPTY(zet, Kernel, 1)
KILN_EMPTY(zet, Module, 1)
KILN_EMPTY(zet, Debug, 11)
KILN_EMPTY(zet, Metric, 2)
KILN_EMPTY(zet, MetricExp, 0)
KILN_EMPTY(zet, MetricGroup, 3)
KILN_EMPTY(zet, MetricGroupExp, 0)
KILN_EMPTY(zet, MetricQuery, 4)
KILN_EMPTY(zet, MetricQueryPool, 2)
KILN_EMPTY(zet, MetricStreamer, 3)
KILN_EMPTY(zet, TracerExp, 5)

KILN_EMPTY(zes, Global, 0)
KILN_EMPTY(zes, Device, 25)
KILN_EMPTY(zes, DeviceExp, 0)
KILN_EMPTY(zes, Driver, 1)
KILN_EMPTY(zes, DriverExp, 0)
KILN_EMPTY(zes, Diagnostics, 3)
KILN_EMPTY(zes, Engine, 1)
KILN_EMPTY(zes, FabricPort, 6)
KILN_EMPTY(zes, Fan, 6)
KILN_EMPTY(zes, Firmware, 2)
KILN_EMPTY(zes, FirmwareExp, 0)
KILN_EMPTY(zes, Frequency, 17)
KILN_EMPTY(zes, Led, 4)
KILN_EMPTY(zes, Memory, 3)
KILN_EMPTY(zes, Overclock, 0)
KILN_EMPTY(zes, PerformanceFactor, 3)
KILN_EMPTY(zes, Power, 8)
KILN_EMPTY(zes, Psu, 2)
KILN_EMPTY(zes, Ras, 4)
KILN_EMPTY(zes, RasExp, 2)
KILN_EMPTY(zes, Scheduler, 8)
KILN_EMPTY(zes, Standby, 3)
KILN_EMPTY(zes, Temperature, 4)
KILN_EMPTY(zes, VFManagementExp, 0)

KILN_EXPORT(zer, Global, kiln::cpu::fill_table(kiln::cpu::runtime_rows(), version, table))
