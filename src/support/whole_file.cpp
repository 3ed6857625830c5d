// SPDX-License-Identifier: MIT
// Writes to a temporary name, then renames.
#include "support/whole_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

namespace kiln::detail {

WholeFile::WholeFile(std::string path, Readers readers) : path_(std::move(path)) {
  struct stat status {};
  const bool special = stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  std::error_code error;
  if (const auto place = std::filesystem::weakly_canonical(path_, error); !special && !error)
    path_ = place.string();
  made_ = special ? path_ : path_ + "." + std::to_string(getpid()) + ".part";
  file_ = std::fopen(made_.c_str(), special ? "wbe" : "wbxe");
  if (!file_) note();
  made_by_us_ = file_ && !special;
  if (made_by_us_ && readers == Readers::owner && fchmod(fileno(file_), 0600) != 0) note();
}

WholeFile::~WholeFile() {
  if (file_) std::fclose(file_);
  if (made_by_us_ && !finished_) unlink(made_.c_str());
}

void WholeFile::write(std::string_view bytes) {
  if (file_ && std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) note();
}

int WholeFile::finish() {
  if (file_ && std::fclose(std::exchange(file_, nullptr)) != 0) note();
  if (!error_ && made_by_us_ && std::rename(made_.c_str(), path_.c_str()) != 0) note();
  finished_ = !error_;
  return error_;
}

void WholeFile::note() {
  if (!error_) error_ = errno ? errno : EIO;
}

}  // namespace kiln::detail
