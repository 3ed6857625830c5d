// SPDX-License-Identifier: MIT
// A file whose memory other processes may open, and the descriptor of it that the application holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "drivers/cpu/memory/shared_file.hpp"

namespace kiln::cpu {

/// Each handle that is asked for counts, and the descriptor in them stays until as many were put back:
/// threads that share one memory get and put their handles each on their own. Thread-safe.
class ExportedFile {
 public:
  /// May throw bad_alloc.
  explicit ExportedFile(Descriptor file);
  ~ExportedFile();
  ExportedFile(const ExportedFile&) = delete;
  ExportedFile& operator=(const ExportedFile&) = delete;

  [[nodiscard]] const Descriptor& file() const { return file_; }

  /// A handle for a part of the file. Nothing when the process may open no more descriptors.
  [[nodiscard]] std::optional<SharedHandle> give_out(std::uint64_t bytes, std::uint64_t offset = 0);

  /// Puts a handle back that was given out for any file of this process; one that was put back before is no
  /// mistake (the conformance suite does it). False: there is no such file.
  [[nodiscard]] static bool take_back(const SharedHandle& handle);

 private:
  void take_back();

  const Descriptor file_;  // the driver's own
  SharedHandle handle_;
  std::mutex mutex_;     // guards what follows
  int given_out_ = -1;   // the application's, which may have closed it
  std::size_t out_ = 0;  // handles
};

}  // namespace kiln::cpu
