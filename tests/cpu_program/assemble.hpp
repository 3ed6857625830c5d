// SPDX-License-Identifier: MIT
// SPIR-V written as text in a test.
#pragma once

#include <doctest/doctest.h>
#include <spirv-tools/libspirv.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace kiln::cpu::test {

/// The module that `text` describes, whether it is valid or not.
inline std::vector<std::byte> assemble(const std::string& text) {
  spv_context context = spvContextCreate(SPV_ENV_UNIVERSAL_1_6);
  spv_binary binary = nullptr;
  spv_diagnostic diagnostic = nullptr;
  // Ids keep their numbers.
  const spv_result_t result =
      spvTextToBinaryWithOptions(context, text.data(), text.size(),
                                 SPV_TEXT_TO_BINARY_OPTION_PRESERVE_NUMERIC_IDS, &binary, &diagnostic);
  std::vector<std::byte> bytes;
  if (result == SPV_SUCCESS) {
    bytes.resize(binary->wordCount * sizeof(std::uint32_t));
    std::memcpy(bytes.data(), binary->code, bytes.size());
    const std::uint32_t version = 0x10000;  // 1.0, as compilers write where they can
    std::memcpy(bytes.data() + 4, &version, sizeof version);
  }
  REQUIRE_MESSAGE(result == SPV_SUCCESS, std::string(diagnostic != nullptr ? diagnostic->error : "?"));
  spvBinaryDestroy(binary);
  spvDiagnosticDestroy(diagnostic);
  spvContextDestroy(context);
  return bytes;
}

/// What every module of these tests begins with, and the types that they share.
inline const std::string kHead = R"(
OpCapability Addresses
OpCapability Kernel
OpCapability Int64
OpCapability Linkage
)";
inline const std::string kModel = R"(
%cl = OpExtInstImport "OpenCL.std"
OpMemoryModel Physical64 OpenCL
)";
inline const std::string kTypes = R"(
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%to_uint = OpTypePointer CrossWorkgroup %uint
%kernel_type = OpTypeFunction %void %to_uint
%one = OpConstant %uint 1
%seven = OpConstant %uint 7
)";

}  // namespace kiln::cpu::test
