// SPDX-License-Identifier: MIT
// The options of the commands that read kernel files: inspect, check and bake.
#include <memory>

#include "tool/analyze/command.hpp"
#include "tool/arguments/options.hpp"
#include "tool/common/session.hpp"

namespace kiln::tool {
namespace {

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

constexpr const char* kAnalyzeFooter = R"(
Native code is decoded by Intel's libiga64 (of libigc1 or libigc2), which no GPU is needed for. OpenCL C and SPIR-V are
compiled by ocloc, for each --target, else for one product a generation. Lines of the source are there for code that was
built with -g (--options=-g), which can be other code than without.
Two files, or one with --options given twice, are compared: what changed, worst first. With a budget they are not: it is
of all kernels of all files.
A budget is JSON: for each kernel and product the spills, SLM, live registers, instructions of the largest loop and
occupancy that it may have. Take a number out, and it is not looked at.
Occupancy is for the required group size, else --group, else the hint, else 256 work-items or as many as fit.
Read more in docs/analyze.md.

Exit status: 0, 2 usage, 3 over the budget, 5 no libiga64, or a file that cannot be read, compiled, decoded or written.)";

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

}  // namespace

void define_inspect(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "inspect", "Show what kernel files say: SLM, registers, memory, group sizes, arguments, targets");
  const auto options = std::make_shared<InspectOptions>();
  command->footer(kInspectFooter);
  add_texts(*command, "files", options->files, kFile,
            "SPIR-V, native binaries, fat binaries of `kiln bake` and ocloc")
      ->required();
  add_json(*command, options->json);
  command->callback([&action, options] { action = [options] { return inspect(*options); }; });
}

void define_check(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("check", "Say which kernels of some files fit which products, and why one does not");
  const auto options = std::make_shared<CheckOptions>();
  command->footer(kCheckFooter);
  add_texts(*command, "files", options->files, kFile,
            "OpenCL C (.cl), SPIR-V, native binaries, fat binaries of ocloc");
  add_texts(
      *command, "--target", options->targets, kTargets,
      "Products, such as pvc,dg2-g10,xe2,12.60.7, or help; else those of the native binaries, else one a "
      "generation")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_text(*command, "--group", options->group, "X[,Y,Z]", "Work-group size of the launch");
  add_text(*command, "--groups", options->groups, "X[,Y,Z]", "Work-groups of the launch");
  add_texts(*command, "--local", options->locals, "ARG=BYTES",
            "Size of a __local argument, by index or name; several times")
      ->allow_extra_args(false);
  add_text(*command, "--options", options->flags, kBuildOptions,
           "OpenCL build options for ocloc: --options=-cl-fast-relaxed-math");
  add_flag(*command, "--driver", options->driver, "Ask Intel's driver too, without a GPU");
  add_seconds(*command, options->timeout, 0.001, 86400,
              "For one compilation, and for one child that asks the driver (0.001 to 86400, else 120)");
  add_json(*command, options->json);
  command->callback([&action, options] {
    if (options->files.empty() && options->targets != std::vector<std::string>{"help"})
      throw CLI::RequiredError("files");
    action = [options] { return check(*options); };
  });
}

void define_analyze(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "analyze", "Say what kernels cost in native code: instructions, messages, loops, registers, occupancy");
  const auto options = std::make_shared<AnalyzeOptions>();
  command->footer(kAnalyzeFooter);
  add_texts(
      *command, "files", options->files, "FILE[:KERNEL]",
      "Native binaries, fat binaries of `kiln bake` and ocloc, OpenCL C (.cl), SPIR-V; two are compared")
      ->required();
  add_text(*command, "--kernel", options->kernel, "NAME", "That kernel alone, of all files");
  add_texts(*command, "--target", options->targets, kTargets,
            "Products, such as tgllp,dg2-g10,pvc; `kiln check --target help` lists them")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_texts(*command, "--options", options->flags, kBuildOptions,
            "OpenCL build options for ocloc: --options=-cl-fast-relaxed-math; twice to compare two sets")
      ->allow_extra_args(false);
  add_text(*command, "--group", options->group, "X[,Y,Z]", "Work-group size, for occupancy");
  add_texts(*command, "--local", options->locals, "ARG=BYTES",
            "Size of a __local argument, by index or name, for occupancy; several times")
      ->allow_extra_args(false);
  add_flag(*command, "--disassemble", options->disassemble,
           "Print the instructions, as `ocloc disasm` writes them");
  add_text(*command, "--report", options->report, kFile,
           "Write the analysis, or what changed, as an HTML page to this file")
      ->check(needs_a_value);
  add_text(*command, "--executed", options->executed, kFile,
           "Put beside it what `kiln run … --device sim:PRODUCT --counters --json` counted of a kernel")
      ->check(needs_a_value);
  add_text(*command, "--budget", options->budget, kFile, "Fail where a kernel is worse than it says");
  add_text(*command, "--write-budget", options->write_budget, kFile, "Write down what the kernels have now");
  add_seconds(*command, options->timeout, 0.001, 86400,
              "For one compilation, and for the child that decodes (0.001 to 86400, else 120)");
  add_json(*command, options->json);
  command->callback([&action, options] { action = [options] { return analyze(*options); }; });
}

void define_bake(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("bake", "Compile kernels for several products into one file that a program loads");
  const auto bake = std::make_shared<BakeCommand>();
  command->footer(kBakeFooter);
  add_texts(*command, "sources", bake->options.files, kFile, "OpenCL C (.cl) and SPIR-V; several are linked")
      ->required();
  add_texts(*command, "--target", bake->options.targets, kTargets,
            "Products, such as tgllp,dg2-g10,pvc; `kiln check --target help` lists them")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_text(*command, "-o,--output", bake->options.output, kFile, "The bundle: NAME.ar")->required();
  add_text(*command, "--options", bake->options.flags, kBuildOptions,
           "OpenCL build options, for all sources: --options=\"-cl-mad-enable -I include\"");
  add_flag(*command, "--cpu", bake->options.cpu, "Add object code for the CPU device on this machine");
  add_text(*command, "--depfile", bake->options.depfile, kFile,
           "Write here, as a rule for make, what the bundle depends on: sources and #includes");
  add_seconds(*command, bake->timeout, 0.001, 86400, "For one compilation (0.001 to 86400, else 120)");
  add_flag(*command, "--json", bake->json, "Machine-readable manifest");
  command->callback([&action, bake] {
    if (bake->options.targets.empty() && !bake->options.cpu) throw CLI::RequiredError("--target, or --cpu");
    action = [bake] { return tool::bake(*bake); };
  });
}

}  // namespace kiln::tool
