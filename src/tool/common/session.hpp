// SPDX-License-Identifier: MIT
// What the commands share: exit codes, the choice of a device, errors as text and JSON.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

#include "kiln/kiln.hpp"
#include "kiln/offline.hpp"
#include "support/json.hpp"

namespace kiln::tool {

using detail::Json;

/// Exit codes of the command.
enum Exit : int { kOk = 0, kWrongAnswer = 1, kUsage = 2, kRefused = 3, kNoDevice = 4, kDriverError = 5 };

/// The exit code for an error: refused by the check, no device, bad usage, or the driver.
[[nodiscard]] int exit_code(const Error& error);

/// The library's diagnostic, with the options of the command where it names members of BakeOptions. Pure.
[[nodiscard]] Diagnostic in_options(Diagnostic diagnostic);

/// An error as JSON: the diagnostic where there is one, and call and result code.
[[nodiscard]] Json to_json(const Error& error);

/// Opens what `--device` (or, when empty, KILN_DEVICE) names. "auto" takes a GPU, else the CPU device, and
/// says so in one line on stderr.
[[nodiscard]] Result<OpenDevice> open_chosen(const std::string& name);

/// UTF-8 JSON, ended by a newline.
void print(const Json& json, std::FILE* to = stdout);

struct DevicesOptions {
  bool json = false;
  std::string device;  ///< empty: all
};
int devices(const DevicesOptions& options);

struct DoctorOptions {
  bool json = false;
  int seconds = 20;  ///< for each library that is started
};
int doctor(const DoctorOptions& options);

struct InspectOptions {
  std::vector<std::string> files;
  bool json = false;
};
int inspect(const InspectOptions& options);

struct CheckOptions {
  std::vector<std::string> files, targets, locals;
  std::string group, groups;
  std::string flags;     ///< OpenCL build options for ocloc, and for the driver where it gets SPIR-V
  double timeout = 120;  ///< seconds for one compilation, or for one child that asks the driver
  bool driver = false, json = false;
};
int check(const CheckOptions& options);

struct BakeCommand {
  BakeOptions options;
  double timeout = 120;  ///< seconds for one compilation
  bool json = false;
};
int bake(const BakeCommand& command);

struct ExplainOptions {
  std::string what;  ///< a code, a file, or - for stdin
  bool json = false;
};
int explain(const ExplainOptions& options);

struct RunOptions {
  std::string kernel;
  std::string device;
  std::string bundle;  ///< a kernel file in place of those in the kernel folder
  std::optional<std::uint64_t> size, group, slm;
  std::uint32_t repeat = 1;
  std::uint32_t seed = 1;
  bool json = false, list = false, all = false;
  bool counters = false;      ///< count on the CPU device, and look for defects
  bool check_memory = false;  ///< the defects alone
  std::string report;         ///< HTML file, with counters where the device counts; empty: none
};
int run(const RunOptions& options);
int run_all(const RunOptions& options);

}  // namespace kiln::tool
