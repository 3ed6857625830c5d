// SPDX-License-Identifier: MIT
// The `kiln` command: its options and its log.
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <exception>
#include <new>
#include <sstream>

#include "support/printable.hpp"
#include "tool/cache/command.hpp"
#include "tool/check/driver_question.hpp"
#include "tool/common/output.hpp"

namespace {

constexpr const char* kFooter = R"(
Exit status: 0 right, 1 wrong answer, a defect found or output that is lost, 2 usage, 3 refused by the launch check,
4 no device, 5 driver error.

Environment:
  KILN_DEVICE       the device when --device is not given
  KILN_CPU_PROFILE  product whose limits the CPU device has: tgllp, dg2, pvc, bmg, lnl, ptl
  KILN_CPU_DRIVER   path of the CPU driver, libze_kiln_cpu.so
  KILN_KERNEL_PATH  folder of the sample kernels
  KILN_CACHE        off, read or on (the default): the cache of compiled kernels; `kiln cache` looks into it
  KILN_CACHE_DIR    its folder (~/.cache/kiln); KILN_CACHE_MAX_SIZE, KILN_CACHE_VERIFY, KILN_CACHE_READ_ONLY
  KILN_LOG          debug, info, warning (the default), error or off)";

constexpr const char* kInspectFooter = R"(
Columns of the table:
  SLM        bytes of the kernel's own __local arrays, a work-group
  GROUP      the required work-group size, ~ before one that is only a hint
  SIMD       work-items a hardware thread; GRF: its registers
  PRIVATE    bytes of device memory a hardware thread; SCRATCH: bytes of scratch, for spilled registers too
  4GB        may be given buffers of 4 GiB and more

Exit status: 0, or 5 when a file cannot be read; the others are shown all the same.)";

constexpr const char* kCheckFooter = R"(
Files that share the name before the first point belong together: saxpy.spv, saxpy.pvc.bin. For each target the native
binary counts; where there is none, ocloc compiles the OpenCL C or SPIR-V for it; where ocloc is missing or does not know
the target, the SPIR-V counts, shown as yes*. Checked are SLM of arrays and arguments, required and asked-for group
sizes, counts of groups, and scratch memory. Warnings are shown below the table and are no refusal.
With --driver each cell also has the answer of the installed Intel driver, got in a child process without a GPU and
without executing anything. Where the two disagree, that is said at the end.

Exit status: 0 all fit, 2 usage, 3 something does not fit or is missing, or the driver refuses it, 4 no driver to ask,
5 a file cannot be read or compiled.)";

constexpr const char* kBakeFooter = R"(
The bundle is the fat binary that ocloc writes for several targets and Intel's driver loads: an ar archive with native
code for each --target, and SPIR-V for every other device. Programs load it with Bundle::load, `kiln run` with --bundle
FILE, or as NAME.ar in KILN_KERNEL_PATH; inspect and check read it. Call it NAME.ar.
Several sources become one module, linked before they are compiled further: each kernel keeps its own name, which must
be the only one of its kind; a function that one source declares and another defines is found.
The same sources, options and releases make the same bytes, in any folder. What was there stays until all is done.
Read more in docs/bundles.md, with rules for Meson and CMake.
Exit status: 0 baked, 2 usage (an unknown target, one named twice, sources that do not go together), 3 a function that is
defined nowhere, 4 no CPU driver, 5 ocloc missing, a source that cannot be read or compiled, an output that cannot be written.)";

constexpr const char* kExplainFooter = R"(
Codes: ZE_RESULT_ERROR_… with or without the prefix, 0x70000003, 1879048195, a tracer's 0x1879048195, OpenCL's -5 or
CL_OUT_OF_RESOURCES, SYCL's UR_RESULT_ERROR_… or PI_ERROR_…, and Kiln's K0101.
Logs: onetrace, unitrace and ze_tracer with -c, the loader's validation layer, debug messages of Intel's driver
(NEOReadDebugKeys=1 PrintDebugMessages=1), build logs, Kiln's own messages as text and JSON, and what the program wrote
on stderr. Any size.

Exit status: 0 explained, 1 no failure found in the log, 2 neither a code nor a file, or a file that cannot be read.)";

constexpr const char* kDoctorFooter = R"(
Looked at: the loader, the drivers (each started in a process of its own), the GPUs and their nodes, the compilers,
variables and files that change behaviour, the driver's cache. `kiln explain CODE` says more of a code.

Exit status: 0 a GPU is usable, 2 usage, 4 none is.)";

void to_spdlog(void*, kiln::LogLevel level, std::string_view text) {
  const std::string message = kiln::detail::printable(text, "\n\t");
  switch (level) {
    case kiln::LogLevel::debug:
      spdlog::debug("{}", message);
      break;
    case kiln::LogLevel::info:
      spdlog::info("{}", message);
      break;
    case kiln::LogLevel::warning:
      spdlog::warn("{}", message);
      break;
    case kiln::LogLevel::error:
      spdlog::error("{}", message);
      break;
  }
}

void set_up_log() {
  spdlog::set_default_logger(spdlog::stderr_color_mt("kiln"));
  spdlog::set_pattern("kiln: %^%l%$: %v");
  const char* level = secure_getenv("KILN_LOG");
  spdlog::set_level(level && *level ? spdlog::level::from_str(level) : spdlog::level::warn);
  kiln::set_log_sink(to_spdlog, nullptr);
}

int command(int argc, char** argv) {
  using namespace kiln::tool;

  CLI::App app("Native kernels on Intel GPUs through Level Zero, checked before the launch.", "kiln");
  app.set_version_flag("--version", "kiln " KILN_VERSION);
  app.require_subcommand(1);
  app.footer(kFooter);
  constexpr const char* kDeviceHelp =
      "auto, gpu, cpu, cpu:PRODUCT, capture:PRODUCT (Intel's driver without a GPU) or driver:LIBRARY";

  DevicesOptions devices_options;
  CLI::App* devices_command = app.add_subcommand("devices", "Show the devices, and why one is missing");
  devices_command->add_option("--device", devices_options.device, kDeviceHelp);
  devices_command->add_flag("--json", devices_options.json, "Machine-readable output");

  DoctorOptions doctor_options;
  CLI::App* doctor_command =
      app.add_subcommand("doctor", "Say why there is no GPU, or not the one expected, and what to do");
  doctor_command->footer(kDoctorFooter);
  doctor_command->add_flag("--json", doctor_options.json, "Machine-readable output");
  doctor_command
      ->add_option("--timeout", doctor_options.seconds, "Seconds that each driver may take to start (20)")
      ->check(CLI::Range(1, 3600));

  InspectOptions inspect_options;
  CLI::App* inspect_command = app.add_subcommand(
      "inspect", "Show what kernel files say: SLM, registers, memory, group sizes, arguments, targets");
  inspect_command->footer(kInspectFooter);
  inspect_command
      ->add_option("files", inspect_options.files,
                   "SPIR-V, native binaries, fat binaries of `kiln bake` and ocloc")
      ->required();
  inspect_command->add_flag("--json", inspect_options.json, "Machine-readable output");

  CheckOptions check_options;
  CLI::App* check_command =
      app.add_subcommand("check", "Say which kernels of some files fit which products, and why one does not");
  check_command->footer(kCheckFooter);
  check_command->add_option("files", check_options.files,
                            "OpenCL C (.cl), SPIR-V, native binaries, fat binaries of ocloc");
  check_command
      ->add_option(
          "--target", check_options.targets,
          "Products, such as pvc,dg2-g10,xe2,12.60.7, or help; else those of the native binaries, else one a "
          "generation")
      ->delimiter(',')
      ->allow_extra_args(false);
  check_command->add_option("--group", check_options.group, "Work-group size of the launch: X[,Y,Z]");
  check_command->add_option("--groups", check_options.groups, "Work-groups of the launch: X[,Y,Z]");
  check_command
      ->add_option("--local", check_options.locals,
                   "ARG=BYTES of a __local argument, by index or name; several times")
      ->allow_extra_args(false);
  check_command->add_option("--options", check_options.flags,
                            "OpenCL build options for ocloc: --options=-cl-fast-relaxed-math");
  check_command->add_flag("--driver", check_options.driver, "Ask Intel's driver too, without a GPU");
  check_command
      ->add_option("--timeout", check_options.timeout,
                   "Seconds for one compilation, and for one child that asks the driver")
      ->check(CLI::Range(0.001, 86400.0))
      ->capture_default_str();
  check_command->add_flag("--json", check_options.json, "Machine-readable output");

  BakeOptions bake_options;
  CLI::App* bake_command =
      app.add_subcommand("bake", "Compile kernels for several products into one file that a program loads");
  bake_command->footer(kBakeFooter);
  bake_command->add_option("sources", bake_options.files, "OpenCL C (.cl) and SPIR-V; several are linked")
      ->required();
  bake_command
      ->add_option("--target", bake_options.targets,
                   "Products, such as tgllp,dg2-g10,pvc; `kiln check --target help` lists them")
      ->delimiter(',')
      ->allow_extra_args(false);
  bake_command->add_option("-o,--output", bake_options.output, "The bundle: NAME.ar")->required();
  bake_command->add_option("--options", bake_options.flags,
                           "OpenCL build options, for all sources: --options=\"-cl-mad-enable -I include\"");
  bake_command->add_flag("--cpu", bake_options.cpu, "Add object code for the CPU device on this machine");
  bake_command->add_option(
      "--depfile", bake_options.depfile,
      "Write here, as a rule for make, what the bundle depends on: sources and #includes");
  bake_command->add_option("--timeout", bake_options.timeout, "Seconds for one compilation")
      ->check(CLI::Range(0.001, 86400.0))
      ->capture_default_str();
  bake_command->add_flag("--json", bake_options.json, "Machine-readable manifest");

  std::string question;
  CLI::App* child_command = app.add_subcommand("driver-child", "Serves check --driver")->group("");
  child_command->add_option("question", question)->required();

  ExplainOptions explain_options;
  CLI::App* explain_command =
      app.add_subcommand("explain", "Say what a code means, or why the program behind a trace or log failed");
  explain_command->footer(kExplainFooter);
  explain_command
      ->add_option("what", explain_options.what, "A code, a file, or - for what comes through a pipe")
      ->required();
  explain_command->add_flag("--json", explain_options.json, "Machine-readable output");

  CacheCommand cache;
  const CLI::App* cache_command = add_cache_command(app, cache, kDeviceHelp);

  RunOptions options;
  CLI::App* run_command =
      app.add_subcommand("run", "Run a sample kernel and compare its answer with the host's");
  run_command->footer(kFooter);
  run_command->add_option("kernel", options.kernel, "Name of the sample, see --list");
  run_command->add_option("--device", options.device, kDeviceHelp);
  run_command
      ->add_option("--bundle", options.bundle,
                   "A kernel file, such as `kiln bake` makes, in place of those in KILN_KERNEL_PATH")
      ->type_name("FILE");
  run_command->add_option("--size", options.size, "Elements, or the edge of the matrices");
  run_command->add_option("--group", options.group, "Work-items a work-group");
  run_command->add_option("--slm", options.slm, "Bytes of SLM a work-group asks for");
  run_command->add_option("--repeat", options.repeat, "Runs; the fastest counts")
      ->check(CLI::Range(1u, 1'000'000u));
  run_command->add_option("--seed", options.seed, "Of the random input");
  run_command->add_flag("--json", options.json, "Machine-readable output");
  run_command
      ->add_flag(
          "--counters", options.counters,
          "Count accesses, cache lines and bank conflicts, and look for defects; CPU device only, slow")
      ->excludes("--repeat");
  run_command
      ->add_flag("--check-memory", options.check_memory,
                 "Look for accesses out of bounds and data races in SLM; CPU device only, slow")
      ->excludes("--repeat");
  run_command
      ->add_option("--report", options.report,
                   "Write the run as an HTML page to this file, with counters on the CPU device")
      ->excludes("--repeat")
      ->check([](const std::string& file) { return file.empty() ? "a file is needed" : ""; });
  CLI::Option* list = run_command->add_flag("--list", options.list, "Name the samples");
  run_command
      ->add_flag("--all", options.all, "Run all samples, each with sizes that suit it, and print a table")
      ->excludes("kernel", "--group", "--slm", "--bundle", "--report")
      ->excludes(list);

  try {
    app.parse(argc, argv);
    if (run_command->parsed() && options.kernel.empty() && !options.list && !options.all)
      throw CLI::RequiredError("kernel (see `kiln run --list`)");
    if (check_command->parsed() && check_options.files.empty() &&
        check_options.targets != std::vector<std::string>{"help"})
      throw CLI::RequiredError("files");
    if (bake_command->parsed() && bake_options.targets.empty() && !bake_options.cpu)
      throw CLI::RequiredError("--target (or --cpu)");
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, refusal;  // a refusal repeats the caller's words
    const int code = app.exit(error, out, refusal);
    say("%s", out.str().c_str());
    complain("%s", refusal.str().c_str());
    return code == 0 ? kOk : kUsage;
  }
  if (devices_command->parsed()) return devices(devices_options);
  if (doctor_command->parsed()) return doctor(doctor_options);
  if (inspect_command->parsed()) return inspect(inspect_options);
  if (check_command->parsed()) return check(check_options);
  if (bake_command->parsed()) return bake(bake_options);
  if (child_command->parsed()) return answer_question(question);
  if (explain_command->parsed()) return explain(explain_options);
  if (cache_command->parsed()) return cache.run(cache);
  return run(options);
}

[[noreturn]] void end_for_want_of_memory() {
  const std::exception_ptr reason = std::current_exception();
  try {
    if (reason) std::rethrow_exception(reason);
  } catch (const std::bad_alloc&) {
    _exit(kiln::tool::out_of_memory());
  } catch (...) {
  }
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace kiln::tool;
  keep_standard_files();
  std::set_terminate(end_for_want_of_memory);  // threads
  try {
    set_up_log();
    return finish_output(command(argc, argv));
  } catch (const std::bad_alloc&) {  // it comes through the library too: nothing there catches it
    return out_of_memory();
  }
}
