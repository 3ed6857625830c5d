// SPDX-License-Identifier: MIT
// Asks stores of several machines for the command.
#include "tool/cache/fleet.hpp"

#include "support/printable.hpp"
#include "tool/cache/compare.hpp"
#include "tool/cache/units.hpp"
#include "tool/common/output.hpp"

namespace kiln::tool {
namespace {

// Nobody's program waits for these: a question, and what takes longer, an upload or a list of all keys.
constexpr std::chrono::seconds kForQuestion{3}, kForMore{30};

}  // namespace

Fleet::Fleet(const CacheOptions& options)
    : stores_(cache::remote_settings(options).stores),
      trust_(options.trust_file),
      link_(cache::remote_settings(options).settings) {}

tl::expected<cache::StoreLink::Reply, std::string> Fleet::ask(cache::StoreVerb verb, std::size_t store,
                                                              const CacheKey& key,
                                                              std::span<const std::byte> entry,
                                                              bool replace) {
  cache::StoreRequest request;
  request.verb = verb;
  request.store = store;
  request.key = key;
  request.entry = entry;
  request.replace = replace;
  const bool asks = verb == cache::StoreVerb::get_one || verb == cache::StoreVerb::figures;
  const auto until = std::chrono::steady_clock::now() + (asks ? kForQuestion : kForMore);
  request.until = std::chrono::nanoseconds(until.time_since_epoch()).count();
  auto reply = link_.ask(request, until + std::chrono::seconds(1));
  if (reply && reply->answer.result == cache::StoreResult::failed)
    return tl::unexpected(reply->answer.reason);
  return reply;
}

Fleet::Held Fleet::get(std::size_t store, const CacheKey& key) {
  auto reply = ask(cache::StoreVerb::get_one, store, key);
  if (!reply) return {{}, false, reply.error()};
  if (reply->answer.result != cache::StoreResult::found) return {{}, true, {}};
  const auto bytes =
      std::make_shared<const std::vector<std::byte>>(reply->answer.entry.begin(), reply->answer.entry.end());
  cache::FileBytes file{bytes, *bytes, {}, {}};
  std::string why = cache::why_refused(file, key, stores_[store].accepts_unsigned, trust_, now());
  if (!why.empty()) return {{}, false, "not used: " + why};
  return {std::move(file), false, {}};
}

Error no_store() {
  return Error(
      ZE_RESULT_ERROR_INVALID_ARGUMENT, "cache",
      {"K0714", "no store of several machines is named", {}, {"set KILN_CACHE_REMOTE: docs/fleet.md"}});
}

bool is_for(const Manifest& manifest, const std::string& products) {
  if (products.empty()) return true;
  const std::string device = brief_device(manifest);
  for (std::size_t start = 0; start <= products.size();) {
    const std::size_t end = std::min(products.find(',', start), products.size());
    const std::string product = products.substr(start, end - start);
    if (!product.empty() && (device == product || device.starts_with(product + '-'))) return true;
    start = end + 1;
  }
  return false;
}

Json stores_json(const CacheOptions& options, const CacheKey& key, bool text, bool& hit) {
  Json list = Json::array();
  if (options.remote.empty()) return list;
  Fleet fleet(options);
  for (std::size_t store = 0; store < fleet.stores().size(); ++store) {
    const cache::RemoteUrl& url = fleet.stores()[store];
    const Fleet::Held held = fleet.get(store, key);
    Json json{{"store", url.name()}, {"hit", held.file.has_value()}};
    std::string said = held.absent ? "has none" : held.why;
    if (held.file) {
      said = size_text(held.file->bytes.size());
      json["size"] = held.file->bytes.size();
      if (held.file->seal) {
        const std::string signer = cache::to_string(held.file->seal->signer);
        json["signer"] = signer;
        json["signed"] = held.file->seal->signed_at;
        said += ", signed " + date_text(held.file->seal->time()) + " by " + signer.substr(0, 16) + "…";
      } else {
        said += ", unsigned";
      }
      hit = true;
    } else if (!held.absent) {
      json["why"] = held.why;
    }
    if (text)
      say("  %s %s: %s\n", held.file ? "store hit " : "store     ", url.name().c_str(),
          detail::printable(said).c_str());
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace kiln::tool
