// SPDX-License-Identifier: MIT
// `kiln cache`: what its options say, and a function for each of its commands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tool/common/session.hpp"

namespace kiln::tool {

struct CacheCommand {
  int (*run)(const CacheCommand&) = nullptr;  ///< the command that was given
  std::string folder;                         ///< empty: KILN_CACHE_DIR, else the user's
  bool json = false;
  bool remove = false;                     // verify
  std::string device, flags;               // explain, warm
  std::vector<std::string> files;          // explain, warm; of explain also the digits of a key
  std::vector<std::string> constants;      // explain, warm
  bool link = false;                       // explain, warm
  std::string max_size, older_than;        // prune
  std::string archive;                     // export, import; of keygen and sign the key, of pull the keys
  std::vector<std::string> keys;           // export
  bool only_signed = false;                // import
  bool fleet = false, prometheus = false;  // stats
  bool oci = false;                        // export
  bool replace = false;                    // push
  bool dry_run = false;                    // rewarm
  std::uint64_t limit = 0;                 // rewarm
  std::string products;                    // export, push, pull, rewarm
  std::string trust_action = "list", trust_key, trust_name, before, since;  // trust
};

int cache_stats(const CacheCommand& command);
int cache_list(const CacheCommand& command);
int cache_verify(const CacheCommand& command);
int cache_explain(const CacheCommand& command);
int cache_prune(const CacheCommand& command);
int cache_clear(const CacheCommand& command);
int cache_warm(const CacheCommand& command);
int cache_rewarm(const CacheCommand& command);
int cache_export(const CacheCommand& command);
int cache_import(const CacheCommand& command);
int cache_keygen(const CacheCommand& command);
int cache_trust(const CacheCommand& command);
int cache_sign(const CacheCommand& command);
int cache_push(const CacheCommand& command);
int cache_pull(const CacheCommand& command);
int cache_fleet_stats(const CacheCommand& command);
int cache_export_oci(const CacheCommand& command);

}  // namespace kiln::tool
