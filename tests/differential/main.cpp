// SPDX-License-Identifier: MIT
// The same kernels on a simulated GPU, from the native code of Intel's compiler, and on the CPU device: all
// that they write is compared. `differential PRODUCT SEED COUNT` runs the kernels of COUNT seeds from SEED
// on, several a module; `differential PRODUCT SEED` prints one, and `differential PRODUCT FILE SEED` runs
// such a file with the data of that seed. Behind the count: how many statements at most. Ends with 1 where
// answers differ, with 77 where a device is missing. In front of them: `--options=OPTIONS` for the GPU's
// compiler alone, and `--pocl`, which makes kernels that PoCL's CPU device takes as well, and asks it too.
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

#include "differential/answers.hpp"
#include "differential/pocl.hpp"
#include "kiln/kiln.hpp"

namespace kiln::test {
namespace {

struct Case {
  std::uint64_t seed;
  GeneratedKernel source;
};

/// The kernels of one module, each with names of its own.
std::string module_text(std::span<const Case> cases) {
  std::string text;
  for (const Case& each : cases) {
    const std::string seed = std::to_string(each.seed);
    for (const char* const name : {"test", "helper", "inlined", "table"})
      text += "#define " + std::string(name) + " " + name + "_" + seed + "\n";
    text += each.source.text;
    for (const char* const name :
         {"test", "helper", "inlined", "table", "OUTPUTS", "get_sub_group_id", "get_sub_group_local_id"})
      text += "#undef " + std::string(name) + "\n";
  }
  return text;
}

Result<Answers> run(const OpenDevice& device, Bundle& bundle, const GeneratedKernel& source,
                    std::uint64_t seed) {
  KILN_TRY(CheckedKernel* const kernel, bundle.kernel("test_" + std::to_string(seed)));
  const ContextRef context = device.context.get();
  const auto given = inputs(seed);
  Answers answers(source);
  KILN_TRY(auto in, context.allocate_shared(device.device, given.size() * 8));
  KILN_TRY(auto out, context.allocate_shared(device.device, answers.out.size() * 8));
  KILN_TRY(auto atomics, context.allocate_shared(device.device, kAtomics * 4));
  KILN_TRY(auto scratch, context.allocate_shared(device.device, kItems * kScratch));
  std::ranges::copy(given, in.span<std::uint64_t>().begin());
  std::ranges::copy(answers.out, out.span<std::uint64_t>().begin());
  std::ranges::copy(answers.atomics, atomics.span<std::uint32_t>().begin());
  std::ranges::copy(answers.scratch, scratch.span<std::byte>().begin());
  KILN_TRY(const auto group, device.device.compute_queue_group());
  KILN_TRY(const auto list,
           CommandListRef::create_immediate(context, device.device, {.synchronous = true}, group));
  KILN_TRY(launch(list.get(), *kernel, {{kGroups}, {kGroupItems}}, in, out, atomics, scratch));
  answers.out.assign(out.span<std::uint64_t>().begin(), out.span<std::uint64_t>().end());
  answers.atomics.assign(atomics.span<std::uint32_t>().begin(), atomics.span<std::uint32_t>().end());
  answers.scratch.assign(scratch.span<std::byte>().begin(), scratch.span<std::byte>().end());
  return answers;
}

/// Whether all agree; the differences are printed, one for each output.
bool compare(std::uint64_t seed, const GeneratedKernel& source, const Answers& gpu, const Answers& cpu,
             const Answers* pocl) {
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  const auto print = [&](const std::string& what, std::uint64_t of_gpu, std::uint64_t of_cpu,
                         std::uint64_t of_pocl) {
    std::printf("%llu: %s: 0x%llx, CPU 0x%llx", number(seed), what.c_str(), number(of_gpu), number(of_cpu));
    if (pocl != nullptr) std::printf(", PoCL 0x%llx", number(of_pocl));
    std::printf("\n");
  };
  const auto differs = [&](const auto of, std::size_t i) {
    return (gpu.*of)[i] != (cpu.*of)[i] || (pocl != nullptr && (pocl->*of)[i] != (cpu.*of)[i]);
  };
  const std::size_t outputs = source.outputs.size();
  for (std::size_t each = 0; each < outputs; ++each) {
    std::size_t wrong = 0, first = 0;
    for (std::size_t i = kItems; i-- > 0;)
      if (differs(&Answers::out, i * outputs + each)) ++wrong, first = i;
    const std::size_t at = first * outputs + each;
    if (wrong != 0)
      print(source.outputs[each] + " differs in " + std::to_string(wrong) + " items, first " +
                std::to_string(first),
            gpu.out[at], cpu.out[at], pocl != nullptr ? pocl->out[at] : 0);
  }
  for (std::size_t i = 0; i < kAtomics; ++i)
    if (differs(&Answers::atomics, i))
      print("atomic word " + std::to_string(i) + " differs", gpu.atomics[i], cpu.atomics[i],
            pocl != nullptr ? pocl->atomics[i] : 0);
  for (std::size_t i = 0; i < gpu.scratch.size(); ++i) {
    if (!differs(&Answers::scratch, i)) continue;
    const auto byte = [i](const Answers& of) { return std::to_integer<std::uint64_t>(of.scratch[i]); };
    print("scratch differs, first in item " + std::to_string(i / kScratch) + ", byte " +
              std::to_string(i % kScratch),
          byte(gpu), byte(cpu), pocl != nullptr ? byte(*pocl) : 0);
    break;
  }
  return gpu == cpu && (pocl == nullptr || *pocl == cpu);
}

int report(const char* what, const Error& error) {
  const Diagnostic* const why = error.diagnostic();
  const bool missing = why && (why->code == "K0306" || why->code == "K0311");
  std::fprintf(stderr, "%s%s: %s", missing ? "skipped: " : "", what, error.text().c_str());
  return missing ? 77 : 1;
}

class Comparison {
 public:
  /// `pocl` may be null.
  Comparison(const OpenDevice& gpu, const OpenDevice& cpu, Pocl* pocl, std::string gpu_options)
      : gpu_(gpu), cpu_(cpu), pocl_(pocl), gpu_options_(std::move(gpu_options)) {}

  /// False: the simulated GPU is lost, and nothing more can be compared.
  bool run(std::span<const Case> cases) {
    const Source source{"differential.cl", module_text(cases)};
    auto for_gpu = Bundle::compile(gpu_, source, {.flags = gpu_options_}),
         for_cpu = Bundle::compile(cpu_, source);
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
      const auto from_pocl = ask_pocl(seed, kernel);
      if (!from_gpu || !from_cpu ||
          !compare(seed, kernel, *from_gpu, *from_cpu, from_pocl ? &*from_pocl : nullptr))
        ++different_;
      if (!from_gpu && from_gpu.error().code() == ZE_RESULT_ERROR_DEVICE_LOST) return false;
    }
    return true;
  }
  [[nodiscard]] std::uint64_t different() const { return different_; }
  [[nodiscard]] std::uint64_t on_pocl() const { return on_pocl_; }

 private:
  std::optional<Answers> ask_pocl(std::uint64_t seed, const GeneratedKernel& kernel) {
    if (pocl_ == nullptr) return {};
    std::string why;
    auto answers = pocl_->run(kernel, seed, why);
    if (!answers) std::printf("%llu: PoCL %s\n", static_cast<unsigned long long>(seed), why.c_str());
    on_pocl_ += answers ? 1 : 0;
    return answers;
  }

  const OpenDevice &gpu_, &cpu_;
  Pocl* pocl_;
  std::string gpu_options_;
  std::uint64_t on_pocl_ = 0;
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
  std::string product{}, file{};  // no file: kernels from seeds
  std::uint64_t seed = 0, count = 0;
  std::size_t statements = 20;
  std::string gpu_options{};
  bool pocl = false;
};

int main(const Request& request) {
  // Each line is out when it is complete, however the process ends.
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  // Intel's compiler reads these. Where it splits spilled values at loops, and where it cleans up what loads
  // them, 22.43 loses lanes of them. And a kernel alone is compiled as beside others: not once more where
  // values are spilled.
  setenv("IGC_VISAOptions", "-nosplitonspill -nospillcleanup", 0);
  setenv("IGC_DisableRecompilation", "1", 0);
  // What devices have in common: Xe-HPC has doubles in hardware and no sub-groups of 8.
  const bool hpc = request.product == "pvc";
  const GeneratorOptions options{
      .doubles = hpc, .sub_group_8 = !hpc, .portable = request.pocl, .statements = request.statements};
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
  const auto pocl = request.pocl ? open_pocl() : nullptr;
  if (request.pocl && !pocl) return std::fputs("skipped: no CPU device of PoCL's\n", stderr), 77;
  Comparison comparison(*gpu, *cpu, pocl.get(), request.gpu_options);
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
  const std::string and_pocl = request.pocl ? ", " + std::to_string(comparison.on_pocl()) + " on PoCL" : "";
  std::printf("%llu kernels on sim:%s and the CPU device%s, %llu differ\n",
              static_cast<unsigned long long>(done), request.product.c_str(), and_pocl.c_str(),
              static_cast<unsigned long long>(comparison.different()));
  return comparison.different() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace kiln::test

int main(int argc, char** argv) {
  kiln::test::Request request;
  std::vector<const char*> words(argv + 1, argv + argc);
  constexpr std::string_view kOptions = "--options=";
  for (; !words.empty() && std::string_view(words.front()).starts_with("--"); words.erase(words.begin())) {
    const std::string_view word = words.front();
    if (word == "--pocl")
      request.pocl = true;
    else if (word.starts_with(kOptions))
      request.gpu_options = word.substr(kOptions.size());
    else
      words.clear();
    if (words.empty()) break;
  }
  if (words.size() < 2 || words.size() > 4) {
    std::fputs(
        "usage: differential [--pocl] [--options=OPTIONS] PRODUCT SEED [COUNT [STATEMENTS]]\n"
        "       differential [--pocl] [--options=OPTIONS] PRODUCT FILE SEED\n",
        stderr);
    return 2;
  }
  const auto number = [](const char* text) { return std::strtoull(text, nullptr, 10); };
  request.product = words[0];
  if (std::string_view(words[1]).find_first_not_of("0123456789") != std::string_view::npos) {
    request.file = words[1];
    request.count = 1;
    request.seed = words.size() > 2 ? number(words[2]) : 0;
  } else {
    request.seed = number(words[1]);
    request.count = words.size() > 2 ? number(words[2]) : 0;
    if (words.size() > 3) request.statements = std::max(1ULL, number(words[3]));
  }
  return kiln::test::main(request);
}
