// SPDX-License-Identifier: MIT
// Prints lines, and quotes texts for JSON.
#include "say.hpp"

#include <cstdarg>
#include <cstdio>

namespace engine {

void say(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::fputs("engine: ", stderr);
  std::vfprintf(stderr, format, arguments);
  std::fputc('\n', stderr);
  va_end(arguments);
}

std::string json_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    char code[8];
    std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned char>(c));
    if (static_cast<unsigned char>(c) < 0x20)
      result += code;
    else
      result += c;
  }
  return result + '"';
}

}  // namespace engine
