// SPDX-License-Identifier: MIT
// Codes and logs: what they mean, and which cause is found in them.
#include "kiln/explain.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "unit/golden.hpp"
#include "unit/read_log.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

std::string log_file(const char* name) {
  const Bytes file = read_file(std::filesystem::path(KILN_TEST_DATA) / "logs" / name);
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

}  // namespace

TEST_CASE("result codes by name, hexadecimal, decimal, and the tracer's mixture of both") {
  for (const char* word : {"ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY", "ERROR_OUT_OF_DEVICE_MEMORY",
                           "OUT_OF_DEVICE_MEMORY", "0x70000003", "1879048195", "0x1879048195"}) {
    CAPTURE(word);
    const auto meaning = explain_code(word);
    REQUIRE(meaning);
    CHECK(meaning->name == "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    CHECK(meaning->value == 0x70000003);
    CHECK_FALSE(meaning->causes.empty());
  }
  CHECK(explain_code("0")->name == "ZE_RESULT_SUCCESS");
  CHECK(explain_code("0x7800000f")->name == "ZE_RESULT_ERROR_INVALID_NATIVE_BINARY");
}

TEST_CASE("codes of OpenCL and SYCL lead to Level Zero's") {
  for (const char* word :
       {"-5", "CL_OUT_OF_RESOURCES", "PI_ERROR_OUT_OF_RESOURCES", "UR_RESULT_ERROR_OUT_OF_RESOURCES"}) {
    CAPTURE(word);
    const auto meaning = explain_code(word);
    REQUIRE(meaning);
    CHECK_FALSE(meaning->value);
    CHECK(meaning->causes.at(0).find("ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY") != std::string::npos);
  }
}

TEST_CASE("what is no code") {
  for (const char* word :
       {"", " ", "5x", "0x", "-", "-5 CL_OUT_OF_RESOURCES", "99999999999999999999", "OUT", "K0101"})
    CHECK_FALSE(explain_code(word));
}

TEST_CASE("every code of the table is the specification's: its name and number agree") {
  for (std::uint32_t value :
       {0x70000001u, 0x70000004u, 0x70010000u, 0x70020000u, 0x78000001u, 0x78000013u, 0x7800001au})
    CHECK(explain_code(std::to_string(value))->name == result_name(static_cast<ze_result_t>(value)));
  for (std::uint32_t high : {0x0u, 0x70000000u, 0x70010000u, 0x70020000u, 0x78000000u, 0x7fffff00u})
    for (std::uint32_t low = 0; low < 256; ++low)
      if (const auto meaning = explain_code(std::to_string(high + low)))
        CHECK(meaning->name == result_name(static_cast<ze_result_t>(high + low)));
}

TEST_CASE("K0501: the guide's failure, from its trace and from the driver's own words") {
  const auto traced = read_log(log_file("onetrace.log"));
  REQUIRE(traced);
  check_diagnostic("K0501", *traced);
  CHECK(row(*traced, "`__local` argument 0")->value == 655400);
  CHECK(row(*traced, "asked for, rounded up to 1024 B")->value == 656384);
  CHECK(row(*traced, "kernel")->text == "fills_slm");

  const auto printed = read_log(log_file("debug_messages.log"));
  REQUIRE(printed);
  check_diagnostic("K0501", *printed, "printed");
  CHECK(row(*printed, "asked for in all")->value == 656384);
  CHECK(row(*printed, "available a work-group")->value == 131072);

  // Trace and debug messages in one file: both facts in one diagnostic.
  check_log("K0501", log_file("debug_messages.log") + log_file("onetrace.log"), "both");
}

TEST_CASE("traces: decorations, hexadecimal numbers, several kernels and threads") {
  const std::string unitrace =
      "  >>>> [PID:12] [TID:34] [5001] zeKernelCreate: hModule = 0x1 desc = 0x7 {K(0x1d) 0 0 \"one\"} "
      "phKernel = 0x7\n"
      "  <<<< [PID:12] [TID:34] [5002] zeKernelCreate [9 ns] hKernel = 0xa -> ZE_RESULT_SUCCESS(0x0)\n"
      ">>>> [1] zeKernelCreate: hModule = 0x1 desc = 0x7 {K(0x1d) 0 0 \"two\"} phKernel = 0x7\n"
      "<<<< [2] zeKernelCreate [9 ns] hKernel = 0xb -> ZE_RESULT_SUCCESS(0x0)\n"
      ">>>> [3] zeKernelSetArgumentValue: hKernel = 0xa argIndex = 0x1 argSize = 0x20000 pArgValue = 0x0 "
      "(NULL)\n"
      ">>>> [3] zeKernelSetArgumentValue: hKernel = 0xb argIndex = 0x0 argSize = 0x8 pArgValue = 0x0 (NULL)\n"
      ">>>> [3] zeKernelSetArgumentValue: hKernel = 0xb argIndex = 0x2 argSize = 0x30000 pArgValue = 0x0 "
      "(NULL)\n"
      ">>>> [4] zeCommandListAppendLaunchKernel: hCommandList = 0x9 hKernel = 0xb pLaunchFuncArgs = 0x7\n"
      "<<<< [5] zeCommandListAppendLaunchKernel [9 ns] -> ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY(0x70000003)\n";
  const auto finding = read_log(unitrace);
  REQUIRE(finding);
  CHECK(finding->code == "K0501");
  CHECK(row(*finding, "kernel")->text == "two");
  CHECK(row(*finding, "`__local` argument 2")->value == 0x30000);
  CHECK_FALSE(row(*finding, "`__local` argument 0"));  // eight bytes: a null pointer
  CHECK_FALSE(row(*finding, "`__local` argument 1"));  // the other kernel's
}

// Forms: intel/pti-gpu, tools/{unitrace/scripts,ze_tracer}/gen_tracing_callbacks.py and unitrace/test.
TEST_CASE("traces of unitrace and onetrace: process and thread in angle brackets, each with its own calls") {
  const std::string allocation = "zeMemAllocDevice: hContext = 0x1 device_desc = 0x2 size = ";
  const auto finding = read_log(">>>> [1] <PID:7> <TID:8> " + allocation +
                                "0x40000000 alignment = 0x40 hDevice = 0x3 pptr = 0x4 (ptr = 0x0)\n"
                                ">>>> [2] <PID:7> <TID:9> " +
                                allocation +
                                "0x1000 alignment = 0x40 hDevice = 0x3 pptr = 0x4 (ptr = 0x0)\n"
                                "<<<< [3] <PID:7> <TID:8> zeMemAllocDevice [9 ns] -> "
                                "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY(0x1879048195)\n"
                                "<<<< [4] <PID:7> <TID:9> zeMemAllocDevice [9 ns] ptr = 0xff00 -> "
                                "ZE_RESULT_SUCCESS(0x0)\n");
  REQUIRE(finding);
  CHECK(finding->code == "K0507");
  REQUIRE(row(*finding, "size"));
  CHECK(row(*finding, "size")->value == 0x40000000);
  // A kernel that was made before the trace began has its name at the launch.
  const auto launched = read_log(
      ">>>> [1] zeKernelSetArgumentValue: hKernel = 0xb argIndex = 0x2 argSize = 0x30000 pArgValue = 0x0 "
      "(NULL)\n"
      "<<<< [2] zeKernelSetArgumentValue [9 ns] -> ZE_RESULT_SUCCESS(0x0)\n"
      ">>>> [3] zeCommandListAppendLaunchKernel: hCommandList = 0x9 hKernel = 0xb (tiled(float*, int)) "
      "pLaunchFuncArgs = 0x7 {4, 1, 1} hSignalEvent = 0x0 numWaitEvents = 0x0 phWaitEvents = 0x0\n"
      "<<<< [4] zeCommandListAppendLaunchKernel [9 ns] -> "
      "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY(0x1879048195)\n");
  REQUIRE(launched);
  CHECK(launched->code == "K0501");
  CHECK(row(*launched, "kernel")->text == "tiled(float*, int)");
}

TEST_CASE("traces: results that the tracer has no name for, and those that are no failures") {
  const auto unknown = [](const char* number) {
    return code_in("<<<< [2] zeModuleCreate [9 ns] -> UNKNOWN(" + std::string(number) + ")\n");
  };
  CHECK(unknown("0x1879048196") == "K0504");
  CHECK(unknown("0x70000004") == "K0504");
  CHECK(unknown("0x2147418112").empty());  // ZE_RESULT_QUERY_TRUE
  CHECK(unknown("0x1").empty());
  CHECK(code_in("<<<< [2] zeEventQueryStatus [9 ns] -> ZE_RESULT_QUERY_FALSE(0x2147418113)\n").empty());
  CHECK(code_in("<<<< [2] zeModuleCreate [9 ns] -> UNKNOWN(0x)\n") == "K0504");
}

TEST_CASE("a trace that ends inside a call, whose process died there") {
  const std::string begun =
      "<<<< [1] <TID:4> zeEventHostSynchronize [9 ns] -> ZE_RESULT_SUCCESS(0x0)\n"
      ">>>> [2] <TID:4> zeEventHostSynchronize: hEvent = 0x5b28b09266d8 timeout = 0xffffffffffffffff\n";
  check_log("K0508", begun + "Caught signal 11 (Segmentation fault: address not mapped to object)\n",
            "inside");
  CHECK(code_in(begun + "Segmentation fault (core dumped)\n") == "K0508");
  CHECK(code_in(begun).empty());  // cut off, perhaps
  const auto outside = read_log(begun +
                                "<<<< [3] <TID:4> zeEventHostSynchronize [9 ns] -> ZE_RESULT_SUCCESS(0x0)\n"
                                "Segmentation fault (core dumped)\n");
  REQUIRE(outside);
  CHECK(outside->message.find("nothing in this log says that the GPU") != outside->message.npos);
  // Another thread's call goes on.
  const std::string init = ">>>> [1] <TID:5> zeInit: flags = 0x0\n";
  const std::string initialized = "<<<< [3] <TID:5> zeInit [9 ns] -> ZE_RESULT_SUCCESS(0x0)\n";
  const std::string died = "Segmentation fault\n";
  const std::string launch = ">>>> [2] <TID:4> zeCommandListAppendLaunchKernel: hCommandList = 0x9\n";
  const auto other = read_log(init + launch + initialized + died);
  REQUIRE(other);
  CHECK(row(*other, "inside the call")->text == "zeCommandListAppendLaunchKernel");
  // Whoever waits does nothing, and of several calls nobody says whose thread died.
  const auto waits = read_log(init + begun + initialized + died);
  REQUIRE(waits);
  CHECK_FALSE(row(*waits, "inside the call"));
  CHECK(row(*waits, "under way")->text == "zeEventHostSynchronize, TID:4");
  check_log("K0508", init + launch + died, "under-way");
}

TEST_CASE("unitrace's table of kernels: what the failed one has of SLM by itself") {
  const std::string table =
      "=== Kernel Properties ===\n\n"
      "             Kernel, Compiled, SIMD, Number of Arguments, SLM Per Work Group, Private Memory Per "
      "Thread, Spill Memory Per Thread, Register File Size Per Thread\n"
      "\"tiled(float*, int)\",      JIT,   16,                   9,             131072,                      "
      "   0,                       0,                        unknown\n"
      "            \"empty\",      JIT,   32,                   0,                  0,                       "
      "  "
      "0,                       0,                            16\n\n";
  const std::string failed =
      ">>>> [3] zeCommandListAppendLaunchKernel: hCommandList = 0x9 hKernel = 0xb (tiled(float*, int)) "
      "pLaunchFuncArgs = 0x7 {4, 1, 1}\n"
      "<<<< [4] zeCommandListAppendLaunchKernel [9 ns] -> "
      "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY(0x1879048195)\n";
  CHECK_FALSE(read_log(table));
  const auto finding = read_log(failed + table);
  REQUIRE(finding);
  CHECK(finding->code == "K0501");
  CHECK(row(*finding, "`__local` arrays of the kernel")->value == 131072);
  CHECK(row(*finding, "asked for, rounded up to 1024 B")->value == 131072);
  const std::string argument =
      ">>>> [2] zeKernelSetArgumentValue: hKernel = 0xb argIndex = 0x2 argSize = 0x1f5 pArgValue = 0x0 "
      "(NULL)\n";
  CHECK(row(*read_log(argument + failed + table), "asked for, rounded up to 1024 B")->value == 131072 + 1024);
  CHECK_FALSE(row(*read_log(failed), "`__local` arrays of the kernel"));
  // Older ones have fewer columns; what is none ends the table.
  const auto older = read_log(failed +
                              "  Kernel, Number of Arguments, SLM Per Work Group, Private Memory Per Thread, "
                              "Spill Memory Per Thread\n\"tiled(float*, int)\", 9, 65537, 0, 0\n");
  REQUIRE(older);
  CHECK(row(*older, "`__local` arrays of the kernel")->value == 65537);
  // So much each of Intel's GPUs has: then it may be something else.
  std::string has = table;
  has.replace(has.find("131072"), 6, " 65536");
  const auto fits = read_log(failed + has);
  REQUIRE(fits);
  CHECK(row(*fits, "undecided"));
  CHECK(read_log(argument + failed + has)->code == "K0501");  // which takes 1024 more
  CHECK_FALSE(row(*read_log(argument + failed + has), "undecided"));
  CHECK_FALSE(row(*read_log(failed + "Kernel, SLM Per Work Group\nx\n\"tiled(float*, int)\", 1024\n"),
                  "`__local` arrays of the kernel"));
}

TEST_CASE("the loader's validation layer names call and result in one line") {
  const auto finding = read_log(
      "[2026-01-02 03:04:05.678] [ze_loader] [error] ERROR (ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY) in "
      "zeKernelSuggestGroupSize(hKernel=0x1, globalSizeX=4096, globalSizeY=1, globalSizeZ=1)\n");
  REQUIRE(finding);
  CHECK(finding->code == "K0501");
}

TEST_CASE("causes from traces and the driver's own words") {
  check_log(
      "K0502",
      "error: total scratch space exceeds HW supported limit for kernel gemm: 524288 bytes (max permitted "
      "PTSS 262144 bytes)\n<<<< [1] zeModuleCreate [1 ns] -> "
      "ZE_RESULT_ERROR_MODULE_BUILD_FAILURE(0x70000004)\n");
  check_log("K0503",
            ">>>> [1] zeKernelCreate: hModule = 0x1 desc = 0x7 {K(0x1d) 0 0 \"big\"} phKernel = 0x7\n"
            "<<<< [2] zeKernelCreate [9 ns] -> ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY(0x1879048195)\n");
  check_log("K0504",
            "<<<< [2] zeModuleCreate [9 ns] -> ZE_RESULT_ERROR_MODULE_BUILD_FAILURE(0x1879048196)\n");
  check_log("K0505",
            ">>>> [1] zeKernelSuggestMaxCooperativeGroupCount: hKernel = 0xa totalGroupCount = 0x7\n"
            "Abort was called at 314 line in file:\n"
            "./shared/source/helpers/hw_helper_base.inl\n"
            "Aborted (core dumped)\n");
  check_log("K0506",
            "Segmentation fault from GPU at 0xff00fffffffe0000, ctx_id: 1 (CCS) type: 0 (NotPresent), level: "
            "1 (PDE), "
            "access: 1 (Write), banned: 1, aborting.\nAbort was called at 306 line in file:\ndrm_neo.cpp\n");
  check_log(
      "K0507",
      ">>>> [1] zeMemAllocDevice: hContext = 0x1 device_desc = 0x2 size = 1073741824 alignment = 64 hDevice "
      "= "
      "0x3 pptr = 0x4 (ptr = 0)\n"
      "<<<< [2] zeMemAllocDevice [9 ns] ptr = 0 -> ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY(0x1879048195)\n");
  check_log("K0512",
            ">>>> [1] zeMemAllocDevice: hContext = 0x1 device_desc = 0x2 size = 8589934592 alignment = 64 "
            "hDevice = "
            "0x3 pptr = 0x4 (ptr = 0)\n"
            "<<<< [2] zeMemAllocDevice [9 ns] ptr = 0 -> ZE_RESULT_ERROR_UNSUPPORTED_SIZE(0x2013265929)\n",
            "trace");
  check_log("K0508", "<<<< [2] zeFenceReset [9 ns] -> ZE_RESULT_ERROR_UNKNOWN(0x2147483646)\n");
  check_log("K0511", "<<<< [2] zeFenceHostSynchronize [9 ns] -> ZE_RESULT_ERROR_DEVICE_LOST(0x1879048193)\n",
            "trace");
  check_log("K0507",
            "terminate called after throwing an instance of 'sycl::_V1::exception'\n"
            "  what():  level_zero backend failed with error: 40 (UR_RESULT_ERROR_OUT_OF_RESOURCES)\n",
            "word");
  check_log("K0521",
            "Requested work-group size (2048) exceeds maximum value (1024) for the kernel \"wide\" \n",
            "group");
}

TEST_CASE(
    "K0509: Kiln's own messages, as text, in one line of JSON and in many, with and without a log's prefix") {
  const Diagnostic reported{"K0101",
                            "kernel `tiled` asks for 262144 bytes of SLM a work-group, the device has 131072",
                            {{"argument 7 `a_tile`", "", 131044, "B"}, {"build log", "one\ntwo"}},
                            {"give the `__local` arguments at most 131072 bytes in all"},
                            Severity::error,
                            Answer{AnsweredBy::before_driver, 0x70000003, "zeCommandListAppendLaunchKernel"}};
  check_log("K0509", "frame 12\n[12:01] engine: " + to_text(reported) + "engine: giving up\n");
  const auto compact = read_log("frame 12\n" + to_json(reported) + "\n");
  const auto pretty = read_log(nlohmann::ordered_json::parse(to_json(reported)).dump(2) + "\n");
  for (const auto& finding : {compact, pretty}) {
    REQUIRE(finding);
    CHECK(finding->code == "K0509");
    CHECK(finding->message == "Kiln reported K0101: " + reported.message);
    CHECK(row(*finding, "code")->text == "K0101");
    CHECK(row(*finding, "result")->text ==
          "zeCommandListAppendLaunchKernel, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, kiln, before the driver");
  }
  // In lines the severity comes behind the code: warnings do not count as errors until then.
  std::string many;
  for (int i = 0; i < 9; ++i) {
    Diagnostic each = reported;
    each.code = "K011" + std::to_string(i), each.severity = Severity::warning;
    many += nlohmann::ordered_json::parse(to_json(each)).dump(2) + "\n";
  }
  const auto behind = read_log(many + to_text(reported));
  REQUIRE(behind);
  CHECK(row(*behind, "code")->text == "K0101");
  CHECK(row(*read_log(many), "code")->text == "K0110");
  const std::string error = nlohmann::ordered_json::parse(to_json(reported)).dump(2) + "\n";
  CHECK(read_log(error + "  \"severity\": \"warning\"\n")->severity == Severity::error);
  CHECK(read_log(many)->severity == Severity::warning);
  // The first error counts, whatever else failed; a warning only where nothing did.
  Diagnostic warning = reported, later = reported;
  warning.code = "K0115", warning.severity = Severity::warning, warning.answer.reset();
  later.code = "K0109";
  const std::string failure = "<<<< [2] zeModuleCreate [9 ns] -> ZE_RESULT_ERROR_UNKNOWN(0x7ffffffe)\n";
  const auto first = read_log(to_text(warning) + failure + to_text(reported) + to_text(later));
  REQUIRE(first);
  CHECK(row(*first, "code")->text == "K0101");
  CHECK(code_in(to_text(warning) + failure) == "K0504");
  const auto warned = read_log(to_text(warning));
  REQUIRE(warned);
  CHECK(row(*warned, "code")->text == "K0115");
  CHECK(warned->severity == Severity::warning);
  CHECK_FALSE(read_log("error[K01]: x\nerror[K0101] x\n{\"code\": 5}\n{\"code\": \"K0101\n"));
}

TEST_CASE("K0510: a symbol that nothing defines, from the build log and from the trace") {
  const std::string log =
      "error : unresolved external symbol misspelt at offset 588 in instructions segment #1 (aka kernel : "
      "bad)\n";
  const std::string trace =
      ">>>> [1] zeKernelCreate: hModule = 0x1 desc = 0x7 {K(0x1d) 0 0 \"good\"} phKernel = 0x7\n"
      "<<<< [2] zeKernelCreate [9 ns] -> ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED(0x78000018)\n";
  check_log("K0510", log + trace);
  CHECK(read_log(log)->message.find("`misspelt`") != std::string::npos);
  CHECK(code_in(trace) == "K0510");
}

TEST_CASE("probes and waits are no failures, and a later failure goes before a probe") {
  const std::string probe =
      "<<<< [1] zeDriverGetExtensionFunctionAddress [1 ns] -> "
      "ZE_RESULT_ERROR_INVALID_ARGUMENT(0x2013265924)\n";
  const std::string wait = "<<<< [1] zeEventHostSynchronize [1 ns] -> ZE_RESULT_NOT_READY(0x1)\n";
  CHECK(code_in(wait).empty());
  CHECK(code_in(probe + wait + "<<<< [2] zeModuleCreate [1 ns] -> ZE_RESULT_ERROR_UNKNOWN(0x7ffffffe)\n") ==
        "K0504");
  CHECK(code_in(probe) == "K0508");  // nothing else is there
}

TEST_CASE("logs without a failure") {
  CHECK_FALSE(read_log(""));
  CHECK_FALSE(read_log(
      "all is well\n\n>>>> [1] zeInit: flags = 0\n<<<< [2] zeInit [1 ns] -> ZE_RESULT_SUCCESS(0x0)\n"));
}

TEST_CASE("what is longer than any call, result or handle is none") {
  const std::string failed = " [1 ns] -> ZE_RESULT_ERROR_UNKNOWN(0x7ffffffe)\n";
  CHECK(read_log("<<<< [1] ze" + std::string(120, 'x') + failed)->message.ends_with("x` failed"));
  CHECK_FALSE(read_log("<<<< [1] ze" + std::string(200, 'x') + failed)->message.ends_with("x` failed"));
  const auto finding = read_log("<<<< [1] zeInit [1 ns] -> ZE_RESULT_ERROR_" + std::string(5000, 'X') + "\n");
  REQUIRE(finding);
  CHECK(row(*finding, "call")->text.size() < 200);
}

TEST_CASE("damaged traces end well, and memory does not grow with their kernels") {
  const std::string whole = log_file("onetrace.log") + log_file("debug_messages.log");
  std::mt19937 random(5);
  for (int i = 0; i < 3'000; ++i) {
    std::string damaged = whole.substr(0, random() % whole.size());
    for (int j = 0; j < 8 && !damaged.empty(); ++j)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    (void)read_log(damaged);
  }
  LogReader reader;
  const std::string huge(10 << 20, 'x');
  reader.line(">>>> " + huge);
  reader.line("<<<< [1] ze" + huge + " -> ZE_RESULT_ERROR_UNKNOWN");
  for (int i = 0; i < 100'000; ++i) reader.line(">>>> [1] ze" + std::to_string(i) + ": a = 1");
  for (int i = 0; i < 100'000; ++i)
    reader.line(">>>> [1] zeKernelSetArgumentValue: hKernel = " + std::to_string(i) +
                " argIndex = 0 argSize = 18446744073709551615 pArgValue = 0");
  reader.line(
      ">>>> [1] zeKernelSuggestGroupSize: hKernel = 99999 globalSizeX = 0 globalSizeY = 1 globalSizeZ = 1");
  reader.line(
      "<<<< [1] zeKernelSuggestGroupSize [1 ns] -> ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY(0x1879048195)");
  CHECK(reader.finding()->code == "K0501");
}

TEST_CASE("a diagnostic in one line of JSON keeps its rows and helps") {
  const auto told = read_log(
      R"({"code":"K0101","severity":"error","message":"too much SLM","rows":[{"label":"asked for",)"
      R"("value":67584,"unit":"B"},{"label":"limit","text":"64 KiB"},{"label":5},{"text":"no label"},7],)"
      R"("help":["less of it",5,{"a":1}],"call":"zeKernelCreate","result":"ZE_RESULT_ERROR_UNKNOWN"})"
      "\n");
  REQUIRE(told);
  CHECK(told->help == std::vector<std::string>{"less of it"});
  REQUIRE(row(*told, "asked for"));
  CHECK(row(*told, "asked for")->value == 67584);
  REQUIRE(row(*told, "limit"));
  CHECK(row(*told, "limit")->text == "64 KiB");
}
