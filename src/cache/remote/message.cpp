// SPDX-License-Identifier: MIT
// Writes and reads the messages of kiln-store.
#include "cache/remote/message.hpp"

#include "kiln/version.hpp"
#include "support/ipc/message.hpp"

namespace kiln::cache {
namespace {

// Library and program are of one release, or do not understand each other and do without.
constexpr std::string_view kSettingsMark = "kiln-store settings " KILN_VERSION " 1\n";
constexpr std::string_view kRequestMark = "kiln-store request " KILN_VERSION " 1\n";
constexpr std::string_view kAnswerMark = "kiln-store answer " KILN_VERSION " 1\n";

using detail::MessageReader;
using detail::MessageWriter;

std::span<const std::byte> bytes_of(const CacheKey& key) { return std::as_bytes(std::span(key.bytes)); }

std::vector<std::byte> with(std::vector<std::byte> message, std::span<const std::byte> rest) {
  message.insert(message.end(), rest.begin(), rest.end());
  return message;
}

/// All zeros where there is none.
bool read_key(MessageReader& reader, CacheKey& key) {
  const auto bytes = reader.bytes();
  if (bytes.size() != key.bytes.size()) return false;
  std::memcpy(key.bytes.data(), bytes.data(), bytes.size());
  return true;
}

}  // namespace

std::vector<std::byte> encode(const StoreSettings& settings) {
  MessageWriter writer(kSettingsMark);
  writer.number(settings.stores.size());
  for (const std::string& store : settings.stores) writer.text(store);
  return writer.text(settings.signing_key).take();
}

std::vector<std::byte> encode_before_entry(const StoreRequest& request) {
  MessageWriter writer(kRequestMark);
  writer.number(static_cast<std::uint32_t>(request.verb)).bytes(bytes_of(request.key));
  writer.bytes(bytes_of(request.inputs)).number(request.store).number(request.lead_ms);
  writer.number(static_cast<std::uint64_t>(request.until))
      .number(request.lease)
      .number(request.took_ms)
      .number(request.replace);
  return writer.number(request.entry.size()).take();
}

std::vector<std::byte> encode_before_entry(const StoreAnswer& answer) {
  MessageWriter writer(kAnswerMark);
  writer.number(static_cast<std::uint32_t>(answer.result)).number(answer.store).number(answer.lease);
  writer.number(answer.wait_ms).text(answer.reason).text(answer.note);
  return writer.number(answer.entry.size()).take();
}

std::vector<std::byte> encode(const StoreRequest& request) {
  return with(encode_before_entry(request), request.entry);
}

std::vector<std::byte> encode(const StoreAnswer& answer) {
  return with(encode_before_entry(answer), answer.entry);
}

std::optional<StoreSettings> decode_store_settings(std::span<const std::byte> message) {
  MessageReader reader(message, kSettingsMark);
  StoreSettings settings;
  // The loop ends where the message does, whatever the count says.
  for (std::uint64_t stores = reader.number(); stores != 0 && reader.well(); --stores)
    settings.stores.push_back(reader.text());
  settings.signing_key = reader.text();
  if (!reader.done()) return std::nullopt;
  return settings;
}

std::optional<StoreRequest> decode_store_request(std::span<const std::byte> message) {
  MessageReader reader(message, kRequestMark);
  StoreRequest request;
  request.verb = static_cast<StoreVerb>(reader.number(static_cast<std::uint64_t>(StoreVerb::figures)));
  if (!read_key(reader, request.key) || !read_key(reader, request.inputs)) return std::nullopt;
  request.store = reader.number();
  request.lead_ms = reader.number();
  request.until = static_cast<std::int64_t>(reader.number());
  request.lease = reader.number();
  request.took_ms = reader.number();
  request.replace = reader.flag();
  request.entry = reader.bytes();
  if (!reader.done()) return std::nullopt;
  return request;
}

std::optional<StoreAnswer> decode_store_answer(std::span<const std::byte> message) {
  MessageReader reader(message, kAnswerMark);
  StoreAnswer answer;
  answer.result = static_cast<StoreResult>(reader.number(static_cast<std::uint64_t>(StoreResult::failed)));
  answer.store = reader.number();
  answer.lease = reader.number();
  answer.wait_ms = reader.number();
  answer.reason = reader.text();
  answer.note = reader.text();
  answer.entry = reader.bytes();
  if (!reader.done()) return std::nullopt;
  return answer;
}

}  // namespace kiln::cache
