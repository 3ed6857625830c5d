// SPDX-License-Identifier: MIT
// Kernels from seeds, whose work-items the CPU device takes as lanes of vectors and, told not to optimize,
// one by one; with what is counted and without. All that they write is compared, and what was counted.
// `lanes SEED COUNT` runs the kernels of COUNT seeds, several a module; `lanes SEED` prints one, and `lanes
// FILE` runs such a file. Ends with 1 where answers differ, with 77 where ocloc lacks its front end.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "cpu_program/support.hpp"
#include "differential/lane_generator.hpp"

namespace kiln::cpu::test {
namespace {

namespace fs = std::filesystem;
using namespace kiln::test;

constexpr Three kGroups = {2, 2, 1};

/// SPIR-V of OpenCL C, by ocloc; empty when that refuses it.
std::vector<std::byte> compile(const fs::path& folder, const std::string& text) {
  const fs::path source = folder / "lanes.cl", made = folder / "made";
  std::ofstream(source) << text;
  fs::remove_all(made);
  const std::string command = std::string(KILN_TEST_OCLOC) + " compile -q -spv_only -device pvc -options " +
                              "-cl-std=CL2.0 -file " + source.string() + " -out_dir " + made.string() + " >" +
                              (folder / "log").string() + " 2>&1";
  if (std::system(command.c_str()) != 0 || !fs::exists(made)) return {};
  std::vector<std::byte> bytes;
  for (const auto& each : fs::directory_iterator(made)) {
    if (each.path().extension() != ".spv") continue;
    bytes.resize(fs::file_size(each.path()));
    std::ifstream(each.path(), std::ios::binary)
        .read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  return bytes;
}

std::vector<std::int32_t> given(kLaneInputs), written;

MemoryRange find_buffer(std::uintptr_t address) {
  for (const auto* buffer : {&given, &written}) {
    const auto begin = reinterpret_cast<std::uintptr_t>(buffer->data());
    if (const std::uint64_t bytes = buffer->size() * sizeof(std::int32_t); address - begin < bytes)
      return {begin, bytes};
  }
  return {};
}

bool run(const CompiledKernel& kernel, Three size, std::int32_t n) {
  constexpr std::size_t kBehind = 512;  // what nobody writes
  const std::size_t items = std::size_t{size[0]} * size[1] * size[2];
  const std::size_t total = items * kGroups[0] * kGroups[1] * kGroups[2];
  written.assign(total * kLaneOutputs + kLaneCounters + items + kBehind, -7);
  const std::array values{argument(given), argument(written), argument(n), local(items * kLaneTile * 4)};
  return execute({&kernel, values, kGroups, size, {}, find_buffer}) == ExecutionStatus::ok;
}

/// What was counted since the last time. Of accesses that are alike, which one is the example of its place
/// follows from the order in which they are joined.
nlohmann::json take_counters(const CompiledKernel& kernel) {
  auto counters = nlohmann::json::parse(counters_json(kernel));
  clear_counters(kernel);
  for (auto& instruction : counters["instructions"]) instruction.erase("example");
  return counters;
}

class Comparison {
 public:
  explicit Comparison(fs::path folder) : folder_(std::move(folder)) {
    written.reserve(std::size_t{1} << 20);  // at one address, which is counted by
    for (std::size_t i = 0; i < given.size(); ++i) given[i] = static_cast<std::int32_t>(i * 37 % 101);
  }

  /// Of all kernels of a module.
  void compare(const std::string& text) {
    const std::vector<std::byte> spirv = compile(folder_, text);
    if (spirv.empty()) {
      std::printf("ocloc refuses %s\n", (folder_ / "lanes.cl").c_str());
      std::ifstream log(folder_ / "log");
      for (std::string line; std::getline(log, line);) std::printf("\t%s\n", line.c_str());
      ++different_;
      return;
    }
    constexpr std::array kFlags{"-cl-opt-disable", "", "-kiln-counters -cl-opt-disable", "-kiln-counters"};
    std::vector<BuildResult> builds;
    for (const char* flags : kFlags) {
      BuildOptions options;
      options.flags = flags;
      builds.push_back(build_from_spirv(spirv, options));
      if (builds.back().status == BuildStatus::ok) continue;
      std::printf("`%s`: %s\n", flags, builds.back().log.c_str());
      ++different_;
      return;
    }
    for (const CompiledKernel& kernel : builds[0].program->kernels()) compare(builds, kernel.facts.name);
  }
  [[nodiscard]] std::uint64_t different() const { return different_; }

 private:
  void compare(std::span<const BuildResult> builds, const std::string& name) {
    for (const Three size :
         {Three{16, 1, 1}, Three{64, 1, 1}, Three{37, 1, 1}, Three{18, 3, 2}, Three{8, 8, 1}})
      for (const std::int32_t n : {1, 4, 11}) {
        if (!agrees(builds, name, size, n)) {
          ++different_;
          return;
        }
      }
  }

  bool agrees(std::span<const BuildResult> builds, const std::string& name, Three size, std::int32_t n) {
    std::vector<std::int32_t> expected;
    nlohmann::json counted;
    for (std::size_t i = 0; i < builds.size(); ++i) {
      const CompiledKernel& kernel = *find(*builds[i].program, name);
      const auto say = [&](const std::string& what) {
        std::printf("%s: groups of %ux%ux%u, n = %d, build %zu: %s\n", name.c_str(), size[0], size[1],
                    size[2], n, i, what.c_str());
        return false;
      };
      if (!run(kernel, size, n)) return say("is not run");
      if (i == 0) expected = written;
      for (std::size_t at = 0; at < written.size(); ++at)
        if (written[at] != expected[at])
          return say("word " + std::to_string(at) + " of " + std::to_string(written.size()) + " is " +
                     std::to_string(written[at]) + ", by items " + std::to_string(expected[at]));
      if (i < 2) continue;
      const auto counters = take_counters(kernel);
      if (i == 2)
        counted = counters;
      else if (counters != counted)
        return say("other counters: " + nlohmann::json::diff(counted, counters).dump());
    }
    return true;
  }

  fs::path folder_;
  std::uint64_t different_ = 0;
};

std::string kernel_of(std::uint64_t seed) {
  return generate_lane_kernel("lanes_" + std::to_string(seed), seed);
}

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  if (argc < 2 || argc > 3) {
    std::fputs("usage: lanes SEED [COUNT]\n       lanes FILE\n", stderr);
    return 2;
  }
  const std::string what = argv[1];
  const bool is_seed = what.find_first_not_of("0123456789") == std::string::npos;
  const std::uint64_t seed = std::strtoull(argv[1], nullptr, 10);
  if (is_seed && argc == 2) {
    std::fputs(kernel_of(seed).c_str(), stdout);
    return 0;
  }
  std::string folder = (fs::temp_directory_path() / "lanes.XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return std::perror("lanes"), 2;
  if (compile(folder, "kernel void nothing() {}").empty()) {
    std::fputs("skipped: ocloc does not compile here\n", stderr);
    fs::remove_all(folder);
    return 77;
  }
  Comparison comparison(folder);
  std::uint64_t done = 0;
  if (!is_seed) {
    std::ifstream file(what);
    comparison.compare({std::istreambuf_iterator<char>(file), {}});
    done = 1;
  } else {
    constexpr std::uint64_t kOfModule = 8;  // a compiler's start costs more than a kernel
    for (const std::uint64_t count = std::strtoull(argv[2], nullptr, 10); done < count;) {
      std::string text;
      for (std::uint64_t each = 0; each < kOfModule && done < count; ++each, ++done)
        text += kernel_of(seed + done);
      comparison.compare(text);
    }
  }
  fs::remove_all(folder);
  std::printf("%llu kernels by lanes and by work-items, %llu differ\n", static_cast<unsigned long long>(done),
              static_cast<unsigned long long>(comparison.different()));
  return comparison.different() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace kiln::cpu::test

int main(int argc, char** argv) { return kiln::cpu::test::main(argc, argv); }
