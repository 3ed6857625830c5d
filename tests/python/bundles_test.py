# SPDX-License-Identifier: MIT
"""Modules from files, memory, source and the cache: bundles_test.py SOURCE_ROOT BUILD_ROOT [unittest options]"""
import array
import os
import pathlib
import tempfile

from package import COUNT, kiln, OnTheDevice, run_tests, source, SPIRV


class Bundles(OnTheDevice):
    def test_module_variables_registers_and_what_fits(self):
        bundle = kiln.Bundle(self.device, source / 'tests' / 'device' / 'spirv' / 'global.spv', flags='-ze-take-global-address',
                             registers='automatic')
        self.assertEqual(bundle.register_choice, '')  # nothing spills
        counter = bundle.global_variable('counter')
        out = self.device.buffer(4)
        self.device.list.copy(out, counter.address, counter.size)
        self.assertEqual(list(out.view('I')), [5])
        self.device.list.fill(counter, b'\7\0\0\0')
        self.device.list.copy(out, counter)
        self.assertEqual(list(out.view('I')), [7])
        with self.assertRaises(ValueError):
            self.device.list.fill(counter, b'1', 1, offset=4)
        for wrong in (bundle.global_variable, bundle.function):
            with self.assertRaises(kiln.Error) as caught:
                wrong('none')
            self.assertEqual(caught.exception.code, 'K0233')
        with self.assertRaises(ValueError):
            kiln.Bundle(self.device, SPIRV / 'saxpy', registers='64')
        tiled = kiln.Bundle(self.device, SPIRV / 'matmul').kernel('tiled', 'global, global, global, uint, uint, uint, uint, local, local')
        slm = self.device.info.slm_per_group
        room = tiled.what_fits(self.x, self.x, self.x, 1, 1, 1, 1, slm, slm, group_size=(16, 16))
        self.assertEqual((room.slm_per_group, room.asked_slm, room.largest_group), (slm, 2 * slm, 128))

    def test_the_cache_and_bundles_from_memory(self):
        with tempfile.TemporaryDirectory() as folder, kiln.Cache(folder) as cache:
            os.chmod(folder, 0o700)
            for origin in ('jit', 'cache'):
                bundle = kiln.Bundle(self.device, {'saxpy': (SPIRV / 'saxpy.spv').read_bytes()}, cache=cache)
                self.assertEqual((bundle.origin, bundle.fit, bundle.file), (origin, 'spirv', 'saxpy'))
            self.assertEqual(cache.counts['compilations'], 1)
        with self.assertRaises(kiln.Error) as caught:
            kiln.Bundle(self.device, {'hello': b'hello'})
        self.assertEqual(caught.exception.code, 'K0202')
        with self.assertRaises(kiln.Error):
            kiln.Bundle(self.device, {})
        with self.assertRaises(ValueError):
            kiln.Cache(mode='maybe')

    def test_opencl_c(self):
        text = '#include "more.h"\nkernel void twice(global float* y) { y[get_global_id(0)] = FACTOR * y[get_global_id(0)] + MORE; }'
        given = {'headers': {'more.h': '#define MORE 1'}, 'macros': {'FACTOR': 2}}
        try:
            bundle = kiln.Bundle.compile(self.device, text, **given)
        except kiln.Error as error:
            if error.code != 'K0405':
                raise
            self.skipTest('no compiler of OpenCL C here')
        bundle.kernel('twice', 'global')(self.y, groups=COUNT, group_size=1)
        self.assertEqual(set(self.y.view('f')), {3.0})
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, 'twice.cl')
            path.write_text(text)
            # Without its macro, and without its header.
            for wanted in ({'headers': given['headers']}, {'macros': given['macros']}):
                with self.assertRaises(kiln.Error) as caught:
                    kiln.Bundle.compile(self.device, path, **wanted)
                self.assertEqual(caught.exception.code, 'K0251')
                self.assertIn('twice.cl', caught.exception.text)
            pathlib.Path(folder, 'more.h').write_text('#define MORE 1\n')
            self.assertEqual(kiln.Bundle.compile(self.device, path, macros=given['macros']).kernel_names, ('twice',))
            self.assertEqual(kiln.Bundle.compile(self.device, text, folders=[folder], macros=given['macros']).kernel_names, ('twice',))

    def test_modules_are_linked_after_their_build(self):
        folder = source / 'tests' / 'device' / 'spirv'
        main, part = (kiln.Bundle(self.device, folder / name, flags='-library-compilation')
                      for name in ('link_main.spv', 'link_part.spv'))
        with self.assertRaises(kiln.Error) as caught:
            kiln.link_modules([main])
        self.assertEqual(caught.exception.code, 'K0236')
        self.assertIn('twice', caught.exception.text)
        with self.assertRaises(TypeError):
            kiln.link_modules([main, 3])
        kiln.link_modules([])
        kiln.link_modules([main, part])
        doubled = main.kernel('doubled', 'global')
        main.close()
        part.close()
        values = self.device.buffer(array.array('i', [5, 6, 7, 8]))
        doubled(values, groups=1, group_size=4)
        self.assertEqual(list(values.view('i')), [10, 12, 14, 16])


if __name__ == '__main__':
    run_tests()
