// SPDX-License-Identifier: MIT
// Group and sub-group instructions with operands that do not fit: refused with a text that names the
// instruction.
#include <doctest/doctest.h>

#include <spirv/unified1/spirv.hpp>

#include "support.hpp"

namespace kiln::cpu::test {
namespace {

constexpr std::size_t kHeaderWords = 5;

/// A module whose instructions can be found and changed.
class Module {
 public:
  explicit Module(const char* file) {
    const std::vector<std::byte> bytes = read_file(file);
    words_.resize(bytes.size() / 4);
    std::memcpy(words_.data(), bytes.data(), bytes.size());
  }

  /// The first instruction with that opcode that has `wanted` at its word `at`; 0 for any.
  std::span<std::uint32_t> find(std::uint32_t op, std::size_t at = 0, std::uint32_t wanted = 0) {
    for (std::size_t i = kHeaderWords; i < words_.size(); i += words_[i] >> 16) {
      const auto instruction = std::span(words_).subspan(i, words_[i] >> 16);
      if ((words_[i] & 0xffff) == op && (at == 0 || instruction[at] == wanted)) return instruction;
    }
    FAIL("no such instruction");
    return {};
  }
  /// The id of a 32-bit constant.
  std::uint32_t constant(std::uint32_t value) {
    for (std::size_t i = kHeaderWords; i < words_.size(); i += words_[i] >> 16)
      if ((words_[i] & 0xffff) == spv::OpConstant && words_[i] >> 16 == 4 && words_[i + 3] == value)
        return words_[i + 2];
    FAIL("no such constant");
    return 0;
  }

  void check_refused(const char* name, const char* reason) const {
    const BuildResult result = build_from_spirv(std::as_bytes(std::span(words_)), {});
    INFO(result.log);
    CHECK(result.status == BuildStatus::build_failure);
    CHECK(result.log.find(name) != std::string::npos);
    CHECK(result.log.find(reason) != std::string::npos);
    CHECK(result.log.find("makes the compiler end") == std::string::npos);
  }

 private:
  std::vector<std::uint32_t> words_;
};

/// The module with one word of the first such instruction changed must be refused.
void refuse(std::uint32_t op, std::size_t word, std::uint32_t value, const char* name, const char* reason) {
  CAPTURE(name);
  CAPTURE(word);
  Module module("group.ocloc.spv");
  module.find(op)[word] = value;
  module.check_refused(name, reason);
}

}  // namespace

TEST_CASE("group instructions with wrong operands are refused") {
  Module module("group.ocloc.spv");
  const std::uint32_t two = module.constant(2), three = module.constant(3), five = module.constant(5);
  const std::uint32_t type = module.find(spv::OpGroupIAdd)[1];
  REQUIRE(two != three);
  // scopes: another number, a type, a result; the work-group where only sub-groups are
  for (const std::uint32_t scope : {five, type, module.find(spv::OpGroupIAdd)[2]})
    refuse(spv::OpGroupIAdd, 3, scope, "OpGroupIAdd", "scope");
  refuse(spv::OpGroupAll, 3, five, "OpGroupAll", "scope");
  refuse(spv::OpGroupBroadcast, 3, five, "OpGroupBroadcast", "scope");
  refuse(spv::OpGroupNonUniformBallot, 3, two, "OpGroupNonUniformBallot", "scope");
  refuse(spv::OpGroupNonUniformShuffle, 3, two, "OpGroupNonUniformShuffle", "scope");
  // group operations
  refuse(spv::OpGroupIAdd, 4, spv::GroupOperationClusteredReduce, "OpGroupIAdd", "operand 1");
  refuse(spv::OpGroupNonUniformIAdd, 4, 6, "OpGroupNonUniformIAdd", "operand");
  // values and results; the first of these is about chars
  refuse(spv::OpGroupIAdd, 5, three, "OpGroupIAdd", "operand 2");
  refuse(spv::OpGroupIAdd, 1, three, "OpGroupIAdd", "result");
  refuse(spv::OpGroupFAdd, 1, type, "OpGroupFAdd", "result");
  refuse(spv::OpGroupAny, 4, three, "OpGroupAny", "operand 1");
  refuse(spv::OpGroupBroadcast, 5, type, "OpGroupBroadcast", "operand 2");
  refuse(spv::OpGroupNonUniformBallotBitExtract, 4, three, "OpGroupNonUniformBallotBitExtract", "operand 1");
  refuse(spv::OpGroupNonUniformShuffleXor, 5, type, "OpGroupNonUniformShuffleXor", "operand 2");
  refuse(spv::OpSubgroupShuffleINTEL, 3, three, "OpSubgroupShuffleINTEL", "operand 0");
  refuse(spv::OpSubgroupShuffleDownINTEL, 4, three, "OpSubgroupShuffleDownINTEL", "operand 1");
  // block reads: no pointer, and one to lanes of another type
  refuse(spv::OpSubgroupBlockReadINTEL, 3, three, "OpSubgroupBlockReadINTEL", "operand 0");
  refuse(spv::OpSubgroupBlockReadINTEL, 1, module.find(spv::OpGroupFAdd)[1], "OpSubgroupBlockReadINTEL",
         "result");
  refuse(spv::OpSubgroupBlockWriteINTEL, 2, three, "OpSubgroupBlockWriteINTEL", "operand");
}

TEST_CASE("cluster sizes are powers of two up to the widest sub-group") {
  for (const std::uint32_t wrong : {3u, 5u, 0u}) {
    CAPTURE(wrong);
    Module module("group.ocloc.spv");
    const std::uint32_t id = module.constant(wrong);
    module.find(spv::OpGroupNonUniformIAdd, 4, spv::GroupOperationClusteredReduce)[6] = id;
    module.check_refused("OpGroupNonUniformIAdd", "operand 3");
  }
}

TEST_CASE("required sub-group sizes that no device has are refused") {
  for (const std::uint32_t size : {1u, 4u, 12u, 64u, ~0u}) {
    CAPTURE(size);
    Module module("sub_group.spv");
    module.find(spv::OpExecutionMode, 2, spv::ExecutionModeSubgroupSize)[3] = size;
    module.check_refused("'requires_8'", "requires sub-groups of");
  }
}

}  // namespace kiln::cpu::test
