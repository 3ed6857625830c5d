// SPDX-License-Identifier: MIT
// Of the C interface: version, names of results, the log.
#include <array>

#include "capi/boundary.hpp"
#include "kiln/log.hpp"

using namespace kiln;
using namespace kiln_c;

uint32_t kiln_library_version() { return static_cast<uint32_t>(library_version()); }

const char* kiln_result_name(kiln_result result) {
  // Those that Level Zero counts upwards from a few places.
  struct Names {
    std::array<std::string, 3 * 256> names;
    Names() {
      for (std::uint32_t i = 0; i < names.size(); ++i)
        names[i] = result_name(static_cast<ze_result_t>(at(i)));
    }
    static std::uint32_t at(std::uint32_t i) {
      constexpr std::uint32_t kFirst[] = {0, 0x70000000, 0x78000000};
      return kFirst[i / 256] + i % 256;
    }
  };
  if (result == KILN_ERROR_UNKNOWN) return "ZE_RESULT_ERROR_UNKNOWN";
  try {
    static const Names& known = *new Names;  // handles may fail while the process ends
    for (std::uint32_t i = 0; i < known.names.size(); ++i)
      if (Names::at(i) == result)
        return known.names[i].starts_with("0x") ? "unknown" : known.names[i].c_str();
  } catch (const std::bad_alloc&) {
  }
  return "unknown";
}

kiln_result kiln_set_log_sink(kiln_log_sink sink, void* user, kiln_error* error) {
  return run(__func__, error, [&]() -> Result<void> {
    struct Taker {
      kiln_log_sink sink;
      void* user;
    };
    // Never freed: a line may be under way to it.
    static std::vector<std::unique_ptr<Taker>>& takers = *new std::vector<std::unique_ptr<Taker>>;
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (!sink) {
      set_log_sink(nullptr, nullptr);
      return {};
    }
    takers.push_back(std::make_unique<Taker>(Taker{sink, user}));
    const auto forward = [](void* taker, LogLevel level, std::string_view message) {
      const std::string line(message);
      const auto& to = *static_cast<const Taker*>(taker);
      to.sink(to.user, static_cast<std::uint32_t>(level), line.c_str(), line.size());
    };
    set_log_sink(forward, takers.back().get());
    return {};
  });
}
