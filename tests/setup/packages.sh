# SPDX-License-Identifier: MIT
# Which packages Kiln needs and why, and how they get onto the machine; `run` sources it, with say, fail, work, build.
# shellcheck shell=bash disable=SC2154

# need WHEN PRESENCE REASON PACKAGE...: the first package that is installed or that apt knows is taken.
# WHEN is build, test, bench, fuzz, deb or format. PRESENCE is `must`, or `may` for what Kiln can do without.
needs=()
need() { needs+=("$1|$2|$3|${*:4}"); }

need build must 'the compiler and the build system' g++
need build must 'the compiler and the build system' meson
need build must 'the compiler and the build system' ninja-build
need build must 'the compiler and the build system' pkgconf pkg-config
need build must 'the compiler and the build system' python3
need build must 'the Level Zero headers and loader' libze-dev
need build must 'the Level Zero headers and loader' libze1
need build must 'libraries that Kiln is made of' libexpected-dev
need build must 'libraries that Kiln is made of' libyaml-cpp-dev
need build must 'libraries that Kiln is made of' nlohmann-json3-dev
need build must 'libraries that Kiln is made of' libxxhash-dev
need build must 'libraries that Kiln is made of' libssl-dev
need build must 'libraries that Kiln is made of' spirv-headers
need build must 'libraries that Kiln is made of' libcli11-dev
need build must 'libraries that Kiln is made of' libspdlog-dev
need build must 'the CPU device (LLVM, SPIR-V translator, validator, fibers)' LLVM
need build must 'the CPU device (LLVM, SPIR-V translator, validator, fibers)' libboost-context-dev
need build must 'the CPU device (LLVM, SPIR-V translator, validator, fibers)' spirv-tools-dev spirv-tools
need build may "Intel's driver, for Intel GPUs and for tests that ask it without one" libze-intel-gpu1 intel-opencl-icd
need build may "Intel's offline compiler, for native kernels" intel-ocloc intel-opencl-icd
need test must 'the tests' doctest-dev
need test may 'the tests' spirv-tools
need test may 'the tests' valgrind
need test may 'the tests' clang-format
need test may 'the tests' abigail-tools
need test may 'the tests' cmake
need test may 'the tests' make
need test may 'the API reference' doxygen
need test may 'the tests' libbenchmark-dev
need bench must 'the benchmarks' libbenchmark-dev
need bench may 'the benchmarks' valgrind
need bench may 'the CPU device beside PoCL' pocl-opencl-icd
need bench may 'the CPU device beside PoCL' ocl-icd-opencl-dev
need fuzz must 'fuzzing' clang
need fuzz must 'fuzzing' libclang-rt-dev libclang-rt-14-dev
need deb must 'Debian packages' debhelper
need deb must 'Debian packages' dpkg-dev
need deb may 'Debian packages' cmake
need format must 'formatting' clang-format

on_debian() { command -v apt-get >/dev/null && command -v apt-cache >/dev/null && command -v dpkg-query >/dev/null; }

# One question to dpkg for all packages: some dozens of single ones take a second.
declare -A installed_versions=()
read_installed() {
  local status package version
  installed_versions=()
  while read -r status package version; do
    [ "$status" != ii ] || installed_versions[$package]=$version
  done < <(dpkg-query -W -f='${db:Status-Abbrev} ${Package} ${Version}\n')
}
installed() { [ -n "${installed_versions[$1]:-}" ]; }

# And one to apt, which takes most of a second for each.
declare -A known_packages=()
read_known() {
  local entry version package names=()
  # shellcheck disable=SC2206,SC2207  # lists of names
  for entry in "${needs[@]}"; do names+=(${entry##*|}); done
  # shellcheck disable=SC2207
  for version in "${llvm_versions[@]}"; do names+=($(llvm_set "$version")); done
  known_packages=()
  while read -r package; do known_packages[$package]=1
  done < <(apt-cache show --no-all-versions "${names[@]}" 2>/dev/null | sed -n 's/^Package: //p')
}
known() { [ -n "${known_packages[$1]:-}" ]; }

# The newest LLVM that comes with its translator; an installed set goes before a newer one.
llvm_versions=(21 20 19 18 17 16 15)
llvm_set() { say "llvm-$1-dev libllvmspirvlib-$1-dev"; }
llvm_packages() {
  local test version package
  for test in installed known; do
    for version in "${llvm_versions[@]}"; do
      for package in $(llvm_set "$version"); do "$test" "$package" || continue 2; done
      llvm_set "$version"
      return
    done
  done
}

# The packages for one need, or nothing.
resolve() {
  local package
  if [ "$*" = LLVM ]; then
    llvm_packages
    return
  fi
  for package in "$@"; do
    if installed "$package" || known "$package"; then
      say "$package"
      return
    fi
  done
}

# missing PRESENCE WHEN...: lines REASON|PACKAGES of what is not installed; `?` before a name that apt does not know.
missing() {
  local presence=$1 entry when required reason names packages package absent; shift
  for entry in "${needs[@]}"; do
    IFS='|' read -r when required reason names <<<"$entry"
    [[ $required = "$presence" && " $* " = *" $when "* ]] || continue
    # shellcheck disable=SC2086  # lists of names
    packages=$(resolve $names)
    if [ -z "$packages" ]; then
      # What a machine's architecture or release does not offer is no news each time.
      [ "$presence" = may ] || say "$reason|?${names// / or }"
      continue
    fi
    absent=
    for package in $packages; do installed "$package" || absent+=" $package"; done
    [ -z "$absent" ] || say "$reason|${absent# }"
  done
}

# The same reason once, with all its packages.
announce() {
  say 'installing:'
  awk -F'|' '!($1 in all) { order[++n] = $1 } { all[$1] = all[$1] " " $2 }
    END { for (i = 1; i <= n; i++) print "  for " order[i] ":" all[order[i]] }'
}

# The packages of such lines, in one line.
names() { cut -d'|' -f2 | sed 's/^?//; s/^LLVM$/LLVM 15 to 21 with libllvmspirvlib/' | paste -sd, | sed 's/,/, /g'; }

apt() {
  # Waits for another apt for up to two minutes; questions are answered with their defaults.
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120 "$@" \
    >>"$work/apt.log" 2>&1 </dev/null
}

become_root() {
  as_root=()
  [ "$(id -u)" -ne 0 ] || return 0
  command -v sudo >/dev/null || return 1
  as_root=(sudo)
  # Without a terminal sudo could not ask for a password.
  [ -t 0 ] || sudo -n true 2>/dev/null
}

# install_packages WHEN...: brings what is missing, and says so. Silent when nothing is.
install_packages() {
  if ! on_debian; then
    probe_tools "$@"
    return
  fi
  read_installed
  # Nothing changed since all was there: the next lines would only find that out again.
  local seen=$build/.kiln-packages
  [ "$(cat "$seen" 2>/dev/null)" != "$(package_state "$@")" ] || return 0
  install_missing "$@" || return 0
  mkdir -p "$build"
  package_state "$@" >"$seen"
}

package_state() { { say "$* ${needs[*]}"; declare -p installed_versions; } | cksum; }

# Status 1 when some package that Kiln can do without could not be installed.
install_missing() {
  local must may unknown
  read_known
  must=$(missing must "$@")
  may=$(missing may "$@")
  [ -n "$must$may" ] || return 0
  if ! become_root; then
    [ -z "$must" ] || fail "installing packages needs root or sudo; missing: $(names <<<"$must")"
    say "not installed, as that needs root or sudo: $(names <<<"$may")" >&2
    return 1
  fi
  : >"$work/apt.log"
  local updated=yes
  # Without the option a failed download is a warning, and the status 0.
  apt -o APT::Update::Error-Mode=any update || updated=no
  read_known
  must=$(missing must "$@")
  may=$(missing may "$@")
  unknown=$({ grep -F '|?' || true; } <<<"$must" | names)
  if [ -n "$unknown" ]; then
    [ "$updated" = yes ] || show_apt_log
    [ "$updated" = yes ] || fail "apt-get could not learn of these packages, is there a network?: $unknown"
    fail "apt knows no package for: $unknown"
  fi
  if [ -n "$must" ]; then
    announce <<<"$must"
    # shellcheck disable=SC2046  # lists of names
    apt install -y --no-install-recommends $(cut -d'|' -f2 <<<"$must") || {
      show_apt_log
      fail 'apt-get could not install the packages above: is there a network?'
    }
  fi
  if [ -n "$may" ]; then
    announce <<<"$may"
    # shellcheck disable=SC2046
    apt install -y --no-install-recommends $(cut -d'|' -f2 <<<"$may") || {
      say "  not installed, Kiln goes on without: $(tail -n 1 "$work/apt.log")" >&2
      return 1
    }
  fi
  read_installed
}

show_apt_log() { grep -E '^(E|W|Err)' "$work/apt.log" | tail -n 5 >&2 || tail -n 5 "$work/apt.log" >&2; }

# Not Debian: names what is missing, and stops.
probe_tools() {
  local lacks=() tool module header
  for tool in c++ meson ninja pkg-config python3; do command -v "$tool" >/dev/null || lacks+=("$tool"); done
  if command -v pkg-config >/dev/null; then
    for module in level-zero yaml-cpp nlohmann_json libxxhash libcrypto SPIRV-Headers SPIRV-Tools CLI11 spdlog LLVMSPIRVLib; do
      pkg-config --exists "$module" || lacks+=("$module (pkg-config)")
    done
  fi
  if command -v c++ >/dev/null; then
    for header in tl/expected.hpp boost/context/fiber.hpp $([[ " $* " != *' test '* ]] || echo doctest/doctest.h) \
      $([[ " $* " != *' bench '* ]] || echo benchmark/benchmark.h); do
      echo "#include <$header>" | c++ -std=c++20 -fsyntax-only -x c++ - 2>/dev/null || lacks+=("<$header>")
    done
  fi
  command -v llvm-config >/dev/null || compgen -c llvm-config- >/dev/null || lacks+=('LLVM 15 to 21 (llvm-config)')
  [ "${#lacks[@]}" -eq 0 ] ||
    fail "this is not Debian or Ubuntu, so please install: $(printf '%s, ' "${lacks[@]}" | sed 's/, $//')"
}

# What a configured build depends on: another version of it asks for a new configuration.
package_versions() {
  on_debian || return 0
  read_installed
  local entry names package
  for entry in "${needs[@]}"; do
    names=${entry##*|}
    [ "$names" != LLVM ] || names=$(llvm_packages)
    for package in $names; do
      if installed "$package"; then say "$package ${installed_versions[$package]}"; fi
    done
  done | cksum
}
