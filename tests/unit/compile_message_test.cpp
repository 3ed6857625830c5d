// SPDX-License-Identifier: MIT
// What build_module and kiln-compile say to each other, whole and damaged.
#include "build/compile_message.hpp"

#include <doctest/doctest.h>

#include <random>

#include "unit/test_file.hpp"

using namespace kiln;
using namespace kiln::detail;
using namespace kiln::test;

TEST_CASE("a request to the compiler comes back as it was") {
  const auto code = bytes_of("code"), more = bytes_of("more");
  CompileRequest request;
  request.place = {"libze_loader.so.1", 1, 2, "a device", 0x8086, 0x56a0, 0x03000000, 17};
  request.inputs = {{ModuleFormat::spirv, code, "-g", {{7, 8}, {9, UINT64_MAX}}},
                    {ModuleFormat::native, more}};
  const auto message = encode(request);
  const auto read = decode_request(message);
  REQUIRE(read);
  CHECK(read->place.source == "libze_loader.so.1");
  CHECK(read->place.driver == 1);
  CHECK(read->place.device == 2);
  CHECK(read->place.name == "a device");
  CHECK(read->place.device_id == 0x56a0);
  CHECK(read->place.driver_version == 17);
  REQUIRE(read->inputs.size() == 2);
  CHECK(std::vector(read->inputs[0].code.begin(), read->inputs[0].code.end()) == code);
  CHECK(read->inputs[0].flags == "-g");
  REQUIRE(read->inputs[0].constants.size() == 2);
  CHECK(read->inputs[0].constants[1].value == UINT64_MAX);
  CHECK(read->inputs[1].format == ModuleFormat::native);
  for (std::size_t size = 0; size < message.size(); ++size)
    CHECK_FALSE(decode_request(std::span(message).first(size)));
}

TEST_CASE("a request for SPIR-V of OpenCL C comes back as it was") {
  const auto code = bytes_of("kernel void f() {}");
  CompileRequest request;
  request.inputs = {{ModuleFormat::opencl_c, code, "-DA"}};
  request.front_end = "/usr/lib/libocloc.so";
  request.front_end_targets = {"0x56a0", "dg2"};
  const auto message = encode(request);
  const auto read = decode_request(message);
  REQUIRE(read);
  REQUIRE(read->inputs.size() == 1);
  CHECK(read->inputs[0].format == ModuleFormat::opencl_c);
  CHECK(read->front_end == "/usr/lib/libocloc.so");
  CHECK(read->front_end_targets == std::vector<std::string>{"0x56a0", "dg2"});
  for (std::size_t size = 0; size < message.size(); ++size)
    CHECK_FALSE(decode_request(std::span(message).first(size)));
}

TEST_CASE("an answer of the compiler, whole, cut, with more behind it, and damaged") {
  const CompileAnswer answer{
      true, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, "log", "last", "compiler", bytes_of("native"), 3};
  auto message = encode(answer);
  const auto read = decode_answer(message);
  REQUIRE(read);
  CHECK(read->found);
  CHECK(read->code == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
  CHECK(read->log == "log");
  CHECK(read->last_error == "last");
  CHECK(read->compiler == "compiler");
  CHECK(read->native == bytes_of("native"));
  CHECK(read->front_end_end == 3);
  for (std::size_t size = 0; size < message.size(); ++size)
    CHECK_FALSE(decode_answer(std::span(message).first(size)));
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    auto bad = message;
    bad[random() % bad.size()] ^= static_cast<std::byte>(1u << random() % 8);
    if (const auto got = decode_answer(bad)) CHECK(got->native.size() <= message.size());
  }
  message.push_back({});
  CHECK_FALSE(decode_answer(message));
}
