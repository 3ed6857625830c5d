// SPDX-License-Identifier: MIT
// The two ends of a pipe: codes with their size go in, a line of JSON for each comes out.
#include "tool/analyze/decode.hpp"

#include <unistd.h>

#include <cstring>
#include <sstream>

#include "support/process.hpp"
#include "tool/analyze/command.hpp"
#include "tool/common/output.hpp"
#include "tool/common/session.hpp"

namespace kiln::tool {
namespace {

using xe::NoText;

struct CodeHeader {
  std::uint64_t size = 0;  // bytes
  std::uint64_t instruction_set = 0;
};

std::vector<std::byte> question_of(std::span<const Code> codes) {
  std::vector<std::byte> question;
  for (const Code& each : codes) {
    const CodeHeader header{each.bytes.size(), each.instruction_set};
    const auto* bytes = reinterpret_cast<const std::byte*>(&header);
    question.insert(question.end(), bytes, bytes + sizeof header);
    question.insert(question.end(), each.bytes.begin(), each.bytes.end());
  }
  return question;
}

bool read_fully(void* to, std::size_t size) {
  for (auto* at = static_cast<char*>(to); size != 0;) {
    const ssize_t count = read(STDIN_FILENO, at, size);
    if (count <= 0) return false;
    at += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

tl::expected<std::string, NoText> read_answer(const std::string& line) {
  const auto json = detail::Json::parse(line);
  if (json && json->is_object()) {
    if (const auto* text = json->find("text"); text && text->is_string()) return text->get<std::string>();
    if (const auto* kind = json->find("kind"); kind && kind->is_number_unsigned())
      return tl::unexpected(
          NoText{static_cast<NoText::Kind>(kind->get<std::uint8_t>()), json->value("reason", "")});
  }
  return tl::unexpected(NoText{NoText::Kind::ended, "its text came back damaged"});
}

}  // namespace

std::vector<tl::expected<std::string, NoText>> disassemble(std::span<const Code> codes,
                                                           std::chrono::milliseconds time_limit) {
  std::vector<tl::expected<std::string, NoText>> texts;
  while (texts.size() < codes.size()) {
    const auto left = codes.subspan(texts.size());
    const auto question = question_of(left);
    ProcessOptions options{{"/proc/self/exe", "disassembly-child"}, {}, time_limit};
    options.input = question;
    options.output_limit =
        (1 << 20) + 64 * question.size();  // an instruction of 8 bytes has a line of about 120
    options.only_standard = true;
    const ProcessResult result = run_process(options);
    std::istringstream lines(result.out);
    const std::size_t before = texts.size();
    for (std::string line; texts.size() < codes.size() && std::getline(lines, line) && !lines.eof();)
      texts.push_back(read_answer(line));
    if (result.succeeded() && texts.size() == codes.size()) break;
    if (texts.size() == codes.size()) break;
    // It ended over the next one, or never began.
    texts.push_back(tl::unexpected(
        NoText{NoText::Kind::ended, "the process that decodes ended by " + result.ended_by(time_limit)}));
    const bool is_hopeless = texts.size() == before + 1 && (result.end == ProcessResult::End::not_started ||
                                                            result.end == ProcessResult::End::interrupted);
    while (is_hopeless && texts.size() < codes.size()) texts.push_back(texts.back());
  }
  return texts;
}

int disassemble_stdin() {
  const auto library = xe::Disassembler::open();
  CodeHeader header;
  while (read_fully(&header, sizeof header)) {
    std::vector<std::byte> code(header.size);
    if (!read_fully(code.data(), code.size())) return kUsage;
    const auto text = library ? library->text(code, static_cast<std::uint32_t>(header.instruction_set))
                              : tl::expected<std::string, NoText>(tl::unexpected(library.error()));
    const Json line =
        text ? Json{{"text", *text}}
             : Json{{"kind", static_cast<std::uint64_t>(text.error().kind)}, {"reason", text.error().reason}};
    say_exactly(stdout, line.dump() + "\n");
    std::fflush(stdout);  // the next one may be the last
  }
  return kOk;
}

}  // namespace kiln::tool
