// SPDX-License-Identifier: MIT
// Opens the driver, and puts the layer's functions into its tables.
#include "drivers/layer/real_driver.hpp"

#include <dlfcn.h>

#include <array>
#include <mutex>
#include <string>

#include "drivers/layer/cache/module.hpp"
#include "drivers/layer/capture/hooks.hpp"
#include "drivers/layer/guard.hpp"
#include "drivers/layer/hooks.hpp"
#include "drivers/layer/known.hpp"
#include "drivers/layer/recorder.hpp"
#include "drivers/layer/settings.hpp"
#include "drivers/layer/tell.hpp"
#include "level_zero/call.hpp"

extern "C" ze_result_t ZE_APICALL zeGetModuleProcAddrTable(ze_api_version_t version, void* table);

namespace kiln::layer {
namespace {

// As the loader knows them, 1.8 to 1.32.
constexpr const char* kIntelDrivers[] = {"libze_intel_gpu.so.1", "libze_intel_gpu_legacy1.so.1",
                                         "libze_intel_npu.so.1", "libze_intel_vpu.so.1"};

struct Driver {
  void* library = nullptr;
  std::string name;
};

void say_unusable(const std::string& name, std::string why) {
  Diagnostic diagnostic{"K0306", "`" + name + "` cannot be used as a Level Zero driver", {}, {}};
  diagnostic.rows = {{"reason", std::move(why)}, {"asked for by", "the layer of `kiln exec`"}};
  diagnostic.help = {"check the path and that the file is a Level Zero driver for this machine",
                     "`kiln doctor` says why there is no GPU; `kiln exec --device cpu` takes the CPU device"};
  tell_once(diagnostic);
}

Driver open_driver() {
  Driver driver;
  std::string reason;
  prepare_cache();
  const auto try_open = [&](const std::string& name) {
    driver.library = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);  // as the loader does; never closed
    if (driver.library)
      driver.name = name;
    else if (reason.empty())
      reason = dlerror();
    return driver.library != nullptr;
  };
  const std::string& wanted = settings().driver;
  if (!wanted.empty())
    (void)try_open(wanted);
  else
    for (const char* name : kIntelDrivers)
      if (try_open(name)) break;
  if (!driver.library) {
    say_unusable(wanted.empty() ? kIntelDrivers[0] : wanted, reason);
    return {};
  }
  const void* const get = dlsym(driver.library, "zeGetModuleProcAddrTable");
  if (get == reinterpret_cast<const void*>(&zeGetModuleProcAddrTable)) {
    say_unusable(driver.name, "it is the layer itself");
    return {};
  }
  if (!get) {
    say_unusable(driver.name, "it has no zeGetModuleProcAddrTable");
    return {};
  }
  guarding = settings().guard;
  prepare_to_tell();
  start_recording();
  watch_forks();
  return driver;
}

const Driver& driver() {
  static const auto* opened = new Driver(open_driver());  // calls come until the process is gone
  return *opened;
}

/// Larger than any table of any version.
constexpr std::size_t kMostMembers = 512;

}  // namespace

std::span<const Hook> hooks() {
  static const Hook all[] = {
#define KILN_OLD(table, place, name) KILN_NEW(table, place, 0, name, )
#define KILN_NEW(table, place, since, name, type) \
  Hook{#table,                                    \
       place,                                     \
       since,                                     \
       #name,                                     \
       reinterpret_cast<Address*>(&real.name),    \
       reinterpret_cast<Address>(&hook::name)},
      KILN_LAYER_HOOKS(KILN_OLD, KILN_NEW)
#undef KILN_OLD
#undef KILN_NEW
  };
  return all;
}

ze_result_t fill_table(const char* symbol, std::string_view table_name, ze_api_version_t version,
                       void* table) {
  const Driver& behind = driver();
  if (!behind.library) return ZE_RESULT_ERROR_UNINITIALIZED;
  using Get = ze_result_t(ZE_APICALL*)(ze_api_version_t, void*);
  const auto get = reinterpret_cast<Get>(dlsym(behind.library, symbol));
  if (!get) return ZE_RESULT_SUCCESS;
  // First into a table of zeros: an older driver leaves the rest of the caller's as it was, which may be
  // anything.
  std::array<Address, kMostMembers> own{};
  if (table)
    if (const ze_result_t code = get(version, own.data()); code != ZE_RESULT_SUCCESS) return code;
  const ze_result_t code = get(version, table);
  if (code != ZE_RESULT_SUCCESS || !table) return code;
  auto* members = static_cast<Address*>(table);
  for (const Hook& hook : hooks()) {
    if (hook.table != table_name || hook.since > ZE_MINOR_VERSION(static_cast<std::uint32_t>(version)))
      continue;
    if (!own[hook.place]) continue;
    *hook.real = own[hook.place];
    members[hook.place] = hook.own;
  }
  capture::fill(table_name, version, own.data(), members);
  return code;
}

namespace {

const Api* load_real_api() noexcept {
  const Api* api = nullptr;
  quietly([&] {
    const auto loaded = load_driver(driver().name);
    if (loaded) {
      api = *loaded;
      return;
    }
    Diagnostic diagnostic{"K0306", "`" + driver().name + "` cannot be asked why it refuses a call", {}, {}};
    diagnostic.severity = Severity::warning;
    if (const Diagnostic* why = loaded.error().diagnostic())
      for (const DiagnosticRow& row : why->rows) diagnostic.rows.push_back(row);
    diagnostic.rows.push_back({"told of a refusal", "what its code means"});
    if (settings().guard)
      diagnostic.rows.push_back({"refused by --guard", "what needs no numbers of the device"});
    diagnostic.help = {"take a driver that has all entry points of Level Zero 1.0"};
    tell_once(diagnostic);
  });
  return api;
}

}  // namespace

const Api* real_api() noexcept {
  if (detail::tearing_down) return nullptr;
  static const Api* const api = load_real_api();
  return api;
}

}  // namespace kiln::layer
