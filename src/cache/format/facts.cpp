// SPDX-License-Identifier: MIT
// Writes and reads the facts of a module: one list of fields that the writer and the reader both follow.
#include "cache/format/facts.hpp"

#include <bit>
#include <concepts>
#include <cstring>

namespace kiln::cache {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr std::uint32_t kFactsVersion = 2;
constexpr std::uint64_t kScratchEnd = std::uint64_t{1} << 38;  // bytes: a size of 32 bits times a SIMD width

template <class T>
concept Number = std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t>;

// The fields in the order of the format. A field that is added to a struct does not compile here until it is
// named; then the version goes up and docs/cache-format.md gets a row.
template <class Codec, class Facts>
void argument_fields(Codec& codec, Facts& facts) {
  auto& [kind, size, local_alignment, name] = facts;
  codec.choice(kind, ArgumentKind::sampler);
  codec.number(size);
  codec.alignment(local_alignment);
  codec.text(name);
}

template <class Codec, class Facts>
void kernel_fields(Codec& codec, Facts& facts) {
  auto& [name, arguments, arguments_known, static_slm, slm_mode, required_group_size, required_sub_group_size,
         simd_size, grf_count, barrier_count, private_size, spill_size, group_size_hint, private_per_thread,
         scratch_per_thread, has_4gb_buffers, needs_sync_buffer, has_stack_calls, has_printf,
         has_global_atomics, is_invalid, may_follow_pointers, malformed] = facts;
  codec.text(name);
  codec.list(arguments, [&](auto& argument) { argument_fields(codec, argument); });
  codec.flag(arguments_known);
  codec.number(static_slm);
  codec.choice(slm_mode, SlmMode::runtime_adjusted);
  for (auto& size : required_group_size) codec.number(size);
  codec.number(required_sub_group_size);
  codec.number(simd_size);
  codec.number(grf_count);
  codec.number(barrier_count);
  codec.number(private_size);
  codec.number(spill_size);
  for (auto& size : group_size_hint) codec.number(size);
  codec.number(private_per_thread);
  for (auto& size : scratch_per_thread) codec.scratch(size);
  codec.flag(has_4gb_buffers);
  codec.flag(needs_sync_buffer);
  codec.flag(has_stack_calls);
  codec.flag(has_printf);
  codec.flag(has_global_atomics);
  codec.flag(is_invalid);
  codec.flag(may_follow_pointers);
  codec.text(malformed);
}

template <class Codec, class Facts>
void module_fields(Codec& codec, Facts& facts) {
  auto& [kernels, spirv_version, capabilities, info_version, global_data, constant_data, has_ir, ip_version,
         product_family] = facts;
  codec.list(kernels, [&](auto& kernel) { kernel_fields(codec, kernel); });
  codec.number(spirv_version);
  codec.list(capabilities, [&](auto& capability) { codec.number(capability); });
  codec.text(info_version);
  codec.number(global_data);
  codec.number(constant_data);
  codec.flag(has_ir);
  codec.number(ip_version);
  codec.number(product_family);
}

class Writer {
 public:
  void number(const Number auto& value) { append(&value, sizeof value); }
  void flag(const bool& value) { bytes_.push_back(std::byte(value)); }
  template <class Enum>
  void choice(const Enum& value, Enum /*last*/) {
    bytes_.push_back(std::byte(value));
  }
  void alignment(const std::uint32_t& value) { number(value); }
  void scratch(const std::uint64_t& value) { number(value); }
  void text(const std::string& value) {
    number(static_cast<std::uint32_t>(value.size()));
    append(value.data(), value.size());
  }
  template <class T, class Fields>
  void list(const std::vector<T>& values, Fields fields) {
    number(static_cast<std::uint32_t>(values.size()));
    for (const T& value : values) fields(value);
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void append(const void* from, std::size_t size) {
    const auto* start = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), start, start + size);
  }

  std::vector<std::byte> bytes_;
};

/// Bytes that an empty T takes: no other takes fewer.
template <class T>
constexpr std::size_t kLeast = sizeof(T);
template <>
constexpr std::size_t kLeast<ArgumentFacts> = 1 + 4 + 4 + 4;
template <>
constexpr std::size_t kLeast<KernelFacts> = 4 + 4 + 1 + 8 + 1 + 3 * 4 + 6 * 4 + 3 * 4 + 8 + 2 * 8 + 7 + 4;

/// After the first fault nothing is read any more, and every number is 0.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : start_(bytes.data()), left_(bytes) {}

  template <Number T>
  void number(T& value) {
    value = 0;
    if (const std::byte* from = take(sizeof value)) std::memcpy(&value, from, sizeof value);
  }
  void flag(bool& value) { value = small(1, "a flag is neither 0 nor 1") != 0; }
  template <class Enum>
  void choice(Enum& value, Enum last) {
    value = static_cast<Enum>(small(static_cast<std::uint8_t>(last), "a value is none of those there are"));
  }
  void alignment(std::uint32_t& value) {
    number(value);
    if (!std::has_single_bit(value)) refuse("an alignment is no power of two");
  }
  void scratch(std::uint64_t& value) {
    number(value);
    if (value >= kScratchEnd) refuse("a thread has more scratch memory than there can be");
  }
  void text(std::string& value) {
    const std::size_t size = count(1);
    if (size) value.assign(reinterpret_cast<const char*>(take(size)), size);
  }
  template <class T, class Fields>
  void list(std::vector<T>& values, Fields fields) {
    values.resize(count(kLeast<T>));
    for (T& value : values) {
      fields(value);
      if (why_) return;
    }
  }
  void refuse(const char* why) {
    if (why_) return;
    why_ = why;
    offset_ = static_cast<std::uint64_t>(left_.data() - start_);
    left_ = {};
  }
  void end() {
    if (!left_.empty()) refuse("bytes behind the end");
  }
  [[nodiscard]] const char* why() const { return why_; }  ///< null: nothing is wrong
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

 private:
  const std::byte* take(std::size_t size) {
    if (size > left_.size()) refuse("cut short");
    if (why_) return nullptr;
    const std::byte* from = left_.data();
    left_ = left_.subspan(size);
    return from;
  }
  std::uint8_t small(std::uint8_t most, const char* why) {
    const std::byte* from = take(1);
    const auto value = from ? static_cast<std::uint8_t>(*from) : std::uint8_t{0};
    if (value > most) refuse(why);
    return value > most ? 0 : value;
  }
  /// A number of things that take so many bytes each at least: of no more than there can be.
  std::size_t count(std::size_t least) {
    std::uint32_t value = 0;
    number(value);
    if (value > left_.size() / least) refuse("a count exceeds what is there");
    return why_ ? 0 : value;
  }

  const std::byte* start_;
  std::span<const std::byte> left_;
  const char* why_ = nullptr;
  std::uint64_t offset_ = 0;
};

}  // namespace

std::vector<std::byte> encode_facts(const ModuleFacts& facts) {
  Writer writer;
  writer.number(kFactsVersion);
  module_fields(writer, facts);
  return writer.take();
}

tl::expected<ModuleFacts, BinaryError> decode_facts(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  ModuleFacts facts;
  std::uint32_t version = 0;
  reader.number(version);
  if (version != kFactsVersion) reader.refuse("of another version");
  module_fields(reader, facts);
  reader.end();
  if (reader.why())
    return tl::unexpected(BinaryError{std::string("kernel facts: ") + reader.why(), reader.offset()});
  return facts;
}

}  // namespace kiln::cache
