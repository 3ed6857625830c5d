// SPDX-License-Identifier: MIT
// `cache_module DEVICE FILE.spv [FOLDER]`: how long a module takes to be made from SPIR-V in this process,
// with the kernel cache in FOLDER or without one. `cache_module DEVICE FILE.spv --parts`: the same without a
// cache, then its first kernel, then its native binary, on the clock and in processor time of this process
// and its children. `cache_module DEVICE`: how long this process takes to look
// at environment and files before it loads the driver, then, with a cache open here as for any load, to learn
// the identity of the compiler, to learn it anew with all that it reads in the processor's caches, and to ask
// for what it knows. Prints JSON.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "build/compiler_identity.hpp"
#include "kiln/kiln.hpp"
#include "level_zero/source.hpp"

namespace {

int fail(const kiln::Error& error) {
  std::fputs(error.text().c_str(), stderr);
  return error.diagnostic() && error.diagnostic()->code.starts_with("K03") ? 77 : 1;  // 77: no such device
}

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

/// Microseconds until `ask` has answered.
template <class Ask>
double time_identity(Ask ask) {
  const auto start = Clock::now();
  const kiln::cache::Identity& identity = ask();
  const double time = microseconds_since(start);
  if (!identity.usable()) std::exit((std::fputs("cache_module: the identity is unknown\n", stderr), 1));
  return time;
}

/// What is sampled just before a driver is loaded; this one is never used.
double time_environment_snapshot() {
  const auto start = Clock::now();
  (void)kiln::detail::snapshot_of_loading("none");
  return microseconds_since(start);
}

/// What identity() does when it knows nothing yet.
kiln::cache::Identity learn(const kiln::Api& api) {
  namespace cache = kiln::cache;
  const auto* source = kiln::detail::source_of(api);
  const cache::MappedLibraries mapped(reinterpret_cast<const void*>(api.zeModuleCreate));
  cache::LibraryInputs libraries = cache::library_inputs(mapped.all(), &cache::digest_of_mapped);
  if (!source) return {{}, {}, {}, "no driver is loaded", false};
  std::optional<kiln::detail::EnvironmentSnapshot> first_use;
  if (!cache::is_build_snapshot(source->snapshot, libraries)) first_use = kiln::detail::take_build_snapshot();
  return cache::make_identity(std::move(libraries), source->snapshot, first_use ? &*first_use : nullptr,
                              &cache::names_in);
}

int print_identity(double load, const kiln::Api& api) {
  kiln::CacheOptions settings;
  settings.folder = std::filesystem::current_path() / "kiln";
  const kiln::Cache cache = kiln::Cache::open(settings);
  const double first = time_identity([&]() -> const auto& { return kiln::cache::identity(api); });
  time_identity([&] { return learn(api); });
  const double anew = time_identity([&] { return learn(api); });
  const double again = time_identity([&]() -> const auto& { return kiln::cache::identity(api); });
  std::printf("{\"load_us\": %.3f, \"first_us\": %.3f, \"anew_us\": %.3f, \"again_us\": %.3f}\n", load, first,
              anew, again);
  return 0;
}

int print_build(const kiln::OpenDevice& device, const char* path, const char* folder) {
  auto file = kiln::read_kernel_file(path);
  if (!file) return fail(file.error());
  kiln::CacheOptions settings;
  if (folder)
    settings.folder = folder;
  else
    settings.mode = kiln::CacheMode::off;
  kiln::Cache cache = kiln::Cache::open(settings);
  kiln::BundleOptions options;
  options.isolation = kiln::Isolation::never;  // the time of the compiler alone
  auto bundle = kiln::Bundle::load(device, {*std::move(file)}, options, folder ? &cache : nullptr);
  if (!bundle) return fail(bundle.error());
  std::printf("{\"ms\": %.6f, \"origin\": \"%s\"}\n",
              std::chrono::duration<double, std::milli>(bundle->build_time()).count(),
              kiln::to_string(bundle->origin()));
  return 0;
}

/// On the clock, and of processor time with that of children that ended.
struct Spent {
  Clock::time_point start = Clock::now();
  double processor = processor_ms();

  static double processor_ms() {
    double sum = 0;
    for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
      rusage usage{};
      getrusage(who, &usage);
      for (const timeval& time : {usage.ru_utime, usage.ru_stime})
        sum += static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
    }
    return sum;
  }
  void print(const char* name, const char* behind) const {
    std::printf("\"%s_ms\": %.6f, \"%s_processor_ms\": %.6f%s", name, microseconds_since(start) / 1e3, name,
                processor_ms() - processor, behind);
  }
};

int print_parts(const kiln::OpenDevice& device, const char* path) {
  auto file = kiln::read_kernel_file(path);
  if (!file) return fail(file.error());
  const Spent spent;
  auto bundle = kiln::Bundle::load(device, {*std::move(file)});
  if (!bundle) return fail(bundle.error());
  std::printf("{");
  spent.print("module", ", ");
  const auto kernel = bundle->kernel(bundle->facts().kernels.at(0).name);
  if (!kernel) return fail(kernel.error());
  spent.print("first", ", ");
  const auto native = bundle->module().native_binary();
  if (!native) return fail(native.error());
  spent.print("all", "}\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    std::fprintf(stderr, "usage: cache_module DEVICE [FILE.spv [FOLDER | --parts]]\n");
    return 2;
  }
  const auto request = kiln::parse_device_request(argv[1]);
  if (!request) return fail(request.error());
  const double load = argc == 2 ? time_environment_snapshot() : 0;
  const auto device = kiln::open_device(*request);
  if (!device) return fail(device.error());
  if (argc == 4 && argv[3] == std::string_view("--parts")) return print_parts(*device, argv[2]);
  return argc == 2 ? print_identity(load, device->device.api())
                   : print_build(*device, argv[2], argc == 4 ? argv[3] : nullptr);
}
