// SPDX-License-Identifier: MIT
// Makes, maps and finds files without a name.
#include "drivers/cpu/memory/shared_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace kiln::cpu {
namespace {

constexpr std::uint32_t kMagic = 0x4e4c494b;  // "KILN"

bool is_it(const struct stat& status, const SharedHandle& handle) {
  return S_ISREG(status.st_mode) && status.st_dev == handle.device && status.st_ino == handle.inode &&
         handle.offset <= static_cast<std::uint64_t>(status.st_size) &&
         static_cast<std::uint64_t>(status.st_size) - handle.offset >= handle.bytes;
}

}  // namespace

Mapping::~Mapping() {
  if (base_) munmap(base_, bytes_);
}

Descriptor make_shared_file(std::size_t bytes) {
  Descriptor file(memfd_create("kiln-cpu", MFD_CLOEXEC));
  if (!file) return file;
  // A limit on file sizes would end the process by SIGXFSZ.
  sigset_t limit, before;
  sigemptyset(&limit);
  sigaddset(&limit, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &limit, &before);
  const bool grown = ftruncate(file.get(), static_cast<off_t>(bytes)) == 0;
  const timespec now{};
  if (!grown) sigtimedwait(&limit, nullptr, &now);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return grown ? std::move(file) : Descriptor();
}

Mapping map_shared(const Descriptor& file, std::size_t bytes, std::uint64_t offset) {
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file.get(),
                    static_cast<off_t>(offset));
  return base == MAP_FAILED ? Mapping() : Mapping(base, bytes);
}

std::optional<SharedHandle> shared_handle(int fd, SharedKind kind, std::uint64_t bytes) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return std::nullopt;
  SharedHandle handle;
  handle.fd = fd;
  handle.magic = kMagic;
  handle.kind = kind;
  handle.process = getpid();
  handle.device = status.st_dev;
  handle.inode = status.st_ino;
  handle.bytes = bytes;
  return handle;
}

std::optional<SharedHandle> handle_of_descriptor(int fd, SharedKind kind) {
  struct stat status {};
  if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0)
    return std::nullopt;
  return shared_handle(fd, kind, static_cast<std::uint64_t>(status.st_size));
}

bool is_file_of(int fd, const SharedHandle& handle) {
  struct stat status {};
  return fd >= 0 && fstat(fd, &status) == 0 && is_it(status, handle);
}

Descriptor open_shared(const SharedHandle& handle, SharedKind kind) {
  if (handle.magic != kMagic || handle.kind != kind || handle.bytes == 0) return {};
  if (is_file_of(handle.fd, handle)) return Descriptor(fcntl(handle.fd, F_DUPFD_CLOEXEC, 0));
  if (handle.process <= 0) return {};
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", handle.process, handle.fd);
  // Looked at before it is opened: the handle may name anything, and opening a device or a pipe does
  // something.
  struct stat status {};
  if (stat(path, &status) != 0 || !is_it(status, handle)) return {};
  Descriptor file(open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  return is_file_of(file.get(), handle) ? std::move(file) : Descriptor();
}

}  // namespace kiln::cpu
