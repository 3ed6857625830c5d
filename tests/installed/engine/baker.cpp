// SPDX-License-Identifier: MIT
// The smallest asset pipeline: bakes a source for pvc into a file.
#include <cstdio>
#include <kiln/bake.hpp>

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const auto baked = kiln::bake({.files = {arguments[1]}, .targets = {"pvc"}, .output = arguments[2]});
  if (baked) return 0;
  for (const kiln::Error& error : baked.error().errors) std::fprintf(stderr, "%s", error.text().c_str());
  return 1;
}
