# SPDX-License-Identifier: MIT
"""The Python package on the CPU device: kiln_test.py SOURCE_ROOT BUILD_ROOT [unittest options]"""
import array
import ctypes
import gc
import math
import mmap
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import threading
import unittest
import weakref

source, build = map(pathlib.Path, sys.argv[1:3])
os.environ.setdefault('KILN_LIBRARY', str(build / 'src' / 'libkiln.so.0'))
sys.path.insert(0, str(source / 'python'))
import kiln  # noqa: E402
from kiln import _library  # noqa: E402

SPIRV = source / 'spirv'
DATA = source / 'tests' / 'unit' / 'data'
COUNT = 1000


# What a destructor raises is printed and forgotten: here it fails a test.
unraisable = []
sys.unraisablehook = unraisable.append


class ZAtTheEnd(unittest.TestCase):
    def test_no_destructor_raised(self):
        gc.collect()
        self.assertEqual([str(each.exc_value) for each in unraisable], [])


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

    def test_it_gives_the_right_answer(self):
        self.kernel(3, self.x, self.y, COUNT, groups=4, group_size=256)
        self.right()
        self.kernel(3.0, kiln.Pointer(self.x.address), self.y, COUNT, groups=(4,), group_size=(256, 1, 1))
        self.right(2)
        self.kernel(ctypes.c_float(3), self.x, self.y, ctypes.c_uint32(COUNT), groups=[4], group_size=[256])
        self.right(3)

    def test_numbers_without_types_bring_their_own(self):
        kernel = self.bundle.kernel('saxpy')
        kernel(ctypes.c_float(3), self.x, self.y, ctypes.c_uint32(COUNT), groups=4, group_size=256)
        self.right()
        kernel(array.array('f', [3]).tobytes(), self.x, self.y, COUNT.to_bytes(4, 'little'), groups=4, group_size=256)
        self.right(2)
        for wrong in ((3, self.x, self.y, ctypes.c_uint32(COUNT)), (3.0, self.x, self.y, ctypes.c_uint32(COUNT)),
                      (ctypes.c_float.__ctype_be__(3), self.x, self.y, ctypes.c_uint32(COUNT)),
                      (ctypes.c_float(3), array.array('f', [1]), self.y, ctypes.c_uint32(COUNT)),
                      (ctypes.c_float(3), 'x', self.y, ctypes.c_uint32(COUNT))):
            with self.assertRaises(TypeError):
                kernel(*wrong, groups=4, group_size=256)
        self.right(2)
        self.kernel = kernel
        self.refused('K0108', ctypes.c_double(3), self.x, self.y, ctypes.c_uint32(COUNT))

    def test_what_does_not_fit_is_refused_as_in_cpp(self):
        arguments = 3, self.x, self.y, COUNT
        error = self.refused('K0102', *arguments, group_size=4096)
        self.assertEqual(error.name, 'ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION')
        self.assertEqual(error.call, 'zeKernelSetGroupSize')
        self.refused('K0104', *arguments, group_size=0)
        self.kernel = self.bundle.kernel('saxpy', ['float', 'global', 'global'])
        self.refused('K0106', *arguments[:3])
        self.kernel = self.bundle.kernel('saxpy', 'double, global, global, uint')
        self.refused('K0108', *arguments)
        self.kernel = self.bundle.kernel('saxpy', 'float, local, global, uint')
        self.refused('K0107', 3, 64, self.y, COUNT)
        self.kernel = self.bundle.kernel('saxpy', 'float, global, global, uint')
        self.refused('K0229', 3, kiln.Pointer(4096), self.y, COUNT)
        self.right(0)

    def test_mistakes_of_python(self):
        for wrong, kind in (((3, self.x, self.y), TypeError), ((3, self.x, self.y, 2**32), ValueError),
                            ((3, self.x, self.y, -1), ValueError), ((3, self.x, self.y, 3.5), TypeError),
                            (('3', self.x, self.y, 1), TypeError), ((3, 4096, self.y, 1), TypeError),
                            ((3, self.x, self.y, None), TypeError), ((1e300, self.x, self.y, 1), ValueError),
                            ((10**400, self.x, self.y, 1), ValueError)):
            with self.assertRaises(kind, msg=wrong):
                self.kernel(*wrong, groups=4, group_size=256)
        for grid, kind in (((1, 1, 1, 1), ValueError), ((), ValueError), ((4, 0), ValueError), (-1, ValueError),
                           (2**32, ValueError), (1.5, TypeError), ('4', TypeError), (None, TypeError)):
            with self.assertRaises(kind, msg=grid):
                self.kernel(3, self.x, self.y, COUNT, groups=grid, group_size=256)
        with self.assertRaises(ValueError):
            self.bundle.kernel('saxpy', 'float, globl, global, uint')
        with self.assertRaises(kiln.Error) as caught:
            self.bundle.kernel('sax')
        self.assertEqual(caught.exception.code, 'K0208')
        self.assertEqual(self.bundle.kernel_names, ('saxpy',))
        # The kernel goes on as before.
        self.kernel(3, self.x, self.y, COUNT, groups=4, group_size=256)
        self.right()

    def test_what_is_closed(self):
        self.x.close()
        self.x.close()
        with self.assertRaises(ValueError):
            self.kernel(3, self.x, self.y, COUNT, groups=4, group_size=256)
        for use in (self.x.read, self.x.view, lambda: self.x.write(b'1')):
            with self.assertRaises(ValueError):
                use()
        self.kernel.close()
        self.refused('K0901', 3, self.y, self.y, COUNT)
        device = kiln.Device('cpu')
        device.close()
        for use in (lambda: device.buffer(4), lambda: kiln.Bundle(device, SPIRV / 'saxpy'), lambda: kiln.List(device),
                    lambda: device.info, device.check_status):
            with self.assertRaises(kiln.Error) as caught:
                use()
            self.assertEqual(caught.exception.code, 'K0901')

    def test_the_collector_ends_objects_in_any_order(self):
        def made():
            device = kiln.Device('cpu')
            kernel = kiln.Bundle(device, SPIRV / 'saxpy').kernel('saxpy', 'float, global, global, uint')
            buffers = [device.buffer(array.array('f', [1] * 8)) for _ in range(2)]
            kernel.cycle = [kernel, device, buffers]
            return kernel, buffers
        kernel, buffers = made()
        gc.collect()
        kernel(3, *buffers, 8, groups=1, group_size=8)
        view = buffers[1].view('f')
        del kernel, buffers
        gc.collect()
        self.assertEqual(list(view), [4.0] * 8)

    def test_memory(self):
        for kind in ('shared', 'host', 'device'):
            buffer = self.device.buffer(b'abcdefgh', kind)
            self.assertEqual((buffer.read(), buffer.read(2, 3), len(buffer)), (b'abcdefgh', b'de', 8))
            buffer.write(bytearray(b'XY'), 6)
            self.assertEqual(buffer.read(), b'abcdefXY')
            for offset, size in ((0, 9), (8, 1), (-1, 2), (0, -1), (9, 0)):
                with self.assertRaises(ValueError):
                    buffer.read(size, offset)
            with self.assertRaises(ValueError):
                buffer.write(b'123', 6)
        with self.assertRaises(ValueError):
            buffer.view()
        self.y.view('f')[5] = 7
        self.assertEqual(array.array('f', self.y.read())[5], 7)
        self.assertEqual(self.device.buffer(64, alignment=4096).address % 4096, 0)
        for wrong, code in ((0, 'K0204'), (2**63, 'K0207')):
            with self.assertRaises(kiln.Error) as caught:
                self.device.buffer(wrong)
            self.assertEqual(caught.exception.code, code)
        for wrong, kind in ((-1, ValueError), (2**64, ValueError), ('abc', TypeError), (memoryview(b'abcd')[::2], ValueError)):
            with self.assertRaises(kind):
                self.device.buffer(wrong)
        with self.assertRaises(ValueError):
            self.device.buffer(4, 'texture')
        if sys.version_info >= (3, 12):
            self.assertEqual(bytes(memoryview(self.y)), self.y.read())

    def test_lists_events_and_queues(self):
        pool = kiln.EventPool(self.device, 2, timestamps=True)
        first, second = pool.event(0), pool.event(1)
        run = kiln.List(self.device, immediate=False)
        self.assertFalse(first.signalled)
        self.assertFalse(first.wait(0.000001))
        with self.assertRaises(kiln.Error) as caught:
            first.timestamps  # noqa: B018
        self.assertEqual((caught.exception.name, caught.exception.call), ('ZE_RESULT_NOT_READY', 'kiln_event_get_timestamps'))
        self.assertEqual(caught.exception.json['result_value'], 1)
        self.kernel(3, self.x, self.y, COUNT, groups=4, group_size=256, list=run, signal=first)
        self.kernel(3, self.x, self.y, COUNT, groups=4, group_size=256, list=run, signal=second, wait=[first])
        run.barrier()
        run.finish()
        queue = kiln.Queue(self.device)
        queue.execute(run)
        self.assertTrue(second.wait(math.inf))
        self.assertTrue(queue.synchronize())
        self.right(2)
        self.assertGreater(second.timestamps.duration, 0)
        second.reset()
        self.assertFalse(second.signalled)
        run.reset()
        # An event is for that launch alone.
        self.kernel(3, self.x, self.y, COUNT, groups=4, group_size=256)
        self.assertFalse(second.signalled)
        at_once = kiln.List(self.device, synchronous=False)
        at_once.fill(self.x, b'\0\0\x80\x3f')
        at_once.barrier()
        at_once.copy(self.y, self.x)
        at_once.synchronize()
        self.assertEqual(set(self.y.view('f')), {1.0})
        with self.assertRaises(kiln.Error) as caught:
            at_once.copy(self.device.buffer(4), self.x)
        self.assertEqual(caught.exception.code, 'K0206')
        with self.assertRaises(TypeError):
            self.kernel(3, self.x, self.y, COUNT, groups=4, group_size=256, wait=[3])
        first.close()
        with self.assertRaises(ValueError):
            self.kernel(3, self.x, self.y, COUNT, groups=4, group_size=256, signal=first)

    def refused_as_lacking(self, feature, made):
        """None where the feature is there, else it must be refused as lacking."""
        if self.device.has(feature):
            return made()
        with self.assertRaises(kiln.Error) as caught:
            made()
        self.assertEqual((caught.exception.code, caught.exception.name), ('K0230', 'ZE_RESULT_ERROR_UNSUPPORTED_FEATURE'))
        return None

    def test_lists_in_order_and_what_stands_in_them(self):
        (group,) = [number for number, each in enumerate(self.device.queue_groups) if each.compute][:1]
        run = self.refused_as_lacking('in_order_lists', lambda: kiln.List(
            self.device, synchronous=False, in_order=True, copy_offload=True, priority='high', queue_group=group,
            queue_index=self.device.queue_groups[group].queues - 1))
        if run is None:
            return
        event = self.refused_as_lacking('counter_based_events', lambda: kiln.Event.counter_based(self.device, timestamps=True))
        ticks = self.device.buffer(array.array('Q', [0, 0]))
        run.write_timestamp(ticks)
        for _ in range(3):
            self.kernel(3, self.x, self.y, COUNT, groups=4, group_size=256, list=run, signal=event)
        run.write_timestamp(ticks, 8)
        run.prefetch(self.x)
        run.advise(self.x, 'set_read_mostly')
        run.copy(self.x, self.y, 8, to_offset=4, source_offset=8)
        self.assertTrue(run.synchronize())
        self.right(3)
        self.assertEqual(list(self.x.view('f')[:4]), [0, 3 * 3 * 2 + 1, 3 * 3 * 3 + 1, 3])
        begin, end = ticks.view('Q')
        self.assertGreater(end, begin)
        if event is not None:
            self.assertTrue(event.signalled)
            self.assertGreater(event.timestamps.duration, 0)
        for wrong in (lambda: run.write_timestamp(ticks, 9), lambda: run.copy(self.x, self.y, 8, to_offset=4 * COUNT - 7),
                      lambda: run.advise(self.x, 'nothing'), lambda: kiln.List(self.device, priority='urgent'),
                      lambda: kiln.List(self.device, queue_group=-1), lambda: self.device.has('wings')):
            with self.assertRaises(ValueError):
                wrong()
        with self.assertRaises(TypeError):
            run.copy(self.x, kiln.Pointer(self.y.address))
        with self.assertRaises(kiln.Error) as caught:
            kiln.List(self.device, queue_group=99)
        self.assertEqual(caught.exception.code, 'K0224')
        with self.assertRaises(kiln.Error) as caught:
            kiln.List(self.device, immediate=False, priority='low')
        self.assertEqual(caught.exception.code, 'K0903')
        queue = kiln.Queue(self.device, priority='low', queue_group=group)
        closed = kiln.List(self.device, immediate=False, in_order=True)
        closed.fill(self.y, b'\0\0\x80\x3f')
        closed.finish()
        queue.execute(closed)
        queue.synchronize()
        self.assertEqual(set(self.y.view('f')), {1.0})
        self.refused_as_lacking('append_lists', lambda: run.append(closed))
        run.synchronize()

    def test_regions(self):
        image = self.device.buffer(bytes(range(64)))
        small = self.device.buffer(bytes(16))
        place = kiln.RegionPlace
        self.device.list.copy_region(small, place(8), image, place(16, x=4, y=1), (8, 2))
        self.assertEqual(small.read(), bytes([*range(20, 28), *range(36, 44)]))
        for to, source, size in ((place(8), place(16), (8, 3)), (place(8), place(16, y=3), (8, 2)), (place(8, x=1), place(16), (8, 2))):
            with self.assertRaises(ValueError):
                self.device.list.copy_region(small, to, image, source, size)
        with self.assertRaises(kiln.Error) as caught:
            self.device.list.copy_region(small, place(4), image, place(16), (8, 2))
        self.assertEqual(caught.exception.code, 'K0231')

    def test_which_device_it_is(self):
        identity = self.device.identity
        self.assertEqual(len(identity.uuid), 16)
        self.assertTrue(any(identity.uuid))
        self.assertFalse(identity.sub_device)
        self.assertEqual(self.device.sub_devices(), ())
        (only,) = self.device.devices()
        self.assertTrue(self.device.can_access(only))
        self.assertEqual(only.native, self.device.native)
        lent = kiln.Device.lend(self.device.native, self.device)
        self.kernel = kiln.Bundle(lent, SPIRV / 'saxpy').kernel('saxpy', 'float, global, global, uint')
        self.kernel(3, self.x, self.y, COUNT, groups=4, group_size=256)
        self.right()
        with self.assertRaises(kiln.Error) as caught:
            kiln.Device.lend(kiln.NativeHandles(0, 0, 0), self.device)
        self.assertEqual(caught.exception.code, 'K0222')
        self.assertNotEqual(self.device.entry_point('zeMemAllocDevice'), 0)
        with self.assertRaises(kiln.Error) as caught:
            self.device.entry_point('zeNothing')
        self.assertEqual(caught.exception.code, 'K0232')

    def test_memory_leaves_and_comes(self):
        for kind in ('opaque_fd', 'dma_buf'):
            if 'exports ' + kind not in self.device.external_memory:
                with self.assertRaises(kiln.Error) as caught:
                    self.device.buffer(4096, 'device', export=kind)
                self.assertEqual(caught.exception.code, 'K0234')
                continue
            buffer = self.device.buffer(b'x' * 4096, 'device', export=kind)
            descriptor = buffer.export_fd(kind)
            if 'imports ' + kind in self.device.external_memory:
                self.assertEqual(self.device.import_fd(descriptor, 4096, kind).read(3), b'xxx')
            os.close(descriptor)
        ipc = self.device.buffer(b'y' * 4096, 'device')
        try:
            handle = ipc.ipc_handle()
        except kiln.Error as error:
            self.assertEqual(error.name, 'ZE_RESULT_ERROR_UNSUPPORTED_FEATURE')
        else:
            self.assertEqual(self.device.open_ipc(handle, 4096).read(3), b'yyy')
            ipc.put_ipc(handle)
        self.device.make_resident(self.x)
        self.device.evict(self.x)
        for wrong in (lambda: self.device.import_fd(0, -1), lambda: self.device.open_ipc(b'short', 8),
                      lambda: self.device.open_ipc(array.array('Q', range(64)), 8), lambda: ipc.put_ipc(bytes(65)),
                      lambda: self.device.import_fd(0, 8, 'paper')):
            with self.assertRaises(ValueError):
                wrong()

    def test_module_variables_registers_and_what_fits(self):
        bundle = kiln.Bundle(self.device, source / 'tests' / 'device' / 'global.spv', flags='-ze-take-global-address',
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

    def test_a_list_keeps_what_it_works_on(self):
        run = kiln.List(self.device, immediate=False)
        self.kernel(3, self.device.buffer(array.array('f', [1] * COUNT)), self.y, COUNT, groups=4, group_size=256, list=run)
        gc.collect()
        run.finish()
        queue = kiln.Queue(self.device, synchronous=True)
        queue.execute(run)
        self.assertEqual(set(self.y.view('f')), {4.0})

    def test_numbers_are_not_cut_to_the_bits_of_c(self):
        run = kiln.List(self.device, immediate=False)
        address = self.x.address
        for wrong in (lambda: kiln.Cache(max_size=-1), lambda: kiln.Cache(memory_size=2**64), lambda: kiln.Cache(longest_wait=-1),
                      lambda: kiln.Cache(longest_wait=math.inf), lambda: kiln.Cache(longest_wait=math.nan),
                      lambda: self.device.buffer(64, alignment=2**64 + 64), lambda: self.device.import_fd(2**32, 64),
                      lambda: self.device.import_fd(-1, 64), lambda: run.copy(address, address, -8),
                      lambda: run.copy(-8, address, 8), lambda: run.copy(address, address + 2**64, 8),
                      lambda: run.copy_region(address, kiln.RegionPlace(8), -8, kiln.RegionPlace(8), (8, 1)),
                      lambda: kiln.Bundle(self.device, SPIRV / 'saxpy', constants={2**32 + 1: 5}),
                      lambda: kiln.Bundle(self.device, SPIRV / 'saxpy', constants={1: 2**64}),
                      lambda: kiln.Bundle(self.device, SPIRV / 'saxpy', constants={1: -2**63 - 1}),
                      lambda: kiln.Bundle(self.device, SPIRV / 'saxpy', spill_limit=-1),
                      lambda: kiln.List(self.device, queue_group=2**32), lambda: kiln.Queue(self.device, queue_index=-2**32),
                      lambda: kiln.EventPool(self.device, 2**32 + 1), lambda: kiln.EventPool(self.device, 2).event(2**32),
                      lambda: kiln.Device.lend(kiln.NativeHandles(2**64, 0, 0), self.device),
                      lambda: kiln.List.lend(self.device, -1), lambda: kiln.Event.lend(self.device, 2**64 + 8),
                      lambda: kiln.File(SPIRV / 'saxpy.spv').kernel('saxpy').occupancy('pvc', -1)):
            with self.assertRaises(ValueError):
                wrong()
        for wrong in (lambda: run.copy(address, address, 8.0), lambda: self.device.buffer(4.5), lambda: kiln.Cache(max_size=1e9),
                      lambda: kiln.EventPool(self.device, '2'), lambda: run.copy(address, self.x, None, source_offset='1')):
            with self.assertRaises(TypeError):
                wrong()

    def test_what_is_no_memory_event_or_list(self):
        run = kiln.List(self.device, immediate=False)
        for wrong in (lambda: run.signal(None), lambda: run.reset_event(3), lambda: run.append(None), lambda: run.fill(None, b'1'),
                      lambda: run.prefetch('x'), lambda: run.prefetch(self.x.address), lambda: run.fill(self.x, 4),
                      lambda: run.fill(self.x, '1234'), lambda: kiln.Queue(self.device).execute(None),
                      lambda: self.device.make_resident(None), lambda: kiln.Bundle(self.device, {'saxpy': 4}),
                      lambda: kiln.Cache(read_only='/tmp'), lambda: kiln.explain_log(4), lambda: run.fill(1.5, b'1', 1),
                      lambda: kiln.Bundle.compile(self.device, 'kernel void x() {}', folders='include'),
                      lambda: kiln.Bundle.compile(self.device, 'kernel void x() {}', folders=pathlib.Path('include')),
                      lambda: self.kernel(3, self.x, self.y, COUNT, groups=4, group_size=256, list=3),
                      lambda: kiln.Bundle('cpu', SPIRV / 'saxpy'), lambda: kiln.Bundle(self.device, SPIRV / 'saxpy', cache='/tmp'),
                      lambda: kiln.Bundle.compile(None, 'x'), lambda: kiln.Kernel(self.device, 'saxpy'), lambda: kiln.List(None),
                      lambda: kiln.Queue(self.bundle), lambda: kiln.EventPool('cpu', 1), lambda: kiln.Event(self.device, 0),
                      lambda: kiln.Event.counter_based(None), lambda: kiln.Buffer(None, 4), lambda: self.device.can_access(None),
                      lambda: kiln.Event.lend(None, 8), lambda: kiln.List.lend(None, 8),
                      lambda: kiln.Device.lend(self.device.native, 'cpu')):
            with self.assertRaises(TypeError):
                wrong()

    def test_bytes_of_whatever_has_them(self):
        self.device.list.fill(self.y, array.array('f', [5]))
        self.assertEqual(set(self.y.view('f')), {5.0})
        words = array.array('I', (SPIRV / 'saxpy.spv').read_bytes())
        self.assertEqual(kiln.Bundle(self.device, {'saxpy': words}).kernel_names, ('saxpy',))

    def test_parts_of_memory(self):
        self.device.list.fill(self.y, b'\0\0\0\x40', 8, offset=4)
        self.device.list.fill(self.y.address + 12, b'\0\0\x40\x40', 4)
        self.assertEqual(list(self.y.view('f')[:5]), [1, 2, 2, 3, 1])
        for use in (self.device.list.prefetch, self.device.make_resident, self.device.evict):
            use(self.x, 64, offset=128)
            use(self.x.address, 64)
            with self.assertRaises(ValueError):
                use(self.x, 4 * COUNT, offset=1)
        self.device.list.advise(self.x, 'set_read_mostly', 64, offset=128)

    def test_native_handles_and_lending(self):
        run = kiln.List(self.device)
        event = kiln.EventPool(self.device, 1).event(0)
        queue = kiln.Queue(self.device)
        for each in (self.bundle, self.kernel, run, event, queue):
            self.assertNotEqual(each.native, 0)
        with kiln.List.lend(self.device, run.native, synchronous=True) as list, kiln.Event.lend(self.device, event.native) as done:
            self.assertEqual((list.native, done.native), (run.native, event.native))
            self.kernel(3, self.x, self.y, COUNT, groups=4, group_size=256, list=list, signal=done)
            self.right()
        self.assertEqual(list.native, 0)
        self.assertTrue(event.signalled)
        self.kernel(3, self.x, self.y, COUNT, groups=4, group_size=256, list=run)
        self.right(2)
        with self.assertRaises(kiln.Error) as caught:
            kiln.List.lend(self.device, 0)
        self.assertEqual(caught.exception.code, 'K0903')

    def test_images_and_samplers_are_told_from_pointers(self):
        # None of them here: the kernel takes a pointer, and is asked about the kind.
        for kind, word in ((kiln.Image, 'image'), (kiln.Sampler, 'sampler')):
            for types in (None, f'float, {word}, global, uint'):
                self.kernel = self.bundle.kernel('saxpy', types)
                self.refused('K0107', ctypes.c_float(3), kind(self.x.address), self.y, ctypes.c_uint32(COUNT))
            with self.assertRaises(TypeError):
                self.kernel(3, self.x.address, self.y, COUNT, groups=4, group_size=256)

    def test_a_queue_keeps_its_lists(self):
        # What is submitted waits for the event; all that it works on is let go meanwhile.
        go = kiln.EventPool(self.device, 1).event(0)
        for end in ('synchronize', 'close'):
            go.reset()
            run = kiln.List(self.device, immediate=False)
            run.wait(go)
            buffer = self.device.buffer(b'1234', 'host')
            run.copy(self.y, buffer)
            run.finish()
            gone = [weakref.ref(each) for each in (run, buffer)]
            queue = kiln.Queue(self.device)
            queue.execute(run)
            del run, buffer
            gc.collect()
            self.assertNotIn(None, [each() for each in gone])
            self.assertFalse(queue.synchronize(0.000001))
            self.assertNotIn(None, [each() for each in gone])
            threading.Thread(target=go.signal).start()
            getattr(queue, end)()
            self.assertTrue(go.signalled)
            gc.collect()
            self.assertEqual([each() for each in gone], [None, None])
            self.assertEqual(self.y.read(4), b'1234')
        run = kiln.List(self.device, immediate=False)
        run.finish()
        queue = kiln.Queue(self.device)
        queue.execute(run)
        run = weakref.ref(run)
        queue.release()
        gc.collect()
        self.assertIsNone(run())
        queue.synchronize()

    def test_slm_by_its_size(self):
        matmul = kiln.Bundle(self.device, SPIRV / 'matmul.spv').kernel(
            'tiled', 'global, global, global, uint, uint, uint, uint, local, local')
        n, edge = 33, 16
        a = [float(i % 7) for i in range(n * n)]
        b = [float(i % 5) for i in range(n * n)]
        bound = [self.device.buffer(array.array('f', values)) for values in (a, b, [0] * n * n)]
        groups = (n + edge - 1) // edge
        for size in (edge * edge * 4, edge * edge * 4 + 64):
            matmul(*bound, n, n, n, edge, kiln.Local(size), size, groups=(groups, groups), group_size=(edge, edge))
        answer = bound[2].view('f')
        self.assertEqual([answer[i] for i in range(n * n)],
                         [sum(a[i // n * n + k] * b[k * n + i % n] for k in range(n)) for i in range(n * n)])
        slm = self.device.info.slm_per_group
        with self.assertRaises(kiln.Error) as caught:
            matmul(*bound, n, n, n, edge, slm, slm, groups=(groups, groups), group_size=(edge, edge))
        self.assertEqual(caught.exception.code, 'K0101')

    def test_threads_have_kernels_of_their_own(self):
        wrong = []

        def work(factor):
            kernel = self.bundle.kernel('saxpy', 'float, global, global, uint')
            y = self.device.buffer(array.array('f', [1] * COUNT))
            for _ in range(20):
                y.write(array.array('f', [1] * COUNT))
                kernel(factor, self.x, y, COUNT, groups=4, group_size=256)
                if list(y.view('f')) != [factor * i + 1.0 for i in range(COUNT)]:
                    wrong.append(factor)
        threads = [threading.Thread(target=work, args=(factor,)) for factor in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

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

    def test_modules_are_linked_after_their_build(self):
        folder = source / 'tests' / 'device'
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

    def test_memory_of_the_program_is_imported(self):
        pages = mmap.mmap(-1, 16384)
        try:
            buffer = self.device.import_host(pages)
        except kiln.Error as error:
            self.assertEqual((error.code, self.device.has('import_host')), ('K0230', False))
            return
        self.assertTrue(self.device.has('import_host'))
        self.assertEqual((buffer.kind, buffer.size), ('host', 16384))
        self.device.list.fill(buffer, b'\x07')
        self.assertEqual(pages[16383], 7)
        with self.assertRaises(BufferError):
            pages.close()
        buffer.close()
        pages.close()
        # What nobody else holds stays as long as the buffer.
        buffer = self.device.import_host(mmap.mmap(-1, 4096))
        gc.collect()
        buffer.view()[5] = 9
        self.assertEqual(buffer.read(2, 5), b'\x09\0')
        for wrong, kind in ((b'x' * 4096, TypeError), (memoryview(bytearray(8192))[::2], ValueError), (4096, TypeError)):
            with self.assertRaises(kind):
                self.device.import_host(wrong)
        with self.assertRaises(kiln.Error) as caught:
            self.device.import_host(bytearray(100))
        self.assertEqual(caught.exception.code, 'K0237')

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

    def test_what_the_device_and_kernel_say(self):
        info = self.device.info
        self.assertEqual(info.kind, 'cpu')
        self.assertGreater(info.memory, 0)
        self.assertIn(16, info.sub_group_sizes)
        self.assertEqual([argument.kind for argument in self.kernel.arguments], ['value', 'pointer', 'pointer', 'value'])
        self.assertEqual(self.kernel.facts.name, 'saxpy')
        self.assertGreaterEqual(self.kernel.suggest_group_size(COUNT)[0], 1)
        most = self.kernel.max_cooperative_groups(3, self.x, self.y, COUNT, group_size=256)
        self.assertGreater(most, 0)
        self.kernel(3, self.x, self.y, 256, groups=1, group_size=256, cooperative=True)
        self.assertEqual(self.y.view('f')[255], 3 * 255.0 + 1)
        for each in (self.device, self.bundle, self.kernel, self.x):
            self.assertTrue(repr(each).startswith('<kiln '))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
