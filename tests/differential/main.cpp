// SPDX-License-Identifier: MIT
// The same kernels on a simulated GPU, from the native code of Intel's compiler, and on the CPU device: all
// that they write is compared. `differential PRODUCT SEED COUNT` runs the kernels of COUNT seeds from SEED
// on; `differential PRODUCT SEED` prints one. Behind the count: how many statements at most. Ends with 1
// where answers differ, with 77 where a device is missing.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
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

Result<Answers> run(const OpenDevice& device, const GeneratedKernel& source, std::uint64_t seed) {
  KILN_TRY(Bundle bundle, Bundle::compile(device, {"differential.cl", source.text}));
  KILN_TRY(CheckedKernel* const kernel, bundle.kernel("test"));
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

int main(const std::string& product, std::uint64_t seed, std::uint64_t count, std::size_t statements) {
  // What devices have in common: Xe-HPC has doubles in hardware and no sub-groups of 8.
  const GeneratorOptions options{
      .doubles = product == "pvc", .sub_group_8 = product != "pvc", .statements = statements};
  if (count == 0) {
    std::fputs(generate_kernel(seed, options).text.c_str(), stdout);
    return 0;
  }
  const auto open = [](const std::string& name) {
    return parse_device_request(name).and_then([](const auto& request) { return open_device(request); });
  };
  const auto gpu = open("sim:" + product), cpu = open("cpu:" + product);
  if (!gpu) return report("the simulated GPU", gpu.error());
  if (!cpu) return report("the CPU device", cpu.error());
  std::uint64_t different = 0;
  for (const std::uint64_t end = seed + count; seed != end; ++seed) {
    const GeneratedKernel source = generate_kernel(seed, options);
    const auto from_gpu = run(*gpu, source, seed), from_cpu = run(*cpu, source, seed);
    for (const auto* answer : {&from_gpu, &from_cpu})
      if (!*answer)
        std::printf("%llu: %s: %s", static_cast<unsigned long long>(seed),
                    answer == &from_gpu ? "GPU" : "CPU", answer->error().text().c_str());
    if (!from_gpu || !from_cpu || !compare(seed, source, *from_gpu, *from_cpu)) ++different;
    if (!from_gpu && from_gpu.error().code() == ZE_RESULT_ERROR_DEVICE_LOST) return 1;
    std::fflush(stdout);
  }
  std::printf("%llu kernels on sim:%s and the CPU device, %llu differ\n",
              static_cast<unsigned long long>(count), product.c_str(),
              static_cast<unsigned long long>(different));
  return different == 0 ? 0 : 1;
}

}  // namespace
}  // namespace kiln::test

int main(int argc, char** argv) {
  if (argc < 3 || argc > 5) {
    std::fputs("usage: differential PRODUCT SEED [COUNT [STATEMENTS]]\n", stderr);
    return 2;
  }
  const auto number = [](const char* text) { return std::strtoull(text, nullptr, 10); };
  return kiln::test::main(argv[1], number(argv[2]), argc > 3 ? number(argv[3]) : 0,
                          argc > 4 ? std::max(1ULL, number(argv[4])) : 20);
}
