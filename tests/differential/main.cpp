// SPDX-License-Identifier: MIT
// The same kernels on a simulated GPU, from the native code of Intel's compiler, and on the CPU device: all
// that they write is compared. `differential PRODUCT SEED COUNT` runs the kernels of COUNT seeds from SEED
// on, several a module; `differential PRODUCT SEED` prints one, and `differential PRODUCT FILE SEED` runs
// such a file with the data of that seed. Behind the count: how many statements at most. Ends with 1 where
// answers differ, with 77 where a device is missing.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "differential/generator.hpp"
#include "kiln/kiln.hpp"

namespace kiln::test {
namespace {

struct Answers {
  std::vector<std::uint64_t> out;
  std::vector<std::uint32_t> atomics;
  std::vector<std::byte> scratch;
};

struct Case {
  std::uint64_t seed;
  GeneratedKernel source;
};

std::vector<std::uint64_t> inputs(std::uint64_t seed) {
  std::mt19937_64 random(~seed);
  std::vector<std::uint64_t> all(std::size_t{kItems} * kInputs);
  for (std::uint64_t& each : all) {
    each = random();
    each >>= random() % 64;  // of all sizes
    if (random() % 3 == 0) each = 0 - each;
  }
  return all;
}

/// The kernels of one module, each with names of its own.
std::string module_text(std::span<const Case> cases) {
  std::string text;
  for (const Case& each : cases) {
    const std::string seed = std::to_string(each.seed);
    for (const char* const name : {"test", "helper", "inlined", "table"})
      text += "#define " + std::string(name) + " " + name + "_" + seed + "\n";
    text += each.source.text;
    for (const char* const name : {"test", "helper", "inlined", "table", "OUTPUTS"})
      text += "#undef " + std::string(name) + "\n";
  }
  return text;
}

Result<Answers> run(const OpenDevice& device, Bundle& bundle, const GeneratedKernel& source,
                    std::uint64_t seed) {
  KILN_TRY(CheckedKernel* const kernel, bundle.kernel("test_" + std::to_string(seed)));
  const ContextRef context = device.context.get();
  const auto given = inputs(seed);
  KILN_TRY(auto in, context.allocate_shared(device.device, given.size() * 8));
  KILN_TRY(auto out, context.allocate_shared(device.device, kItems * source.outputs.size() * 8));
  KILN_TRY(auto atomics, context.allocate_shared(device.device, kAtomics * 4));
  KILN_TRY(auto scratch, context.allocate_shared(device.device, kItems * kScratch));
  std::ranges::copy(given, in.span<std::uint64_t>().begin());
  std::ranges::fill(out.span<std::uint64_t>(), 0);
  std::ranges::fill(atomics.span<std::uint32_t>(), 0x00ff00ff);
  for (std::size_t i = 0; i < scratch.size(); ++i)
    scratch.span<std::byte>()[i] = static_cast<std::byte>(i % 60);
  KILN_TRY(const auto group, device.device.compute_queue_group());
  KILN_TRY(const auto list,
           CommandListRef::create_immediate(context, device.device, {.synchronous = true}, group));
  KILN_TRY(launch(list.get(), *kernel, {{kGroups}, {kGroupItems}}, in, out, atomics, scratch));
  Answers answers;
  answers.out.assign(out.span<std::uint64_t>().begin(), out.span<std::uint64_t>().end());
  answers.atomics.assign(atomics.span<std::uint32_t>().begin(), atomics.span<std::uint32_t>().end());
  answers.scratch.assign(scratch.span<std::byte>().begin(), scratch.span<std::byte>().end());
  return answers;
}

/// Whether they agree; the differences are printed, one for each output.
bool compare(std::uint64_t seed, const GeneratedKernel& source, const Answers& gpu, const Answers& cpu) {
  bool same = true;
  const std::size_t outputs = source.outputs.size();
  for (std::size_t each = 0; each < outputs; ++each) {
    std::size_t wrong = 0, first = 0;
    for (std::size_t i = kItems; i-- > 0;)
      if (gpu.out[i * outputs + each] != cpu.out[i * outputs + each]) ++wrong, first = i;
    if (wrong == 0) continue;
    same = false;
    std::printf("%llu: %s differs in %zu items, first %zu: 0x%llx, CPU 0x%llx\n",
                static_cast<unsigned long long>(seed), source.outputs[each].c_str(), wrong, first,
                static_cast<unsigned long long>(gpu.out[first * outputs + each]),
                static_cast<unsigned long long>(cpu.out[first * outputs + each]));
  }
  for (std::size_t i = 0; i < kAtomics; ++i) {
    if (gpu.atomics[i] == cpu.atomics[i]) continue;
    same = false;
    std::printf("%llu: atomic word %zu differs: 0x%x, CPU 0x%x\n", static_cast<unsigned long long>(seed), i,
                gpu.atomics[i], cpu.atomics[i]);
  }
  if (gpu.scratch != cpu.scratch) {
    same = false;
    const auto at = std::ranges::mismatch(gpu.scratch, cpu.scratch).in1 - gpu.scratch.begin();
    std::printf("%llu: scratch differs, first in item %td, byte %td\n", static_cast<unsigned long long>(seed),
                at / kScratch, at % kScratch);
  }
  return same;
}

int report(const char* what, const Error& error) {
  const Diagnostic* const why = error.diagnostic();
  const bool missing = why && (why->code == "K0306" || why->code == "K0311");
  std::fprintf(stderr, "%s%s: %s", missing ? "skipped: " : "", what, error.text().c_str());
  return missing ? 77 : 1;
}

class Comparison {
 public:
  Comparison(const OpenDevice& gpu, const OpenDevice& cpu) : gpu_(gpu), cpu_(cpu) {}

  /// False: the simulated GPU is lost, and nothing more can be compared.
  bool run(std::span<const Case> cases) {
    const Source source{"differential.cl", module_text(cases)};
    auto for_gpu = Bundle::compile(gpu_, source), for_cpu = Bundle::compile(cpu_, source);
    if (cases.size() > 1 && (!for_gpu || !for_cpu)) {  // one of them is to blame
      for (const Case& each : cases)
        if (!run({&each, 1})) return false;
      return true;
    }
    for (const auto& [seed, kernel] : cases) {
      const auto of = [&, seed = seed, &kernel = kernel](const OpenDevice& device, Result<Bundle>& bundle) {
        if (!bundle) return Result<Answers>(tl::unexpected(bundle.error()));
        return test::run(device, *bundle, kernel, seed);
      };
      const auto from_gpu = of(gpu_, for_gpu), from_cpu = of(cpu_, for_cpu);
      for (const auto* answer : {&from_gpu, &from_cpu})
        if (!*answer)
          std::printf("%llu: %s: %s", static_cast<unsigned long long>(seed),
                      answer == &from_gpu ? "GPU" : "CPU", answer->error().text().c_str());
      if (!from_gpu || !from_cpu || !compare(seed, kernel, *from_gpu, *from_cpu)) ++different_;
      if (!from_gpu && from_gpu.error().code() == ZE_RESULT_ERROR_DEVICE_LOST) return false;
    }
    return true;
  }
  [[nodiscard]] std::uint64_t different() const { return different_; }

 private:
  const OpenDevice &gpu_, &cpu_;
  std::uint64_t different_ = 0;
};

/// A kernel from a file, as `differential PRODUCT SEED` prints them: for reducing what differs.
std::optional<GeneratedKernel> read_kernel(const std::string& path) {
  auto file = read_kernel_file(path);
  if (!file) {
    std::fputs(file.error().text().c_str(), stderr);
    return {};
  }
  GeneratedKernel kernel;
  kernel.text.assign(reinterpret_cast<const char*>(file->bytes.data()), file->bytes.size());
  constexpr std::string_view kCount = "#define OUTPUTS ";
  const auto at = kernel.text.find(kCount);
  const std::size_t count =
      at == std::string::npos ? 1 : std::strtoull(kernel.text.c_str() + at + kCount.size(), nullptr, 10);
  for (std::size_t i = 0; i < count; ++i) kernel.outputs.push_back("output " + std::to_string(i));
  return kernel;
}

struct Request {
  std::string product, file{};  // no file: kernels from seeds
  std::uint64_t seed = 0, count = 0;
  std::size_t statements = 20;
};

int main(const Request& request) {
  // Each line is out when it is complete, however the process ends.
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  // What devices have in common: Xe-HPC has doubles in hardware and no sub-groups of 8.
  const bool hpc = request.product == "pvc";
  const GeneratorOptions options{.doubles = hpc, .sub_group_8 = !hpc, .statements = request.statements};
  if (request.count == 0) {
    std::fputs(generate_kernel(request.seed, options).text.c_str(), stdout);
    return 0;
  }
  const auto open = [](const std::string& name) {
    return parse_device_request(name).and_then([](const auto& of) { return open_device(of); });
  };
  const auto gpu = open("sim:" + request.product), cpu = open("cpu:" + request.product);
  if (!gpu) return report("the simulated GPU", gpu.error());
  if (!cpu) return report("the CPU device", cpu.error());
  Comparison comparison(*gpu, *cpu);
  constexpr std::uint64_t kOfModule = 8;  // a compiler's start costs more than a kernel
  std::uint64_t done = 0;
  for (bool goes_on = true; goes_on && done < request.count;) {
    std::vector<Case> cases;
    const std::uint64_t end = std::min(request.count, done + kOfModule);
    for (; done < end; ++done) {
      const std::uint64_t seed = request.seed + done;
      if (request.file.empty())
        cases.push_back({seed, generate_kernel(seed, options)});
      else if (auto kernel = read_kernel(request.file))
        cases.push_back({seed, std::move(*kernel)});
      else
        return 2;
    }
    goes_on = comparison.run(cases);
    if (!goes_on) std::printf("the simulated GPU is lost: what follows was not run\n");
  }
  std::printf("%llu kernels on sim:%s and the CPU device, %llu differ\n",
              static_cast<unsigned long long>(done), request.product.c_str(),
              static_cast<unsigned long long>(comparison.different()));
  return comparison.different() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace kiln::test

int main(int argc, char** argv) {
  if (argc < 3 || argc > 5) {
    std::fputs(
        "usage: differential PRODUCT SEED [COUNT [STATEMENTS]]\n       differential PRODUCT FILE SEED\n",
        stderr);
    return 2;
  }
  const auto number = [](const char* text) { return std::strtoull(text, nullptr, 10); };
  kiln::test::Request request{.product = argv[1]};
  if (std::string_view(argv[2]).find_first_not_of("0123456789") != std::string_view::npos) {
    request.file = argv[2];
    request.count = 1;
    request.seed = argc > 3 ? number(argv[3]) : 0;
  } else {
    request.seed = number(argv[2]);
    request.count = argc > 3 ? number(argv[3]) : 0;
    if (argc > 4) request.statements = std::max(1ULL, number(argv[4]));
  }
  return kiln::test::main(request);
}
