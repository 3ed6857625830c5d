// SPDX-License-Identifier: MIT
// kiln-compile: makes one module and answers with its native binary. The compiler may end this process.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "build/compile_message.hpp"
#include "build/compile_out_of_process.hpp"
#include "build/compiler_identity.hpp"
#include "build/front_end.hpp"
#include "kiln/context.hpp"
#include "level_zero/create_module.hpp"
#include "level_zero/source.hpp"

namespace kiln::detail {
namespace {

// A sanitizer has a heap of its own, which does not give deleted memory out anew at once.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KILN_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define KILN_SANITIZED
#endif
#endif

/// Deleted memory stays as it was. The translator of LLVM 14 (22.43) looks into instructions that it has
/// deleted (OCLToSPIRV), and ends the process where something else lies there by then.
bool keeps_memory = false;
/// The C library's, or that of an allocator that was preloaded; null before main().
void (*next_free)(void*) = nullptr;

/// stdout is the driver's to write on; the answer goes through a descriptor that it does not know.
int take_stdout() {
  const int answers = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // abort() does not flush
  return answers;
}

/// What happens here must not reach further: no core file, and the first to go when memory is short.
void step_back() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGXFSZ, SIG_IGN);  // a driver that cannot write its own cache goes on without
  const rlimit no_core{};
  setrlimit(RLIMIT_CORE, &no_core);
  if (std::FILE* score = std::fopen("/proc/self/oom_score_adj", "we")) {
    std::fputs("1000", score);
    std::fclose(score);
  }
}

/// Damaged SPIR-V has made a compiler take all memory there is (26.27). From here on, half of the machine's
/// and no more; what the driver has reserved before counts for nothing.
void limit_memory() {
  unsigned long reserved = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (!file) return;
  const bool known = std::fscanf(file, "%*u %*u %*u %*u %*u %lu", &reserved) == 1;  // in pages
  std::fclose(file);
  const rlim_t pages = reserved + static_cast<rlim_t>(sysconf(_SC_PHYS_PAGES)) / 2;
  rlimit limit{};
  if (!known || getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = std::min(limit.rlim_cur, pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)));
  setrlimit(RLIMIT_DATA, &limit);
}

std::vector<std::byte> read_all(int descriptor) {
  std::vector<std::byte> bytes;
  std::array<std::byte, 1 << 16> part;
  for (;;) {
    const ssize_t count = read(descriptor, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return bytes;
    bytes.insert(bytes.end(), part.begin(), part.begin() + count);
  }
}

bool write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

CompileAnswer not_found(std::string why) { return {false, ZE_RESULT_SUCCESS, std::move(why), {}, {}, {}, 0}; }

/// SPIR-V of OpenCL C. No device is needed.
CompileAnswer front_end_answer(const CompileRequest& request, int answers) {
  if (request.inputs.size() != 1) return not_found("it is not one source");
  // ocloc reads settings in the current folder; here nobody can have put any.
  if (chdir("/proc") != 0 || !write_all(answers, std::as_bytes(std::span(kCompilerStarts)))) _exit(1);
  limit_memory();
  keeps_memory = true;
  const ModuleInput& input = request.inputs[0];
  const std::string_view text(reinterpret_cast<const char*>(input.code.data()), input.code.size());
  FrontEndResult result = run_front_end({request.front_end, text, input.flags, request.front_end_targets});
  CompileAnswer answer{true, ZE_RESULT_SUCCESS, std::move(result.log), {}, {}, std::move(result.spirv), 0};
  answer.compiler = encode(result.libraries);
  answer.front_end_end = static_cast<std::uint32_t>(result.end);
  return answer;
}

CompileAnswer answer_to(const CompileRequest& request, int answers) {
  const auto api = load_source(request.place.source);
  if (!api) return not_found(api.error().text());
  const auto selected = device_at(request.place, **api);
  if (!selected) return not_found("the device `" + request.place.name + "` is not there in another process");
  const auto context = ContextRef::create(selected->driver);
  if (!context) return not_found(context.error().text());
  if (!write_all(answers, std::as_bytes(std::span(kCompilerStarts)))) _exit(1);  // nobody listens
  limit_memory();
  ModuleBuild build = create_module(selected->driver, context->get(), selected->device, request.inputs);
  CompileAnswer answer{true, build.code(), std::move(build.log), std::move(build.last_error), {}, {}, 0};
  answer.compiler = cache::encode(cache::identity(**api));
  if (build.code() != ZE_RESULT_SUCCESS) return answer;
  auto native = build.module->native_binary();
  if (native)
    answer.native = *std::move(native);
  else
    answer.code = native.error().code();
  (void)build.module.release();  // the process goes, and the module with it
  return answer;
}

}  // namespace
}  // namespace kiln::detail

#ifndef KILN_SANITIZED
/// What `operator delete` calls, in all libraries of this process.
extern "C" void free(void* memory) noexcept {
  using namespace kiln::detail;
  if (!keeps_memory && next_free) next_free(memory);
}
#endif

int main() {
  using namespace kiln::detail;
  next_free = reinterpret_cast<void (*)(void*)>(dlsym(RTLD_NEXT, "free"));
  if (isatty(STDIN_FILENO)) {
    std::fputs("kiln-compile is started by the Kiln library, to compile SPIR-V in a process of its own\n",
               stderr);
    return 2;
  }
  step_back();
  const int answers = take_stdout();
  const auto message = read_all(STDIN_FILENO);
  const auto request = decode_request(message);
  const auto answer = !request                             ? not_found("it is of another release of Kiln")
                      : request->front_end_targets.empty() ? answer_to(*request, answers)
                                                           : front_end_answer(*request, answers);
  const bool written = write_all(answers, encode(answer));
  _exit(written ? 0 : 1);  // no exit handlers: a driver's may crash after all is said
}
