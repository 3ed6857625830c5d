// SPDX-License-Identifier: MIT
// Reads messages. Tgllp has data ports, whose messages libiga64 names in words; later products have the LSC
// (load/store/cache), whose messages it names like instructions.
#include "xe/message.hpp"

#include <algorithm>

#include "support/digits.hpp"

namespace kiln::xe {
namespace {

// Surfaces with a meaning of their own, in the descriptors of data ports and behind `bti`. Source: Intel's
// Programmer's Reference Manual for Xe, volume 9, binding table indices.
constexpr std::uint32_t kNonCoherent = 253, kSlm = 254, kStateless = 255;

bool has(std::string_view text, std::string_view word) { return text.find(word) != text.npos; }

/// The number that begins at `at`; 0: there is none.
std::uint32_t number_at(std::string_view text, std::size_t at) {
  if (at >= text.size()) return 0;
  const std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
  const auto number = detail::parse_digits(text.substr(at, end - at));
  return number && *number <= 1024 ? static_cast<std::uint32_t>(*number) : 0;
}

std::uint32_t number_behind(std::string_view text, std::string_view word) {
  const auto at = text.find(word);
  return at == text.npos ? 0 : number_at(text, at + word.size());
}

/// "wr:2h+1, rd:4; words": registers and words.
struct Said {
  std::uint32_t sent = 0, received = 0;
  std::string_view words;
};
Said read_comment(std::string_view comment) {
  Said said;
  const auto semicolon = comment.find(';');
  const std::string_view sizes = comment.substr(0, semicolon);
  if (!sizes.starts_with("wr:")) return {0, 0, comment};
  said.sent = number_behind(sizes, "wr:") + number_behind(sizes, "+");
  said.received = number_behind(sizes, "rd:");
  if (semicolon != comment.npos) said.words = comment.substr(std::min(semicolon + 2, comment.size()));
  return said;
}

Action action_of(std::string_view words) {
  if (has(words, "atomic")) return Action::atomic;
  if (has(words, "store") || has(words, "write") || has(words, "writing")) return Action::store;
  return has(words, "load") || has(words, "read") ? Action::load : Action::other;
}

/// "load.ugm.d32x4t.a64.ca.ca.bti[0]"
void read_lsc(std::string_view words, Message& message) {
  std::array<std::string_view, 4> parts;  // what, unit, data, address
  std::string_view left = words;
  for (std::string_view& part : parts) {
    const auto point = std::min(left.find('.'), left.size());
    part = left.substr(0, point);
    left.remove_prefix(std::min(point + 1, left.size()));
  }
  if (parts[0].starts_with("fence")) {
    message.unit = Unit::fence;
    return;
  }
  const std::string_view data = parts[2];
  message.block = data.ends_with('t') || has(parts[0], "2d");
  if (data.starts_with('d') && !has(parts[0], "2d")) {  // those have width and height in a register
    message.bits = number_at(data, 1);
    const auto vector = data.find('x');
    message.elements = vector == data.npos ? 1 : std::max(1U, number_at(data, vector + 1));
  }
  const bool is_masked = has(parts[0], "quad") || has(parts[0], "cmask");  // d32.xyz
  if (is_masked && !parts[3].empty() && parts[3].find_first_not_of("xyzw") == parts[3].npos)
    message.elements = static_cast<std::uint32_t>(parts[3].size());
  const std::uint32_t surface = number_behind(words, "bti[");
  const bool stateless = has(words, "bti[") && (surface == kStateless || surface == kNonCoherent);
  if (parts[1] == "slm")
    message.unit = Unit::slm;
  else if (parts[1] == "tgm")
    message.unit = Unit::image;
  else if (stateless && message.block && message.action == Action::load)
    message.unit = Unit::arguments;
  else if (stateless || has(words, ".ss["))  // the driver gives scratch a surface state
    message.unit = Unit::scratch;
  else
    message.unit = Unit::global;
}

/// "untyped surface read with xyzw", "oword aligned block read x4", "byte gathering read 8b"
void read_data_port(std::string_view words, const Instruction& send, Message& message) {
  const std::uint32_t surface = send.descriptor.value.value_or(0) & 0xff;
  const bool by_address = has(words, "a64"), by_surface = send.descriptor.value && !by_address;
  if (has(words, "fence")) {
    message.unit = Unit::fence;
    return;
  }
  if (words.starts_with("typed") || has(words, "media block")) {  // of the image's own format
    message.unit = Unit::image;
    return;
  }
  const auto block = words.rfind(" x");
  if (has(words, "word") && has(words, "block")) {
    message.block = true;
    message.bits = has(words, "hword") ? 256 : 128;
    message.elements = block == words.npos ? 1 : std::max(1U, number_at(words, block + 2));
  } else if (const auto channels = words.find("with "); has(words, "surface") && channels != words.npos) {
    message.bits = 32;
    message.elements = static_cast<std::uint32_t>(words.substr(channels + 5).find_first_not_of("xyzw") ==
                                                          std::string_view::npos
                                                      ? words.size() - channels - 5
                                                      : 0);
  } else if (message.action == Action::atomic) {
    for (const std::uint32_t bits : {16U, 32U, 64U})
      for (const char* name : {"int", "float"})
        if (has(words, name + std::to_string(bits))) message.bits = bits, message.elements = 1;
  } else if (const auto last = words.rfind(' '); last != words.npos && words.ends_with('b')) {
    message.bits = number_at(words, last + 1);
    message.elements = message.bits ? 1 : 0;
  } else if (has(words, "gathering") || has(words, "scattering")) {
    message.bits = has(words, "qword") ? 64 : has(words, "dword") ? 32 : has(words, "byte") ? 8 : 0;
    message.elements = message.bits ? 1 : 0;
  }
  if (has(words, "scratch"))
    message.unit = Unit::scratch;
  else if (by_surface && surface == kSlm)
    message.unit = Unit::slm;
  else if (by_surface && (surface == kStateless || surface == kNonCoherent))
    message.unit = message.block && message.action == Action::load ? Unit::arguments : Unit::scratch;
  else if (send.control == "dcro")
    message.unit = Unit::constant;
  else
    message.unit = Unit::global;
}

}  // namespace

std::string_view to_string(Unit unit) {
  constexpr std::array<std::string_view, 10> kNames{"global", "slm",     "constant", "scratch", "arguments",
                                                    "image",  "barrier", "fence",    "thread",  "other"};
  return kNames[static_cast<std::size_t>(unit)];
}

std::string_view to_string(Action action) {
  constexpr std::array<std::string_view, 4> kNames{"load", "store", "atomic", "other"};
  return kNames[static_cast<std::size_t>(action)];
}

std::uint64_t Message::bytes() const { return std::uint64_t{bits} * elements * (block ? 1 : lanes) / 8; }

std::string Message::text() const {
  std::string text(unit == Unit::slm ? "SLM" : to_string(unit));
  if (unit == Unit::thread) return "end of the thread";
  if (unit == Unit::barrier || unit == Unit::fence) return text;
  if (action != Action::other) text += " " + std::string(to_string(action));
  if (bits == 0 || elements == 0) return text;
  const std::string shape =
      (elements == 1 ? "" : std::to_string(elements) + " x ") + std::to_string(bits) + " bits";
  return text +
         (block ? ", a block of " + shape
                : " of " + shape +
                      (lanes == 1 ? " for one lane" : " for each of " + std::to_string(lanes) + " lanes"));
}

Message message_of(const Instruction& send) {
  Message message;
  const Said said = read_comment(send.comment);
  message.lanes = send.lanes;
  message.sent = said.sent;
  message.received = said.received;
  if (send.comment.empty() && send.descriptor.value) {  // bits that all products have in common
    message.sent = *send.descriptor.value >> 25 & 15;
    message.received = *send.descriptor.value >> 20 & 31;
  }
  if (send.ends_thread()) {
    message.unit = Unit::thread;
    return message;
  }
  message.action = action_of(said.words);
  const std::string_view unit = send.control;
  if (unit == "gtwy")
    message.unit = has(said.words, "barrier") ? Unit::barrier : Unit::other;
  else if (unit == "ugm" || unit == "ugml" || unit == "slm" || unit == "tgm")
    read_lsc(said.words, message);
  else if (unit.starts_with("dc"))
    read_data_port(said.words, send, message);
  else if (unit == "smpl" || unit == "rc")
    message.unit = Unit::image;
  return message;
}

}  // namespace kiln::xe
