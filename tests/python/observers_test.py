# SPDX-License-Identifier: MIT
"""Who is told of compilations, refusals, allocations and log lines: observers_test.py SOURCE_ROOT BUILD_ROOT [unittest options]"""
import gc
import os
import subprocess
import sys

from package import _library, COUNT, kiln, OnTheDevice, run_tests, source, SPIRV, unraisable


class Observers(OnTheDevice):
    def test_compilations_are_watched_and_cancelled(self):
        told = []
        self.assertIsNone(kiln.watch_compilations(told.append))
        bundle = kiln.Bundle(self.device, SPIRV / 'saxpy.spv')
        self.assertEqual([(each.ended, each.name, each.step, each.result) for each in told],
                         [(False, 'saxpy.spv', 'code', 0), (True, 'saxpy.spv', 'code', 0)])
        self.assertEqual(told[0].number, told[1].number)
        self.assertGreater(told[1].time, 0)
        self.assertFalse(told[1].cancel())
        heard = []

        def cancel(compilation):
            if not compilation.ended:
                heard.append(compilation.cancel())
        self.assertIsNotNone(kiln.watch_compilations(cancel))
        with self.assertRaises(kiln.Error) as caught:
            kiln.Bundle(self.device, SPIRV / 'saxpy.spv')
        self.assertEqual((caught.exception.code, caught.exception.name, heard), ('K0423', 'ZE_RESULT_NOT_READY', [True]))
        self.assertIs(kiln.watch_compilations(None), cancel)
        kiln.Bundle(self.device, SPIRV / 'saxpy.spv')
        self.assertEqual((len(told), len(heard)), (2, 1))
        self.assertEqual(bundle.kernel_names, ('saxpy',))

    def test_refusals_and_allocations_are_watched(self):
        refusals, allocations = [], []
        kiln.watch_refusals(lambda what, error: refusals.append((what, error)))
        kiln.watch_allocations(allocations.append)
        try:
            error = self.refused('K0102', 3, self.x, self.y, COUNT, group_size=4096)
            with self.assertRaises(kiln.Error):
                self.device.buffer(0)
            buffer = self.device.buffer(300, 'host')
            address = buffer.address
            buffer.close()
        finally:
            kiln.watch_refusals(None)
            kiln.watch_allocations(None)
        self.assertEqual([(what, each.code) for what, each in refusals], [('launch', 'K0102'), ('allocation', 'K0204')])
        self.assertEqual((refusals[0][1].text, refusals[0][1].json), (error.text, error.json))
        mine = [each for each in allocations if each.address == address]
        self.assertEqual([(each.freed, each.size, each.kind) for each in mine], [(False, 300, 'host'), (True, 300, 'host')])
        self.assertEqual(mine[0].context, self.device.native.context)

    def test_what_an_observer_raises_is_told_and_goes_no_further(self):
        def raises(_):
            raise LookupError('in an observer')
        before = len(unraisable)
        kiln.watch_allocations(raises)
        try:
            buffer = self.device.buffer(16)
            buffer.close()
        finally:
            kiln.watch_allocations(None)
        mine = unraisable[before:]
        del unraisable[before:]
        self.assertEqual([str(each.exc_value) for each in mine], ['in an observer'] * 2)
        for watch in (kiln.watch_compilations, kiln.watch_refusals, kiln.watch_allocations):
            with self.assertRaises(TypeError):
                watch(3)

    def test_an_observer_replaces_itself(self):
        told = []

        def once(allocation):
            told.append(allocation)
            kiln.watch_allocations(None)
            gc.collect()
        kiln.watch_allocations(once)
        for _ in range(3):
            self.device.buffer(16).close()
        self.assertEqual(len(told), 1)

    def test_log_lines(self):
        lines = []
        def sink(level, line):
            lines.append((level, line))
        self.assertIsNone(kiln.log_to(sink))
        kiln.Cache('/dev/null/kiln')
        self.assertIs(kiln.log_to(None), sink)
        kiln.Cache('/dev/null/kiln')
        self.assertEqual(len(lines), 1)
        self.assertEqual(lines[0][0], 'warning')

    def test_sinks_that_were_replaced_are_gone(self):
        def replace(_level, _line):
            kiln.log_to(print if len(replaced) else replace)  # from inside itself
            replaced.append(1)
        replaced = []
        for _ in range(10):
            kiln.log_to(replace)
        self.assertEqual(len(_library._log._made), 1)
        kiln.Cache('/dev/null/kiln')
        self.assertEqual(replaced, [1])
        kiln.log_to(None)
        self.assertEqual(_library._log._made, [])
        # What is said while the interpreter ends comes to nobody.
        code = """
import ctypes
import kiln
from kiln import _library

class Last:
    said, call, cache, options, refer = ctypes.CDLL(None).puts, _library.functions['cache_open'], ctypes.c_void_p(), \\
        _library.CacheOptions(), ctypes.byref
    options.folder = b'/dev/null/kiln'
    def __del__(self):
        self.said(b'ends')
        self.call(self.refer(self.options), self.refer(self.cache), None)

last = Last()
kiln.log_to(lambda *_: last.said(b'a line'))
kiln.Cache('/dev/null/kiln')
"""
        done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=False,
                              env={**os.environ, 'PYTHONPATH': str(source / 'python')})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, 'a line\nends\n', ''))


if __name__ == '__main__':
    run_tests()
