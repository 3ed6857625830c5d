// SPDX-License-Identifier: MIT
// Who a store is told that asks: from the URL, or from a file that only this user reads.
#pragma once

#include <string>

#include "cache/remote/url.hpp"

namespace kiln::store {

struct Credentials {
  std::string user, password;
  std::string bearer;                ///< a token, of HTTP
  std::string ca, certificate, key;  ///< PEM files: whom to believe, who this is; empty: the system's, nobody
};

/// Lines of a name and a value: user, password, bearer, ca, certificate, key. The error says why not, and
/// nothing of the content.
[[nodiscard]] tl::expected<Credentials, std::string> credentials_of(const cache::RemoteUrl& url);

}  // namespace kiln::store
