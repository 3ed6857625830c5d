// SPDX-License-Identifier: MIT
// Runs the CPU driver's tests in one of its ways: straight, loader; or checks what needs processes of its
// own.
#include <doctest/doctest.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fixture.hpp"
#include "processes.hpp"

std::string order_of_commands();  // shuffle_test.cpp

namespace {

struct Built {
  ze_result_t result = ZE_RESULT_ERROR_UNKNOWN;
  ze_module_handle_t module = nullptr;
};

Built build(const std::vector<std::uint8_t>& bytes, ze_module_format_t format) {
  Built built;
  std::uint32_t one = 1;
  ze_driver_handle_t driver = nullptr;
  ze_device_handle_t device = nullptr;
  ze_context_handle_t context = nullptr;
  const auto context_desc = make<ze_context_desc_t>(ZE_STRUCTURE_TYPE_CONTEXT_DESC);
  auto desc = make<ze_module_desc_t>(ZE_STRUCTURE_TYPE_MODULE_DESC);
  desc.format = format;
  desc.inputSize = bytes.size();
  desc.pInputModule = bytes.data();
  if (api.Init(0) == ZE_RESULT_SUCCESS && api.DriverGet(&one, &driver) == ZE_RESULT_SUCCESS &&
      api.DeviceGet(driver, &one, &device) == ZE_RESULT_SUCCESS &&
      api.ContextCreate(driver, &context_desc, &context) == ZE_RESULT_SUCCESS)
    built.result = api.ModuleCreate(context, device, &desc, &built.module, nullptr);
  if (context) api.ContextDestroy(context);
  return built;
}

int refuse_unknown_profile(const char* driver) {
  if (const std::string missing = load_straight(driver); !missing.empty()) return 1;
  setenv("KILN_CPU_PROFILE", "voodoo2", 1);
  if (api.Init(0) != ZE_RESULT_ERROR_UNINITIALIZED) return 1;
  std::uint32_t count = 0;
  if (api.DriverGet(&count, nullptr) != ZE_RESULT_ERROR_UNINITIALIZED) return 1;
  setenv("KILN_CPU_PROFILE", "lnl", 1);
  return api.Init(0) == ZE_RESULT_SUCCESS ? 0 : 1;
}

// The order in which a process with that KILN_CPU_ORDER runs eight commands of a list, then of another one.
std::string order_with(const char* seed) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    setenv("KILN_CPU_ORDER", seed, 1);
    const std::string order = order_of_commands() + order_of_commands();
    _exit(write(ends[1], order.data(), order.size()) == static_cast<ssize_t>(order.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string order(64, 0);
  const ssize_t got = read(ends[0], order.data(), order.size());
  order.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return order;
}

// The same seed gives the same order, another one another; each list has its own.
int compare_seeds(const char* driver) {
  if (const std::string missing = load_straight(driver); !missing.empty()) return 1;
  const std::string one = order_with("shuffle:1"), again = order_with("shuffle:1"),
                    two = order_with("shuffle:2");
  const bool right = one.size() == 16 && one == again && one != two && one.substr(0, 8) != one.substr(8) &&
                     order_with("shuffle") == "7654321076543210" && order_with("") == "0123456701234567" &&
                     order_with("shuffle:").empty() && order_with("shuffle:x").empty() &&
                     order_with("shuffled").empty();
  if (!right) std::printf("%s %s %s\n", one.c_str(), again.c_str(), two.c_str());
  return right ? 0 : 1;
}

// What a variable says reaches a terminal in ASCII only, whatever it is.
int show_settings_safely(const char* driver) {
  if (const std::string missing = load_straight(driver); !missing.empty()) return 1;
  std::FILE* file = std::tmpfile();
  if (!file || dup2(fileno(file), STDERR_FILENO) < 0) return 1;
  for (const char* name : {"KILN_CPU_PROFILE", "KILN_CPU_FAULT"}) {
    setenv(name, "\x1b[31m\xc2\x9b\xe2\x80\xae\n\xff", 1);
    if (api.Init(0) != ZE_RESULT_ERROR_UNINITIALIZED) return 1;
    unsetenv(name);
  }
  std::rewind(file);
  std::string text(4096, 0);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  const auto lines = std::count(text.begin(), text.end(), '\n');
  const bool safe =
      std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
  return lines == 2 && safe ? 0 : 1;
}

// A copy of this program with the rights of another user: what the caller's environment says does not count.
int ignore_settings_of_others(const char* self, const char* driver) {
  if (getuid() != 0) return std::puts("skipped: only root can make a setuid program of another user"), 77;
  char folder[] = "/tmp/kiln-setuid-XXXXXX";
  if (!mkdtemp(folder)) return 1;
  const std::string copy = std::string(folder) + "/program";
  const std::string driver_copy =
      std::string(folder) + "/driver.so";  // the original may lie in a folder of root's
  std::filesystem::copy_file(self, copy);
  std::filesystem::copy_file(driver, driver_copy);
  constexpr uid_t kNobody = 65534;
  int status = 1;
  if (chmod(folder, 0755) == 0 && chown(copy.c_str(), kNobody, kNobody) == 0 &&
      chmod(copy.c_str(), 04755) == 0) {
    const pid_t child = fork();
    if (child == 0) {
      setenv("KILN_CPU_PROFILE", "voodoo2", 1);
      setenv("KILN_CPU_FAULT", "nonsense", 1);
      setenv("KILN_CPU_DRIVER", driver_copy.c_str(), 1);
      execl(copy.c_str(), copy.c_str(), "as-another-user", nullptr);
      _exit(1);
    }
    waitpid(child, &status, 0);
  }
  std::filesystem::remove_all(folder);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int start_as_another_user(const char* driver) {
  if (getauxval(AT_SECURE) == 0) return std::puts("skipped: setuid programs do not work here"), 77;
  if (const std::string missing = load_straight(driver); !missing.empty()) return 1;
  return api.Init(0) == ZE_RESULT_SUCCESS ? 0 : 1;
}

// The native binary that another product's device makes; empty: none. The profile is the process's, so a
// child does it.
std::vector<std::uint8_t> native_of(const char* profile, const char* file) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    setenv("KILN_CPU_PROFILE", profile, 1);
    const Built built = build(read_file(file), ZE_MODULE_FORMAT_IL_SPIRV);
    std::size_t size = 0;
    if (built.result != ZE_RESULT_SUCCESS) _exit(1);
    api.ModuleGetNativeBinary(built.module, &size, nullptr);
    std::vector<std::uint8_t> bytes(size);
    api.ModuleGetNativeBinary(built.module, &size, bytes.data());
    for (std::size_t done = 0; done < size;) {
      const ssize_t step = write(ends[1], bytes.data() + done, size - done);
      if (step <= 0) _exit(1);
      done += static_cast<std::size_t>(step);
    }
    _exit(0);
  }
  close(ends[1]);
  std::vector<std::uint8_t> native;
  std::uint8_t part[4096];
  for (ssize_t got; (got = read(ends[0], part, sizeof(part))) > 0;)
    native.insert(native.end(), part, part + got);
  int status = 1;
  close(ends[0]);
  waitpid(child, &status, 0);
  return status == 0 ? native : std::vector<std::uint8_t>();
}

// A native binary from a device with more local memory: refused with the code of Intel's driver 26.27.
int refuse_deep_native(const char* driver) {
  if (const std::string missing = load_straight(driver); !missing.empty()) return 1;
  const std::vector<std::uint8_t> native = native_of("bmg", "deep_static.spv");
  if (native.empty()) return 1;
  setenv("KILN_CPU_PROFILE", "tgllp", 1);
  const bool right = build(native, ZE_MODULE_FORMAT_NATIVE).result == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE &&
                     build(read_file("deep_static.spv"), ZE_MODULE_FORMAT_IL_SPIRV).result ==
                         ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  return right ? 0 : 1;
}

// A native binary with sub-groups of 8 on a device that has 16 and 32.
int refuse_narrow_native(const char* driver) {
  if (const std::string missing = load_straight(driver); !missing.empty()) return 1;
  const std::vector<std::uint8_t> native = native_of("dg2", "../cpu_program/spirv/sub_group.spv");
  if (native.empty()) return 1;
  setenv("KILN_CPU_PROFILE", "bmg", 1);
  return build(native, ZE_MODULE_FORMAT_NATIVE).result == ZE_RESULT_ERROR_INVALID_NATIVE_BINARY ? 0 : 1;
}

// Native code of a driver that was linked from other code, though its version is the same.
int refuse_native_of_other_build(const char* driver) {
  if (const std::string missing = load_straight(driver); !missing.empty()) return 1;
  const std::vector<std::uint8_t> native = native_of("bmg", "kernels.spv");
  std::ifstream own(driver, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(own), std::istreambuf_iterator<char>()};
  constexpr std::string_view kNote("\4\0\0\0\x14\0\0\0\3\0\0\0GNU", 16);
  const auto note = bytes.find(kNote);
  if (native.empty() || note == bytes.npos) return 1;
  bytes[note + kNote.size()] ^= 1;
  char other[] = "/tmp/kiln-other-XXXXXX";
  const int file = mkstemp(other);
  const bool written = file >= 0 && write(file, bytes.data(), bytes.size()) == std::ssize(bytes);
  if (file >= 0) close(file);
  const bool loaded = written && load_straight(other).empty();
  unlink(other);
  return loaded && build(native, ZE_MODULE_FORMAT_NATIVE).result == ZE_RESULT_ERROR_INVALID_NATIVE_BINARY &&
                 build(read_file("kernels.spv"), ZE_MODULE_FORMAT_IL_SPIRV).result == ZE_RESULT_SUCCESS
             ? 0
             : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  const char* driver = std::getenv("KILN_CPU_DRIVER");
  if (way == "unknown-profile" && driver) return refuse_unknown_profile(driver);
  if (way == "deep-native" && driver) return refuse_deep_native(driver);
  if (way == "narrow-native" && driver) return refuse_narrow_native(driver);
  if (way == "other-build" && driver) return refuse_native_of_other_build(driver);
  if (way == "safe-settings" && driver) return show_settings_safely(driver);
  if (way == "setuid" && driver) return ignore_settings_of_others(argv[0], driver);
  if (way == "as-another-user" && driver) _exit(start_as_another_user(driver));  // no leaks are looked for
  if (way == "processes" && driver) return share_between_processes(driver);
  if (way == "overrun" && driver) return overrun(driver);
  if (way == "few-threads" && driver) return few_threads(driver);
  if (way == "endless" && driver) return endless(driver);
  if (way == "tell-of-waits" && driver) return tell_of_waits(driver);
  if (way == "silent-while-running" && driver) return silent_while_running(driver);
  if (way == "stop-endless" && driver) return stop_endless(driver);
  if (way == "three-gpus" && driver) return three_gpus(driver);
  if (way == "masked-devices" && driver) return masked_devices(driver);
  if (way == "nonsense" && driver)
    return load_straight(driver).empty() && api.Init(0) == ZE_RESULT_ERROR_UNINITIALIZED ? 0 : 1;
  std::string missing =
      "usage: "
      "straight|loader|unknown-profile|deep-native|narrow-native|other-build|safe-settings|shuffle|shuffle-"
      "seeds|setuid|"
      "processes|overrun|few-threads|endless|tell-of-waits|silent-while-running|stop-endless|"
      "three-gpus|masked-devices|nonsense, with KILN_CPU_DRIVER naming the driver's library";
  if (way == "shuffle-seeds" && driver) return compare_seeds(driver);
  if ((way == "straight" || way == "shuffle") && driver) missing = load_straight(driver);
  if (way == "loader") missing = load_through_loader();
  if (!missing.empty()) {
    std::fprintf(stderr, "%s\n", missing.c_str());
    return 2;
  }
  doctest::Context context(argc - 1, argv + 1);
  if (way == "loader") context.addFilter("test-case-exclude", "straight:*");
  context.addFilter(way == "shuffle" ? "test-case" : "test-case-exclude", "shuffle:*");
  return context.run();
}
