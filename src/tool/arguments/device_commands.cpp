// SPDX-License-Identifier: MIT
// The options of the commands about devices and failures: devices, doctor, memory, exec, explain and run.
#include <algorithm>
#include <memory>

#include "level_zero/open/simulated.hpp"
#include "support/nearest.hpp"
#include "tool/arguments/options.hpp"
#include "tool/common/session.hpp"

namespace kiln::tool {
namespace {

constexpr const char* kExplainFooter = R"(
Codes: ZE_RESULT_ERROR_… with or without the prefix, 0x70000003, 1879048195, a tracer's 0x1879048195, OpenCL's -5 or
CL_OUT_OF_RESOURCES, SYCL's UR_RESULT_ERROR_… or PI_ERROR_…, and Kiln's K0101.
Logs: what the program wrote on stderr, the kernel's (dmesg), build logs, onetrace, unitrace and ze_tracer with -c, the
loader's validation layer, debug messages of Intel's driver (NEOReadDebugKeys=1 PrintDebugMessages=1), Kiln's own
messages as text and JSON; all of them in one file too. Any size. And what `kiln exec --record` keeps. docs/explain.md says more.

Exit status: 0 explained, 1 no failure found in the log, 2 neither a code nor a file, 5 a file that cannot be read.)";

constexpr const char* kDoctorFooter = R"(
Looked at: the loader, the drivers (each started in a process of its own), the GPUs and their nodes, the compilers,
variables and files that change behaviour, the driver's cache. `kiln explain CODE` says more of a code.

--report FILE puts all of it into one file for a bug report, with devices, limits, memory and the kernel's log of the GPU,
for people and at its end as JSON (alone with --json). Names of users, hosts, programs and private folders, command lines
and variables that are no driver's are left out; a file that is there stays without --force.

Exit status: 0 a GPU is usable or the report is written, 2 usage, 4 no GPU is usable, 5 the report cannot be written.)";

constexpr const char* kExecFooter = R"(
The program runs as it is: a layer of Kiln's stands between the Level Zero loader and the driver. What the driver refuses is
told on stderr with its cause, the numbers and what to change; the program gets the driver's answer all the same.
  kiln exec -- ./llama-cli -m model.gguf          what the driver refuses, and why
  kiln exec --guard -- ./program                  null handles, too much SLM and so on do not reach the driver
  kiln exec --record calls -- ./program           then `kiln explain calls`: what was under way when it died
  kiln exec --cache -- ./program                  what it compiles from SPIR-V is compiled once, and kept
  kiln exec --device cpu -- ./program             on the CPU device
  kiln exec --capture f -- ./program              keeps each kernel's first launch, which `kiln replay f` runs again
docs/exec.md says more.

Exit status: that of the program, 128 and the signal where one ends it; 127 there is no such program, 126 it cannot be
started, 125 `kiln exec` itself fails, 2 usage.)";

constexpr const char* kSimulateFooter = R"(
The program's own Level Zero or OpenCL driver, Intel's release 22.43, is told to talk to a GPU that Kiln simulates: it runs the
native code that the driver's compiler makes, and the program gets results. Times mean nothing.
  kiln simulate dg2 -- ./program                  any program on Level Zero or OpenCL
  kiln simulate pvc -- kiln exec -- ./program     the same, and why the driver refuses a call
PRODUCT is tgllp, dg2 or pvc. What a kernel does that the GPU cannot, such as an access to memory that is not mapped, is told on
stderr with its instruction, and ends the program by SIGKILL: the driver has no way to tell it.
docs/simulated-gpu.md says more.

Exit status: that of the program, 128 and the signal where one ends it; 127 there is no such program, 126 it cannot be
started, 125 there is no simulated GPU here, 2 usage.)";

constexpr const char* kReplayFooter = R"(
Each launch gets the code, the build options, the arguments and the memory that it had in the program; what is in memory
afterwards is compared with what was then. Refused launches and builds must be refused with the same code.
  kiln exec --capture run.ar --capture-kernel gemm -- ./program
  kiln replay run.ar --device cpu --tolerance 1e-4
  kiln replay run.ar --entry 1 --emit-c report/    a program without Kiln, for a report about a driver
docs/exec.md says more.

Exit status: 0 the same, 1 not the same, 2 usage, 4 no device, 5 a file that cannot be read, or a driver error.)";

constexpr const char* kMemoryFooter = R"(
Read: /proc/PID/fdinfo of all processes, meminfo, control groups of both versions, limits of the process, and what sysfs
and debugfs tell of the cards. No driver is opened: that itself would take memory of the card. With --size it says what
would stand in the way of such an allocation; without, what would if a program wanted all that a card has free.
docs/memory.md says all, and the sources of each cause.

Exit status: 0 told, 2 usage, or no such process.)";

constexpr const char* kRunFooter = R"(
A kernel of your own is FILE or FILE:KERNEL: OpenCL C (.cl), SPIR-V, native code, or a bundle. Each of its arguments is
given by name, or by its place from 0:
  --arg x=random:float:1000        a buffer of 1000 random floats; of TYPE:COUNT[:SEED][:LOW..HIGH], the type as the kernel
                                   has it where it is left out; zeros:, ones: and iota: (0, 1, 2 …) are alike
  --arg y=out:1000:y.npy           a buffer that the kernel writes, saved as a file of NumPy
  --arg x=data.npy, x=file:data.bin  a buffer from a file; x=null: none
  --arg a=2.5, v=1,2,3,4, n=uint:7 a value
  --local tile=4096                bytes of a __local argument
Without --groups or --global there is a work-item for each element of the longest buffer. `kiln inspect FILE` writes the line
for a kernel. docs/run-your-kernel.md says more.

Exit status: 0 right, 1 wrong answer, a defect found or output that is lost, 2 usage, 3 refused by the launch check,
4 no device, 5 driver error. `kiln help` lists the variables that are read.)";

// What a sample takes at most; most take less, and say so.
constexpr Range kSizes{0, 1u << 30}, kGroups{1, 1u << 20}, kBytes{0, UINT32_MAX};

/// A number of work-items, and for a kernel of the user's one for each dimension.
CLI::Option* add_group(CLI::App& command, RunOptions& options) {
  return command
      .add_option_function<std::string>(
          "--group",
          [&options](const std::string& text) {
            options.group_extent = text;
            const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
            if (text.find(',') != text.npos || (!hexadecimal && text.find('x') != text.npos)) return;
            auto value = parse_whole("--group", text, kGroups);
            if (!value) throw Misuse(std::move(value).error());
            options.group = *value;
            options.group_extent = std::to_string(*value);
          },
          "Work-items a work-group (1 to 1048576)")
      ->type_name("X[,Y,Z]");
}

constexpr const char* kTestFooter = R"(
A case is a file NAME.yaml; `kiln run NAME.yaml` runs it alone:
  kernel: saxpy.cl:saxpy        files are looked for beside the description
  arguments: {a: 2, x: iota:1000, y: ones:1000, n: 1000}
  expect: {y: y.npy}
  tolerance: 1e-6
Each case runs in a process of its own, so that one that crashes or hangs fails alone. docs/run-your-kernel.md says all.

Exit status: 0 all right, or run with nothing to compare, 1 a case went wrong, 2 usage, 5 the results cannot be written.)";

}  // namespace

void define_test(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("test", "Run description files of kernels as a test suite");
  const auto options = std::make_shared<TestOptions>();
  command->footer(kTestFooter);
  add_texts(*command, "paths", options->paths, kFolder, "Folders with files NAME.yaml, or such files")
      ->required();
  add_text(*command, "--device", options->device, kDevice, kDeviceHelp);
  add_text(*command, "--junit", options->junit, kFile, "Write the results as JUnit's XML to this file")
      ->check(needs_a_value);
  add_seconds(*command, options->timeout, 0.001, 86400, "For one case (0.001 to 86400, else 120)");
  add_json(*command, options->json);
  command->callback([&action, options] { action = [options] { return test(*options); }; });
}

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
  add_text(*command, "--report", options->report, kFile,
           "Write one file for a bug report, or - for standard output")
      ->check(needs_a_value);
  add_flag(*command, "--force", options->force, "With --report: also in place of a file that is there");
  command->callback([&action, options] {
    if (options->force && options->report.empty())
      throw Misuse(
          usage_error("--force goes with --report", {"name the file: kiln doctor --report FILE --force"}));
    action = [options] { return doctor(*options); };
  });
}

void define_memory(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "memory", "Say who holds the memory of cards, what the host has left, and what stands in the way");
  const auto options = std::make_shared<MemoryOptions>();
  command->footer(kMemoryFooter);
  add_whole(*command, "--pid", options->process, {1, UINT32_MAX}, "The process whose limits count");
  command
      ->add_option_function<std::string>(
          "--watch",
          [options](const std::string& text) {
            auto value = parse_seconds("--watch", text, 0.1, 86400);
            if (!value) throw Misuse(std::move(value).error());
            options->watch = *value;
          },
          "Again and again, with so many seconds between (0.1 to 86400, else 2)")
      ->expected(0, 1)
      ->default_str("2")
      ->type_name(kSeconds);
  add_whole(*command, "--size", options->size, {1, UINT64_MAX}, "Bytes of an allocation to ask about");
  command
      ->add_option_function<std::string>(
          "--kind",
          [options](const std::string& text) {
            const std::vector<std::string> kinds{"device", "host", "shared"};
            const auto found = std::ranges::find(kinds, text);
            if (found == kinds.end()) {
              auto help = detail::did_you_mean(text, kinds);
              help.emplace_back("give --kind device, host or shared");
              throw Misuse(usage_error("--kind is none of these: `" + text + "`", std::move(help)));
            }
            options->kind = static_cast<MemoryKind>(found - kinds.begin());
          },
          "Its kind: device (the default), host or shared")
      ->type_name("KIND");
  add_text(*command, "--root", options->root, kFolder, "Where proc and sys are, else /")
      ->check(needs_a_value);
  add_json(*command, options->json);
  command->callback([&action, options] { action = [options] { return memory(*options); }; });
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

void define_exec(CLI::App& app, Action& action, const std::vector<std::string>& program) {
  CLI::App* command =
      app.add_subcommand("exec", "Run any Level Zero program, and say why the driver refuses its calls");
  const auto options = std::make_shared<ExecOptions>();
  command->footer(kExecFooter);
  add_text(*command, "--device", options->device, kDevice, kDeviceHelp);
  add_text(*command, "--json", options->json, kFile,
           "Write what is refused to this file, a JSON object a line, and not on stderr")
      ->check(needs_a_value);
  add_text(
      *command, "--record", options->record, kFile,
      "Keep the last launches, allocations and builds in this file, however the program ends; `kiln explain` "
      "reads it")
      ->check(needs_a_value);
  CLI::Option* watch =
      add_flag(*command, "--watch", options->watch, "Tell what is refused, and pass all on: the default");
  add_flag(*command, "--guard", options->guard,
           "Answer what is certain to fail, or would end the process in the driver, instead of the driver")
      ->excludes(watch);
  add_flag(*command, "--cache", options->cache,
           "Take modules of SPIR-V from the kernel cache, else compile and store them");
  add_text(*command, "--cache-folder", options->cache_folder, "FOLDER",
           "The same with a cache in this folder, not in KILN_CACHE_DIR or ~/.cache/kiln")
      ->check(needs_a_value);
  add_flag(*command, "--verbose", options->verbose,
           "Say at the end too that nothing was refused, and what became of modules with --cache");
  CLI::Option* capture =
      add_text(*command, "--capture", options->capture, kFile,
               "Keep launches with their code, arguments and memory in this file, for `kiln replay`")
          ->check(needs_a_value);
  add_texts(*command, "--capture-kernel", options->capture_kernels, "NAME",
            "A kernel whose launch is kept, else all; several times")
      ->allow_extra_args(false)
      ->needs(capture)
      ->check(needs_a_value);
  add_whole(*command, "--capture-launch", options->capture_launch, {1, UINT32_MAX},
            "Which launch of each kernel is kept, else the first")
      ->needs(capture);
  add_whole(*command, "--capture-limit", options->capture_limit, {1, 1000},
            "MiB that modules and the memory of all, before and after, may have, else 512")
      ->needs(capture);
  // Its words are behind `--`, and are the program's: CLI11 gets none of them.
  const auto surplus = std::make_shared<std::vector<std::string>>();
  add_texts(*command, "program", *surplus, "-- PROGRAM", "The program and its arguments");
  command->callback([&action, options, surplus, &program] {
    if (program.empty() || !surplus->empty())
      throw Misuse(
          usage_error("`kiln exec` needs a program behind --",
                      {"for example: kiln exec -- " + (surplus->empty() ? "./program" : surplus->front())}));
    options->program = program;
    action = [options] { return exec(*options); };
  });
}

void define_simulate(CLI::App& app, Action& action, const std::vector<std::string>& program) {
  CLI::App* command =
      app.add_subcommand("simulate", "Run any program on a simulated GPU behind Intel's driver");
  const auto options = std::make_shared<SimulateOptions>();
  command->footer(kSimulateFooter);
  add_text(*command, "product", options->product, kSimulatedProduct, "tgllp, dg2 or pvc")->required();
  const auto surplus = std::make_shared<std::vector<std::string>>();
  add_texts(*command, "program", *surplus, "-- PROGRAM", "The program and its arguments");
  command->callback([&action, options, surplus, &program] {
    if (std::ranges::find(detail::kSimulated, options->product) == std::end(detail::kSimulated))
      throw Misuse(usage_error("`" + options->product + "` is not simulated", {"use tgllp, dg2 or pvc"}));
    if (program.empty() || !surplus->empty())
      throw Misuse(usage_error("`kiln simulate` needs a program behind --",
                               {"for example: kiln simulate " + options->product + " -- " +
                                (surplus->empty() ? "./program" : surplus->front())}));
    options->program = program;
    action = [options] { return simulate(*options); };
  });
}

void define_replay(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("replay", "Launch again what `kiln exec --capture` kept, and compare the answers");
  const auto options = std::make_shared<ReplayOptions>();
  command->footer(kReplayFooter);
  add_text(*command, "file", options->file, kFile, "What `kiln exec --capture FILE` wrote")->required();
  add_text(*command, "--device", options->device, kDevice, kDeviceHelp);
  add_whole(*command, "--entry", options->entry, {1, UINT32_MAX}, "One entry of the file, else all");
  add_whole(*command, "--repeat", options->repeat, {1, 1'000'000}, "Runs of each; the fastest counts");
  add_real(*command, "--tolerance", options->tolerance, 0, 1e30,
           "How far a number may be from the captured one, absolutely and in relation to it");
  CLI::Option* list =
      add_flag(*command, "--list", options->list, "Say what is in the file, and launch nothing");
  add_text(*command, "--emit-c", options->emit_c, "FOLDER",
           "Write the entry as a program of raw calls, in C, with its files; launch nothing")
      ->excludes(list)
      ->check(needs_a_value);
  add_json(*command, options->json);
  command->callback([&action, options] { action = [options] { return replay(*options); }; });
}

void define_run(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "run", "Run a kernel of yours, or a sample whose answer is compared with the host's");
  const auto options = std::make_shared<RunOptions>();
  command->footer(kRunFooter);
  CLI::Option* sample = add_text(*command, "kernel", options->kernel, kSample,
                                 "FILE or FILE:KERNEL of yours, or the name of a sample, see --list");
  add_text(*command, "--device", options->device, kDevice, kDeviceHelp);
  CLI::Option* bundle =
      add_text(*command, "--bundle", options->bundle, kFile,
               "A kernel file, such as `kiln bake` makes, in place of those in KILN_KERNEL_PATH");
  add_whole(*command, "--size", options->size, kSizes, "Elements, or the edge of the matrices");
  CLI::Option* group = add_group(*command, *options);
  CLI::Option* slm = add_whole(*command, "--slm", options->slm, kBytes, "Bytes of SLM a work-group asks for");
  CLI::Option* repeat =
      add_whole(*command, "--repeat", options->repeat, {1, 1'000'000}, "Runs; the fastest counts");
  add_whole(*command, "--seed", options->seed, {0, UINT32_MAX}, "Of the random input");
  add_json(*command, options->json);
  add_flag(*command, "--counters", options->counters,
           "Count accesses, cache lines and bank conflicts, and look for defects, on the CPU device; native "
           "instructions on a simulated GPU; slow")
      ->excludes(repeat);
  add_flag(*command, "--check-memory", options->check_memory,
           "Look for accesses out of bounds, data races in SLM, and SLM not written; CPU device only, slow")
      ->excludes(repeat);
  CLI::Option* report =
      add_text(
          *command, "--report", options->report, kFile,
          "Write the run as an HTML page to this file, with counters where the device counts; of --sweep and "
          "--against what they compare")
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
  const auto add_named = [&](const char* name, std::vector<std::string>& to, const char* kind,
                             const char* help) {
    add_texts(*command, name, to, kind, help)->allow_extra_args(false)->excludes(list)->check(needs_a_value);
  };
  add_named("--arg", options->arguments, "NAME=SPEC",
            "An argument of the kernel, by name or place; several times");
  add_named("--local", options->locals, "NAME=BYTES",
            "Size of a __local argument, by name or place; several times");
  add_text(*command, "--groups", options->groups, "X[,Y,Z]", "Work-groups of the launch")
      ->check(needs_a_value);
  add_text(*command, "--global", options->global, "X[,Y,Z]", "Work-items of the launch in all")
      ->check(needs_a_value);
  add_text(*command, "--options", options->flags, kBuildOptions,
           "OpenCL build options: --options=-cl-fast-relaxed-math");
  add_named("--save", options->saves, "NAME=FILE",
            "Save a buffer after the run as a file of NumPy; several times");
  add_named("--expect", options->expects, "NAME=SPEC",
            "What must be in a buffer after the run; several times");
  add_real(*command, "--tolerance", options->tolerance, 0, 1e30,
           "How far a number may be from what --expect says, absolutely and in relation to it");
  CLI::Option* sweep = add_text(*command, "--sweep", options->sweep, "group=LOW..HIGH",
                                "Run the kernel in groups of these sizes, and name the best: group=16..1024")
                           ->check(needs_a_value);
  add_text(*command, "--against", options->against, "OTHER",
           "Run another too, and compare: FILE[:KERNEL], :KERNEL, device=DEVICE, options=OPTIONS or "
           "group=X; of a sample another sample, or group=X")
      ->excludes(sweep)
      ->check(needs_a_value);
  CLI::Option* advise =
      add_flag(*command, "--advise", options->advise,
               "Try other group sizes, tiles, sub-groups and registers, and rank them by what they "
               "count; CPU device only, slow")
          ->excludes(repeat)
          ->excludes(bundle)
          ->excludes(list);
  add_whole(*command, "--tries", options->tries, {2, 1000}, "Runs of --advise at most, else 40")
      ->needs(advise);
  command->get_option("--all")->excludes(advise);
  sweep->excludes(advise);
  command->get_option("--against")->excludes(advise);
  command->callback([&action, options] {
    if (options->kernel.empty() && !options->list && !options->all)
      throw Misuse(usage_error("`kiln run` needs a kernel file, the name of a sample, --all or --list",
                               {"`kiln run --list` names the samples"}));
    if (!options->report.empty() && options->repeat > 1 && options->sweep.empty() && options->against.empty())
      throw Misuse(
          usage_error("--report counts one run, and --repeat makes several",
                      {"leave out --repeat, or give --sweep or --against, which only compare times"}));
    if ((options->all || options->list) && options->has_kernel_options())
      throw Misuse(
          usage_error("--all and --list are of the samples, which take no arguments, groups or options",
                      {"name a kernel file: `kiln run FILE --arg …`"}));
    action = [options] { return run(*options); };
  });
}

}  // namespace kiln::tool
