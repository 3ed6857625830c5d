// SPDX-License-Identifier: MIT
// Every dispatch table of specification 1.17, for whoever stands behind a loader.
#pragma once

/// TABLE(name): a core table, `ze`.
#define KILN_CORE_TABLES(TABLE)   \
  TABLE(RTASBuilder)              \
  TABLE(RTASBuilderExp)           \
  TABLE(RTASParallelOperation)    \
  TABLE(RTASParallelOperationExp) \
  TABLE(Global)                   \
  TABLE(Driver)                   \
  TABLE(DriverExp)                \
  TABLE(Device)                   \
  TABLE(DeviceExp)                \
  TABLE(Context)                  \
  TABLE(CommandQueue)             \
  TABLE(CommandList)              \
  TABLE(CommandListExp)           \
  TABLE(Image)                    \
  TABLE(ImageExp)                 \
  TABLE(Mem)                      \
  TABLE(MemExp)                   \
  TABLE(Fence)                    \
  TABLE(EventPool)                \
  TABLE(Event)                    \
  TABLE(EventExp)                 \
  TABLE(Module)                   \
  TABLE(ModuleBuildLog)           \
  TABLE(Kernel)                   \
  TABLE(KernelExp)                \
  TABLE(Sampler)                  \
  TABLE(PhysicalMem)              \
  TABLE(VirtualMem)               \
  TABLE(FabricVertexExp)          \
  TABLE(FabricEdgeExp)            \
  TABLE(Graph)                    \
  TABLE(ExecutableGraph)

/// TABLE(prefix, name, members that version 1.0 has): tools and sysman.
#define KILN_OTHER_TABLES(TABLE)       \
  TABLE(zet, MetricDecoderExp, 0)      \
  TABLE(zet, MetricProgrammableExp, 0) \
  TABLE(zet, MetricTracerExp, 0)       \
  TABLE(zet, Device, 1)                \
  TABLE(zet, DeviceExp, 0)             \
  TABLE(zet, Context, 1)               \
  TABLE(zet, CommandList, 4)           \
  TABLE(zet, CommandListExp, 0)        \
  TABLE(zet, Kernel, 1)                \
  TABLE(zet, Module, 1)                \
  TABLE(zet, Debug, 11)                \
  TABLE(zet, Metric, 2)                \
  TABLE(zet, MetricExp, 0)             \
  TABLE(zet, MetricGroup, 3)           \
  TABLE(zet, MetricGroupExp, 0)        \
  TABLE(zet, MetricQuery, 4)           \
  TABLE(zet, MetricQueryPool, 2)       \
  TABLE(zet, MetricStreamer, 3)        \
  TABLE(zet, TracerExp, 5)             \
  TABLE(zes, Global, 0)                \
  TABLE(zes, Device, 25)               \
  TABLE(zes, DeviceExp, 0)             \
  TABLE(zes, Driver, 1)                \
  TABLE(zes, DriverExp, 0)             \
  TABLE(zes, Diagnostics, 3)           \
  TABLE(zes, Engine, 1)                \
  TABLE(zes, FabricPort, 6)            \
  TABLE(zes, Fan, 6)                   \
  TABLE(zes, Firmware, 2)              \
  TABLE(zes, FirmwareExp, 0)           \
  TABLE(zes, Frequency, 17)            \
  TABLE(zes, Led, 4)                   \
  TABLE(zes, Memory, 3)                \
  TABLE(zes, Overclock, 0)             \
  TABLE(zes, PerformanceFactor, 3)     \
  TABLE(zes, Power, 8)                 \
  TABLE(zes, Psu, 2)                   \
  TABLE(zes, Ras, 4)                   \
  TABLE(zes, RasExp, 2)                \
  TABLE(zes, Scheduler, 8)             \
  TABLE(zes, Standby, 3)               \
  TABLE(zes, Temperature, 4)           \
  TABLE(zes, VFManagementExp, 0)
