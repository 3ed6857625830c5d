// SPDX-License-Identifier: MIT
// The forms of result codes in logs, and what is behind them.
#include "diagnose/log_code.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "kiln/explain.hpp"
#include "support/digits.hpp"

namespace kiln::detail {
namespace {

constexpr KindWord kKindWords[] = {
    {"dev2dev", CallKind::peer},
    {"memcpypeer", CallKind::peer},
    {"copy_peer", CallKind::peer},
    {"zememalloc", CallKind::allocation},
    {"zephysicalmemcreate", CallKind::allocation},
    {"malloc_device", CallKind::allocation},
    {"malloc_host", CallKind::allocation},
    {"malloc_shared", CallKind::allocation},
    {"usmdevicealloc", CallKind::allocation},
    {"usmhostalloc", CallKind::allocation},
    {"usmsharedalloc", CallKind::allocation},
    {"clcreatebuffer", CallKind::allocation},
    {"cl::buffer", CallKind::allocation},
    {"hipmalloc", CallKind::allocation},
    {"allocat", CallKind::allocation},
    {"alloc_buffer", CallKind::allocation},
    {"torch.empty", CallKind::allocation},
    {"torch.zeros", CallKind::allocation},
    {"torch.rand", CallKind::allocation},
    {".to(device", CallKind::allocation},
    {".to(\"xpu", CallKind::allocation},
    {".to('xpu", CallKind::allocation},
    {"error loading model", CallKind::allocation},
    {"kv_cache", CallKind::allocation},
    {"zeimagecreate", CallKind::allocation},
    {"buffer size =", CallKind::allocation},
    {"appendmemory", CallKind::copy},
    {"memcpy", CallKind::copy},
    {"memcopy", CallKind::copy},
    {"memset", CallKind::copy},
    {"enqueuewritebuffer", CallKind::copy},
    {"enqueuereadbuffer", CallKind::copy},
    {"set_tensor", CallKind::copy},
    {"get_tensor", CallKind::copy},
    {"buffer_clear", CallKind::copy},
    {"zemodulecreate", CallKind::build},
    {"clbuildprogram", CallKind::build},
    {"programbuild", CallKind::build},
    {"build program", CallKind::build},
    {"program build", CallKind::build},
    {"opencl program", CallKind::build},
    {"create a primitive", CallKind::build},
    {"ocl_gpu_engine", CallKind::build},
    {"getwgsizes", CallKind::build},
    {"load_binary", CallKind::build},
    {"zekernelcreate", CallKind::kernel},
    {"clcreatekernel", CallKind::kernel},
    {"kernelcreate", CallKind::kernel},
    {"work_group_static", CallKind::launch},
    {"local_accessor", CallKind::launch},
    {"appendlaunch", CallKind::launch},
    {"suggestgroupsize", CallKind::launch},
    {"enqueuendrange", CallKind::launch},
    {"enqueuekernel", CallKind::launch},
    {"launchimpl", CallKind::launch},
    {"executecommandlist", CallKind::submission},
    {"hostsynchronize", CallKind::wait},
    {"queuesynchronize", CallKind::wait},
    {"synchronize", CallKind::wait},
    {"clfinish", CallKind::wait},
    {"clwaitforevents", CallKind::wait},
    {"queuefinish", CallKind::wait},
    {"->wait()", CallKind::wait},
    {".wait()", CallKind::wait},
    {"zeinit", CallKind::start},
    {"zedriverget", CallKind::start},
    {"clgetplatformids", CallKind::start},
    {"clgetdeviceids", CallKind::start},
    {"getdevicecount", CallKind::start},
    {"device_count", CallKind::start},
    {"get_devices", CallKind::start},
};

constexpr std::string_view kCodeWords[] = {
    "ze_result_error",
    "out_of_device_memory",
    "out_of_host_memory",
    "out_of_resources",
    "device_lost",
    "module_build_failure",
    "ur_result_error",
    "pi_error_",
    "cl_",
    "ze_result_t",
    "-1001",
    "0x7",
    "18790",
    "18791",
    "20132",
    "21474",
    "errcode",
    "error code",
    "code:",
    "returns",
    "returned",
    "err=",
    "err:",
    "78000",
    "70000",
    "70010",
    "70020",
    "triton error",
    "level-zero error",
    "failed",
    "failure",
    "clcreate",
    "clenqueue",
    "clbuild",
    "clfinish",
    "clwait",
    "clflush",
    "error",
};

bool is_word(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool contains(std::string_view text, std::string_view word) { return text.find(word) != text.npos; }

/// A code in a program's own source, or in a message of a compiler on it, has not happened.
bool is_source(std::string_view line) {
  if (contains(line, "not handled in switch") || contains(line, "static_assert")) return true;
  line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t0123456789|")));
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"case ", "#define ", "//", "/*", "* ", "return ", "if (",
                                              "} else if (", "enum "},
      [&](std::string_view start) { return line.starts_with(start); });
}

/// What is asked about and then not used, and what only stands for success.
bool is_harmless(std::string_view name) {
  for (const std::string_view word :
       {"SUCCESS", "NOT_READY", "UNSUPPORTED_FEATURE", "UNSUPPORTED_VERSION", "UNSUPPORTED_ENUMERATION",
        "INVALID_ENUMERATION", "PROFILING_INFO_NOT_AVAILABLE"})
    if (contains(name, word)) return true;
  return false;
}

/// Those that programs print without a prefix.
constexpr std::string_view kBareNames[] = {"OUT_OF_DEVICE_MEMORY", "OUT_OF_HOST_MEMORY", "OUT_OF_RESOURCES",
                                           "DEVICE_LOST", "MODULE_BUILD_FAILURE"};
/// Those of OpenCL, which its bindings for Python, Rust and Julia print so behind what failed.
constexpr std::string_view kBareOpenclNames[] = {"MEM_OBJECT_ALLOCATION_FAILURE",
                                                 "BUILD_PROGRAM_FAILURE",
                                                 "INVALID_WORK_GROUP_SIZE",
                                                 "INVALID_WORK_ITEM_SIZE",
                                                 "INVALID_BUFFER_SIZE",
                                                 "INVALID_KERNEL_ARGS",
                                                 "INVALID_ARG_SIZE",
                                                 "INVALID_ARG_VALUE",
                                                 "INVALID_BINARY",
                                                 "INVALID_KERNEL_NAME",
                                                 "INVALID_GLOBAL_WORK_SIZE",
                                                 "INVALID_PROGRAM_EXECUTABLE",
                                                 "PLATFORM_NOT_FOUND_KHR",
                                                 "INVALID_COMMAND_QUEUE",
                                                 "EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"};

/// A table of errors has the names too: that a call gave this one stands next to it, "failed: NAME",
/// "returned NAME", "NAME: …", "Error(NAME)".
bool is_told_of(std::string_view before, std::string_view behind) {
  while (before.ends_with(' ')) before.remove_suffix(1);
  if (before.ends_with("failed") || before.ends_with("returned")) return true;
  for (const char mark : {':', '(', '-', '\'', '"', '=', '`'})
    if (before.ends_with(mark) && !(mark == ':' && behind.find("=>") != behind.npos)) return true;
  return behind.starts_with(':') || behind.starts_with(" failed") || behind.starts_with(" returned");
}

std::optional<std::string> named_code(std::string_view line) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (at > 0 && is_word(line[at - 1])) continue;
    const std::string_view rest = line.substr(at);
    for (const std::string_view bare : kBareNames)
      if (rest.starts_with(bare) && (rest.size() == bare.size() || !is_word(rest[bare.size()])))
        return (bare == "MODULE_BUILD_FAILURE" ? "ZE_RESULT_ERROR_" : "UR_RESULT_ERROR_") + std::string(bare);
    for (const std::string_view bare : kBareOpenclNames)
      if (rest.starts_with(bare) && (rest.size() == bare.size() || !is_word(rest[bare.size()])) &&
          (contains(line, "cl") || contains(line, "CL")) && contains(line, "rror") &&
          is_told_of(line.substr(0, at), rest.substr(bare.size())))
        return "CL_" + std::string(bare);
    if (!rest.starts_with("ZE_RESULT_ERROR_") && !rest.starts_with("UR_RESULT_ERROR_") &&
        !rest.starts_with("PI_ERROR_") && !rest.starts_with("CL_"))
      continue;
    const std::string_view name =
        rest.substr(0, rest.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"));
    if (level_zero_code(name) && !is_harmless(name)) return std::string(name);
    at += name.size() - 1;
  }
  return std::nullopt;
}

/// Level Zero's numbers are like no others: 0x70000003, 1879048195, 78000001, and both at once:
/// 700000041879048196.
std::optional<std::uint32_t> level_zero_number(std::string_view token) {
  const bool prefixed = token.starts_with("0x") || token.starts_with("0X");
  if (prefixed) token.remove_prefix(2);
  const auto is_failure = [](std::uint64_t value) { return value >= 0x70000000 && value <= 0x7fffffff; };
  const auto known = [&](std::optional<std::uint64_t> value) -> std::optional<std::uint32_t> {
    if (!value || !is_failure(*value) || !level_zero_code(std::to_string(*value))) return std::nullopt;
    return static_cast<std::uint32_t>(*value);
  };
  if (token.size() == 18) token = token.substr(8);
  if (token.size() == 8 && (token[0] == '7')) return known(parse_digits(token, 16));
  if (token.size() == 10) return known(parse_digits(token));
  return std::nullopt;
}

std::optional<std::string> numbered_code(std::string_view line) {
  // Whose the small numbers are.
  const auto names_one = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(words, [&](std::string_view word) { return contains(line, word); });
  };
  const bool opencl = names_one({"clEnqueue", "clCreate", "clBuild", "clFinish", "clFlush", "clWait", "clGet",
                                 "clSet", "OpenCL", "cl::", "ocl,errcode", "CLException"});
  const bool ours =
      opencl || names_one({"Native API", "[GPU]", "build program", "build kernel", "PI_", "piEnqueue",
                           "piext", "piProgram", "piQueue", "piKernel", "piMem", "program executable"});
  const bool unified = names_one({"UR ", "UR:", "UR_", "urEnqueue", "urUSM", "urProgram", "urQueue",
                                  "urKernel", "level_zero backend failed"});
  // Of the loader of OpenCL alone, which gives -1001 where it has no platform.
  const bool platforms = names_one({"umber of platforms", "o platform", "latformIDs"});
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (at > 0 && (is_word(line[at - 1]) || line[at - 1] == '.')) continue;
    const bool negative = line[at] == '-' && at + 1 < line.size() && is_digit(line[at + 1]);
    if (!negative && !is_digit(line[at])) continue;
    std::size_t end = at + (negative ? 1 : 0);
    while (end < line.size() && is_word(line[end])) ++end;
    const std::string_view token = line.substr(at, end - at);
    const bool fraction =
        end < line.size() && line[end] == '.' && end + 1 < line.size() && is_digit(line[end + 1]);
    const bool no_platform = platforms && token == "-1001";
    if (negative && (ours || no_platform) && !fraction && level_zero_code(token)) return std::string(token);
    if (!negative)
      if (const auto value = level_zero_number(token)) return std::to_string(*value);
    if (!negative && unified && !fraction && token.size() <= 2)
      if (const auto value = parse_digits(token))
        if (const std::string_view name = ur_name(static_cast<std::uint32_t>(*value));
            !name.empty() && (contains(line, "fail") || contains(line, "return") || contains(line, "rror")))
          return "UR_RESULT_ERROR_" + std::string(name);
    at = end - 1;
  }
  return std::nullopt;
}

using Causes = std::array<Cause, 4>;
struct Behind {
  std::uint32_t code;
  CallKind kind;  // unknown: any other
  Causes causes;
};

// Source: intel/compute-runtime 22.43 to 26.31, where each call gives each code; the order, what threads
// found.
constexpr Behind kBehind[] = {
    {0x70000001, CallKind::peer, {Cause::peer, Cause::hang, Cause::page_fault}},
    {0x70000001, CallKind::allocation, {Cause::memory_full, Cause::hang, Cause::misuse}},
    {0x70000001, CallKind::unknown, {Cause::hang, Cause::page_fault, Cause::memory_full, Cause::library}},
    {0x70000002, CallKind::build, {Cause::library, Cause::host_memory, Cause::build}},
    {0x70000002, CallKind::allocation, {Cause::host_memory, Cause::memory_full}},
    {0x70000002, CallKind::unknown, {Cause::memory_full, Cause::host_memory}},
    {0x70000003, CallKind::peer, {Cause::peer, Cause::memory_full, Cause::host_memory}},
    {0x70000003, CallKind::allocation, {Cause::memory_full, Cause::host_memory, Cause::too_large}},
    {0x70000003, CallKind::copy, {Cause::memory_full, Cause::host_memory, Cause::hang}},
    {0x70000003, CallKind::build, {Cause::slm, Cause::build, Cause::memory_full}},
    {0x70000003, CallKind::kernel, {Cause::private_memory, Cause::memory_full}},
    {0x70000003, CallKind::launch, {Cause::slm, Cause::memory_full, Cause::hang}},
    {0x70000003, CallKind::submission, {Cause::memory_full, Cause::host_memory, Cause::hang}},
    {0x70000003, CallKind::wait, {Cause::hang, Cause::page_fault, Cause::memory_full}},
    {0x70000003, CallKind::unknown, {Cause::memory_full, Cause::hang, Cause::slm, Cause::host_memory}},
    {0x70000004, CallKind::unknown, {Cause::build}},
    {0x70000005, CallKind::unknown, {Cause::unresolved, Cause::spirv, Cause::library}},
    {0x70000006, CallKind::unknown, {Cause::wedged, Cause::hang}},
    {0x70010000, CallKind::unknown, {Cause::permission}},
    {0x70020000, CallKind::unknown, {Cause::library}},
    // What ran until then had a device: so the runtimes tell of one that is lost.
    {0x78000001, CallKind::copy, {Cause::hang, Cause::no_device, Cause::page_fault}},
    {0x78000001, CallKind::launch, {Cause::hang, Cause::no_device, Cause::page_fault}},
    {0x78000001, CallKind::wait, {Cause::hang, Cause::no_device, Cause::page_fault}},
    {0x78000001, CallKind::unknown, {Cause::no_device, Cause::library, Cause::permission}},
    {0x78000009, CallKind::unknown, {Cause::too_large, Cause::misuse}},
    {0x7800000f, CallKind::kernel, {Cause::scratch, Cause::other_target}},
    {0x7800000f, CallKind::unknown, {Cause::other_target, Cause::slm}},
    {0x78000013, CallKind::unknown, {Cause::group_size}},
    {0x78000014, CallKind::unknown, {Cause::group_size}},
    {0x78000018, CallKind::unknown, {Cause::unresolved}},
    {0x78000011, CallKind::unknown, {Cause::misuse, Cause::other_target}},
    {0x78000003, CallKind::unknown, {Cause::other_target, Cause::misuse}},
    {0x7800000e, CallKind::unknown, {Cause::other_target, Cause::misuse}},
    {0x78000004, CallKind::unknown, {Cause::misuse, Cause::library}},
    {0x78000005, CallKind::unknown, {Cause::misuse, Cause::library}},
    {0x78000007, CallKind::unknown, {Cause::misuse, Cause::library}},
    {0x7ffffffe, CallKind::build, {Cause::build}},
    {0x7ffffffe, CallKind::start, {Cause::library, Cause::no_device, Cause::permission}},
    {0x7ffffffe, CallKind::unknown, {Cause::memory_full, Cause::hang, Cause::page_fault, Cause::library}},
};

}  // namespace

std::span<const KindWord> kind_words() { return kKindWords; }
std::span<const std::string_view> code_words() { return kCodeWords; }

CallKind kind_of_call(std::string_view call) {
  std::string small(call);
  std::ranges::transform(small, small.begin(),
                         [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  for (const KindWord& known : kKindWords)
    if (contains(small, known.word)) return known.kind;
  return CallKind::unknown;
}

std::optional<std::string> find_code(std::string_view line) {
  // Programs go on without sysman, which tells them how much memory is free.
  if (is_source(line) || contains(line, "GetExtensionFunctionAddress") || contains(line, "zesInit"))
    return std::nullopt;
  if (auto name = named_code(line)) return name;
  return numbered_code(line);
}

std::span<const Cause> causes_of(std::uint32_t code, CallKind kind) {
  for (const Behind& behind : kBehind)
    if (behind.code == code && (behind.kind == kind || behind.kind == CallKind::unknown)) {
      const auto end = std::ranges::find(behind.causes, Cause::none);
      return {behind.causes.begin(), end};
    }
  return {};
}

}  // namespace kiln::detail
