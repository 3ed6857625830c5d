// SPDX-License-Identifier: MIT
// What the CPU device's benchmark runs: a kernel, its launch, its data and the same work as a plain loop.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kiln::bench {

using Bytes = std::vector<std::byte>;

struct Argument {
  enum class Kind : std::uint8_t { buffer, value, local } kind;
  std::uint64_t number;  // of the buffer; the value's bits; bytes of SLM
  std::size_t size = 4;  // bytes of a value
};

struct Case {
  std::string name, file, kernel;  // file: without .spv or .cl
  std::array<std::uint32_t, 2> groups, group_size;
  std::vector<Argument> arguments;
  std::vector<Bytes> buffers;  // as the first run finds them
  std::size_t answer;          // the buffer that holds it
  std::function<void(std::vector<Bytes>&)> plain;
  bool own = false;     // the file is the benchmark's, not a sample's
  float tolerance = 0;  // relative, of answers that are floats; 0: byte by byte
};

/// The cases by name, with sizes for a run of some milliseconds, or small ones for the time to a first
/// result.
std::vector<std::string> case_names();
std::optional<Case> make_case(const std::string& name, bool small);

/// Runs one case, again and again on the same buffers.
class Runner {
 public:
  virtual ~Runner() = default;
  virtual bool run() = 0;
  /// What its code was made from.
  [[nodiscard]] virtual std::string from() const = 0;
  /// The buffer `index` as the runs left it.
  virtual std::optional<Bytes> read(std::size_t index) = 0;
};

/// Null, with the reason in `why`, when it cannot be had. `flags` are the build's.
std::unique_ptr<Runner> run_with_kiln(const Case& what, std::string& why, const std::string& flags = {});
std::unique_ptr<Runner> run_with_opencl(const Case& what, std::string& why);

}  // namespace kiln::bench
