// SPDX-License-Identifier: MIT
// Decodes a kernel from its entry on, along every way that its branches have.
#include "xe/unit/code.hpp"

#include <algorithm>

namespace kiln::xe {
namespace {

/// A kernel of more instructions than this is none that a compiler wrote.
constexpr std::size_t kMostInstructions = 1 << 20;

struct Decoded {
  Op op;
  Jumps jumps;
  std::string text;
  bool ends = false;          ///< nothing follows it
  bool parks_behind = false;  ///< lanes may wait for what follows it
};

class Decoder {
 public:
  Decoder(Code::Body& body, const Disassembler& disassembler, std::uint32_t set,
          std::span<const std::byte> bytes)
      : body_(body), disassembler_(disassembler), set_(set), bytes_(bytes) {}

  /// Nothing, or why there is no text at all.
  std::optional<std::string> run(std::uint64_t entry) {
    visit(entry);
    while (!left_.empty()) {
      const std::uint64_t offset = left_.back();
      left_.pop_back();
      if (decoded_.contains(offset)) continue;
      if (decoded_.size() >= kMostInstructions) return "it has more instructions than a kernel can have";
      if (auto why = decode(offset)) return why;
    }
    finish(entry);
    return std::nullopt;
  }

 private:
  void visit(std::uint64_t offset) { left_.push_back(offset); }

  std::optional<std::string> decode(std::uint64_t offset) {
    Decoded& each = decoded_[offset];
    each.op.offset = static_cast<std::uint32_t>(offset);
    each.ends = true;
    each.op.run = run_undecodable;
    if (offset + 8 > bytes_.size()) {
      each.text = "(behind the end of the code)";
      each.op.size = 0;
      return std::nullopt;
    }
    std::array<std::byte, 16> raw{};
    const bool is_compact = (std::to_integer<unsigned>(bytes_[offset + 3]) & 0x20U) != 0;  // bit 29
    const std::uint32_t size = is_compact ? 8 : 16;
    if (offset + size > bytes_.size()) {
      each.text = "(cut off by the end of the code)";
      each.op.size = 0;
      return std::nullopt;
    }
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), size, raw.begin());
    each.op.size = size;
    const auto line = disassembler_.line(raw, set_);
    if (!line) return line.error().reason;
    each.text = *line;
    while (!each.text.empty() && (each.text.back() == '\n' || each.text.back() == ' ')) each.text.pop_back();
    each.text.erase(0, each.text.find_first_not_of(' '));
    const auto instruction = read_instruction(*line);
    if (!instruction || instruction->opcode == "illegal") return std::nullopt;
    each.op.run = nullptr;
    if (auto why = resolve_op(*instruction, body_, each.op, each.jumps); !why.empty()) {
      each.op.run = run_unknown;
      each.op.next = kNowhere;
      each.text += "\n" + why;  // taken apart when it is told
      return std::nullopt;
    }
    each.ends = each.op.ends || (instruction->opcode == "jmpi" && !each.op.predicated);
    each.parks_behind = instruction->is_branch();
    if (!each.ends) visit(offset + size);
    const auto follow = [&](const std::optional<std::int64_t>& distance) {
      if (!distance) return;
      const auto target = static_cast<std::int64_t>(offset) + *distance;
      if (target >= 0) visit(static_cast<std::uint64_t>(target));
    };
    follow(each.jumps.jip);
    follow(each.jumps.uip);
    return std::nullopt;
  }

  [[nodiscard]] std::uint32_t index_of(std::int64_t offset) const {
    const auto found = offset < 0 ? body_.index.end() : body_.index.find(static_cast<std::uint64_t>(offset));
    return found == body_.index.end() ? kNowhere : found->second;
  }

  void finish(std::uint64_t entry) {
    for (auto& [offset, each] : decoded_) {
      body_.index[offset] = static_cast<std::uint32_t>(body_.ops.size());
      body_.ops.push_back(each.op);
      body_.texts.push_back(std::move(each.text));
    }
    std::uint32_t at = 0;
    for (auto& [offset, each] : decoded_) {
      Op& op = body_.ops[at++];
      const auto here = static_cast<std::int64_t>(offset);
      op.next = index_of(here + op.size);
      if (each.jumps.jip) op.jip = index_of(here + *each.jumps.jip);
      if (each.jumps.uip) op.uip = index_of(here + *each.jumps.uip);
      if (op.breaks && op.uip != kNowhere &&
          body_.ops[op.uip].loops)  // behind the loop, not to its next round
        op.uip = index_of(here + *each.jumps.uip + body_.ops[op.uip].size);
      for (const std::uint32_t target : {op.jip, op.uip, each.parks_behind ? op.next : kNowhere})
        if (target != kNowhere) body_.ops[target].wakes = true;
      for (std::size_t i = 0; i < op.sources.size(); ++i)
        if (!op.sources[i].constant && (op.sources[i].null || is_immediate(op, i)))
          op.sources[i].constant = reinterpret_cast<const std::byte*>(&op.immediates[i]);
    }
    body_.entry = index_of(static_cast<std::int64_t>(entry));
    for (const Op& op : body_.ops) {
      if (op.size == 0) continue;
      auto& pieces = body_.pieces;
      if (pieces.empty() || pieces.back().offset + pieces.back().bytes.size() != op.offset)
        pieces.push_back({op.offset, {}});
      const auto from = bytes_.begin() + op.offset;
      pieces.back().bytes.insert(pieces.back().bytes.end(), from, from + op.size);
    }
  }

  static bool is_immediate(const Op& op, std::size_t i) { return op.is_immediate >> i & 1U; }

  Code::Body& body_;
  const Disassembler& disassembler_;
  std::uint32_t set_;
  std::span<const std::byte> bytes_;
  std::map<std::uint64_t, Decoded> decoded_;
  std::vector<std::uint64_t> left_;
};

}  // namespace

std::uint32_t register_bytes_of(const Target& target) {
  const bool is_hpc = target.architecture == 12 && (target.release == 60 || target.release == 61);
  return target.architecture > 12 || is_hpc ? 64 : 32;
}

Code::Code(std::unique_ptr<Body> body) : body_(std::move(body)) {}
Code::~Code() = default;

tl::expected<std::shared_ptr<const Code>, std::string> Code::decode(const Target& target,
                                                                    std::span<const std::byte> bytes,
                                                                    std::uint64_t entry) {
  const std::uint32_t set = instruction_set(target);
  if (set == 0) return tl::unexpected(std::string("libiga64 has no instruction set for the product"));
  const auto disassembler = Disassembler::open();
  if (!disassembler)
    return tl::unexpected(std::string("libiga64 cannot be used: ") + disassembler.error().reason);
  auto body = std::make_unique<Body>();
  body->target = target;
  body->older = target.architecture == 12 && target.release < 50;
  body->register_bytes = register_bytes_of(target);
  body->entry_offset = entry;
  bytes = bytes.first(std::min<std::size_t>(bytes.size(), INT32_MAX));
  if (entry >= bytes.size()) return tl::unexpected(std::string("the entry lies behind the end of the code"));
  Decoder decoder(*body, *disassembler, set, bytes);
  if (auto why = decoder.run(entry)) return tl::unexpected(*why);
  return std::shared_ptr<const Code>(new Code(std::move(body)));
}

bool Code::matches(std::span<const std::byte> bytes, std::uint64_t entry) const {
  if (entry != body_->entry_offset) return false;
  return std::ranges::all_of(body_->pieces, [&](const Body::Piece& piece) {
    return piece.offset <= bytes.size() && piece.bytes.size() <= bytes.size() - piece.offset &&
           std::equal(piece.bytes.begin(), piece.bytes.end(),
                      bytes.begin() + static_cast<std::ptrdiff_t>(piece.offset));
  });
}

tl::expected<std::shared_ptr<const Code>, std::string> CodeCache::get(const Target& target,
                                                                      std::span<const std::byte> bytes,
                                                                      std::uint64_t entry) {
  const std::lock_guard guard(mutex_);
  for (const auto& each : codes_)
    if (each->body().target.architecture == target.architecture &&
        each->body().target.release == target.release && each->matches(bytes, entry))
      return each;
  auto code = Code::decode(target, bytes, entry);
  if (!code) return code;
  // An instruction with its text takes about half a KiB.
  constexpr std::size_t kMostKept = 256, kMostOps = 1 << 16;
  ops_ += (*code)->body().ops.size();
  codes_.push_back(*code);
  while (codes_.size() > kMostKept || (ops_ > kMostOps && codes_.size() > 1)) {
    ops_ -= codes_.front()->body().ops.size();
    codes_.erase(codes_.begin());
  }
  return code;
}

}  // namespace kiln::xe
