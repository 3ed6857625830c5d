// SPDX-License-Identifier: MIT
// The two ends of a pipe: codes with their size go in, a line of JSON for each comes out.
#include "tool/analyze/decode.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <csignal>
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
  std::uint64_t time_limit = 0;  // milliseconds
};

constexpr std::chrono::seconds kChildBegins{30};  // until it decodes, at most

std::vector<std::byte> question_of(std::span<const Code> codes, std::chrono::milliseconds time_limit) {
  std::vector<std::byte> question;
  for (const Code& each : codes) {
    const CodeHeader header{each.bytes.size(), each.instruction_set,
                            static_cast<std::uint64_t>(time_limit.count())};
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
    const auto question = question_of(left, time_limit);
    // The child ends itself over a code that takes too long: those before it are not to blame. This limit is
    // for a child that does not come to that.
    ProcessOptions options{{"/proc/self/exe", "disassembly-child"},
                           {},
                           time_limit * static_cast<std::int64_t>(left.size()) + kChildBegins};
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
    using End = ProcessResult::End;
    const bool took_long =
        result.end == End::timed_out || (result.end == End::signalled && result.number == SIGALRM);
    ProcessResult said;
    said.end = End::timed_out;
    texts.push_back(tl::unexpected(
        took_long
            ? NoText{NoText::Kind::timed_out, "it was not decoded within the " + said.ended_by(time_limit)}
            : NoText{NoText::Kind::ended,
                     "the process that decodes ended by " + result.ended_by(options.time_limit)}));
    const bool is_hopeless =
        texts.size() == before + 1 && (result.end == End::not_started || result.end == End::interrupted);
    while (is_hopeless && texts.size() < codes.size()) texts.push_back(texts.back());
  }
  return texts;
}

namespace {

/// SIGALRM, which ends this process, after so long; 0: never.
void end_after(std::uint64_t milliseconds) {
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(milliseconds / 1000);
  timer.it_value.tv_usec = static_cast<suseconds_t>(milliseconds % 1000 * 1000);
  setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace

int disassemble_stdin() {
  std::signal(SIGALRM, SIG_DFL);  // which who started this may have ignored, or blocked
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  sigprocmask(SIG_UNBLOCK, &alarm, nullptr);

  const auto library = xe::Disassembler::open();
  CodeHeader header;
  while (read_fully(&header, sizeof header)) {
    std::vector<std::byte> code(header.size);
    if (!read_fully(code.data(), code.size())) return kUsage;
    end_after(header.time_limit);
    const auto text = library ? library->text(code, static_cast<std::uint32_t>(header.instruction_set))
                              : tl::expected<std::string, NoText>(tl::unexpected(library.error()));
    end_after(0);
    const Json line =
        text ? Json{{"text", *text}}
             : Json{{"kind", static_cast<std::uint64_t>(text.error().kind)}, {"reason", text.error().reason}};
    say_exactly(stdout, line.dump() + "\n");
    std::fflush(stdout);  // the next one may be the last
  }
  return kOk;
}

}  // namespace kiln::tool
