// SPDX-License-Identifier: MIT
// Reads files of credentials.
#include "store/credentials.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>

namespace kiln::store {

tl::expected<Credentials, std::string> credentials_of(const cache::RemoteUrl& url) {
  Credentials result{url.user, url.password, {}, {}, {}, {}};
  if (url.credentials.empty()) return result;
  const auto fault = [&](const std::string& why) { return tl::unexpected(url.credentials + ": " + why); };
  struct stat status {};
  if (stat(url.credentials.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return fault("there is no such file");
  if (status.st_uid != geteuid() && status.st_uid != 0) return fault("it belongs to another user");
  if ((status.st_mode & 077) != 0) return fault("others may read it: chmod 600");
  std::ifstream file(url.credentials);
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    const auto space = line.find(' ');
    const std::string name = line.substr(0, space);
    const std::array<std::pair<const char*, std::string*>, 6> fields{{{"user", &result.user},
                                                                      {"password", &result.password},
                                                                      {"bearer", &result.bearer},
                                                                      {"ca", &result.ca},
                                                                      {"certificate", &result.certificate},
                                                                      {"key", &result.key}}};
    bool known = false;
    for (const auto& [field, value] : fields)
      if (name == field && space != line.npos) *value = line.substr(space + 1), known = true;
    if (!known)
      return fault("line " + std::to_string(number) +
                   " begins with none of user, password, bearer, ca, certificate and key");
  }
  return result;
}

}  // namespace kiln::store
