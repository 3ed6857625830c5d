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

namespace {

/// A sink of C and what it is given.
struct Taker {
  kiln_log_sink sink;
  void* user;
};

void forward(void* taker, LogLevel level, std::string_view message) {
  const Taker to = *static_cast<const Taker*>(taker);  // the sink itself may set another
  const ZeroEnded line(message);
  to.sink(to.user, static_cast<std::uint32_t>(level), line.data(), line.size());
}

/// Stands for a sink of C++, whose LogTarget is `user`.
void back(void* user, std::uint32_t level, const char* message, std::size_t size) {
  const LogTarget& to = *static_cast<const LogTarget*>(user);
  to.sink(to.user, static_cast<LogLevel>(level), {message, size});
}

kiln_result replace_sink(const char* call, kiln_log_sink sink, void* user, kiln_log_sink* before,
                         void** before_user, kiln_error* error) {
  return run(call, error, [&]() -> Result<void> {
    LogTarget next;
    std::unique_ptr<Taker> taker;
    if (sink == back) {
      next = *static_cast<const LogTarget*>(user);
    } else if (sink) {
      taker = std::make_unique<Taker>(Taker{sink, user});
      next = {forward, taker.get()};
    }
    // Made beforehand, as nothing may fail behind the change. Kept for good: it may be set again at any time.
    auto of_cpp = before ? std::make_unique<LogTarget>() : nullptr;
    const LogTarget last = replace_log_sink(next);
    static_cast<void>(taker.release());
    Taker was{nullptr, nullptr};
    if (last.sink == forward) {
      const std::unique_ptr<Taker> gone(static_cast<Taker*>(last.user));
      was = *gone;
    } else if (last.sink && of_cpp) {
      *of_cpp = last;
      was = {back, of_cpp.release()};
    }
    if (before) *before = was.sink;
    if (before_user) *before_user = was.user;
    return {};
  });
}

}  // namespace

kiln_result kiln_set_log_sink(kiln_log_sink sink, void* user, kiln_error* error) {
  return replace_sink(__func__, sink, user, nullptr, nullptr, error);
}

kiln_result kiln_replace_log_sink(kiln_log_sink sink, void* user, kiln_log_sink* before, void** before_user,
                                  kiln_error* error) {
  return replace_sink(__func__, sink, user, before, before_user, error);
}
