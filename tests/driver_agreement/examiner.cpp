// SPDX-License-Identifier: MIT
// One module after the other: make it, make its kernels, launch them, each time asking both sides.
#include "driver_agreement/examiner.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "driver_agreement/allocations.hpp"
#include "driver_agreement/ocloc.hpp"
#include "level_zero/create_module.hpp"

namespace kiln::agreement {
namespace {

// What the driver is asked once, whatever it is compared with: the cases that are counted.
constexpr std::string_view kQuestions[] = {"module", "kernel", "launch", "suggestion", "allocation"};

std::string text(const Extent& extent) {
  return std::to_string(extent.x) + "x" + std::to_string(extent.y) + "x" + std::to_string(extent.z);
}

std::string describe(const LaunchPlan& launch) {
  std::string what = " group " + text(launch.shape.group_size) + " groups " + text(launch.shape.groups);
  for (const std::uint64_t bytes : launch.local_bytes) what += " local " + std::to_string(bytes);
  return what;
}

const char* flags(const ModulePlan& plan) {
  return plan.large_registers ? "-ze-opt-large-register-file" : "";
}

std::string code_of(const Error& error) {
  return error.diagnostic() ? error.diagnostic()->code : result_name(error.code());
}

std::uint64_t machine_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

const Diagnostic* first_error(const std::vector<Diagnostic>& findings) {
  const auto found = std::ranges::find(findings, Severity::error, &Diagnostic::severity);
  return found == findings.end() ? nullptr : &*found;
}

/// Work-groups that the driver suggests for a cooperative launch: threads, barriers and SLM of all cores in
/// one pool. Source: kernel_helpers.cpp:33 of intel/compute-runtime 26.31.
std::uint64_t driver_count(const KernelFacts& kernel, const CoreLimits& cores, std::uint64_t items,
                           std::uint64_t slm, std::uint64_t slm_per_group, bool whole_cores) {
  const std::uint64_t threads = (items - 1) / kernel.simd_size + 1,
                      each = threads_per_core(cores, kernel.grf_count);
  std::uint64_t count = each * cores.cores / threads;
  if (whole_cores) count = std::min(count, each / threads * cores.cores);
  if (kernel.barrier_count) count = std::min<std::uint64_t>(count, cores.cores * (32 / kernel.barrier_count));
  if (slm) count = std::min(count, cores.cores * slm_per_group / allocated_slm(cores.generation, slm));
  return count;
}

}  // namespace

struct Examiner::Built {
  const ModulePlan& plan;
  ModuleFacts facts;  ///< of the compiled binary where it can be read, else of the SPIR-V
  bool compiled = false;
  Module module;
  Bundle bundle;
};

Examiner::Examiner(Setting setting, std::string ocloc, Note note, AskApart ask_process)
    : setting_(setting),
      aim_{setting.device->compute.slm_per_group, setting.device->compute.max_total_group_size,
           target_limits(*setting.target).smallest_sub_group},
      ocloc_(std::move(ocloc)),
      note_(std::move(note)),
      ask_process_(std::move(ask_process)) {
  const ContextRef context = setting_.device->context.get();
  list_ = CommandListRef::create(context, setting_.device->device,
                                 setting_.device->device.compute_queue_group().value())
              .value();
  memory_.threads = setting_.device->properties.threads();
  const auto memories = setting_.device->device.memory_properties().value();
  for (const MemoryProperties& memory : memories) memory_.bytes += memory.total;
  const DeviceProperties& properties = setting_.device->properties;
  cores_ = core_limits(*setting_.target);
  cores_.cores = properties.slices * properties.sub_slices_per_slice;
  cores_.eus_per_core = properties.eus_per_sub_slice;
  cores_.threads_per_eu = properties.threads_per_eu;
  out_ = context.allocate_device(setting_.device->device, 1 << 20).value();
}

void Examiner::record(const Answers& answers) {
  ++counts_.by_kind[answers.kind];
  if (std::ranges::count(kQuestions, answers.kind) != 0) {
    ++counts_.cases;
    counts_.refused += !answers.driver_fits;
  }
  if (!answers.kiln_fits) ++counts_.by_code[answers.kind + " " + answers.kiln];
  if (answers.kiln_fits == answers.driver_fits) return;  // codes are compared by themselves
  if (const Difference* known = explained(setting_, answers)) {
    ++counts_.by_difference[known->name];
    return;
  }
  ++counts_.unexplained;
  std::printf("DISAGREE %s: kiln %s (%s), driver %s (%s)\n  %s%s\n", answers.kind.c_str(),
              answers.kiln_fits ? "yes" : "no", answers.kiln.c_str(), answers.driver_fits ? "yes" : "no",
              answers.driver.c_str(), where_.c_str(), answers.what.c_str());
  if (const KernelFacts* k = answers.kernel)
    std::printf(
        "  static %llu mode %d simd %u grf %u barriers %u private %llu scratch %llu %llu required %ux%ux%u\n",
        static_cast<unsigned long long>(k->static_slm), static_cast<int>(k->slm_mode), k->simd_size,
        k->grf_count, k->barrier_count, static_cast<unsigned long long>(k->private_per_thread),
        static_cast<unsigned long long>(k->scratch_per_thread[0]),
        static_cast<unsigned long long>(k->scratch_per_thread[1]), k->required_group_size[0],
        k->required_group_size[1], k->required_group_size[2]);
  std::fflush(stdout);
}

std::string Examiner::answer(std::uint64_t seed, const std::string& question) {
  const auto space = question.find(' ');
  const std::string name = question.substr(space + 1);
  if (question.starts_with("allocation"))
    return result_name(allocate_unchecked(*setting_.device, parse_allocation(name)));
  Draw draw(seed);
  const ModulePlan plan = draw_module(draw, aim_);
  Made made = make(plan, !ocloc_.empty() && !draw.one_in(4));
  if (!made.build.module) return made.answer;
  const auto kernel = made.build.module->kernel(name.c_str());
  return result_name(kernel ? ZE_RESULT_SUCCESS : kernel.error().code());
}

Examiner::Made Examiner::make(const ModulePlan& plan, bool native) const {
  Made made;
  made.file = {"module.spv", write_spirv(plan.kernels)};
  if (native) {
    Compiled compiled =
        compile_native(ocloc_, made.file.bytes, std::string(setting_.target->name), plan.large_registers);
    if (!compiled.binary) {
      made.answer = "the compiler refuses";
      made.build.log = std::move(compiled.log);
      return made;
    }
    made.file = {"module.bin", *std::move(compiled.binary)};
  }
  const OpenDevice& device = *setting_.device;
  const ModuleInput input{
      native ? ModuleFormat::native : ModuleFormat::spirv, made.file.bytes, flags(plan), {}};
  made.build = detail::create_module(device.driver, device.context.get(), device.device, {&input, 1});
  made.answer = result_name(made.build.code());
  return made;
}

void Examiner::examine(std::uint64_t seed) {
  Draw draw(seed);
  const ModulePlan plan = draw_module(draw, aim_);
  const bool native = !ocloc_.empty() && !draw.one_in(4);
  where_ = "module " + std::to_string(seed) + (native ? " native" : " SPIR-V");
  note_(where_);
  examine_allocation(draw);
  Made raw = make(plan, native);

  // Before anything is compiled: what the SPIR-V alone rules out.
  const auto source = read_spirv(write_spirv(plan.kernels)).value();
  std::vector<Diagnostic> findings;
  for (const KernelFacts& kernel : source.kernels)
    for (Diagnostic& each : check_kernel(kernel, target_limits(*setting_.target), {}))
      if (each.severity == Severity::error && each.code != "K0110") findings.push_back(std::move(each));
  const bool made = raw.build.module && true;
  record({"module", findings.empty(), made, findings.empty() ? "" : findings.front().code, raw.answer,
          nullptr, nullptr, " log: " + raw.build.log});
  if (!made) return;
  auto bundle = Bundle::load(*setting_.device, {raw.file}, {flags(plan)});
  record(
      {"bundle", bundle.has_value(), true, bundle ? "" : code_of(bundle.error()), "", nullptr, nullptr, ""});
  if (!bundle) return;
  Built built{plan, source, false, std::move(raw.build.module), *std::move(bundle)};
  if (const auto binary = built.module->native_binary())
    if (auto facts = read_zebin(*binary); facts && !facts->kernels.empty()) {
      built.facts = *std::move(facts);
      built.compiled = true;
    }
  for (std::size_t i = 0; i < plan.kernels.size(); ++i) examine_kernel(draw, built, i);
}

void Examiner::examine_allocation(Draw& draw) {
  const AllocationLimits limits{setting_.device->properties.largest_allocation, memory_.bytes, {}};
  const AllocationRequest request = draw_allocation(draw, limits);
  const AllocationVerdict verdict = check_allocation(limits, request);
  const std::string question = "allocation " + to_text(request);
  note_(where_ + " " + question);
  const bool fits = verdict == AllocationVerdict::fits;
  const std::string driver =
      fits ? result_name(allocate_unchecked(*setting_.device, request)) : ask_process_(question);
  Answers answers{"allocation",
                  fits,
                  driver == result_name(ZE_RESULT_SUCCESS),
                  result_name(kiln::code_of(verdict)),
                  driver,
                  nullptr,
                  nullptr,
                  " " + question};
  answers.allocation = request;
  record(answers);
}

void Examiner::examine_kernel(Draw& draw, Built& built, std::size_t index) {
  const KernelPlan& plan = built.plan.kernels[index];
  const KernelFacts* facts = built.facts.find(plan.name);
  const std::string module = where_;
  where_ += " kernel " + plan.name;
  note_(where_);
  std::vector<Diagnostic> findings;
  findings = check_kernel(*facts, target_limits(*setting_.target), {});
  if (auto finding = check_thread_memory(*facts, memory_)) findings.push_back(*std::move(finding));
  const Diagnostic* refusal = first_error(findings);
  const auto create = [&] {
    const auto kernel = built.module->kernel(plan.name.c_str());
    return kernel ? ZE_RESULT_SUCCESS : kernel.error().code();
  };
  // Without a GPU the driver takes device memory from this machine's, and ends the process where that is too
  // little.
  const bool heavy =
      facts->private_per_thread > machine_memory() / 4 / std::max<std::uint64_t>(memory_.threads, 1);
  const std::string answer = refusal || heavy ? ask_process_("kernel " + plan.name) : result_name(create());
  const bool made = answer == result_name(ZE_RESULT_SUCCESS);
  Answers answers{"kernel", !refusal, made, refusal ? refusal->code : "", answer, facts, nullptr, ""};
  answers.warned = !findings.empty();
  record(answers);
  if (made && !refusal && !heavy) {
    const auto kernel = built.bundle.kernel(plan.name);
    record({"bundle kernel", kernel.has_value(), true, kernel ? "" : code_of(kernel.error()), "", facts,
            nullptr, ""});
    if (kernel)
      for (auto launches = draw.between(1, 4); launches; --launches)
        examine_launch(draw, **kernel, *facts, plan.locals.size());
  }
  where_ = module;
}

void Examiner::examine_launch(Draw& draw, const CheckedKernel& checked, const KernelFacts& facts,
                              std::size_t locals) {
  const LaunchPlan launch = draw_launch(draw, aim_, facts, locals);
  const std::string what = describe(launch);
  note_(where_ + what);
  const void* out = out_.data();
  const std::uint32_t value = 0;
  std::vector<LaunchArgument> arguments{{ArgumentKind::global_pointer, 8, &out}};
  for (const std::uint64_t bytes : launch.local_bytes)
    arguments.push_back({ArgumentKind::local_pointer, bytes, nullptr});
  while (arguments.size() < checked.facts().arguments.size())
    arguments.push_back({ArgumentKind::value, 4, &value});
  const LaunchVerdict verdict = check_launch(checked.facts(), checked.limits(), launch.shape, arguments);

  const KernelRef kernel = checked.kernel();
  const auto ask = [&]() -> ze_result_t {
    for (std::uint32_t i = 0; i < arguments.size(); ++i)
      if (auto set = kernel.set_argument(i, arguments[i].size, arguments[i].data); !set)
        return set.error().code();
    if (auto set = kernel.set_group_size(launch.shape.group_size); !set) return set.error().code();
    const auto sent = list_.get().launch_unchecked(kernel, launch.shape.groups);
    return sent ? ZE_RESULT_SUCCESS : sent.error().code();
  };
  const ze_result_t driver = ask();
  // What the kernel is comes before its SLM, in the driver's order.
  const bool only_cooperative =
      checked.facts().needs_sync_buffer && (verdict == LaunchVerdict::fits || verdict == LaunchVerdict::slm);
  const ze_result_t kiln_code = only_cooperative ? ZE_RESULT_ERROR_INVALID_ARGUMENT : kiln::code_of(verdict);
  Answers answers{"launch",
                  kiln_code == ZE_RESULT_SUCCESS,
                  driver == ZE_RESULT_SUCCESS,
                  result_name(kiln_code),
                  result_name(driver),
                  &checked.facts(),
                  &launch,
                  what};
  record(answers);
  if (verdict != LaunchVerdict::fits && driver != ZE_RESULT_SUCCESS && answers.kiln != answers.driver) {
    answers.kind = "code";
    answers.kiln_fits = true;
    record(answers);
  }

  // The driver's suggestion for a group size asks for SLM alone.
  const bool set = std::ranges::all_of(arguments, [&](const LaunchArgument& each) {
    return kernel.set_argument(static_cast<std::uint32_t>(&each - arguments.data()), each.size, each.data)
        .has_value();
  });
  if (set) {
    const auto suggested = kernel.suggest_group_size({1024, 1, 1});
    record({"suggestion", total_slm(checked.facts(), arguments) <= aim_.slm, suggested.has_value(), "K0101",
            suggested ? "" : result_name(suggested.error().code()), &checked.facts(), &launch, what});
  }

  KernelRequest request{launch.shape.group_size, {}};
  request.local_bytes.push_back(0);
  request.local_bytes.insert(request.local_bytes.end(), launch.local_bytes.begin(), launch.local_bytes.end());
  const auto findings = check_kernel(facts, target_limits(*setting_.target), request);
  const Diagnostic* refusal = first_error(findings);
  record({"target", !refusal && !facts.needs_sync_buffer, driver == ZE_RESULT_SUCCESS,
          refusal ? refusal->code : "", result_name(driver), &facts, &launch, what});
  if (driver == ZE_RESULT_SUCCESS && verdict == LaunchVerdict::fits)
    examine_concurrency(checked, facts, launch, arguments);
}

void Examiner::examine_concurrency(const CheckedKernel& checked, const KernelFacts& facts,
                                   const LaunchPlan& launch, const std::vector<LaunchArgument>& arguments) {
  if (facts.simd_size == 0) return;
  const Extent& size = launch.shape.group_size;
  const std::uint64_t items = std::uint64_t{size.x} * size.y * size.z, slm = total_slm(facts, arguments);
  std::uint32_t suggested = 0;
  const auto code =
      checked.kernel().api().zeKernelSuggestMaxCooperativeGroupCount(checked.kernel().raw(), &suggested);
  const std::uint64_t expected =
                          driver_count(facts, cores_, items, slm, aim_.slm, setting_.driver_build > 24595),
                      sure = cooperative_groups(facts, cores_, items, slm);
  Answers answers{"cooperative",
                  true,
                  code == ZE_RESULT_SUCCESS && suggested == expected,
                  std::to_string(expected),
                  code == ZE_RESULT_SUCCESS ? std::to_string(suggested) : result_name(code),
                  &facts,
                  &launch,
                  describe(launch)};
  record(answers);
  answers.kind = "concurrent";
  answers.driver_fits = sure <= suggested;
  answers.kiln = std::to_string(sure);
  record(answers);
}

}  // namespace kiln::agreement
