// SPDX-License-Identifier: MIT
// The devices of a driver, and which of them is meant, by what Vulkan tells of a device too.
#include <stdio.h>
#include <string.h>

#include "engine.h"

/// A device as it is written: "uuid:…", "pci:…".
typedef struct Candidate {
  kiln_device_info info;
  char uuid[33], pci[48];
  const char* type;
} Candidate;

static kiln_result describe(kiln_device device, Candidate* candidate, kiln_error* error) {
  kiln_identity identity = KILN_INIT(kiln_identity);
  candidate->info = KILN_INIT(kiln_device_info);
  TRY(kiln_device_get_identity(device, &identity, error));
  TRY(kiln_device_get_info(device, &candidate->info, error));
  for (int i = 0; i < 16; ++i) snprintf(candidate->uuid + 2 * i, 3, "%02x", identity.uuid[i]);
  candidate->pci[0] = 0;
  if (identity.flags & KILN_IDENTITY_PCI)
    snprintf(candidate->pci, sizeof candidate->pci, "%04x:%02x:%02x.%x", identity.pci_domain,
             identity.pci_bus, identity.pci_device, identity.pci_function);
  candidate->type = candidate->info.kind == KILN_DEVICE_CPU     ? "cpu"
                    : identity.flags & KILN_IDENTITY_INTEGRATED ? "integrated"
                                                                : "discrete";
  return KILN_SUCCESS;
}

static bool is_meant(const Candidate* candidate, const char* pick) {
  const char* const colon = pick ? strchr(pick, ':') : NULL;
  if (!pick) return true;
  if (!colon || !colon[1]) return false;
  const char* const value = colon + 1;
  if (strncmp(pick, "uuid:", 5) == 0) return strcmp(candidate->uuid, value) == 0;
  if (strncmp(pick, "pci:", 4) == 0) return strcmp(candidate->pci, value) == 0;
  if (strncmp(pick, "type:", 5) == 0) return strcmp(candidate->type, value) == 0;
  return strncmp(pick, "name:", 5) == 0 && strstr(candidate->info.name, value);
}

/// Calls `use` for each device of the driver, which may keep it: then it gives true.
static kiln_result for_each(const char* request, bool (*use)(void*, kiln_device, const Candidate*),
                            void* user, kiln_error* error) {
  kiln_device first = NULL;
  uint32_t count = 0;
  TRY(kiln_device_open(request, &first, error));
  kiln_result result = kiln_device_count(first, &count, error);
  for (uint32_t i = 0; !result && i < count; ++i) {
    kiln_device device = NULL;
    Candidate candidate;
    result = kiln_device_at(first, i, &device, error);
    if (!result) result = describe(device, &candidate, error);
    if (result || !use(user, device, &candidate)) kiln_device_destroy(device);
  }
  kiln_device_destroy(first);  // its context stays as long as what is in it
  return result;
}

static bool print(void* user, kiln_device device, const Candidate* candidate) {
  (void)user, (void)device;
  printf("%s: uuid:%s%s%s type:%s\n", candidate->info.name, candidate->uuid, *candidate->pci ? " pci:" : "",
         candidate->pci, candidate->type);
  return false;
}

kiln_result list_devices(const char* request, kiln_error* error) {
  return for_each(request, print, NULL, error);
}

/// Memory of their own first, as Vulkan programs choose; then the driver's order.
static bool consider(void* user, kiln_device device, const Candidate* candidate) {
  Engine* const engine = user;
  const bool own = strcmp(candidate->type, "discrete") == 0;
  if (!is_meant(candidate, engine->options->pick) || (engine->device && (engine->discrete || !own)))
    return false;
  const kiln_device_info* const info = &candidate->info;
  kiln_device_destroy(engine->device);
  engine->device = device;
  engine->discrete = own;
  engine->ticks_per_second = info->timer_ticks_per_second;
  engine->ticks_mask = info->timestamp_bits >= 64 ? UINT64_MAX : (UINT64_C(1) << info->timestamp_bits) - 1;
  snprintf(engine->name, sizeof engine->name, "%s", info->name);
  snprintf(engine->uuid, sizeof engine->uuid, "%s", candidate->uuid);
  return true;
}

kiln_result choose_device(Engine* engine, kiln_error* error) {
  const Options* const options = engine->options;
  TRY(for_each(options->device, consider, engine, error));
  if (!engine->device) {
    fprintf(stderr, "engine: no device is '%s'; --list-devices shows what there is\n", options->pick);
    return KILN_ERROR_INVALID_ARGUMENT;
  }
  fprintf(stderr, "engine: %s (%s)\n", engine->name, engine->uuid);
  return KILN_SUCCESS;
}
