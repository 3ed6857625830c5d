// SPDX-License-Identifier: MIT
// Opens the simulated GPU, and turns its faults into what a driver answers when a device is lost.
#include "level_zero/open/simulated.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include "kiln/log.hpp"
#include "level_zero/source.hpp"
#include "support/own_files.hpp"

namespace kiln::detail {
namespace {

std::atomic<bool> lost{false};
const Api* watched = nullptr;

// Release 22.43 sends a message to the simulated GPU in two parts and takes the next answer for its own,
// without a lock where it waits: two threads at once mix them up. So one at a time is inside the driver.
std::mutex one_at_a_time;

/// The driver's own function, alone, and DEVICE_LOST where it believes that all went well.
template <auto member>
struct Watched;
template <class... Arguments, ze_result_t (ZE_APICALL* Api::*member)(Arguments...)>
struct Watched<member> {
  static ze_result_t ZE_APICALL call(Arguments... arguments) {
    const std::scoped_lock lock(one_at_a_time);
    const ze_result_t code = (watched->*member)(arguments...);
    const bool waits_or_done = code == ZE_RESULT_SUCCESS || code == ZE_RESULT_NOT_READY;
    return waits_or_done && lost.load() ? ZE_RESULT_ERROR_DEVICE_LOST : code;
  }
};

/// Waits in steps, between which others get into the driver: one of them may signal the event.
ze_result_t ZE_APICALL wait_for_event(ze_event_handle_t event, std::uint64_t timeout) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds kStep{100};
  const auto start = Clock::now();
  while (true) {
    const ze_result_t code = Watched<&Api::zeEventHostSynchronize>::call(event, 0);
    if (code != ZE_RESULT_NOT_READY) return code;
    const auto waited = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
    if (static_cast<std::uint64_t>(waited) >= timeout) return code;
    std::this_thread::sleep_for(kStep);
  }
}

/// Is the text in what is loaded of the library?
bool has_text(void* library, std::string_view text) {
  struct Search {
    const link_map* library = nullptr;
    std::string_view text;
    bool found = false;
  } search{nullptr, text};
  if (dlinfo(library, RTLD_DI_LINKMAP, &search.library) != 0) return false;
  const auto look = [](dl_phdr_info* file, std::size_t, void* user) {
    auto& [wanted, text, found] = *static_cast<Search*>(user);
    if (file->dlpi_addr != wanted->l_addr) return 0;
    for (const ElfW(Phdr) & part : std::span(file->dlpi_phdr, file->dlpi_phnum)) {
      if (part.p_type != PT_LOAD || !(part.p_flags & PF_R)) continue;
      const auto* const bytes = reinterpret_cast<const void*>(file->dlpi_addr + part.p_vaddr);
      found |= memmem(bytes, part.p_filesz, text.data(), text.size()) != nullptr;
    }
    return 1;
  };
  dl_iterate_phdr(look, &search);
  return search.found;
}

// KILN_SIMULATOR_… of drivers/simulator/server.hpp, which the library is not compiled with.
using Start = const char* (*)(const char*, bool, SimulatorFault, void*, std::uint16_t*);

}  // namespace

std::string simulator_path() {
  // Not for a process with more rights than its user: what is named here is loaded.
  if (const char* chosen = secure_getenv("KILN_SIMULATOR"); chosen && *chosen) return chosen;
  return own_file(kOwnSimulator).string();
}

Error explain_missing_simulator(const std::string& library, const std::string& reason) {
  Diagnostic diagnostic{"K0311",
                        "the simulated GPU cannot be started",
                        {{"library", library}, {"reason", reason}},
                        {"give it what it takes, or unset it: docs/simulated-gpu.md"}};
  if (!reason.starts_with("KILN_"))  // a setting that it does not take
    diagnostic.help = {
        "install libkiln_simulator.so of this Kiln, or name it: KILN_SIMULATOR=libkiln_simulator.so",
        "instructions are decoded by Intel's libiga64: `apt install libigc1`"};
  return Error(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, "dlopen", std::move(diagnostic));
}

Error explain_mute_driver(const std::string& driver, const std::string& reason) {
  return Error(ZE_RESULT_ERROR_UNINITIALIZED, "zeInit",
               {"K0311",
                "this release of Intel's driver does not talk to a simulated GPU",
                {{"driver", driver}, {"reason", reason}},
                {"use release 22.43 of intel-opencl-icd, which Debian 12 has; newer ones have no such way in",
                 "`cpu` runs kernels here, and `capture:PRODUCT` asks this driver without running them"}});
}

Result<void> need_talking_driver(const char* driver, void* library) {
  // The class of its end of the socket: 22.43 has it, and 26.27, which has not, ends the process in zeInit.
  if (has_text(library, "TbxSocketsImp")) return {};
  return tl::unexpected(explain_mute_driver(driver, "it was built without the sockets of a simulated GPU"));
}

Result<std::uint16_t> start_simulator(const std::string& product, SimulatorFault fault, void* user) {
  const std::string path = simulator_path();
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed: its threads stay
  if (!library) return tl::unexpected(explain_missing_simulator(path, dlerror()));
  const auto start = reinterpret_cast<Start>(dlsym(library, "kiln_simulator_start"));
  if (!start) return tl::unexpected(explain_missing_simulator(path, "kiln_simulator_start is missing"));
  std::uint16_t port = 0;
  if (const char* wrong = start(product.c_str(), true, fault, user, &port))
    return tl::unexpected(explain_missing_simulator(path, wrong));
  return port;
}

int simulated_program() {
  void* const library = dlopen(simulator_path().c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (!library) return 0;
  const auto program = reinterpret_cast<int (*)()>(dlsym(library, "kiln_simulator_program"));
  const int process = program ? program() : 0;
  dlclose(library);  // the reference that was just taken: start_simulator() keeps its own
  return process;
}

std::vector<std::pair<const char*, std::string>> simulated_variables(const std::string& product,
                                                                     std::uint16_t port) {
  // Of private and scratch memory each hardware thread has a share, and all of it is sent both ways for each
  // launch: so there are only shares for those that work at once. Source: kMostThreads of
  // drivers/simulator/groups, and its pool, of which each worker numbers its own threads.
  constexpr long kThreads = 128;
  const long workers = std::clamp(sysconf(_SC_NPROCESSORS_CONF), 1L, product == "tgllp" ? 5L : 32L);
  return {{"NEOReadDebugKeys", "1"},
          {"SetCommandStreamReceiver", "2"},
          {"TbxServer", "127.0.0.1"},
          {"TbxPort", std::to_string(port)},
          {"ProductFamilyOverride", product},
          {"OverrideNumComputeUnitsForScratch", std::to_string(kThreads * workers)},
          // With local memory the driver numbers the pages of both memories alike, and reads by number alone.
          {"EnableLocalMemory", "0"}};
}

void simulator_fault(void*, int, const char* text, bool stuck) {
  lost = true;
  const std::string line = "the simulated GPU is lost: " + std::string(text);
  log(LogLevel::error, line);
  std::fprintf(stderr, "kiln: %s\n", line.c_str());
  if (stuck) std::abort();
}

// Not zeModuleCreate, which sends nothing without local memory, and by whose address the cache knows the
// driver.
const Api& watched_table(const Api& driver) {
  static const Api* const table = [&] {
    watched = &driver;
    static Api copy = driver;
#define KILN_WATCH(name) \
  if (copy.name) copy.name = Watched<&Api::name>::call;
    KILN_WATCH(zeDeviceGetStatus)
    KILN_WATCH(zeCommandQueueExecuteCommandLists)
    KILN_WATCH(zeCommandQueueSynchronize)
    KILN_WATCH(zeFenceHostSynchronize)
    KILN_WATCH(zeFenceQueryStatus)
    copy.zeEventHostSynchronize = wait_for_event;
    KILN_WATCH(zeEventQueryStatus)
    KILN_WATCH(zeEventPoolCreate)
    KILN_WATCH(zeEventPoolDestroy)
    KILN_WATCH(zeContextMakeMemoryResident)
    KILN_WATCH(zeContextEvictMemory)
    KILN_WATCH(zeMemAllocDevice)
    KILN_WATCH(zeMemAllocHost)
    KILN_WATCH(zeMemAllocShared)
    KILN_WATCH(zeMemFree)
    KILN_WATCH(zeModuleDestroy)
    KILN_WATCH(zeCommandQueueCreate)
    KILN_WATCH(zeCommandQueueDestroy)
    KILN_WATCH(zeCommandListCreateImmediate)
    KILN_WATCH(zeCommandListDestroy)
    KILN_WATCH(zeCommandListReset)
    KILN_WATCH(zeEventQueryKernelTimestamp)
    KILN_WATCH(zeCommandListHostSynchronize)
    KILN_WATCH(zeCommandListAppendBarrier)
    KILN_WATCH(zeCommandListAppendMemoryCopy)
    KILN_WATCH(zeCommandListAppendMemoryFill)
    KILN_WATCH(zeCommandListAppendMemoryCopyRegion)
    KILN_WATCH(zeCommandListAppendLaunchKernel)
    KILN_WATCH(zeCommandListAppendLaunchCooperativeKernel)
    KILN_WATCH(zeCommandListAppendSignalEvent)
    KILN_WATCH(zeCommandListAppendEventReset)
    KILN_WATCH(zeCommandListAppendMemoryPrefetch)
    KILN_WATCH(zeCommandListAppendMemAdvise)
    KILN_WATCH(zeCommandListAppendWriteGlobalTimestamp)
    KILN_WATCH(zeCommandListAppendWaitOnEvents)
#undef KILN_WATCH
    return &keep_beside(copy, driver);
  }();
  return *table;
}

}  // namespace kiln::detail
