// SPDX-License-Identifier: MIT
// The header of a NumPy file, read as strictly as it is written.
#include "tool/kernel/npy.hpp"

#include <cstring>

#include "support/digits.hpp"

namespace kiln::tool {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kLongestHeader = 1 << 16;  // bytes; what NumPy writes for plain numbers has below 200

struct NpyType {
  std::string_view name;
  Scalar scalar;
};
constexpr NpyType kNpyTypes[] = {{"|i1", Scalar::i8},  {"|u1", Scalar::u8},  {"<i2", Scalar::i16},
                                 {"<u2", Scalar::u16}, {"<i4", Scalar::i32}, {"<u4", Scalar::u32},
                                 {"<i8", Scalar::i64}, {"<u8", Scalar::u64}, {"<f2", Scalar::f16},
                                 {"<f4", Scalar::f32}, {"<f8", Scalar::f64}, {"|b1", Scalar::u8}};

/// Takes one text after the other from a header, past blanks.
class HeaderText {
 public:
  explicit HeaderText(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool take(char wanted) {
    skip();
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  [[nodiscard]] bool take(std::string_view wanted) {
    skip();
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(wanted.size());
    return true;
  }
  /// 'text' or "text"; nothing else is a string here.
  [[nodiscard]] std::optional<std::string_view> string() {
    skip();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return std::nullopt;
    const auto end = rest_.find(rest_[0], 1);
    if (end == rest_.npos) return std::nullopt;
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }
  [[nodiscard]] std::optional<std::uint64_t> whole() {
    skip();
    const auto end = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    const auto value = detail::parse_digits(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return value;
  }
  [[nodiscard]] bool is_at_end() {
    skip();
    return rest_.empty();
  }

 private:
  void skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }
  std::string_view rest_;
};

struct NpyHeader {
  std::optional<std::string> type;
  std::optional<bool> fortran;
  std::optional<std::vector<std::uint64_t>> shape;
};

std::optional<std::vector<std::uint64_t>> parse_shape(HeaderText& text) {
  std::vector<std::uint64_t> shape;
  if (!text.take('(')) return std::nullopt;
  while (!text.take(')')) {
    const auto size = text.whole();
    if (!size || shape.size() == 32) return std::nullopt;  // NumPy's own bound
    shape.push_back(*size);
    if (text.take(',')) continue;
    if (!text.take(')')) return std::nullopt;
    break;
  }
  return shape;
}

std::optional<NpyHeader> parse_npy_header(std::string_view bytes) {
  HeaderText text(bytes);
  NpyHeader header;
  if (!text.take('{')) return std::nullopt;
  while (!text.take('}')) {
    const auto key = text.string();
    if (!key || !text.take(':')) return std::nullopt;
    if (*key == "descr" && !header.type) {
      const auto type = text.string();
      if (!type) return header;  // a list: a record
      header.type = std::string(*type);
    } else if (*key == "fortran_order" && !header.fortran) {
      header.fortran = text.take("True");
      if (!*header.fortran && !text.take("False")) return std::nullopt;
    } else if (*key == "shape" && !header.shape) {
      if (!(header.shape = parse_shape(text))) return std::nullopt;
    } else {
      return std::nullopt;
    }
    if (!text.take(',') && !text.take('}')) return std::nullopt;
    if (text.is_at_end()) break;
  }
  return header;
}

}  // namespace

Error bad_data(const std::string& file, std::string reason, std::string help) {
  return Error(
      ZE_RESULT_ERROR_INVALID_ARGUMENT, "kiln run",
      {"K0432", "data in `" + file + "` cannot be taken: " + std::move(reason), {}, {std::move(help)}});
}

Error unwritable_data(const std::string& buffer, const std::string& file, std::string reason) {
  return Error(ZE_RESULT_ERROR_UNKNOWN, "kiln run",
               {"K0436",
                "`" + buffer + "` cannot be saved to `" + file + "`",
                {{"reason", std::move(reason)}},
                {"name a file on a disk with room, in a folder that may be written to"}});
}

Result<Array> read_npy(std::span<const std::byte> file, const std::string& name) {
  const auto refuse = [&](std::string reason, std::string help) {
    return tl::unexpected(bad_data(name, std::move(reason), std::move(help)));
  };
  const char* save = "write it with numpy.save(FILE, ARRAY)";
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!text.starts_with(kMagic)) return refuse("it does not begin as a file of NumPy does", save);
  if (text.size() < 10)
    return refuse("it ends inside its header, at byte " + std::to_string(text.size()), save);
  const auto byte = [&](std::size_t at) {
    return static_cast<std::size_t>(std::to_integer<unsigned>(file[at]));
  };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3)
    return refuse("its version is " + std::to_string(version) + ", not 1 to 3", save);
  const std::size_t begin = version == 1 ? 10 : 12;
  if (text.size() < begin)
    return refuse("it ends inside its header, at byte " + std::to_string(text.size()), save);
  std::size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > kLongestHeader || length > text.size() - begin)
    return refuse("its header of " + std::to_string(length) + " bytes, at byte " + std::to_string(begin) +
                      ", does not fit the file of " + std::to_string(text.size()),
                  save);
  const auto header = parse_npy_header(text.substr(begin, length));
  if (!header)
    return refuse("its header, at byte " + std::to_string(begin) + ", is not as NumPy writes it", save);
  if (!header->type)
    return refuse("it holds records, not numbers", "save one field of them as an array of its own");
  const NpyType* type = nullptr;
  for (const NpyType& each : kNpyTypes)
    if (each.name == *header->type) type = &each;
  if (!type)
    return refuse("its numbers are of type `" + *header->type + "`, which no kernel takes here",
                  "convert it: ARRAY.astype('<f4'), or i1, i2, i4, i8, u1, u2, u4, u8, f2, f8");
  if (!header->fortran || !header->shape) return refuse("its header lacks the order or the shape", save);
  Array array{{type->scalar}, *header->shape, {}};
  // In Fortran's order one dimension is what it is in C's.
  if (*header->fortran && array.shape.size() > 1)
    return refuse("its columns lie side by side, not its rows", "convert it: numpy.ascontiguousarray(ARRAY)");
  std::uint64_t bytes = size_of(type->scalar);
  for (const std::uint64_t each : array.shape) {
    if (each != 0 && bytes > UINT64_MAX / each)
      return refuse("its shape has more elements than there can be", save);
    bytes *= each;
  }
  const std::uint64_t there = text.size() - begin - length;
  if (bytes != there)
    return refuse("its shape takes " + std::to_string(bytes) + " bytes, and " + std::to_string(there) +
                      " are there, from byte " + std::to_string(begin + length),
                  "write it anew: it is cut short, or something is behind the array");
  if (bytes == 0) return refuse("it is empty", "give at least one element: no buffer can be of none");
  const auto data = file.subspan(begin + length);
  array.bytes.assign(data.begin(), data.end());
  return array;
}

std::vector<std::byte> write_npy(const Array& array) {
  std::string_view type;
  for (const NpyType& each : kNpyTypes)
    if (each.scalar == array.type.scalar && type.empty()) type = each.name;
  std::string header = "{'descr': '" + std::string(type) + "', 'fortran_order': False, 'shape': (";
  auto shape = array.shape;
  if (array.type.lanes > 1) shape.push_back(array.type.slots());
  for (const std::uint64_t each : shape) header += std::to_string(each) + ", ";
  if (shape.size() > 1) header.resize(header.size() - 2);  // (3, 4), but (3,)
  if (shape.size() == 1) header.pop_back();
  header += "), }";
  constexpr std::size_t kBefore = 10;
  while ((kBefore + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string text(kMagic);
  text += {'\x01', '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  text += header;
  std::vector<std::byte> file(text.size() + array.bytes.size());
  std::memcpy(file.data(), text.data(), text.size());
  if (!array.bytes.empty()) std::memcpy(file.data() + text.size(), array.bytes.data(), array.bytes.size());
  return file;
}

}  // namespace kiln::tool
