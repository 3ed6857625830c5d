// SPDX-License-Identifier: MIT
// A captured launch as a program of raw calls, for a report about a driver.
#include <cerrno>
#include <cstring>

#include "support/printable.hpp"
#include "support/whole_file.hpp"
#include "tool/replay/replay.hpp"

namespace kiln::tool {
namespace {

constexpr const char* kProgram = "replay.c";

/// As a literal of C, whatever is in it.
std::string c_text(const std::string& text) {
  std::string literal = "\"";
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    if (each == '"' || each == '\\' || byte < 0x20 || byte > 0x7e || each == '?') {
      // Three digits always, so that no digit that follows belongs to it.
      char octal[8];
      std::snprintf(octal, sizeof octal, "\\%03o", static_cast<unsigned>(byte));
      literal += octal;
    } else {
      literal += each;
    }
  }
  return literal + "\"";
}

std::string memory_file(std::size_t memory, bool after) {
  return "memory-" + std::to_string(memory) + (after ? "-after.bin" : "-before.bin");
}

const char* module_file(const CaptureEntry& entry) {
  return entry.format == ModuleFormat::spirv    ? "module.spv"
         : entry.format == ModuleFormat::native ? "module.bin"
                                                : "module.cl";
}

const char* format_text(const CaptureEntry& entry) {
  return entry.format == ModuleFormat::spirv    ? "ZE_MODULE_FORMAT_IL_SPIRV"
         : entry.format == ModuleFormat::native ? "ZE_MODULE_FORMAT_NATIVE"
                                                : "(ze_module_format_t)3 /* OpenCL C, Intel's own */";
}

std::string by_comma(const Extent& extent) {
  return std::to_string(extent.x) + ", " + std::to_string(extent.y) + ", " + std::to_string(extent.z);
}

std::string bytes_text(const std::vector<std::byte>& bytes) {
  std::string text;
  for (const std::byte each : bytes)
    text += (text.empty() ? "" : ", ") + std::to_string(std::to_integer<unsigned>(each));
  return text;
}

// What every program begins with. @ stands for the module's file.
constexpr const char* kStart = R"(#include <level_zero/ze_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each call, with what the driver answers. */
static int failed(const char* call, ze_result_t code) {
  printf("%s: 0x%x\n", call, (unsigned)code);
  fflush(stdout);
  return code != ZE_RESULT_SUCCESS;
}
#define NEED(name, ...) \
  if (failed(#name, name(__VA_ARGS__))) return 1

static void* file_of(const char* path, size_t* size) {
  FILE* in = fopen(path, "rb");
  if (!in || fseek(in, 0, SEEK_END)) { perror(path); exit(2); }
  *size = (size_t)ftell(in);
  rewind(in);
  char* bytes = calloc(1, *size + 1);
  if (!bytes || fread(bytes, 1, *size, in) != *size) { perror(path); exit(2); }
  fclose(in);
  return bytes;
}

int main(void) {
  NEED(zeInit, 0);
  uint32_t count = 1;
  ze_driver_handle_t driver;
  NEED(zeDriverGet, &count, &driver);
  count = 1;
  ze_device_handle_t device;
  NEED(zeDeviceGet, driver, &count, &device);
  const ze_context_desc_t context_desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
  ze_context_handle_t context;
  NEED(zeContextCreate, driver, &context_desc, &context);

)";

std::string module_part(const CaptureEntry& entry) {
  std::string text = "  size_t code_size;\n  uint8_t* code = file_of(\"" + std::string(module_file(entry)) +
                     "\", &code_size);\n";
  std::string constants = "NULL";
  if (!entry.constants.empty()) {
    std::string ids, values, pointers;
    for (std::size_t i = 0; i < entry.constants.size(); ++i) {
      ids += (i ? ", " : "") + std::to_string(entry.constants[i].id);
      values += (i ? ", " : "") + std::to_string(entry.constants[i].value) + "u";
      pointers += (i ? ", " : "") + ("&values[" + std::to_string(i) + "]");
    }
    const std::string number = std::to_string(entry.constants.size());
    text += "  const uint32_t ids[] = {" + ids + "};\n  const uint64_t values[] = {" + values +
            "};\n  const void* pointers[] = {" + pointers +
            "};\n  const ze_module_constants_t constants = {" + number + ", ids, pointers};\n";
    constants = "&constants";
  }
  const char* const end = entry.format == ModuleFormat::opencl_c ? " + 1 /* with its zero */" : "";
  text += "  const ze_module_desc_t module_desc = {ZE_STRUCTURE_TYPE_MODULE_DESC, NULL, " +
          std::string(format_text(entry)) + ", code_size" + end +
          ", code,\n                                        " + c_text(entry.flags) + ", " + constants +
          "};\n";
  text += R"(  ze_module_handle_t module;
  ze_module_build_log_handle_t log = NULL;
  const ze_result_t built = zeModuleCreate(context, device, &module_desc, &module, &log);
  size_t log_size = 0;
  if (log && zeModuleBuildLogGetString(log, &log_size, NULL) == ZE_RESULT_SUCCESS && log_size > 1) {
    char* log_text = calloc(1, log_size + 1);
    if (log_text && zeModuleBuildLogGetString(log, &log_size, log_text) == ZE_RESULT_SUCCESS) puts(log_text);
    free(log_text);
  }
  if (failed("zeModuleCreate", built)) return 1;
)";
  return text;
}

std::string kernel_part(const CaptureEntry& entry) {
  return "  const ze_kernel_desc_t kernel_desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, NULL, 0, " +
         c_text(entry.kernel) +
         "};\n  ze_kernel_handle_t kernel;\n  NEED(zeKernelCreate, module, &kernel_desc, &kernel);\n";
}

std::string allocation(const CapturedMemory& memory, std::size_t i) {
  const std::string n = std::to_string(i), size = std::to_string(memory.size);
  const char* const call = memory.kind == MemoryKind::device ? "zeMemAllocDevice, context, &on_device, "
                           : memory.kind == MemoryKind::host
                               ? "zeMemAllocHost, context, &on_host, "
                               : "zeMemAllocShared, context, &on_device, &on_host, ";
  const char* const device = memory.kind == MemoryKind::host ? "" : "device, ";
  return "  uint8_t* memory_" + n + ";\n  NEED(" + call + size + "u, 64, " + device + "(void**)&memory_" + n +
         ");\n";
}

std::string copies(const CaptureEntry& entry, bool back) {
  std::string text;
  for (std::size_t i = 0; i < entry.memory.size(); ++i) {
    const std::string n = std::to_string(i), size = std::to_string(entry.memory[i].size);
    text += back ? "  NEED(zeCommandListAppendMemoryCopy, list, got_" + n + ", memory_" + n + ", " + size +
                       "u, NULL, 0, NULL);\n"
                 : "  NEED(zeCommandListAppendMemoryCopy, list, memory_" + n + ", file_of(\"" +
                       memory_file(i, false) + "\", &size), " + size + "u, NULL, 0, NULL);\n";
  }
  return text;
}

std::string argument(const CapturedArgument& argument, std::size_t i) {
  using Form = CapturedArgument::Form;
  const std::string n = std::to_string(i), set = "  NEED(zeKernelSetArgumentValue, kernel, " + n + ", ";
  switch (argument.form) {
    case Form::unset:
      return "  /* Argument " + n + " was not set. */\n";
    case Form::null:
      return set + "sizeof(void*), NULL);\n";
    case Form::local:
      return set + std::to_string(argument.local_bytes) + "u, NULL);\n";
    case Form::value:
      return "  const uint8_t argument_" + n + "[] = {" + bytes_text(argument.value) + "};\n" + set +
             "sizeof argument_" + n + ", argument_" + n + ");\n";
    case Form::memory:
      break;
  }
  return "  const void* argument_" + n + " = memory_" + std::to_string(argument.memory) + " + " +
         std::to_string(argument.offset) + "u;\n" + set + "sizeof argument_" + n + ", &argument_" + n +
         ");\n";
}

std::string launch_part(const CaptureEntry& entry) {
  const bool refused = entry.end == CaptureEntry::End::refused;
  std::string text = R"(  uint32_t groups = 0, ordinal = 0;
  NEED(zeDeviceGetCommandQueueGroupProperties, device, &groups, NULL);
  ze_command_queue_group_properties_t* group = calloc(groups, sizeof *group);
  for (uint32_t i = 0; i < groups; ++i) group[i].stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
  NEED(zeDeviceGetCommandQueueGroupProperties, device, &groups, group);
  while (ordinal < groups && !(group[ordinal].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE)) ++ordinal;
)";
  text += refused ? R"(  /* A list that is never executed: the driver is only asked. */
  const ze_command_list_desc_t of_list = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, NULL, ordinal, 0};
  ze_command_list_handle_t list;
  NEED(zeCommandListCreate, context, device, &of_list, &list);

)"
                  : R"(  const ze_command_queue_desc_t queue = {
      ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, ordinal, 0, 0, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
      ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  ze_command_list_handle_t list;
  NEED(zeCommandListCreateImmediate, context, device, &queue, &list);

)";
  if (!entry.memory.empty())
    text +=
        "  const ze_device_mem_alloc_desc_t on_device = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, NULL, 0, "
        "0};\n"
        "  const ze_host_mem_alloc_desc_t on_host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};\n"
        "  (void)on_device, (void)on_host;\n";
  for (std::size_t i = 0; i < entry.memory.size(); ++i) text += allocation(entry.memory[i], i);
  if (!refused && !entry.memory.empty()) text += "  size_t size;\n" + copies(entry, false);
  text += "\n";
  for (std::size_t i = 0; i < entry.arguments.size(); ++i) text += argument(entry.arguments[i], i);
  if (entry.group_size.x != 0)
    text += "  NEED(zeKernelSetGroupSize, kernel, " + by_comma(entry.group_size) + ");\n";
  if (entry.indirect_access != 0)
    text += "  NEED(zeKernelSetIndirectAccess, kernel, " + std::to_string(entry.indirect_access) + ");\n";
  if (!(entry.offset == Extent{0, 0, 0}))
    text += "  NEED(zeKernelSetGlobalOffsetExp, kernel, " + by_comma(entry.offset) + ");\n";
  text +=
      "  const ze_group_count_t count_of_groups = {" + by_comma(entry.groups) + "};\n  NEED(" +
      (entry.cooperative ? "zeCommandListAppendLaunchCooperativeKernel" : "zeCommandListAppendLaunchKernel") +
      std::string(", list, kernel, &count_of_groups, NULL, 0, NULL);\n");
  if (entry.end != CaptureEntry::End::ended) return text;
  text += "\n  int different = 0;\n";
  for (std::size_t i = 0; i < entry.memory.size(); ++i) {
    const std::string n = std::to_string(i), bytes = std::to_string(entry.memory[i].size);
    const bool changed = entry.memory[i].after->data() != entry.memory[i].before->data();
    text += "  void* got_" + n + ";\n  NEED(zeMemAllocHost, context, &on_host, " + bytes + "u, 64, &got_" +
            n + ");\n  NEED(zeCommandListAppendMemoryCopy, list, got_" + n + ", memory_" + n + ", " + bytes +
            "u, NULL, 0, NULL);\n  if (memcmp(got_" + n + ", file_of(\"" + memory_file(i, changed) +
            "\", &size), " + bytes + "u)) different = 1, puts(\"memory " + n +
            " is not as it was captured\");\n";
  }
  return text + "  if (!different) puts(\"memory is as it was captured\");\n";
}

Result<void> write(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  detail::WholeFile file(path.string());
  file.write(bytes);
  if (const int failed = file.finish())
    return tl::unexpected(Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "open",
                                {"K0451",
                                 "`" + path.string() + "` cannot be written",
                                 {{"reason", std::strerror(failed)}},
                                 {"name a file in a folder that you may write to"}}));
  return {};
}

}  // namespace

std::string c_program(const CaptureEntry& entry) {
  std::string text = "/* What a program did on ";
  for (const char each : detail::printable(entry.device)) text += each == '*' ? ' ' : each;
  text += ", in raw calls of Level Zero: " + entry.call + " gave 0x";
  char code[16];
  std::snprintf(code, sizeof code, "%x", static_cast<unsigned>(entry.result));
  text += std::string(code) + ".\n   In its folder: cc replay.c -o replay -lze_loader && ./replay */\n";
  text += kStart;
  text += module_part(entry);
  if (!entry.kernel.empty()) text += kernel_part(entry);
  if (entry.is_launch) text += launch_part(entry);
  return text + "  return 0;\n}\n";
}

Result<void> emit_c(const CaptureEntry& entry, const std::string& folder) {
  const std::filesystem::path path(folder);
  std::error_code error;
  std::filesystem::create_directories(path, error);  // what is wrong shows when a file is written
  KILN_TRY(write(path / module_file(entry), entry.code));
  for (std::size_t i = 0; i < entry.memory.size(); ++i) {
    const CapturedMemory& each = entry.memory[i];
    if (!each.before) continue;
    KILN_TRY(write(path / memory_file(i, false), *each.before));
    if (each.after && each.after->data() != each.before->data()) {
      KILN_TRY(write(path / memory_file(i, true), *each.after));
    }
  }
  const std::string program = c_program(entry);
  return write(path / kProgram, std::as_bytes(std::span(program)));
}

}  // namespace kiln::tool
