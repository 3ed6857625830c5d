// SPDX-License-Identifier: MIT
// Kernels built with -kiln-counters: what is counted, the planted defects, and that nothing changes without.
#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "support.hpp"

namespace kiln::cpu::test {
namespace {

using nlohmann::json;

/// The buffers of the test that runs, as a driver would know them.
std::map<std::uintptr_t, std::uint64_t> buffers;
MemoryRange find_buffer(std::uintptr_t address) {
  for (const auto& [begin, bytes] : buffers)
    if (address - begin < bytes) return {begin, bytes};
  return {};
}

std::shared_ptr<const Program> build_counted(const char* file, const char* flags) {
  BuildOptions options;
  options.flags = flags;
  BuildResult result = build_from_spirv(read_file(file), options);
  REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
  return std::move(result.program);
}

/// Up to 448 ints from the beginning of a cache line, and behind them some that must stay as they are.
struct Buffer {
  explicit Buffer(std::size_t count) : count(count) {
    values.fill(-1);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<int>(i);
    buffers[reinterpret_cast<std::uintptr_t>(values.data())] = count * sizeof(int);
  }
  ~Buffer() {
    buffers.erase(reinterpret_cast<std::uintptr_t>(values.data()));
    for (std::size_t i = count; i < values.size(); ++i) CHECK(values[i] == -1);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  [[nodiscard]] int* data() { return values.data(); }
  [[nodiscard]] const int* data() const { return values.data(); }

  alignas(64) std::array<int, 512> values;
  std::size_t count;
};

/// Of all test kernels that are counted.
const CompiledKernel* counted_kernel(const char* name) {
  static const std::array programs{build_counted("counters.clang.spv", "-kiln-counters"),
                                   build_counted("unwritten.spv", "-kiln-counters")};
  for (const auto& program : programs)
    if (const CompiledKernel* kernel = find(*program, name)) return kernel;
  return nullptr;
}

template <class... Arguments>
json count(const char* name, Three groups, Three size, ExecutionStatus status,
           const Arguments&... arguments) {
  CAPTURE(name);
  const CompiledKernel* kernel = counted_kernel(name);
  REQUIRE(kernel != nullptr);
  const std::array<ArgumentValue, sizeof...(arguments)> values{argument(arguments)...};
  clear_counters(*kernel);
  CHECK(execute({kernel, values, groups, size, {}, find_buffer}) == status);
  return json::parse(counters_json(*kernel));
}

template <class... Arguments>
json count(const char* name, const Arguments&... arguments) {
  return count(name, {1, 1, 1}, {64, 1, 1}, ExecutionStatus::ok, arguments...);
}

/// The instructions of a source line.
json at_line(const json& counters, std::uint32_t line) {
  json found = json::array();
  for (const json& each : counters["instructions"])
    if (each["line"] == line) found.push_back(each);
  return found;
}

void check_clean(const json& counters) {
  CHECK_MESSAGE(counters["defects"].empty(), counters["defects"].dump());
}

/// The one defect of a kernel.
json only_defect(const json& counters) {
  REQUIRE_MESSAGE(counters["defects"].size() == 1, counters["defects"].dump());
  return counters["defects"][0];
}

}  // namespace

TEST_CASE("loops: work-items are together in the same round") {
  Buffer in(64), out(16);
  const json counters = count("ragged", {1, 1, 1}, {16, 1, 1}, ExecutionStatus::ok, in, out);
  check_clean(counters);
  const json reads = at_line(counters, 7);
  REQUIRE(reads.size() == 1);
  CHECK(reads[0]["accesses"] == 4 * 15 * 16 / 2);
  CHECK(reads[0]["sub_group_accesses"] == 4 * 15);
  CHECK(reads[0]["lines"] == json{{"1", 60}});
  CHECK(reads[0]["example"]["lanes"].size() == 15);
  CHECK(out.values[15] == 4 * 15 * 14 / 2);
}

TEST_CASE("functions: each call is a place of its own, with the line of the access") {
  Buffer in(256), out(64);
  const json counters = count("functions", in, out);
  check_clean(counters);
  const json reads = at_line(counters, 11);
  REQUIRE(reads.size() == 2);
  CHECK(reads[0]["id"] == reads[1]["id"]);
  CHECK(reads[0]["lines"] == json{{"1", 4}});
  CHECK(reads[1]["lines"] == json{{"2", 4}});
  CHECK(reads[0]["argument"] == 0);
  CHECK(counters["totals"]["global_writes"]["accesses"] == 64);
  CHECK(out.values[3] == 9);
}

TEST_CASE("structures and program-scope constants") {
  Buffer in(64 * 4), copy(64 * 4), out(64);
  const json structures = count("structures", in, copy);
  check_clean(structures);
  CHECK(structures["totals"]["global_reads"]["bytes"] == 64 * 16);
  CHECK(structures["totals"]["global_writes"]["bytes"] == 64 * 16);
  CHECK(copy.values == in.values);
  const json constants = count("constants", out);
  check_clean(constants);
  CHECK(constants["totals"]["constant_reads"]["accesses"] == 64);
  CHECK(out.values[6] == 3);
}

TEST_CASE("a clean kernel: atomics do not race, nor do writes of the same value") {
  Buffer in(128), out(128);
  const json counters = count("clean", {2, 1, 1}, {64, 1, 1}, ExecutionStatus::ok, in, out);
  check_clean(counters);
  CHECK(counters["groups"] == 2);
  CHECK(counters["totals"]["barriers"] == 2 * 128);
  CHECK(counters["totals"]["slm_atomics"]["accesses"] == 128);
  CHECK(counters["totals"]["slm_atomics"]["turns"] == 128);
  CHECK(out.values[0] == 63 * 32 + 7);
}

TEST_CASE("out of bounds: SLM") {
  Buffer out(64);
  const json variable = only_defect(count("slm_beyond", out));
  CHECK(variable["defect"] == "slm_out_of_bounds");
  CHECK(variable["at"]["line"] == 41);
  CHECK(variable["work_item"] == 63);
  CHECK(variable["offset"] == 256);
  CHECK(variable["available"] == 256);
  CHECK(out.values[0] == 5);
  const json defects = count("slm_argument_beyond", out, local(63 * 4))["defects"];
  REQUIRE(defects.size() == 2);
  CHECK(defects[1]["defect"] == "slm_unwritten");  // what is not beyond
  CHECK(defects[1]["times"] == 63);
  const json& argument = defects[0];
  CHECK(argument["at"]["line"] == 48);
  CHECK(argument["available"] == 63 * 4);
  CHECK(out.values[63] == 0);  // a refused read
}

TEST_CASE("out of bounds: buffers, also into the next one") {
  std::vector<int> memory(64 + 64, 7);
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  buffers[begin] = 64 * sizeof(int);
  buffers[begin + 64 * sizeof(int)] = 64 * sizeof(int);
  int* const out = memory.data();
  int* const in = out + 64;
  const json counters = count("global_beyond", in, out);
  buffers.clear();
  REQUIRE(counters["defects"].size() == 2);
  for (const json& defect : counters["defects"]) {
    CHECK(defect["defect"] == "global_out_of_bounds");
    CHECK(defect["at"]["line"] == 53);
    CHECK(defect["work_item"] == 63);
    CHECK(defect["offset"] == 256);
    CHECK(defect["bytes"] == 4);
    CHECK(defect["argument"] == (defect["at"]["kind"] == "read" ? 0 : 1));
  }
  CHECK(memory[63] == 8);
  CHECK(memory[64] == 7);  // of the other buffer
}

TEST_CASE("memory that is no argument is told unless the kernel may reach its kind") {
  const std::shared_ptr<const Program> program =
      build_counted("../../unit/data/pointers.spv", "-kiln-counters");
  const CompiledKernel* kernel = find(*program, "list");
  REQUIRE(kernel != nullptr);
  struct Node {
    const Node* next;
    int value;
  };
  const Node last{nullptr, 5}, first{&last, 3};
  int sum = 0;
  const auto find_node = [](std::uintptr_t address) -> MemoryRange {
    const MemoryRange found = find_buffer(address);
    return {found.begin, found.bytes, kDeviceMemory};
  };
  buffers = {{reinterpret_cast<std::uintptr_t>(&last), sizeof last},
             {reinterpret_cast<std::uintptr_t>(&first), sizeof first},
             {reinterpret_cast<std::uintptr_t>(&sum), sizeof sum}};
  const std::array<ArgumentValue, 2> arguments{argument(&first), argument(&sum)};
  const auto run = [&](std::uint32_t allowed) {
    clear_counters(*kernel);
    sum = 0;
    const Execution execution{kernel, arguments, {1, 1, 1}, {1, 1, 1}, {}, find_node, {}, allowed};
    CHECK(execute(execution) == ExecutionStatus::ok);
    CHECK(sum == 8);  // the access is made in any case
    return json::parse(counters_json(*kernel));
  };
  check_clean(run(kDeviceMemory));
  const json told = run(kHostMemory | kSharedMemory);
  buffers.clear();
  REQUIRE(told["defects"].size() == 2);  // its value and its next
  for (const json& defect : told["defects"]) {
    CHECK(defect["defect"] == "indirect_access");
    CHECK(defect["memory"] == "device");
    CHECK(defect["available"] == sizeof(Node));
    CHECK(defect["address"].get<std::uintptr_t>() - reinterpret_cast<std::uintptr_t>(&last) < sizeof(Node));
  }
}

TEST_CASE("data races in SLM") {
  Buffer out(64);
  const json missing = only_defect(count("missing_barrier", out));
  CHECK(missing["defect"] == "slm_race");
  CHECK(missing["times"] == 64);
  CHECK(std::set<int>{missing["at"]["line"], missing["other"]["line"]} == std::set{59, 60});
  const json writes = only_defect(count("write_write", out));
  CHECK(writes["at"]["line"] == 65);
  CHECK(writes["other"]["line"] == 65);
  CHECK(writes["work_item"] == 1);
  CHECK(writes["other_work_item"] == 0);
  const json mixed = only_defect(count("atomic_and_plain", out));
  CHECK(mixed["at"]["line"] == 77);
  CHECK(mixed["other"]["line"] == 75);
}

TEST_CASE("SLM that is read before its work-group has written it") {
  Buffer out(128);
  const auto defect_of = [&](const char* name, std::uint32_t line) {
    json defect = only_defect(count(name, {2, 1, 1}, {64, 1, 1}, ExecutionStatus::ok, out));
    CHECK(defect["defect"] == "slm_unwritten");
    CHECK(defect["at"]["line"] == line);
    return defect;
  };
  const json uncleared = defect_of("uncleared", 7);
  CHECK(uncleared["at"]["kind"] == "atomic");
  CHECK(uncleared["times"] == 2 * 16);  // the first atomic on each bin
  CHECK(uncleared["work_item"] == 0);
  const json last = defect_of("last_one", 17);
  CHECK(last["work_item"] == 63);
  CHECK(last["offset"] == 63 * 4);
  CHECK(last["bytes"] == 4);
  CHECK(last["times"] == 2);
  const json left_over = defect_of("left_over", 25);
  CHECK(left_over["group"] == json{1, 0, 0});
  CHECK(left_over["times"] == 64);
  CHECK(defect_of("half_of_it", 33)["offset"] == 2);
  CHECK(defect_of("no_vector", 38)["bytes"] == 16);
}

TEST_CASE("parts, copies, exchanges and gaps are not taken for SLM that was not written") {
  Buffer in(64), out(128);
  const json counters = count("careful", {2, 1, 1}, {64, 1, 1}, ExecutionStatus::ok, in, out);
  // `x` of the vectors is written last, so the whole vector is.
  check_clean(counters);
}

TEST_CASE("a divergent barrier ends the launch, and what was counted stays") {
  Buffer out(64);
  const json counters = count("divergent_barrier", {1, 1, 1}, {64, 1, 1}, ExecutionStatus::stopped, out);
  check_clean(counters);
  CHECK(counters["totals"]["slm_writes"]["accesses"] == 64);
}

TEST_CASE("what cannot run is refused as without counters") {
  BuildOptions options;
  options.flags = "-kiln-counters";
  const BuildResult external = build_from_spirv(read_file("external.spv"), options);
  CHECK(external.status == BuildStatus::build_failure);
  CHECK(external.log.find("'elsewhere'") != external.log.npos);
}

TEST_CASE("without the flag nothing is there, and nothing changes") {
  const auto plain = [] {
    const auto program = build_counted("counters.clang.spv", "");
    const auto bytes = program->native_binary();
    CHECK(counters_json(program->kernels()[0]).empty());
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  const std::vector<std::byte> before = plain();
  const auto counted = build_counted("counters.clang.spv", "-kiln-counters");
  CHECK(plain() == before);
  const std::string text(reinterpret_cast<const char*>(before.data()), before.size());
  for (const char* sign : {"kiln_access", "kiln_meet", "kiln_private_access", ".kiln.places"}) {
    CAPTURE(sign);
    CHECK(text.find(sign) == text.npos);
  }
  // As a native binary it goes on counting.
  const BuildResult again = build_from_native(counted->native_binary());
  REQUIRE_MESSAGE(again.status == BuildStatus::ok, again.log);
  CHECK(json::parse(counters_json(again.program->kernels()[0]))["launches"] == 0);
}

}  // namespace kiln::cpu::test
