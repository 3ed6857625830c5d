// SPDX-License-Identifier: MIT
// The child of `kiln check --driver`: makes modules and kernels on Intel's driver without a GPU, and launches
// them on a command list that is never executed.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "level_zero/create_module.hpp"
#include "tool/check/driver_question.hpp"

namespace kiln::tool {
namespace {

constexpr std::uint64_t kLargestValue = 4096;  // bytes; Intel's devices take 2048 of arguments in all

/// Each line leaves at once: the next call may be the last. What the driver writes on stdout and stderr goes
/// to a file, where the parent finds it whatever happens.
class Reporter {
 public:
  Reporter()
      : lines_(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)),
        printed_(open(kPrintedFile, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600)) {
    dup2(printed_, STDOUT_FILENO);
    dup2(printed_, STDERR_FILENO);
    std::setvbuf(stdout, nullptr, _IONBF, 0);  // abort() does not flush
  }
  void say(const DriverLine& line) const {
    const std::string text = to_line(line);
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t written = write(lines_, text.data() + at, text.size() - at);
      if (written <= 0) _exit(kDriverError);  // nobody listens
      at += static_cast<std::size_t>(written);
    }
  }
  [[nodiscard]] off_t printed() const { return lseek(printed_, 0, SEEK_END); }
  [[nodiscard]] std::string printed_since(off_t start) const {
    std::string text(1 << 16, '\0');
    const ssize_t count = pread(printed_, text.data(), text.size(), std::max(start, printed() - (1 << 16)));
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return last_words(text);
  }

 private:
  int lines_, printed_;
};

/// One kernel's calls, up to the first that fails.
class KernelCalls {
 public:
  KernelCalls(const Reporter& reporter, int module, int kernel)
      : reporter_(reporter), line_{module, kernel, {}, {}, {}, {}} {}

  /// Says that the call begins, and makes it. False: it failed, and so did all before it.
  template <class Call>
  bool make(const char* name, Call call) {
    if (failed_) return false;
    line_.call = name;
    line_.result.reset();
    reporter_.say(line_);
    const off_t start = reporter_.printed();
    const ze_result_t code = call();
    line_.result = result_name(code);
    failed_ = code != ZE_RESULT_SUCCESS;
    if (failed_) line_.said = reporter_.printed_since(start);
    return !failed_;
  }
  void finish() const { reporter_.say(line_); }
  void add_words(const std::string& words) {
    if (words.find_first_not_of(" \n") != words.npos) line_.said = words;
  }

 private:
  const Reporter& reporter_;
  DriverLine line_;
  bool failed_ = false;
};

ze_result_t code_of(const Result<void>& result) { return result ? ZE_RESULT_SUCCESS : result.error().code(); }

/// As a launch of the library gives them: pointers are those of a buffer.
ze_result_t set_argument(KernelRef kernel, const ArgumentQuestion& argument, const Buffer& buffer) {
  static constexpr std::array<std::byte, kLargestValue> kZeros{};
  void* const address = buffer.data();
  if (argument.kind == ArgumentKind::global_pointer)
    return code_of(kernel.set_argument(argument.index, sizeof address, address ? &address : nullptr));
  if (argument.kind == ArgumentKind::local_pointer)
    return code_of(kernel.set_argument(argument.index, argument.bytes, nullptr));
  if (argument.bytes > kLargestValue) return ZE_RESULT_SUCCESS;  // no kernel has that: left as it is
  return code_of(kernel.set_argument(argument.index, argument.bytes, kZeros.data()));
}

void try_kernel(const OpenDevice& device, ModuleRef module, const std::string& build_log,
                const KernelQuestion& question, KernelCalls calls) {
  Kernel kernel;
  ze_result_t made_code = ZE_RESULT_SUCCESS;
  calls.make("zeKernelCreate", [&] {
    auto made = module.kernel(question.name.c_str());
    if (!made) return made_code = made.error().code();
    kernel = *std::move(made);
    return ZE_RESULT_SUCCESS;
  });
  if (made_code == ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED) calls.add_words(build_log);
  if (question.launch) {
    constexpr std::size_t kAnySize = 4096;  // bytes; nothing is executed
    auto allocated = device.context.get().allocate_device(device.device, kAnySize);
    const Buffer buffer = allocated ? *std::move(allocated) : Buffer();
    for (const ArgumentQuestion& argument : question.arguments)
      calls.make("zeKernelSetArgumentValue", [&] { return set_argument(kernel.get(), argument, buffer); });
    calls.make("zeKernelSetGroupSize",
               [&] { return code_of(kernel.get().set_group_size(question.group_size)); });
    CommandList list;
    calls.make("zeCommandListCreate", [&] {
      const auto group = device.device.compute_queue_group();
      if (!group) return group.error().code();
      auto made = CommandListRef::create(device.context.get(), device.device, *group);
      if (!made) return made.error().code();
      list = *std::move(made);
      return ZE_RESULT_SUCCESS;
    });
    calls.make("zeCommandListAppendLaunchKernel",
               [&] { return code_of(list.get().launch_unchecked(kernel.get(), question.groups)); });
  }
  calls.finish();
}

void try_module(const OpenDevice& device, const ModuleQuestion& question, int index,
                const Reporter& reporter) {
  const auto file = read_kernel_file(question.file);
  if (!file)
    return reporter.say({index, -1, "open", result_name(file.error().code()), file.error().text(), {}});
  ModuleBuild build;
  KernelCalls calls(reporter, index, -1);
  const bool made = calls.make("zeModuleCreate", [&] {
    const ModuleInput input{
        question.spirv ? ModuleFormat::spirv : ModuleFormat::native, file->bytes, question.flags, {}};
    // The driver's own answer counts, not Kiln's, and this process is made to end over it.
    build = detail::create_module(device.driver, device.context.get(), device.device, {&input, 1});
    return build.code();
  });
  if (!made) {
    calls.add_words(build.log.empty() ? build.last_error : build.log);
    return calls.finish();
  }
  for (std::size_t i = 0; i < question.kernels.size(); ++i)
    try_kernel(device, build.module.get(), build.log, question.kernels[i],
               {reporter, index, static_cast<int>(i)});
}

}  // namespace

int answer_question(const std::string& file) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{};
  setrlimit(RLIMIT_CORE, &no_core);
  const auto text = read_kernel_file(file);
  const auto question =
      !text ? std::nullopt
            : parse_question({reinterpret_cast<const char*>(text->bytes.data()), text->bytes.size()});
  if (!question) return kUsage;
  setenv("PrintDebugMessages", "1", 1);    // its reasons for a refusal
  setenv("NEO_CACHE_PERSISTENT", "0", 1);  // the user's cache is for what runs
  const Reporter reporter;
  reporter.say({-1, -1, "zeInit", {}, {}, {}});
  const auto device = open_device({DeviceKind::capture, question->product});
  if (!device) {
    const Diagnostic* why = device.error().diagnostic();
    DriverLine line{
        -1, -1, device.error().call(), result_name(device.error().code()), device.error().text(), "K0306"};
    if (why) {
      line.code = why->code;
      line.said = why->message + (why->rows.empty() ? "" : ": " + why->rows.front().text);
    }
    reporter.say(line);
    return kNoDevice;
  }
  for (std::size_t i = 0; i < question->modules.size(); ++i)
    try_module(*device, question->modules[i], static_cast<int>(i), reporter);
  std::fflush(nullptr);
  _exit(kOk);  // all is said; what the driver does at the exit is nobody's answer
}

}  // namespace kiln::tool
