// SPDX-License-Identifier: MIT
// Reads the command line.
#include "options.hpp"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "frame.hpp"

namespace engine {
namespace {

constexpr char kHelp[] =
    R"(usage: example_engine [OPTION VALUE]...

Computes frames: upload, histogram, prefix sum, matrix product, convolution, sum, readback.

  --device WHICH      gpu, cpu, cpu:PRODUCT, capture:PRODUCT or driver:LIBRARY; default: KILN_DEVICE, else the best
                      of the GPUs, else the CPU device
  --pick WHICH        among the devices of that driver: uuid:HEX, pci:DOMAIN:BUS:DEVICE.FUNCTION, name:PART,
                      type:discrete, type:integrated or type:cpu; default: the best
  --frames COUNT      1 to 1000000 (8)
  --size EDGE         of the images, 1 to 1024 (256); halved where memory does not suffice
  --tile EDGE         of the tiles of the matrix product, 1 to 1024 (16); lowered to what fits the device
  --threads COUNT     that record, 1 to 64 (8)
  --submission HOW    auto, in-order or barriers (auto)
  --kernels FOLDER    with passes.* and convolve.* (KILN_KERNEL_PATH, else `kernels` beside the program)
  --watch FILE        OpenCL C of the kernel `convolve`: compiled now, and again whenever it changes between frames
  --timeout SECONDS   for a frame, 1 to 3600 (60)
  --step              each frame waits for a line on standard input
  --check             compares each frame with the host's; exit status 1 when one is wrong
  --json              prints JSON
  --list-devices      what there is, and ends
  --help              this text

Exit status: 0 right, 1 wrong results or an error on the way, 2 usage, 4 no device.
)";

template <class T>
bool number(std::string_view text, T least, T most, T& value) {
  T read{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
  if (error != std::errc() || end != text.data() + text.size() || read < least || read > most) return false;
  value = read;
  return true;
}

/// False when the value is none for that option; `known` is set when there is such an option.
bool take(Options& options, std::string_view name, const char* value, bool& known) {
  std::uint32_t seconds = 0;
  if (name == "--device") return options.device = value, true;
  if (name == "--pick") return options.pick = value, true;
  if (name == "--kernels") return options.kernels = value, true;
  if (name == "--watch") return options.watch = value, true;
  if (name == "--frames") return number(value, 1u, 1000000u, options.frames);
  if (name == "--size") return number(value, 1u, kLargestSize, options.size);
  if (name == "--tile") return number(value, 1u, 1024u, options.tile);
  if (name == "--threads") return number(value, 1u, 64u, options.threads);
  if (name == "--timeout") {
    if (!number(value, 1u, 3600u, seconds)) return false;
    options.timeout = std::chrono::seconds(seconds);
    return true;
  }
  if (name == "--submission") {
    const std::string_view how = value;
    options.submission = how == "in-order"   ? Submission::in_order
                         : how == "barriers" ? Submission::barriers
                                             : Submission::automatic;
    return how == "auto" || options.submission != Submission::automatic;
  }
  return known = false;
}

bool take_switch(Options& options, std::string_view name) {
  if (name == "--check") return options.check = true;
  if (name == "--json") return options.json = true;
  if (name == "--step") return options.step = true;
  return name == "--list-devices" && (options.list_devices = true);
}

}  // namespace

Parsed parse(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const char* const name = words[i];
    if (std::strcmp(name, "--help") == 0) {
      std::fputs(kHelp, stdout);
      return {};
    }
    if (take_switch(options, name)) continue;
    bool known = true;
    const char* const value = i + 1 < count ? words[i + 1] : "";
    const bool good = take(options, name, value, known);
    if (good && i + 1 < count) {
      ++i;
      continue;
    }
    if (known && i + 1 < count)
      std::fprintf(stderr, "example_engine: %s does not take '%s'; --help says what it takes\n", name, value);
    else if (known)
      std::fprintf(stderr, "example_engine: %s needs a value\n", name);
    else
      std::fprintf(stderr, "example_engine: unknown option '%s'; --help lists all\n", name);
    return {std::nullopt, 2};
  }
  return {options, 0};
}

}  // namespace engine
