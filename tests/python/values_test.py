# SPDX-License-Identifier: MIT
"""What needs no device: values_test.py SOURCE_ROOT BUILD_ROOT [unittest options]"""
import ctypes
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import unittest

from package import _library, DATA, kiln, run_tests, source, SPIRV


class WhatNeedsNoDevice(unittest.TestCase):
    def test_structs_are_those_of_the_header(self):
        sizes, offsets, name = {}, {}, ''
        for line in (source / 'tests' / 'headers' / 'layouts.txt').read_text().splitlines():
            if not line.startswith(' '):
                name = line.partition(':')[0]
                sizes[name] = line.partition(': ')[2]
            elif name.startswith('kiln_'):
                place, _, member = line.strip().partition(': ')
                offsets.setdefault(name, []).append((member.split()[-1], int(place)))
        structs = {name for name in sizes if name.startswith('kiln_')}
        self.assertEqual(set(_library.STRUCTS), structs)
        for name, struct in _library.STRUCTS.items():
            self.assertEqual(f'{ctypes.sizeof(struct)} bytes', sizes[name])
            self.assertEqual([(field[0], getattr(struct, field[0]).offset) for field in struct._fields_], offsets[name])

    def test_functions_are_those_of_the_header(self):
        header = re.sub(r'//.*', '', (source / 'include' / 'kiln' / 'kiln.h').read_text())
        letters = {'uint32_t': 'I', 'uint64_t': 'Q', 'size_t': 'Q', 'kiln_extent': 'E', 'const char*': 's', 'int': 'i'}
        wanted = {}
        for name, parameters in re.findall(r'KILN_CHECKED kiln_result kiln_(\w+)\(([^)]*)\);', header):
            types = [re.sub(r'\s*\w+$', '', ' '.join(each.split())) for each in parameters.split(',')]
            self.assertEqual(types.pop(), 'kiln_error*', name)
            wanted[name] = ''.join(letters.get(each, 'p') for each in types)
        self.assertGreater(len(wanted), 50)
        self.assertEqual(_library.FUNCTIONS, wanted)
        self.assertEqual({'kiln_' + name + '_destroy' for name in _library.DESTROYED},
                         set(re.findall(r'void (kiln_\w+_destroy)\(', header)))

    def test_versions_agree(self):
        self.assertEqual(kiln.library_version(), kiln.__version__)
        project = (source / 'python' / 'pyproject.toml').read_text()
        self.assertIn(f'version = "{kiln.__version__}"', project)
        self.assertIn(f"version: '{kiln.__version__}'", (source / 'meson.build').read_text())

    def test_a_file_says_what_its_kernels_are(self):
        with kiln.File(SPIRV / 'matmul.spv') as file:
            (part,) = file.parts
            self.assertEqual((part.format, part.name, part.target, part.unreadable), ('spirv', '', '', ''))
            self.assertEqual((part.ip_version, part.spirv_version >> 16, part.unreadable_at), (0, 1, 0))
            tiled = part.kernel('tiled')
            self.assertEqual(len(tiled.arguments), 9)
            self.assertEqual(tiled.arguments[7], kiln.Argument('a_tile', 'local', 0, 4))
            self.assertIn('arguments_known', tiled.flags)
            with self.assertRaises(KeyError):
                part.kernel('tilde')
            self.assertTrue(tiled.fits('pvc', 256, local={'a_tile': 1024, 'b_tile': 1024}))
            (finding,) = tiled.check('dg2', (16, 16), local={7: 131072, 'b_tile': 131072})
            self.assertEqual((finding.code, finding.severity), ('K0101', 'error'))
            room = tiled.what_fits('pvc', (16, 16), local={7: 131072, 8: 131072})
            self.assertEqual((room.slm_per_group, room.asked_slm, room.local_bytes, room.largest_group),
                             (131072, 262144, 131072, 128))
            room = tiled.what_fits('pvc', (16, 16), local={7: 181 * 181 * 4, 8: 181 * 181 * 4})
            self.assertEqual((room.tiles, room.tile_edge, room.tile_element, room.element_size), (2, 128, 4, 2))
            for wrong in ({'a': 1}, {0: 1}, {9: 1}, {7: -1}, {7: 2**64}):
                with self.assertRaises(ValueError):
                    tiled.check('pvc', local=wrong)
            with self.assertRaises(kiln.Error) as caught:
                tiled.check('pcv')
            self.assertEqual(caught.exception.code, 'K0903')
        with self.assertRaises(ValueError):
            tiled.check('pvc')
        content = (SPIRV / 'saxpy.spv').read_bytes()
        self.assertEqual(kiln.File(content).kernel('saxpy').name, 'saxpy')
        self.assertNotEqual(kiln.File(b'hello').parts[0].unreadable, '')
        native = kiln.File(DATA / 'memory.pvc.bin').parts[0]
        self.assertEqual((native.target, native.spirv_version), ('pvc', 0))
        self.assertIn(12 << 22 | 60 << 14 | 7, [part.ip_version for part in kiln.File(DATA / 'saxpy.ocloc-26.27.ar').parts])
        self.assertEqual(native.kernels[0].occupancy('pvc', native.kernels[0].simd_size, 131072).limit, 'slm')

    def test_products_codes_and_logs(self):
        self.assertEqual(kiln.target('acm-g10').name, 'dg2-g10')
        self.assertIn('pvc', [each.name for each in kiln.targets()])
        meaning = kiln.explain(0x70000003)
        self.assertEqual(meaning.name, 'ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY')
        self.assertTrue(meaning.causes and all(meaning.causes))
        self.assertEqual(kiln.explain_log('error[K0101]: kernel `tiled` asks for 262144 bytes').code, 'K0509')
        self.assertIsNone(kiln.explain_log(b''))

    def test_where_the_memory_went(self):
        with tempfile.TemporaryDirectory() as root:
            file = None
            for line in (DATA.parent / 'memory' / 'others.txt').read_text().splitlines(keepends=True):
                if line.startswith('=== '):
                    file = pathlib.Path(root) / line[4:].strip()
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text('')
                elif file:
                    with file.open('a') as to:
                        to.write(line)
            account = kiln.MemoryAccount(root=root)
            self.assertFalse(kiln.MemoryAccount(5009999, root=root).process_found)
        gib = 1 << 30
        self.assertEqual(account.cards, (kiln.Card('0000:03:00.0', 'xe', 0xe223, 32 * gib, None, 32 * gib, 200 << 20, 30 * gib),))
        self.assertEqual((account.host_total, account.group_left), (16357785 * 1024, None))
        self.assertEqual(account.json['clients'][1]['program'], 'llama-server')
        codes = lambda *asked, **more: [(each.code, each.severity) for each in account.causes(*asked, **more)]
        self.assertEqual(codes(), [])
        self.assertEqual(codes(4 * gib), [('K0244', 'warning')])
        self.assertEqual(codes(4 * gib, free=gib), [('K0244', 'error')])
        self.assertEqual(codes(20 * gib, 'host'), [('K0241', 'error')])
        self.assertEqual(codes(4 * gib, card='0000:99:00.0'), [])
        for wrong in (lambda: account.causes(-1), lambda: account.causes(1, 'vram'), lambda: account.causes(1, free=1 << 64),
                      lambda: kiln.MemoryAccount(-1)):
            with self.assertRaises((ValueError, OverflowError)):
                wrong()
        here = kiln.MemoryAccount()
        self.assertEqual((here.process, here.process_found), (os.getpid(), True))
        account.close()
        with self.assertRaises(kiln.Error) as caught:
            account.causes()
        self.assertEqual(caught.exception.code, 'K0901')

    def test_errors_carry_the_diagnostic(self):
        with self.assertRaises(kiln.Error) as caught:
            kiln.File('nowhere.spv')
        error = caught.exception
        self.assertEqual((error.result, error.name, error.code), (0x78000004, 'ZE_RESULT_ERROR_INVALID_ARGUMENT', 'K0201'))
        self.assertTrue(error.text.startswith('error[K0201]: '))
        self.assertEqual(str(error), error.text.rstrip('\n'))
        self.assertEqual(error.json['code'], 'K0201')
        self.assertEqual(error.json['result_value'], error.result)
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((again.code, again.text), (error.code, error.text))

    def test_texts_that_c_cannot_have(self):
        for wrong, kind in (('a\0b', ValueError), (3.5, TypeError), ('x' * 70000, kiln.Error)):
            with self.assertRaises(kind):
                kiln.File(wrong)
        with self.assertRaises(kiln.Error):
            kiln.Device('gpus')

    def test_a_library_that_is_none(self):
        for library, word in (('nowhere.so', 'nowhere.so'), ('libc.so.6', 'no libkiln')):
            done = subprocess.run([sys.executable, '-c', 'import kiln'], capture_output=True, text=True, check=False,
                                  env={**os.environ, 'KILN_LIBRARY': library, 'PYTHONPATH': str(source / 'python')})
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(word, done.stderr)
            self.assertIn('ImportError', done.stderr)


if __name__ == '__main__':
    run_tests()
