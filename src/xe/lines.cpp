// SPDX-License-Identifier: MIT
// Runs the line number programs of a native binary. libdw does not read them: it knows neither the machine
// nor its relocations, which say whose code an address is.
#include "xe/lines.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>

#include "binary/native_sections.hpp"

namespace kiln::xe {
namespace {

using Bytes = std::span<const std::byte>;
constexpr std::size_t kMostLines = 1 << 20, kMostFiles = 1 << 12;
constexpr std::size_t kLongestName = 1024;  // bytes, of a folder and a file together
constexpr std::string_view kNoName = "?";

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
  std::string_view text() {
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

/// A file as the table has it: many may be in one folder, whose name is kept once.
struct Name {
  std::string_view folder, file;
  [[nodiscard]] std::string text() const {
    if (folder.size() + 1 + file.size() > kLongestName) return std::string(kNoName);
    return folder.empty() ? std::string(file) : std::string(folder) + "/" + std::string(file);
  }
};

/// By the place of what they fill in.
using Relocations = std::map<std::uint64_t, detail::NativeRelocation>;

struct Header {
  std::uint64_t address_size = 8;
  std::uint8_t instruction_size = 1, line_range = 1, opcode_base = 13;
  std::int8_t line_base = 0;
  std::vector<std::uint8_t> lengths{};
  std::vector<Name> files{};
};

/// All that is read of a file.
class Tables {
 public:
  LineTables tables{};
  [[nodiscard]] bool is_full() const { return lines_ >= kMostLines; }
  std::vector<SourceLine>& of(std::string_view section) {
    const auto found = tables.lines.find(section);
    return found != tables.lines.end() ? found->second : tables.lines[std::string(section)];
  }
  void add(std::vector<SourceLine>& to, const SourceLine& line) {
    to.push_back(line);
    ++lines_;
  }
  /// The place of a name among those of all units.
  std::uint32_t place_of(std::string name) {
    if (places_.size() >= kMostFiles && !places_.contains(name)) name = kNoName;
    const auto [found, added] = places_.try_emplace(name, static_cast<std::uint32_t>(tables.files.size()));
    if (added) tables.files.push_back(std::move(name));
    return found->second;
  }

 private:
  std::size_t lines_ = 0;
  std::map<std::string, std::uint32_t> places_;
};

/// One unit's program.
class Program {
 public:
  Program(Header header, const Relocations& relocations, Tables& to)
      : header_(std::move(header)), relocations_(relocations), to_(to), places_(header_.files.size()) {}

  void run(Reader code) {
    while (!code.empty() && !to_.is_full()) {
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
        lines_ = nullptr;
        return;
      case kSetAddress: {
        const std::uint64_t place = operand.place();
        row_.address = operand.number(header_.address_size);
        const auto found = relocations_.find(place);
        lines_ = nullptr;
        if (found == relocations_.end()) return;
        lines_ = &to_.of(found->second.section);
        row_.address += found->second.address;
        return;
      }
      default:
        return;  // what it holds was taken
    }
  }
  void emit() {
    if (!lines_ || row_.address > UINT32_MAX || to_.is_full()) return;
    const auto line = row_.line < 0 ? 0U : static_cast<std::uint32_t>(row_.line);
    to_.add(*lines_, {static_cast<std::uint32_t>(row_.address), line, file_of(row_.file)});
  }
  std::uint32_t file_of(std::uint64_t number) {
    if (number < 1 || number > header_.files.size()) return to_.place_of(std::string(kNoName));
    auto& place = places_[number - 1];
    if (!place) place = to_.place_of(header_.files[number - 1].text());
    return *place;
  }

  Header header_;
  const Relocations& relocations_;
  Tables& to_;
  std::vector<std::optional<std::uint32_t>> places_;  // of the header's files, once they are used
  std::vector<SourceLine>* lines_ = nullptr;          // null: of no section that is known
  Row row_;
};

void read_names(Reader& from, Header& header) {
  std::vector<std::string_view> folders;
  for (auto name = from.text(); !name.empty() && folders.size() < kMostFiles; name = from.text())
    folders.push_back(name);
  for (auto name = from.text(); !name.empty() && header.files.size() < kMostFiles; name = from.text()) {
    const std::uint64_t folder = from.unsigned_leb();
    (void)from.unsigned_leb();  // time
    (void)from.unsigned_leb();  // size
    const bool has_folder = folder >= 1 && folder <= folders.size() && !name.starts_with('/');
    header.files.push_back({has_folder ? folders[folder - 1] : std::string_view(), name});
  }
}

/// False: nothing can be read behind it.
bool read_unit(Reader& section, const Relocations& relocations, Tables& to) {
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
  if (!from.failed()) Program(std::move(header), relocations, to).run(unit);
  return true;
}

}  // namespace

const SourceLine* LineTables::find(std::string_view section, std::uint32_t offset) const {
  const auto table = lines.find(section);
  if (table == lines.end()) return nullptr;
  const auto behind = std::ranges::upper_bound(table->second, offset, {}, &SourceLine::offset);
  if (behind == table->second.begin()) return nullptr;
  const SourceLine& found = *(behind - 1);
  return found.line == 0 ? nullptr : &found;
}

LineTables read_lines(std::span<const std::byte> native_binary) {
  const auto sections = detail::native_sections(native_binary);
  const auto found = std::ranges::find(sections, ".debug_line", &detail::NativeSection::name);
  if (found == sections.end()) return {};
  Relocations relocations;
  for (const auto& each : detail::native_relocations(native_binary, ".debug_line"))
    relocations.emplace(each.offset, each);
  Tables all;
  for (Reader section(found->content, 0); !section.empty() && !all.is_full();)
    if (!read_unit(section, relocations, all)) break;
  for (auto& [name, lines] : all.tables.lines) {  // the last row at a place is the one that counts
    std::ranges::stable_sort(lines, {}, &SourceLine::offset);
    std::vector<SourceLine> kept;
    for (const SourceLine& each : lines) {
      if (!kept.empty() && kept.back().offset == each.offset)
        kept.back() = each;
      else
        kept.push_back(each);
    }
    lines = std::move(kept);
  }
  return std::move(all.tables);
}

}  // namespace kiln::xe
