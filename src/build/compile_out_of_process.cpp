// SPDX-License-Identifier: MIT
// Finds kiln-compile, asks it, and tells how it ended where it does not answer.
#include "build/compile_out_of_process.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "build/compile_message.hpp"
#include "build/compiler_identity.hpp"
#include "kiln/log.hpp"
#include "level_zero/source.hpp"
#include "support/compiler_end.hpp"
#include "support/own_files.hpp"
#include "support/printable.hpp"
#include "support/process.hpp"

namespace kiln::detail {
namespace {

constexpr std::size_t kLargestAnswer = std::size_t{1} << 30;  // bytes
constexpr std::size_t kPrinted = 4096;                        // bytes that are shown of what it printed

std::string compiler_path() {
  if (const char* chosen = secure_getenv("KILN_COMPILER"); chosen && *chosen) return chosen;
  return own_file(kOwnCompiler).string();
}

std::nullopt_t not_apart(const std::string& why) {
  static std::atomic<bool> said = false;
  if (!said.exchange(true))
    log(LogLevel::warning, "modules are compiled in this process, which damaged SPIR-V can end: " + why);
  return std::nullopt;
}

CompiledOutOfProcess failed(ze_result_t code, std::string log, bool died = false) {
  ModuleBuild build(code, std::move(log));
  build.compiler_died = died;
  return tl::unexpected(std::move(build));
}

std::string end_text(const ProcessResult& result, std::chrono::milliseconds time_limit) {
  std::string text = "the compiler ended its process (" + result.ended_by(time_limit) + ")";
  if (!result.err.empty()) text += "; the last that it printed:\n" + printable(result.err, "\n\t");
  return text;
}

/// Killed from outside, or too slow: no fault of the input that would show again.
bool is_killed(const ProcessResult& result) {
  return result.end == ProcessResult::End::timed_out ||
         (result.end == ProcessResult::End::signalled && !is_own_fault(result.number));
}

CompiledOutOfProcess explain_end(const ProcessResult& result, std::chrono::milliseconds time_limit) {
  const bool killed = is_killed(result);
  return failed(killed ? ZE_RESULT_ERROR_NOT_AVAILABLE : ZE_RESULT_ERROR_MODULE_BUILD_FAILURE,
                end_text(result, time_limit), !killed);
}

/// Runs kiln-compile over a message.
ProcessResult ask_compiler(const std::string& path, std::span<const std::byte> message, const Api& api,
                           const BuildOptions& options, const std::stop_token* stop) {
  ProcessOptions process;
  process.arguments = {path};
  process.time_limit = options.time_limit;
  process.output_limit = kLargestAnswer;
  process.input = message;
  process.error_tail = kPrinted;
  process.only_standard = true;
  process.stop = stop;
  // The environment that the driver of this process read, which a later setenv() does not change either.
  if (const Source* source = source_of(api)) process.environment = &source->snapshot.environment;
  return run_process(process);
}

}  // namespace

std::optional<CompiledOutOfProcess> compile_out_of_process(DriverRef driver, DeviceRef device,
                                                           std::span<const ModuleInput> inputs,
                                                           const BuildOptions& options,
                                                           const std::stop_token* stop) {
  auto place = place_of(driver, device);
  if (!place) return not_apart("another process cannot find this device");
  const auto message = encode(CompileRequest{*std::move(place), {inputs.begin(), inputs.end()}});
  const std::string path = compiler_path();
  const ProcessResult result = ask_compiler(path, message, device.api(), options, stop);

  using End = ProcessResult::End;
  if (result.end == End::interrupted) return failed(ZE_RESULT_ERROR_NOT_AVAILABLE, "interrupted");
  if (result.end == End::not_started) return not_apart(path + ": " + std::strerror(result.number));
  const bool started = result.out.starts_with(kCompilerStarts);
  const auto said = std::as_bytes(std::span(result.out));
  auto answer = decode_answer(started ? said.subspan(kCompilerStarts.size()) : said);
  if (answer && !answer->found) return not_apart(path + ": " + answer->log);
  if (!started) return not_apart(path + " ended by " + result.ended_by(options.time_limit));
  if (!answer) return explain_end(result, options.time_limit);
  if (!result.err.empty())
    log(LogLevel::debug, "printed while a module was compiled: " + printable(result.err, "\n\t"));
  std::string other = cache::first_difference(cache::identity(device.api()), answer->compiler);
  if (!other.empty()) other += " in the process that compiled";
  if (answer->code != ZE_RESULT_SUCCESS) {
    ModuleBuild build(answer->code, std::move(answer->log));
    build.last_error = std::move(answer->last_error);
    build.other_compiler = std::move(other);
    return CompiledOutOfProcess(tl::unexpected(std::move(build)));
  }
  if (answer->native.empty())
    return failed(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, "the compiler made no native binary");
  return CompiledCode{std::move(answer->native), std::move(answer->log), std::move(other)};
}

std::optional<FrontEndOutOfProcess> front_end_out_of_process(const Api& api, const FrontEndRequest& request,
                                                             const BuildOptions& options,
                                                             const std::stop_token* stop) {
  CompileRequest asked;
  asked.inputs = {{ModuleFormat::opencl_c, std::as_bytes(std::span(request.text)), request.options, {}}};
  asked.front_end = request.library;
  asked.front_end_targets = request.targets;
  const std::string path = compiler_path();
  const ProcessResult result = ask_compiler(path, encode(asked), api, options, stop);
  using End = ProcessResult::End;
  FrontEndOutOfProcess answer;
  if (result.end == End::interrupted) {
    answer.result.log = "interrupted";
    answer.killed = true;
    return answer;
  }
  if (result.end == End::not_started) return not_apart(path + ": " + std::strerror(result.number));
  if (!result.out.starts_with(kCompilerStarts))
    return not_apart(path + " ended by " + result.ended_by(options.time_limit));
  const auto said = decode_answer(std::as_bytes(std::span(result.out)).subspan(kCompilerStarts.size()));
  auto libraries = said ? decode_manifest(said->compiler) : decode_manifest({});
  if (!said || !libraries || said->front_end_end > static_cast<std::uint32_t>(FrontEndEnd::broken)) {
    answer.result.log = end_text(result, options.time_limit);
    answer.killed = is_killed(result);
    answer.died = !answer.killed;
    return answer;
  }
  answer.result = {static_cast<FrontEndEnd>(said->front_end_end), said->log, said->native,
                   *std::move(libraries)};
  return answer;
}

}  // namespace kiln::detail
