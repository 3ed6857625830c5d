// SPDX-License-Identifier: MIT
// Fuzz target: the ELF reader of native binaries, and the SPIR-V inside them.
#include "fuzz/claims.hpp"
#include "fuzz/input.hpp"
#include "kiln/needs.hpp"

FUZZ_TARGET(zebin) {
  using namespace kiln;
  const auto file = fuzz::bytes(data, size);
  if (const auto facts = read_zebin(file)) fuzz::claim_checks(*facts);
  if (const auto finding = explain_symbols(missing_symbols(file), BinaryFormat::elf))
    fuzz::claim_renders(*finding);
  const auto spirv = embedded_spirv(file);
  fuzz::claim(spirv.empty() || (spirv.data() >= file.data() && spirv.size() <= size &&
                                spirv.data() + spirv.size() <= file.data() + size),
              "a section lies inside its file");
  if (const auto facts = read_spirv(spirv)) fuzz::claim_checks(*facts);
  return 0;
}
