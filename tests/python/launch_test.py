# SPDX-License-Identifier: MIT
"""Kernels and how they are launched: launch_test.py SOURCE_ROOT BUILD_ROOT [unittest options]"""
import array
import ctypes
import math
import pathlib
import threading

from package import COUNT, kiln, OnTheDevice, run_tests, SPIRV


class Launches(OnTheDevice):
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

    def test_images_and_samplers_are_told_from_pointers(self):
        # None of them here: the kernel takes a pointer, and is asked about the kind.
        for kind, word in ((kiln.Image, 'image'), (kiln.Sampler, 'sampler')):
            for types in (None, f'float, {word}, global, uint'):
                self.kernel = self.bundle.kernel('saxpy', types)
                self.refused('K0107', ctypes.c_float(3), kind(self.x.address), self.y, ctypes.c_uint32(COUNT))
            with self.assertRaises(TypeError):
                self.kernel(3, self.x.address, self.y, COUNT, groups=4, group_size=256)

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

    def test_what_the_device_is_made_of(self):
        info = self.device.info
        self.assertEqual(info.threads, info.slices * info.sub_slices_per_slice * info.eus_per_sub_slice * info.threads_per_eu)
        self.assertIn(info.simd_width, (8, 16, 32))

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
    run_tests()
