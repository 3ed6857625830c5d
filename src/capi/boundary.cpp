// SPDX-License-Identifier: MIT
// Errors of the C interface: those about its own parameters, and the objects that carry any.
#include "capi/boundary.hpp"

#include <cstdio>

#include "diagnose/error_json.hpp"

namespace kiln_c {
namespace {

/// Stands for an error that there was no memory for. Its kind is that of errors, and no slot gives it out.
const auto kNoMemory = reinterpret_cast<kiln_error>(static_cast<std::uintptr_t>(Kind::error));

Error with(ze_result_t code, const char* call, std::string message, std::vector<DiagnosticRow> rows,
           std::vector<std::string> help, const char* kind) {
  rows.insert(rows.begin(), {"call", call});
  return Error(code, call, {kind, std::move(message), std::move(rows), std::move(help)});
}

}  // namespace

Error bad_handle(const char* call, const char* type, const void* handle) {
  const std::string wanted = std::string("a ") + type;
  if (!handle)
    return with(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, call, "null was given for " + wanted, {},
                {"look at the result of the call that was to make it"}, "K0901");
  return with(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, call, "what was given for " + wanted + " is none", {},
              {"look for one that was destroyed, is of another kind, or was never filled in"}, "K0901");
}

Error bad_struct(const char* call, const char* type, std::uint32_t size, std::uint32_t known,
                 std::uint32_t version) {
  return with(
      ZE_RESULT_ERROR_UNSUPPORTED_VERSION, call,
      std::string("`") + type + "` has a size or version that no header gives it",
      {{"struct_size", {}, size, "B"}, {"struct_version", {}, version}, {"of this library", {}, known, "B"}},
      {std::string("begin with KILN_INIT(") + type + "), which sets struct_size and struct_version"},
      "K0902");
}

Error newer_struct(const char* call, const char* type, std::uint32_t size, std::uint32_t known) {
  return with(ZE_RESULT_ERROR_UNSUPPORTED_VERSION, call,
              std::string("`") + type + "` asks for something that this library is too old for",
              {{"struct_size", {}, size, "B"}, {"of this library", {}, known, "B"}},
              {"leave what is behind the known size zero, or use a newer libkiln"}, "K0902");
}

Error reserved_struct(const char* call, const char* type, std::uint32_t value) {
  return with(ZE_RESULT_ERROR_UNSUPPORTED_VERSION, call,
              std::string("`") + type + "` asks for something that this library is too old for",
              {{"reserved", {}, value}},
              {std::string("leave `reserved` zero, as KILN_INIT(") + type + ") does, or use a newer libkiln"},
              "K0902");
}

Error bad_parameter(ze_result_t code, const char* call, const char* parameter, const std::string& message,
                    std::vector<std::string> help) {
  return with(code, call, std::string("`") + parameter + "` " + message, {}, std::move(help), "K0903");
}

Error null_parameter(const char* call, const char* parameter) {
  return bad_parameter(ZE_RESULT_ERROR_INVALID_NULL_POINTER, call, parameter, "is null, and must not be",
                       {"give the address of what the function reads or fills in"});
}

Error out_of_range(const char* call, const char* parameter, std::uint64_t index, std::uint64_t count) {
  return bad_parameter(ZE_RESULT_ERROR_INVALID_ARGUMENT, call, parameter,
                       "is " + std::to_string(index) + ", and there are " + std::to_string(count),
                       {"they count from 0"});
}

Error unknown_bits(const char* call, const char* parameter, std::uint32_t value) {
  char number[16];
  std::snprintf(number, sizeof number, "0x%x", value);
  return bad_parameter(ZE_RESULT_ERROR_INVALID_ENUMERATION, call, parameter,
                       std::string("is ") + number + ", which this library does not know");
}

Result<std::string> text(const char* call, const char* parameter, const char* given, std::size_t longest) {
  if (!given) return tl::unexpected(null_parameter(call, parameter));
  const std::size_t size = strnlen(given, longest + 1);
  if (size > longest)
    return tl::unexpected(bad_parameter(ZE_RESULT_ERROR_INVALID_SIZE, call, parameter,
                                        "has more than " + std::to_string(longest) + " bytes",
                                        {"end it with a zero byte"}));
  return std::string(given, size);
}

Result<std::string> optional_text(const char* call, const char* parameter, const char* given,
                                  std::size_t longest) {
  return given ? text(call, parameter, given, longest) : Result<std::string>();
}

ZeroEnded::ZeroEnded(std::string_view text) : size_(text.size()) {
  if (size_ >= few_.size()) {
    many_.reset(new (std::nothrow) char[size_ + 1]);
    if (!many_) size_ = few_.size() - 1;
  }
  *std::copy_n(text.begin(), size_, many_ ? many_.get() : few_.data()) = 0;
}

kiln_error error_of(const Error& error) {
  try {
    auto object =
        std::make_shared<ErrorObject>(ErrorObject{{}, error, error.text(), detail::error_json(error)});
    if (void* const handle = keep(Kind::error, std::move(object))) return static_cast<kiln_error>(handle);
  } catch (const std::bad_alloc&) {
  }
  return kNoMemory;
}

kiln_result fail(const Error& error, kiln_error* out) {
  const auto code = static_cast<kiln_result>(error.code());
  // What is not ready yet is no failure; what was cancelled has a diagnostic.
  if (out && (code != KILN_NOT_READY || error.diagnostic())) *out = error_of(error);
  return code;
}

kiln_result fail_without_memory(kiln_error* out) {
  if (out) *out = kNoMemory;
  return KILN_ERROR_OUT_OF_HOST_MEMORY;
}

kiln_result fail_unknown(kiln_error* out, const char* call) {
  try {
    return fail(Error(ZE_RESULT_ERROR_UNKNOWN, call), out);
  } catch (...) {
    return fail_without_memory(out);
  }
}

}  // namespace kiln_c

using namespace kiln;
using namespace kiln_c;

namespace {

/// What is asked of an error: of one without memory, of a real one, or of none.
template <class Of>
const char* text_of(kiln_error error, const char* without_memory, Of of) {
  if (error == kNoMemory) return without_memory;
  const auto* const object = find<ErrorObject>(error);
  return object ? of(*object) : "";
}

}  // namespace

kiln_result kiln_error_result(kiln_error error) {
  if (error == kNoMemory) return KILN_ERROR_OUT_OF_HOST_MEMORY;
  const auto* const object = find<ErrorObject>(error);
  return object ? static_cast<kiln_result>(object->error.code()) : kiln_result{KILN_SUCCESS};
}

const char* kiln_error_call(kiln_error error) {
  return text_of(error, "", [](const ErrorObject& object) { return object.error.call(); });
}

const char* kiln_error_code(kiln_error error) {
  return text_of(error, "", [](const ErrorObject& object) {
    const Diagnostic* const diagnostic = object.error.diagnostic();
    return diagnostic ? diagnostic->code.c_str() : "";
  });
}

const char* kiln_error_text(kiln_error error) {
  return text_of(error,
                 "error: ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY (0x70000002): the host has no memory left\n",
                 [](const ErrorObject& object) { return object.text.c_str(); });
}

const char* kiln_error_json(kiln_error error) {
  return text_of(
      error,
      R"({"code":"","severity":"error","message":"the host has no memory left","rows":[],"help":[],)"
      R"("call":"","result":"ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY","result_value":1879048194,)"
      R"("answered_by":"kiln"})",
      [](const ErrorObject& object) { return object.json.c_str(); });
}

void kiln_error_destroy(kiln_error error) { destroy<ErrorObject>(error); }
