// SPDX-License-Identifier: MIT
// Counts the handles of exported files, and finds the file of a handle by its inode.
#include "drivers/cpu/memory/exported_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <shared_mutex>
#include <unordered_map>

namespace kiln::cpu {
namespace {

struct Files {
  std::shared_mutex mutex;
  std::unordered_map<std::uint64_t, ExportedFile*>
      by_inode;  // all are of one file system, that of memfd_create
};

// Never destroyed: memory that the application leaked is given back at exit.
Files& files() {
  static auto* all = new Files;
  return *all;
}

}  // namespace

ExportedFile::ExportedFile(Descriptor file)
    : file_(std::move(file)),
      handle_(shared_handle(file_.get(), SharedKind::memory, 0).value_or(SharedHandle{})) {
  const std::lock_guard lock(files().mutex);
  files().by_inode[handle_.inode] = this;
}

ExportedFile::~ExportedFile() {
  {
    const std::lock_guard lock(files().mutex);
    files().by_inode.erase(handle_.inode);
  }
  if (is_file_of(given_out_, handle_)) close(given_out_);
}

std::optional<SharedHandle> ExportedFile::give_out(std::uint64_t bytes, std::uint64_t offset) {
  const std::lock_guard lock(mutex_);
  if (!is_file_of(given_out_, handle_)) {
    given_out_ = fcntl(file_.get(), F_DUPFD_CLOEXEC, 0);
    if (given_out_ < 0) return std::nullopt;
  }
  ++out_;
  SharedHandle handle = handle_;
  handle.fd = given_out_;
  handle.bytes = bytes;
  handle.offset = offset;
  return handle;
}

void ExportedFile::take_back() {
  const std::lock_guard lock(mutex_);
  if (out_ == 0 || --out_ != 0) return;
  if (is_file_of(given_out_, handle_)) close(given_out_);
  given_out_ = -1;
}

bool ExportedFile::take_back(const SharedHandle& handle) {
  const std::shared_lock lock(files().mutex);
  const auto found = files().by_inode.find(handle.inode);
  if (found == files().by_inode.end() || found->second->handle_.device != handle.device) return false;
  found->second->take_back();
  return true;
}

}  // namespace kiln::cpu
