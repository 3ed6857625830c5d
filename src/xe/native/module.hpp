// SPDX-License-Identifier: MIT
// A native file without a driver: its kernels' code, linked, and what they are given.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "binary/payload.hpp"
#include "xe/unit/machine.hpp"

namespace kiln::xe {

/// Thread-safe.
class NativeModule {
 public:
  /// Of a file that read_zebin() takes. An error: no libiga64, one that does not know the product, or a file
  /// that cannot be linked; the text is a sentence.
  [[nodiscard]] static tl::expected<std::shared_ptr<const NativeModule>, std::string> read(
      const Target& target, std::span<const std::byte> file);

  [[nodiscard]] const Target& target() const { return target_; }
  [[nodiscard]] std::uint32_t register_bytes() const { return register_bytes_; }
  [[nodiscard]] bool is_older() const { return is_older_; }  ///< Xe-LP
  [[nodiscard]] std::span<const detail::KernelPayload> kernels() const { return payloads_; }
  /// Decoded when it is first asked for.
  [[nodiscard]] tl::expected<std::shared_ptr<const Code>, std::string> code(std::size_t kernel) const;
  /// Program-scope variables and constants, which live as long as the module.
  [[nodiscard]] Stretch reach(std::uint64_t address, bool write) const;

 private:
  struct Section {
    std::string name;
    std::vector<std::byte> bytes;
  };
  explicit NativeModule(const Target& target) : target_(target) {}
  std::string link(std::span<const std::byte> file);

  Target target_;
  std::uint32_t register_bytes_ = 32;
  bool is_older_ = false;
  std::vector<detail::KernelPayload> payloads_;
  std::vector<std::vector<std::byte>> texts_;  // of each kernel
  std::vector<Section> data_;
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const Code>> codes_;
};

}  // namespace kiln::xe
