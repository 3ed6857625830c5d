# SPDX-License-Identifier: MIT
"""Buffers, and memory that comes from elsewhere or goes there: memory_test.py SOURCE_ROOT BUILD_ROOT [unittest options]"""
import array
import gc
import mmap
import os
import sys

from package import COUNT, kiln, OnTheDevice, run_tests, SPIRV


class Memory(OnTheDevice):
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


if __name__ == '__main__':
    run_tests()
