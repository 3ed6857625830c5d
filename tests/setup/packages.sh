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
need build may 'kernel caches of other machines' libcurl4-openssl-dev
need build may 'kernel caches of other machines' libhiredis-dev
need build may 'kernel caches of other machines' libzstd-dev
need test must 'the tests' doctest-dev
need test may 'the tests' spirv-tools
need test may 'the tests' valgrind
need test may 'the tests' clang-format
need test may 'the tests' abigail-tools
need test may 'the tests' cmake
need test may 'the tests' make
need test may 'the tests of caches of other machines' redis-server
need test may 'the tests of caches of other machines' nginx-light nginx
need test may 'the tests of caches of other machines' skopeo
need test may 'the tests of caches of other machines' umoci
need test may 'the API reference' doxygen
need test may 'the Python package' python3-numpy
need test may 'the Python package' mypy
need test may 'the tests' libbenchmark-dev
need test may 'the tests of OpenCL programs on the simulated GPU' ocl-icd-opencl-dev
need test may 'kernels from seeds on PoCL as well' pocl-opencl-icd
need bench must 'the benchmarks' libbenchmark-dev
need bench may 'the benchmarks' valgrind
need bench may 'the CPU device beside PoCL' pocl-opencl-icd
need bench may 'the CPU device beside PoCL' ocl-icd-opencl-dev
need fuzz must 'fuzzing' clang
need fuzz must 'fuzzing' libclang-rt-dev libclang-rt-14-dev
need deb must 'Debian packages' debhelper
need deb must 'Debian packages' dh-python
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

# announce PACKAGE...: how much comes, in apt's own numbers, and what for, from lines of `missing`: a reason once, with
# all its packages.
announce() {
  local plan count download disk speed
  plan=$("${as_root[@]}" env LC_ALL=C apt-get -q --assume-no --no-install-recommends install "$@" 2>&1 </dev/null || true)
  count=$(sed -nE 's/.* ([0-9]+) newly installed.*/\1/p' <<<"$plan")
  download=$(sed -nE 's/^(Need to get|  Download size:) ([0-9.,]+ [kMG]?B).*/\2/p' <<<"$plan")
  disk=$(sed -nE 's/^(After this operation,|  Space needed:) ([0-9.,]+ [kMG]?B).*/\2/p' <<<"$plan")
  # As fast as the lists came just now: "Fetched 9980 kB in 10s (1025 kB/s)".
  speed=$(sed -nE 's/^Fetched .*\(([0-9.,]+ [kMG]?B)\/s\)$/\1/p' "$work/apt.log" | tail -n 1)
  say "installing ${count:-$#} packages$(
    [ -z "$download" ] || say ", $download to download")$(
    [ -z "$disk" ] || say ", $disk on disk, $(about "$(seconds_to_install "$download" "$speed" "$disk")")"):"
  awk -F'|' '!($1 in all) { order[++n] = $1 } { all[$1] = all[$1] " " $2 }
    END { for (i = 1; i <= n; i++) print "  for " order[i] ":" all[order[i]] }'
}

# about SECONDS: in words.
about() {
  if [ "$1" -lt 90 ]; then say "about $((($1 + 9) / 10 * 10)) s"; else say "about $((($1 + 30) / 60)) minutes"; fi
}

# seconds_to_install DOWNLOAD SPEED DISK: apt's sizes, such as `1,025 kB`. dpkg unpacks 20 MB a second: what most of
# fifteen installations took that were looked at, 7 to 45.
seconds_to_install() {
  awk -v download="$1" -v speed="$2" -v disk="$3" '
    function megabytes(size,  parts) {
      gsub(",", "", size); split(size, parts, " ")
      return parts[1] * (parts[2] == "GB" ? 1000 : parts[2] == "MB" ? 1 : parts[2] == "kB" ? 0.001 : 0.000001)
    }
    BEGIN { printf "%d", megabytes(disk) / 20 + (megabytes(speed) > 0 ? megabytes(download) / megabytes(speed) : 0) }'
}

# The packages of such lines, in one line.
names() { cut -d'|' -f2 | sed 's/^?//; s/^LLVM$/LLVM 15 to 21 with libllvmspirvlib/' | paste -sd, | sed 's/,/, /g'; }

# apt ARGUMENT...: its output goes to a log, on a terminal its progress into one line that is drawn anew.
apt() {
  # Waits for another apt for up to two minutes; questions are answered with their defaults.
  local call=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q -o DPkg::Lock::Timeout=120)
  if [ -t 1 ]; then
    "${call[@]}" -o APT::Status-Fd=1 "$@" 2>&1 </dev/null | draw_progress
  else
    "${call[@]}" "$@" >>"$work/apt.log" 2>&1 </dev/null
  fi
}

# Lines of apt's status, such as `pmstatus:g++:12.5:Unpacking g++ (amd64)`, among its others.
draw_progress() {
  local line what
  while IFS= read -r line; do
    if [[ $line =~ (dl|pm)status:.*:([0-9]+)\.[0-9]+:(.*)$ ]]; then
      what=$(printable "${BASH_REMATCH[3]}")
      printf '\r\033[K  %3d %%  %s' "${BASH_REMATCH[2]}" "${what:0:60}"
    else
      printf '%s\n' "$line" >>"$work/apt.log"
    fi
  done
  printf '\r\033[K'
}
printable() { tr -d '[:cntrl:]' <<<"$1"; }

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
  [ -f "$seen" ] || tell_what_is_not_offered "$@"
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
  local all all_packages must_packages begin=$SECONDS
  all=$(printf '%s\n' "$must" "$may" | sed '/^$/d')
  mapfile -t all_packages < <(cut -d'|' -f2 <<<"$all" | tr ' ' '\n' | sort -u)
  mapfile -t must_packages < <(cut -d'|' -f2 <<<"$must" | tr ' ' '\n' | sed '/^$/d' | sort -u)
  announce "${all_packages[@]}" <<<"$all"
  if ! apt install -y --no-install-recommends "${all_packages[@]}"; then
    # Perhaps for one that Kiln can do without.
    if [ "${#must_packages[@]}" -gt 0 ] && { [ -z "$may" ] ||
      ! apt install -y --no-install-recommends "${must_packages[@]}"; }; then
      show_apt_log
      fail 'apt-get could not install the packages above: is there a network?'
    fi
    say "  not installed, Kiln goes on without: $(names <<<"$may"): $(tail -n 1 "$work/apt.log")" >&2
    return 1
  fi
  say "installed in $((SECONDS - begin)) s"
  read_installed
}

# What this release has no package for, of all that Kiln can do without: said when a build folder is new.
tell_what_is_not_offered() {
  local entry when required reason names lacks=()
  read_known
  for entry in "${needs[@]}"; do
    IFS='|' read -r when required reason names <<<"$entry"
    [[ $required = may && " $* " = *" $when "* ]] || continue
    # shellcheck disable=SC2086  # lists of names
    [ -n "$(resolve $names)" ] || lacks+=("  ${names// / or }: $reason")
  done
  [ "${#lacks[@]}" -gt 0 ] || return 0
  say "$(os_release PRETTY_NAME) has no package for what follows, so Kiln goes without:"
  printf '%s\n' "${lacks[@]}"
  [[ ${lacks[*]} != *"Intel's driver"* ]] || say 'Kernels run on the CPU device, which needs neither.'
}

# os_release FIELD: as the system names itself; nothing where it does not.
os_release() { sed -nE "s/^$1=\"?([^\"]*)\"?$/\1/p" "${os_release_file:-/etc/os-release}" 2>/dev/null || true; }

show_apt_log() { grep -E '^(E|W|Err)' "$work/apt.log" | tail -n 5 >&2 || tail -n 5 "$work/apt.log" >&2; }

# The packages of another system in one line. Where it lacks one, Meson brings the library, except for LLVM, its
# translator, SPIRV-Tools, Boost and OpenSSL. docs/install.md has the same lines, and a test compares.
install_line() {
  case $1 in
    fedora) say 'sudo dnf install gcc-c++ meson ninja-build pkgconf-pkg-config python3 oneapi-level-zero-devel' \
      'expected-devel yaml-cpp-devel json-devel xxhash-devel openssl-devel spirv-headers-devel cli11-devel' \
      'spdlog-devel llvm-devel spirv-llvm-translator-devel spirv-tools-devel boost-devel doctest-devel' \
      'intel-compute-runtime' ;;
    arch) say 'sudo pacman -S --needed gcc meson ninja pkgconf python level-zero-headers level-zero-loader tl-expected' \
      'yaml-cpp nlohmann-json xxhash openssl spirv-headers cli11 spdlog llvm spirv-llvm-translator spirv-tools' \
      'boost doctest intel-compute-runtime' ;;
    opensuse) say 'sudo zypper install gcc-c++ meson ninja pkgconf-pkg-config python3 yaml-cpp-devel' \
      'nlohmann_json-devel xxhash-devel libopenssl-devel spirv-headers cli11-devel spdlog-devel llvm-devel' \
      'libLLVMSPIRVLib-devel spirv-tools-devel libboost_context-devel doctest-devel' ;;
  esac
}

# The family that the system names itself of; nothing for others.
family() {
  local word
  for word in $(os_release ID) $(os_release ID_LIKE); do
    case $word in
      fedora | rhel | centos) say fedora ;;
      arch) say arch ;;
      opensuse* | suse | sles) say opensuse ;;
      *) continue ;;
    esac
    return
  done
}

# Not Debian: names what is missing, and stops. What Meson brings itself is not.
probe_tools() {
  local lacks=() tool module header line
  for tool in c++ meson ninja pkg-config python3; do command -v "$tool" >/dev/null || lacks+=("$tool"); done
  if command -v pkg-config >/dev/null; then
    for module in libcrypto SPIRV-Tools LLVMSPIRVLib; do
      pkg-config --exists "$module" || lacks+=("$module (pkg-config)")
    done
  fi
  if command -v c++ >/dev/null; then
    header=boost/context/fiber.hpp
    echo "#include <$header>" | c++ -std=c++20 -fsyntax-only -x c++ - 2>/dev/null || lacks+=("<$header>")
  fi
  command -v llvm-config >/dev/null || compgen -c llvm-config- >/dev/null || lacks+=('LLVM 15 to 21 (llvm-config)')
  [ "${#lacks[@]}" -gt 0 ] || return 0
  line=$(install_line "$(family)")
  fail "this is not Debian or Ubuntu, so please install: $(printf '%s, ' "${lacks[@]}" | sed 's/, $//')${line:+
  $line}"
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
