// SPDX-License-Identifier: MIT
// What an engine does beside running kernels: its asset pipeline bakes them, its settings page shows the
// cache, and clears it where the user says so.
#include <cstdio>
#include <kiln/offline.hpp>
#include <string_view>

using namespace kiln;

static Result<void> bake_kernels(const char* source, const char* bundle) {
  BakeOptions options{.files = {source}, .targets = {}, .output = bundle};  // targets: "pvc", "dg2-g10", …
  options.work.progress = [](std::size_t done, std::size_t all) { std::printf("%zu of %zu\n", done, all); };
  KILN_TRY(const auto baked, bake(options));
  for (const CompilerMessage& each : baked.messages)
    std::printf("%s:%u: %s\n", each.file.c_str(), each.line, each.text.c_str());
  for (const BakedKernel& kernel : baked.kernels) std::printf("baked %s\n", kernel.name.c_str());
  return {};
}

static Result<void> settings_page(bool clear) {
  KILN_TRY(const auto options, cache_options());  // those that the engine opens its Cache with
  KILN_TRY(const auto size, cache_size(options));
  std::printf("the kernel cache has %llu entries\n", static_cast<unsigned long long>(size.entries));
  if (!clear) return {};
  KILN_TRY(const auto cleared, clear_cache(options));
  std::printf("%llu removed\n", static_cast<unsigned long long>(cleared.removed));
  return {};
}

int main(int count, char** arguments) {
  const bool clear = count == 4 && std::string_view(arguments[3]) == "clear-cache";
  if (count != 3 && !clear) return std::fputs("offline SOURCE BUNDLE [clear-cache]\n", stderr), 2;
  auto done = bake_kernels(arguments[1], arguments[2]);
  if (done) done = settings_page(clear);
  if (!done) return std::fputs(done.error().text().c_str(), stderr), 1;
}
