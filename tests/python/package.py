# SPDX-License-Identifier: MIT
"""What the tests of the Python package share: where it is, a kernel on the CPU device, and destructors that raise."""
import array
import gc
import os
import pathlib
import sys
import unittest

source, build = map(pathlib.Path, sys.argv[1:3])
os.environ.setdefault('KILN_LIBRARY', str(build / 'src' / 'libkiln.so.0'))
sys.path.insert(0, str(source / 'python'))
import kiln  # noqa: E402
from kiln import _library  # noqa: E402, F401

SPIRV = source / 'spirv'
DATA = source / 'tests' / 'unit' / 'data'
COUNT = 1000


# What a destructor raises is printed and forgotten: here it fails a test.
unraisable = []
sys.unraisablehook = unraisable.append


class OnTheDevice(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = kiln.Device('cpu')
        cls.bundle = kiln.Bundle(cls.device, SPIRV / 'saxpy')

    def setUp(self):
        self.kernel = self.bundle.kernel('saxpy', 'float, global, global, uint')
        self.x = self.device.buffer(array.array('f', range(COUNT)))
        self.y = self.device.buffer(array.array('f', [1] * COUNT))

    def right(self, times=1):
        self.assertEqual(list(self.y.view('f')), [times * 3.0 * i + 1 for i in range(COUNT)])

    def refused(self, code, *arguments, **grid):
        with self.assertRaises(kiln.Error) as caught:
            self.kernel(*arguments, **{'groups': 4, 'group_size': 256, **grid})
        self.assertEqual(caught.exception.code, code)
        return caught.exception

    def refused_as_lacking(self, feature, made):
        """None where the feature is there, else it must be refused as lacking."""
        if self.device.has(feature):
            return made()
        with self.assertRaises(kiln.Error) as caught:
            made()
        self.assertEqual((caught.exception.code, caught.exception.name), ('K0230', 'ZE_RESULT_ERROR_UNSUPPORTED_FEATURE'))
        return None


class ZAtTheEnd(unittest.TestCase):
    def test_no_destructor_raised(self):
        gc.collect()
        self.assertEqual([str(each.exc_value) for each in unraisable], [])


def run_tests():
    """Those of the program, and at their end whether a destructor raised."""
    loader = unittest.defaultTestLoader

    class Program(unittest.TestProgram):
        def createTests(self, *arguments, **more):
            super().createTests(*arguments, **more)
            self.test = unittest.TestSuite([self.test, loader.loadTestsFromTestCase(ZAtTheEnd)])
    Program(argv=sys.argv[:1] + sys.argv[3:])
