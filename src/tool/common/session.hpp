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

/// Does the error say that the kernel or the device does not take a shape, a size or a build? Of several runs
/// such a one is a row with the code; whatever else happens, such as a lost device, ends them all. Pure.
[[nodiscard]] bool is_refusal(const Error& error);

/// The library's diagnostic, with the options of the command where it names members of BakeOptions. Pure.
[[nodiscard]] Diagnostic in_options(Diagnostic diagnostic);

/// An error as JSON, with the same members whatever is known of it.
[[nodiscard]] Json to_json(const Error& error);

/// Opens what `--device` (or, when empty, KILN_DEVICE) names. "auto" takes a GPU, else the CPU device, and
/// says so in one line on stderr.
[[nodiscard]] Result<OpenDevice> open_chosen(const std::string& name);

/// UTF-8 JSON, ended by a newline.
void print(const Json& json, std::FILE* to = stdout);

/// A device with its limits, as `kiln devices --json` has it.
[[nodiscard]] Json device_json(const OpenDevice& open);

struct DevicesOptions {
  bool json = false;
  std::string device;  ///< empty: all
};
int devices(const DevicesOptions& options);

struct DoctorOptions {
  bool json = false;
  int seconds = 20;    ///< for each library that is started
  std::string report;  ///< the file for a bug report, "-" for standard output; empty: none
  bool force = false;  ///< also where there is such a file
};
int doctor(const DoctorOptions& options);

struct MemoryOptions {
  std::uint32_t process = 0;          ///< 0: this one
  std::optional<double> watch;        ///< seconds between two accounts; nothing: one alone
  std::optional<std::uint64_t> size;  ///< bytes of an allocation that is asked about
  MemoryKind kind = MemoryKind::device;
  std::string root;  ///< where proc and sys are; empty: /
  bool json = false;
};
int memory(const MemoryOptions& options);

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

struct ExecOptions {
  std::string device;        ///< empty: KILN_DEVICE, else what the program would have had
  std::string json;          ///< file for what is refused; empty: stderr
  std::string record;        ///< file for the calls that came last; empty: none
  bool cache = false;        ///< modules come from the kernel cache
  std::string cache_folder;  ///< empty: the user's
  bool watch = false;        ///< the default
  bool guard = false;        ///< answer what would end the process, instead of the driver
  bool verbose = false;
  std::string capture;                       ///< archive for launches; empty: none
  std::vector<std::string> capture_kernels;  ///< empty: all
  std::uint64_t capture_launch = 1;          ///< of each kernel, from 1
  std::uint32_t capture_limit = 512;         ///< MiB
  std::vector<std::string> program;          ///< and its arguments
};
/// Becomes that program. Returns where it cannot: 125 to 127, as env(1) does.
int exec(const ExecOptions& options);

struct SimulateOptions {
  std::string product;
  std::vector<std::string> program;  ///< and its arguments
};
/// The program's exit status, 128 and its signal, or 125 to 127 as env(1) has them.
int simulate(const SimulateOptions& options);

struct ReplayOptions {
  std::string file;  ///< of `kiln exec --capture`
  std::string device;
  std::string emit_c;                  ///< folder for a program in C; empty: none
  std::optional<std::uint64_t> entry;  ///< nothing: all
  std::uint32_t repeat = 1;
  std::optional<double> tolerance;  ///< nothing: 0
  bool list = false, json = false;
};
int replay(const ReplayOptions& options);

struct RunOptions {
  std::string kernel;  ///< the name of a sample, or FILE[:KERNEL]
  std::string device;
  std::string bundle;  ///< a kernel file in place of those in the kernel folder
  std::optional<std::uint64_t> size, group, slm;
  std::uint32_t repeat = 1;
  std::optional<std::uint32_t> seed;  ///< nothing: 1
  bool json = false, list = false, all = false;
  bool counters = false;      ///< count on the CPU device, and look for defects
  bool check_memory = false;  ///< the defects alone
  std::string report;         ///< HTML file, with counters where the device counts; empty: none
  // Of a kernel file alone, each as it is written: src/tool/kernel/specification.hpp.
  std::vector<std::string> arguments, locals, saves, expects;  ///< NAME=…
  std::string groups, group_extent, global;                    ///< X[,Y[,Z]]; empty: not given
  std::string flags;                                           ///< OpenCL build options
  std::optional<double> tolerance;                             ///< of what is expected; nothing: 0
  bool advise = false;                                         ///< alternatives too
  std::uint32_t tries = 40;                                    ///< of --advise, at most
  std::string sweep;                                           ///< group=16..1024; empty: one run
  std::string against;  ///< another kernel, file, device=… or options=…; empty: none

  [[nodiscard]] bool has_kernel_options() const {
    return !(arguments.empty() && locals.empty() && saves.empty() && expects.empty() && groups.empty() &&
             global.empty() && flags.empty() && sweep.empty() && against.empty());
  }
};
int run(const RunOptions& options);
int run_all(const RunOptions& options);
int run_file(const RunOptions& options);

struct TestOptions {
  std::vector<std::string> paths;  ///< description files, and folders of them
  std::string device, junit;       ///< empty: as each says; no file
  double timeout = 120;            ///< seconds for one
  bool json = false;
};
int test(const TestOptions& options);

}  // namespace kiln::tool
