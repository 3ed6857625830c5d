#!/bin/bash
# SPDX-License-Identifier: MIT
# Each reason for having no GPU gives its own message, in a mount namespace where that reason is made true.
set -u
unset LD_LIBRARY_PATH  # the test runner's own, with drivers made for other tests
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip 'needs root, to hide libraries and devices from the command'
unshare --mount true 2>/dev/null || skip 'needs mount namespaces'
command -v setpriv >/dev/null || skip 'needs setpriv'
loader=$(ldconfig -p | awk '/libze_loader\.so\.1 / {print $NF; exit}')
[ -n "$loader" ] || skip 'the Level Zero loader is not installed'
ldconfig -p | grep -q 'libze_intel_gpu\.so\.1 ' || skip "Intel's driver is not installed"
if compgen -G '/dev/dri/renderD*' >/dev/null; then skip 'there is a GPU node, which this test would hide'; fi

export libraries=${loader%/*}
scratch=$(mktemp -d) && chmod 755 "$scratch"
trap 'rm -rf "$scratch"' EXIT
failed=0

# scenario NAME HIDDEN-FILES EXPECTED-CODE EXPECTED-WORDS [PREPARE]: runs `kiln run saxpy --device gpu`, and `kiln doctor`.
scenario() {
  mkdir -p "$scratch/$1"
  hide=$2 work=$scratch/$1 prepare=${5:-true} unshare --mount bash -c '
    set -e
    mount --make-rprivate /
    mkdir -p "$work/whole" "$work/part"
    mount --bind "$libraries" "$work/whole"
    find "$work/whole" -maxdepth 1 -mindepth 1 ! -name "$hide" -exec ln -s -t "$work/part" {} +
    [ -z "$hide" ] || mount --bind "$work/part" "$libraries"
    eval "$prepare"
    set +e
    ${as:-} "$KILN" run saxpy --device gpu >"$work/out" 2>"$work/error"
    echo $? >"$work/status"
    ${as:-} "$KILN" run saxpy --device auto --size 100 >"$work/auto.out" 2>"$work/auto.error"
    echo $? >"$work/auto.status"
    ${as:-} "$KILN" doctor >"$work/doctor"
    echo $? >"$work/doctor.status"
  ' || { echo "FAIL $1: the scenario could not be made"; failed=1; return; }
  local work=$scratch/$1
  if [ "$(cat "$work/status")" != 4 ] || ! grep -q "error\[$3\].*$4" "$work/error" || ! grep -q 'help:' "$work/error"; then
    echo "FAIL $1: exit status $(cat "$work/status"), expected 4 with $3"; cat "$work/error"; failed=1; return
  fi
  if [ "$(cat "$work/auto.status")" != 0 ] || [ "$(wc -l <"$work/auto.error")" != 1 ]; then
    echo "FAIL $1: auto gave $(cat "$work/auto.status") and said:"; cat "$work/auto.error"; failed=1; return
  fi
  if [ "$(cat "$work/doctor.status")" != 4 ] || [ "$(grep -c PROBLEM "$work/doctor")" != 1 ] ||
    ! grep -q "PROBLEM.*\[$3\]" "$work/doctor" || ! grep -q 'uses the CPU device' "$work/doctor"; then
    echo "FAIL $1: doctor gave $(cat "$work/doctor.status") and said:"; cat "$work/doctor"; failed=1; return
  fi
  echo "ok $1: $(head -1 "$work/error")"
}

scenario no-loader 'libze_loader*' K0301 'loader is not installed'
scenario no-driver 'libze_intel_gpu*' K0302 'no driver'
scenario no-device '' K0303 'no GPU'
scenario no-rights '' K0304 'may not open' 'mkdir -p /dev/dri 2>/dev/null
  mount -t tmpfs none /dev/dri; mknod -m 600 /dev/dri/renderD128 c 226 128
  as="setpriv --reuid 65534 --regid 65534 --clear-groups"'
exit $failed
