// SPDX-License-Identifier: MIT
// Formats printf calls of kernels, after OpenCL C 1.2 section 6.12.13.
#include "drivers/cpu/runtime/printf.hpp"

#include <bit>
#include <cstdio>
#include <cstring>

namespace kiln::cpu {
namespace {

struct Operand {
  PrintfKind kind = PrintfKind::integer;
  unsigned bytes = 0;
  std::span<const std::uint64_t> lanes;
};

class Operands {
 public:
  explicit Operands(std::span<const std::uint64_t> words) : words_(words) {}

  // An operand without lanes when there are no more.
  Operand next() {
    if (words_.empty()) return {};
    const std::uint64_t tag = words_[0];
    const std::size_t count = tag >> 16 & 0xff;
    if (count + 1 > words_.size()) return {};
    const Operand out{static_cast<PrintfKind>(tag & 0xff), static_cast<unsigned>(tag >> 8 & 0xff),
                      words_.subspan(1, count)};
    words_ = words_.subspan(count + 1);
    return out;
  }

 private:
  std::span<const std::uint64_t> words_;
};

// One conversion of the format, such as %-8.3v4hlf.
struct Conversion {
  std::string flags;  // with width and precision: "-8.3"
  bool is_vector = false;
  char type = '\0';
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads what follows '%' and moves `at` behind it.
Conversion read_conversion(const char*& at) {
  Conversion out;
  while (*at != '\0' && std::strchr("-+ #0", *at) != nullptr) out.flags += *at++;
  while (is_digit(*at) || *at == '.') out.flags += *at++;
  if (out.flags.size() > 32) out.flags.clear();
  if (*at == 'v') {
    ++at;
    out.is_vector = true;
    while (is_digit(*at)) ++at;
  }
  while (*at == 'h' || *at == 'l') ++at;  // the operand's own type says its size
  if (*at != '\0') out.type = *at++;
  return out;
}

template <class T>
void append_formatted(std::string& out, const std::string& format, T value) {
  char text[128];
  const int length = std::snprintf(text, sizeof text, format.c_str(), value);
  if (length < 0) return;
  if (static_cast<std::size_t>(length) < sizeof text) {
    out.append(text, static_cast<std::size_t>(length));
    return;
  }
  std::string longer(static_cast<std::size_t>(length) + 1, '\0');
  std::snprintf(longer.data(), longer.size(), format.c_str(), value);
  longer.pop_back();
  out += longer;
}

std::int64_t sign_extended(std::uint64_t bits, unsigned bytes) {
  const unsigned unused = 64 - 8 * std::min(std::max(bytes, 1u), 8u);
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

bool append_lane(std::string& out, const Conversion& conversion, const Operand& operand, std::uint64_t bits) {
  const std::string start = "%" + conversion.flags;
  switch (conversion.type) {
    case 'd':
    case 'i':
      if (operand.kind != PrintfKind::integer) return false;
      append_formatted(out, start + "lld", static_cast<long long>(sign_extended(bits, operand.bytes)));
      return true;
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      if (operand.kind != PrintfKind::integer) return false;
      append_formatted(out, start + "ll" + conversion.type, static_cast<unsigned long long>(bits));
      return true;
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      if (operand.kind != PrintfKind::real) return false;
      append_formatted(out, start + conversion.type, std::bit_cast<double>(bits));
      return true;
    case 'c':
      if (operand.kind != PrintfKind::integer) return false;
      append_formatted(out, start + "c", static_cast<int>(bits & 0xff));
      return true;
    case 's':
      if (operand.kind != PrintfKind::pointer) return false;
      append_formatted(out, start + "s", bits == 0 ? "(null)" : reinterpret_cast<const char*>(bits));
      return true;
    case 'p':
      if (operand.kind != PrintfKind::pointer) return false;
      append_formatted(out, start + "p", reinterpret_cast<const void*>(bits));
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string format_printf(const char* format, std::span<const std::uint64_t> words) {
  std::string out;
  Operands operands(words);
  for (const char* at = format; *at != '\0';) {
    const char* percent = std::strchr(at, '%');
    if (percent == nullptr) {
      out += at;
      break;
    }
    out.append(at, percent);
    at = percent + 1;
    if (*at == '%') {
      out += *at++;
      continue;
    }
    const Conversion conversion = read_conversion(at);
    const Operand operand = operands.next();
    const std::size_t count =
        conversion.is_vector ? operand.lanes.size() : std::min<std::size_t>(operand.lanes.size(), 1);
    bool fits = count > 0;
    for (std::size_t i = 0; i < count && fits; ++i) {
      if (i > 0) out += ',';
      fits = append_lane(out, conversion, operand, operand.lanes[i]);
    }
    if (!fits) out += "(?)";
  }
  return out;
}

}  // namespace kiln::cpu

std::int32_t kiln_printf(const char* format, const std::uint64_t* words, std::uint64_t count) {
  if (format == nullptr) return -1;
  const std::string text = kiln::cpu::format_printf(format, {words, count});
  // stdio locks the stream for the length of one call.
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : -1;
}
