# SPDX-License-Identifier: MIT
"""`kiln cache rewarm` on Intel's driver without a GPU: OpenCL C, automatic registers, SPIR-V. rewarm_test.py SOURCE BUILD KILN.
Another compiler is a variable that Intel's compiler does not know: it counts in the key."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD, KILN = map(pathlib.Path, sys.argv[1:4])
DEVICE = 'capture:pvc'
OTHER = {'IGC_NotKnownToIt': '1'}
# Holds more floats at once than 128 registers have room for.
SPILLS = 'kernel void spills(global float* x, int n) {\n' + ''.join(f'float a{i} = x[{i} * n];\n' for i in range(150)) + \
    'for (int k = 0; k < n; ++k) {\n' + ''.join(f'a{i} = a{i} * a{(i + 7) % 150} + x[k];\n' for i in range(150)) + '}\n' + \
    'x[get_global_id(0)] = ' + ' + '.join(f'a{i}' for i in range(150)) + ';\n}\n'
FILL = """
import json, pathlib, sys
sys.path.insert(0, sys.argv[1] + '/python')
import kiln
device, spills = kiln.Device(sys.argv[2]), sys.argv[3]
with kiln.Cache() as cache:
    made = [kiln.Bundle.compile(device, spills, cache=cache),
            kiln.Bundle.compile(device, spills, cache=cache, registers='automatic'),
            kiln.Bundle.compile(device, spills, cache=cache, registers='automatic', spill_limit=100000),
            kiln.Bundle.compile(device, '#include "a.h"\\nkernel void twice(global int* x) { *x *= TIMES + BY; }', cache=cache,
                                headers={'a.h': '#define BY 3'}, macros={'TIMES': 2}, flags='-cl-mad-enable'),
            kiln.Bundle(device, pathlib.Path(sys.argv[1], 'spirv', 'saxpy.spv'), cache=cache, only_spirv=True, registers='automatic')]
    print(json.dumps([[each.origin, each.registers] for each in made]))
"""


class Rewarm(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix='kiln-rewarm-')
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)

    def run_one(self, command, **more):
        environment = {**os.environ, 'KILN_CACHE_DIR': str(self.root / 'cache'), 'KILN_CACHE_KEEP_INPUTS': '8M', 'NEO_CACHE_PERSISTENT': '0',
                       'KILN_LIBRARY': str(BUILD / 'src' / 'libkiln.so.0'), **more}
        done = subprocess.run([str(each) for each in command], env=environment, capture_output=True, text=True, timeout=250, cwd=self.root)
        if 'K0405' in done.stderr:
            self.skipTest('there is no compiler of OpenCL C')
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def fill(self, **more):
        return self.run_one([sys.executable, '-c', FILL, SOURCE, DEVICE, SPILLS], **more)

    def kiln(self, command, **more):
        return self.run_one([KILN, 'cache', command, '--json'], KILN_DEVICE=DEVICE, **more)

    def rewarm(self, **more):
        answer = self.kiln('rewarm', **more)
        return [answer[name] for name in ('compiled', 'there', 'without_inputs')]

    def test_what_was_compiled_is_compiled_for_another_compiler(self):
        first = self.fill()
        self.assertEqual(first, [['jit', registers] for registers in ('as_given', '256', 'as_given', 'as_given', 'as_given')])
        inputs = self.kiln('stats')['inputs']
        self.assertEqual(inputs, 3)
        self.assertEqual(self.rewarm(), [0, 5, 0])
        self.assertEqual(self.rewarm(**OTHER), [5, 0, 0])
        self.assertEqual(self.fill(**OTHER), [['cache', registers] for _, registers in first])
        self.assertEqual(self.rewarm(**OTHER), [0, 5, 0])
        stats = self.kiln('stats')
        self.assertEqual((stats['entries'], stats['inputs']), (10, inputs))
        self.assertEqual(self.fill(), [['cache', registers] for _, registers in first])  # the older ones are there still


if __name__ == '__main__':
    there = subprocess.run([KILN, 'devices', '--device', DEVICE], capture_output=True, text=True)
    if there.returncode == 4:
        print("skipped: Intel's driver is not installed")
        sys.exit(77)
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
