// SPDX-License-Identifier: MIT
// Runs the line number programs of a native binary. libdw does not read them: it knows neither the machine
// nor its relocations, which say whose code an address is.
#include "xe/lines.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "binary/native_sections.hpp"

namespace kiln::xe {
namespace {

using Bytes = std::span<const std::byte>;
constexpr std::size_t kMostLines = 1 << 20, kMostFiles = 1 << 12;

/// Takes values from the front; behind the end all are 0, and `failed`.
class Reader {
 public:
  Reader(Bytes bytes, std::uint64_t start) : left_(bytes), place_(start) {}
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool empty() const { return left_.empty() || failed_; }
  [[nodiscard]] std::uint64_t place() const { return place_; }
  Reader part(std::uint64_t size) {
    const std::uint64_t start = place_;
    return {take(size), start};
  }
  Bytes take(std::uint64_t size) {
    if (size > left_.size()) {
      failed_ = true;
      left_ = {};
      return {};
    }
    const Bytes bytes = left_.first(size);
    left_ = left_.subspan(size);
    place_ += size;
    return bytes;
  }
  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    const Bytes bytes = take(size);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), std::min(size, sizeof value));
    return value;
  }
  std::uint8_t byte() { return static_cast<std::uint8_t>(number(1)); }
  std::uint64_t unsigned_leb() { return leb().first; }
  std::int64_t signed_leb() {
    const auto [value, bits] = leb();
    const bool negative = bits < 64 && bits > 0 && (value >> (bits - 1) & 1) != 0;
    return static_cast<std::int64_t>(negative ? value | ~std::uint64_t{0} << bits : value);
  }
  std::string text() {
    const auto end = std::ranges::find(left_, std::byte{0});
    const auto size = static_cast<std::uint64_t>(end - left_.begin());
    const Bytes bytes = take(size + 1);
    if (bytes.empty()) return {};
    return {reinterpret_cast<const char*>(bytes.data()), size};
  }

 private:
  std::pair<std::uint64_t, unsigned> leb() {
    std::uint64_t value = 0;
    unsigned bits = 0;
    for (std::uint8_t each = 0x80; (each & 0x80) != 0 && !failed_; bits += 7) {
      each = byte();
      if (bits < 64) value |= std::uint64_t{each & 0x7fU} << bits;
    }
    return {value, bits};
  }
  Bytes left_;
  std::uint64_t place_;
  bool failed_ = false;
};

struct Row {
  std::uint64_t address = 0;
  std::uint64_t file = 1;
  std::int64_t line = 1;
};

struct Header {
  std::uint64_t address_size = 8;
  std::uint8_t instruction_size = 1, line_range = 1, opcode_base = 13;
  std::int8_t line_base = 0;
  std::vector<std::uint8_t> lengths{};
  std::vector<std::string> files{};
};

/// One unit's program, of which the sequences in `section` are kept.
class Program {
 public:
  Program(Header header, std::span<const detail::NativeRelocation> relocations, std::string_view section,
          LineTable& to)
      : header_(std::move(header)), relocations_(relocations), section_(section), to_(to) {}

  void run(Reader code) {
    while (!code.empty() && to_.lines.size() < kMostLines) {
      const std::uint8_t opcode = code.byte();
      if (opcode >= header_.opcode_base)
        special(opcode);
      else if (opcode == 0)
        extended(code);
      else
        standard(opcode, code);
    }
  }

 private:
  void advance(std::uint64_t steps) { row_.address += steps * header_.instruction_size; }
  void special(std::uint8_t opcode) {
    const unsigned adjusted = opcode - header_.opcode_base;
    advance(adjusted / header_.line_range);
    row_.line += header_.line_base + static_cast<std::int64_t>(adjusted % header_.line_range);
    emit();
  }
  void standard(std::uint8_t opcode, Reader& code) {
    enum { kCopy = 1, kAdvancePc, kAdvanceLine, kSetFile, kConstAddPc = 8, kFixedAdvancePc };
    switch (opcode) {
      case kCopy:
        return emit();
      case kAdvancePc:
        return advance(code.unsigned_leb());
      case kAdvanceLine:
        row_.line += std::clamp<std::int64_t>(code.signed_leb(), -INT32_MAX, INT32_MAX);
        row_.line = std::clamp<std::int64_t>(row_.line, -INT32_MAX, INT32_MAX);
        return;
      case kSetFile:
        row_.file = code.unsigned_leb();
        return;
      case kConstAddPc:
        return advance((255U - header_.opcode_base) / header_.line_range);
      case kFixedAdvancePc:
        row_.address += code.number(2);
        return;
      default:
        for (unsigned i = 0; i < header_.lengths[opcode - 1U]; ++i) (void)code.unsigned_leb();
    }
  }
  void extended(Reader& code) {
    enum { kEndSequence = 1, kSetAddress = 2 };
    Reader operand = code.part(code.unsigned_leb());
    switch (operand.byte()) {
      case kEndSequence:
        row_.line = 0;
        emit();
        row_ = {};
        is_ours_ = false;
        return;
      case kSetAddress: {
        const std::uint64_t place = operand.place();
        row_.address = operand.number(header_.address_size);
        const auto found = std::ranges::find(relocations_, place, &detail::NativeRelocation::offset);
        is_ours_ = found != relocations_.end() && found->section == section_;
        if (is_ours_) row_.address += found->address;
        return;
      }
      default:
        return;  // what it holds was taken
    }
  }
  void emit() {
    if (!is_ours_ || row_.address > UINT32_MAX) return;
    const auto line = row_.line < 0 ? 0U : static_cast<std::uint32_t>(row_.line);
    to_.lines.push_back({static_cast<std::uint32_t>(row_.address), line, file_of(row_.file)});
  }
  /// Of the table's files, which are those of all units.
  std::uint32_t file_of(std::uint64_t number) {
    const std::string name = number >= 1 && number <= header_.files.size() ? header_.files[number - 1] : "?";
    auto found = std::ranges::find(to_.files, name);
    if (found == to_.files.end()) found = to_.files.insert(to_.files.end(), name);
    return static_cast<std::uint32_t>(found - to_.files.begin());
  }

  Header header_;
  std::span<const detail::NativeRelocation> relocations_;
  std::string_view section_;
  LineTable& to_;
  Row row_;
  bool is_ours_ = false;
};

void read_names(Reader& from, Header& header) {
  std::vector<std::string> folders;
  for (std::string name = from.text(); !name.empty() && folders.size() < kMostFiles; name = from.text())
    folders.push_back(std::move(name));
  for (std::string name = from.text(); !name.empty() && header.files.size() < kMostFiles;
       name = from.text()) {
    const std::uint64_t folder = from.unsigned_leb();
    (void)from.unsigned_leb();  // time
    (void)from.unsigned_leb();  // size
    const bool has_folder = folder >= 1 && folder <= folders.size() && !name.starts_with('/');
    header.files.push_back(has_folder ? folders[folder - 1] + "/" + name : std::move(name));
  }
}

/// False: nothing can be read behind it.
bool read_unit(Reader& section, std::span<const detail::NativeRelocation> relocations, std::string_view name,
               LineTable& to) {
  std::uint64_t length = section.number(4), offset_size = 4;
  if (length == 0xffffffff) length = section.number(8), offset_size = 8;
  Reader unit = section.part(length);
  if (section.failed()) return false;
  const std::uint64_t version = unit.number(2);
  if (version < 2 || version > 4) return true;
  const std::uint64_t header_length = unit.number(offset_size);
  Reader from = unit.part(header_length);
  Header header;
  header.instruction_size = from.byte();
  if (version == 4) (void)from.byte();  // operations of one instruction
  (void)from.byte();                    // whether a row begins a statement
  header.line_base = static_cast<std::int8_t>(from.byte());
  header.line_range = from.byte();
  header.opcode_base = from.byte();
  if (from.failed() || unit.failed() || header.line_range == 0 || header.opcode_base == 0) return true;
  for (unsigned i = 1; i < header.opcode_base; ++i) header.lengths.push_back(from.byte());
  read_names(from, header);
  if (!from.failed()) Program(std::move(header), relocations, name, to).run(unit);
  return true;
}

}  // namespace

const SourceLine* LineTable::find(std::uint32_t offset) const {
  const auto behind = std::ranges::upper_bound(lines, offset, {}, &SourceLine::offset);
  if (behind == lines.begin()) return nullptr;
  const SourceLine& found = *(behind - 1);
  return found.line == 0 ? nullptr : &found;
}

LineTable read_lines(std::span<const std::byte> native_binary, std::string_view name) {
  LineTable table;
  const auto sections = detail::native_sections(native_binary);
  const auto found = std::ranges::find(sections, ".debug_line", &detail::NativeSection::name);
  if (found == sections.end()) return table;
  const auto relocations = detail::native_relocations(native_binary, ".debug_line");
  for (Reader section(found->content, 0); !section.empty();)
    if (!read_unit(section, relocations, name, table)) break;
  // The last row at a place is the one that counts.
  std::ranges::stable_sort(table.lines, {}, &SourceLine::offset);
  std::vector<SourceLine> kept;
  for (const SourceLine& each : table.lines) {
    if (!kept.empty() && kept.back().offset == each.offset)
      kept.back() = each;
    else
      kept.push_back(each);
  }
  table.lines = std::move(kept);
  return table;
}

}  // namespace kiln::xe
