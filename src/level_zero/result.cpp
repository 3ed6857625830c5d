// SPDX-License-Identifier: MIT
// Names of result codes and the text of an Error.
#include "kiln/result.hpp"

#include <cstdio>

namespace kiln {
namespace {

std::string value_text(ze_result_t code) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%08x", static_cast<std::uint32_t>(code));
  return text;
}

}  // namespace

std::string result_name(ze_result_t code) {
  switch (static_cast<std::uint32_t>(code)) {
#define KILN_NAME(name) \
  case name:            \
    return #name;
    KILN_NAME(ZE_RESULT_SUCCESS)
    KILN_NAME(ZE_RESULT_NOT_READY)
    KILN_NAME(ZE_RESULT_ERROR_DEVICE_LOST)
    KILN_NAME(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
    KILN_NAME(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)
    KILN_NAME(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE)
    KILN_NAME(ZE_RESULT_ERROR_MODULE_LINK_FAILURE)
    KILN_NAME(ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET)
    KILN_NAME(ZE_RESULT_ERROR_DEVICE_IN_LOW_POWER_STATE)
    KILN_NAME(ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS)
    KILN_NAME(ZE_RESULT_ERROR_NOT_AVAILABLE)
    KILN_NAME(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE)
    KILN_NAME(ZE_RESULT_ERROR_UNINITIALIZED)
    KILN_NAME(ZE_RESULT_ERROR_UNSUPPORTED_VERSION)
    KILN_NAME(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE)
    KILN_NAME(ZE_RESULT_ERROR_INVALID_ARGUMENT)
    KILN_NAME(ZE_RESULT_ERROR_INVALID_NULL_HANDLE)
    KILN_NAME(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE)
    KILN_NAME(ZE_RESULT_ERROR_INVALID_NULL_POINTER)
    KILN_NAME(ZE_RESULT_ERROR_INVALID_SIZE)
    KILN_NAME(ZE_RESULT_ERROR_UNSUPPORTED_SIZE)
    KILN_NAME(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT)
    KILN_NAME(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT)
    KILN_NAME(ZE_RESULT_ERROR_INVALID_ENUMERATION)
    KILN_NAME(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION)
    KILN_NAME(ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT)
    KILN_NAME(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY)
    KILN_NAME(ZE_RESULT_ERROR_INVALID_GLOBAL_NAME)
    KILN_NAME(ZE_RESULT_ERROR_INVALID_KERNEL_NAME)
    KILN_NAME(ZE_RESULT_ERROR_INVALID_FUNCTION_NAME)
    KILN_NAME(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION)
    KILN_NAME(ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION)
    KILN_NAME(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX)
    KILN_NAME(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE)
    KILN_NAME(ZE_RESULT_ERROR_INVALID_KERNEL_ATTRIBUTE_VALUE)
    KILN_NAME(ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED)
    KILN_NAME(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE)
    KILN_NAME(ZE_RESULT_ERROR_OVERLAPPING_REGIONS)
    KILN_NAME(ZE_RESULT_ERROR_UNKNOWN)
#undef KILN_NAME
    default:
      break;
  }
  return value_text(code);
}

std::string result_text(ze_result_t code) {
  const std::string name = result_name(code), value = value_text(code);
  return name == value ? name : name + " (" + value + ")";
}

Error::Error(ze_result_t code, const char* call, Diagnostic diagnostic) : code_(code), call_(call) {
  const AnsweredBy by = diagnostic.answer ? diagnostic.answer->by : AnsweredBy::kiln;
  diagnostic.answer = Answer{by, static_cast<std::uint32_t>(code), call};
  diagnostic_ = std::make_shared<const Diagnostic>(std::move(diagnostic));
}

std::string Error::text() const {
  if (diagnostic_) return to_text(*diagnostic_);
  return std::string("error: ") + call_ + " failed: " + result_text(code_) + "\n";
}

}  // namespace kiln
