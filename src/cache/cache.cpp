// SPDX-License-Identifier: MIT
// The public face of the store.
#include "kiln/cache.hpp"

#include "cache/store.hpp"

namespace kiln {

const char* to_string(CacheSource source) {
  switch (source) {
    case CacheSource::compiled:
      return "compiled";
    case CacheSource::memory:
      return "memory";
    case CacheSource::read_only:
      return "read-only folder";
    case CacheSource::user:
      return "user's folder";
    case CacheSource::remote:
      return "store of several machines";
  }
  return "?";
}

struct Cache::State {
  cache::Store store;
};

Cache::Cache(std::unique_ptr<State> state) : state_(std::move(state)) {}
Cache::Cache(Cache&&) noexcept = default;
Cache& Cache::operator=(Cache&&) noexcept = default;
Cache::~Cache() = default;

Cache Cache::open(const CacheOptions& options) {
  return Cache(std::unique_ptr<State>(new State{cache::Store(options)}));
}

CacheAnswer Cache::get(const Manifest& manifest, bool storable, const std::function<Compilation()>& compile) {
  return state_->store.get(manifest, storable, compile);
}

CacheAnswer Cache::replace(const Manifest& manifest, const std::function<Compilation()>& compile,
                           std::string_view reason) {
  return state_->store.replace(manifest, compile, reason);
}

CacheCounts Cache::counts() const { return state_->store.counts(); }
const std::filesystem::path& Cache::folder() const { return state_->store.folder(); }
const std::string& Cache::unusable() const { return state_->store.unusable(); }
bool Cache::is_off() const { return state_->store.is_off(); }

}  // namespace kiln
