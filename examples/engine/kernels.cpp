// SPDX-License-Identifier: MIT
// Loads and compiles kernels through the cache.
#include "kernels.hpp"

#include "say.hpp"

namespace engine {

using namespace kiln;

bool Watch::changed() {
  if (file_.empty()) return false;
  std::error_code none;
  const auto time = std::filesystem::last_write_time(file_, none);
  const auto bytes = none ? 0 : std::filesystem::file_size(file_, none);
  // An editor may be in the middle of replacing the file: the next frame asks again.
  if (none || (time == time_ && bytes == bytes_)) return false;
  time_ = time;
  bytes_ = bytes;
  return true;
}

Result<Library> Library::load(const OpenDevice& device, const std::filesystem::path& folder, Cache& cache) {
  Library library;
  KILN_TRY(library.passes_, Bundle::load(device, folder / "passes", {}, &cache));
  KILN_TRY(library.convolve_, Bundle::load(device, folder / "convolve", {}, &cache));
  say("kernels from %s (%s) and %s (%s)", library.passes_.file().c_str(), to_string(library.passes_.origin()),
      library.convolve_.file().c_str(), to_string(library.convolve_.origin()));
  return library;
}

Result<Kernels> Library::make() const {
  Kernels kernels;
  KILN_TRY(kernels.multiply, passes_.make_kernel("multiply"));
  KILN_TRY(kernels.histogram, passes_.make_kernel("histogram"));
  KILN_TRY(kernels.scan, passes_.make_kernel("scan"));
  KILN_TRY(kernels.reduce, passes_.make_kernel("reduce"));
  KILN_TRY(kernels.convolve, convolve_.make_kernel("convolve"));
  return kernels;
}

Result<Bundle> Library::compile(const OpenDevice& device, const std::filesystem::path& source, Cache& cache) {
  KILN_TRY(const auto text, read_source(source));
  return Bundle::compile(device, text, {}, &cache);
}

}  // namespace engine
