// SPDX-License-Identifier: MIT
// The options of the commands about devices and failures: devices, doctor, explain and run.
#include <memory>

#include "tool/arguments/options.hpp"
#include "tool/common/session.hpp"

namespace kiln::tool {
namespace {

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

constexpr const char* kRunFooter = R"(
Exit status: 0 right, 1 wrong answer, a defect found or output that is lost, 2 usage, 3 refused by the launch check,
4 no device, 5 driver error. `kiln help` lists the variables that are read.)";

// What a sample takes at most; most take less, and say so.
constexpr Range kSizes{0, 1u << 30}, kGroups{1, 1u << 20}, kBytes{0, UINT32_MAX};

}  // namespace

void define_devices(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("devices", "Show the devices, and why one is missing");
  const auto options = std::make_shared<DevicesOptions>();
  add_text(*command, "--device", options->device, kDevice, kDeviceHelp);
  add_json(*command, options->json);
  command->callback([&action, options] { action = [options] { return devices(*options); }; });
}

void define_doctor(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("doctor", "Say why there is no GPU, or not the one expected, and what to do");
  const auto options = std::make_shared<DoctorOptions>();
  command->footer(kDoctorFooter);
  add_json(*command, options->json);
  add_whole(*command, "--timeout", options->seconds, {1, 3600},
            "Seconds that each driver may take to start, else 20");
  command->callback([&action, options] { action = [options] { return doctor(*options); }; });
}

void define_explain(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("explain", "Say what a code means, or why the program behind a trace or log failed");
  const auto options = std::make_shared<ExplainOptions>();
  command->footer(kExplainFooter);
  add_text(*command, "what", options->what, "CODE|FILE", "A code, a file, or - for what comes through a pipe")
      ->required();
  add_json(*command, options->json);
  command->callback([&action, options] { action = [options] { return explain(*options); }; });
}

void define_run(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("run", "Run a sample kernel and compare its answer with the host's");
  const auto options = std::make_shared<RunOptions>();
  command->footer(kRunFooter);
  CLI::Option* sample =
      add_text(*command, "kernel", options->kernel, kSample, "Name of the sample, see --list");
  add_text(*command, "--device", options->device, kDevice, kDeviceHelp);
  CLI::Option* bundle =
      add_text(*command, "--bundle", options->bundle, kFile,
               "A kernel file, such as `kiln bake` makes, in place of those in KILN_KERNEL_PATH");
  add_whole(*command, "--size", options->size, kSizes, "Elements, or the edge of the matrices");
  CLI::Option* group = add_whole(*command, "--group", options->group, kGroups, "Work-items a work-group");
  CLI::Option* slm = add_whole(*command, "--slm", options->slm, kBytes, "Bytes of SLM a work-group asks for");
  CLI::Option* repeat =
      add_whole(*command, "--repeat", options->repeat, {1, 1'000'000}, "Runs; the fastest counts");
  add_whole(*command, "--seed", options->seed, {0, UINT32_MAX}, "Of the random input");
  add_json(*command, options->json);
  add_flag(*command, "--counters", options->counters,
           "Count accesses, cache lines and bank conflicts, and look for defects; CPU device only, slow")
      ->excludes(repeat);
  add_flag(*command, "--check-memory", options->check_memory,
           "Look for accesses out of bounds and data races in SLM; CPU device only, slow")
      ->excludes(repeat);
  CLI::Option* report =
      add_text(*command, "--report", options->report, kFile,
               "Write the run as an HTML page to this file, with counters on the CPU device")
          ->excludes(repeat)
          ->check(needs_a_value);
  CLI::Option* list = add_flag(*command, "--list", options->list, "Name the samples");
  add_flag(*command, "--all", options->all,
           "Run all samples, each with sizes that suit it, and print a table")
      ->excludes(sample)
      ->excludes(group)
      ->excludes(slm)
      ->excludes(bundle)
      ->excludes(report)
      ->excludes(list);
  command->callback([&action, options] {
    if (options->kernel.empty() && !options->list && !options->all)
      throw Misuse(usage_error("`kiln run` needs the name of a sample, --all or --list",
                               {"`kiln run --list` names the samples"}));
    action = [options] { return run(*options); };
  });
}

}  // namespace kiln::tool
