#!/bin/sh
# SPDX-License-Identifier: MIT
# opencl.sh KILN PRODUCT PROGRAM: an OpenCL program on a simulated GPU; skipped where it finds no platform of Intel's, and
# where the driver is a release without such a way in (K0311).
said=$("$1" simulate "$2" -- "$3" 2>&1)
status=$?
printf '%s\n' "$said"
case $status:$said in
  125:*K0311*) exit 77 ;;
esac
exit "$status"
