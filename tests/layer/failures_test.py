# SPDX-License-Identifier: MIT
# How Intel's drivers fail for want of something: what is left of it under `kiln exec`, and what `kiln explain` makes of
# what they say. The table of docs/exec.md is this.
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from layer_case import GOLDEN, INTEL, KERNELS, KILN, capture, codes, exec_, run

FAILURES, TESTS = os.environ['KILN_FAILURES'], pathlib.Path(os.environ['KILN_TESTS'])
OVER_STATIC, LIMITS, LINK, PRIVATE = (str(TESTS / 'device' / 'spirv' / name)
                                      for name in ('over_static.spv', 'limits.spv', 'link_main.spv', 'private_memory.spv'))
MEMORY = TESTS / 'unit' / 'data' / 'memory.pvc.bin'

# The name, product and file of a failure; what its call gives on driver 22.43 without a GPU, by itself, of which None
# is the end of the process; the codes that are told of that; the answer and codes under --guard. All of them are gone
# through to the end under --guard.
TRIED = [
    ('builds', 'dg2', OVER_STATIC, 'zeModuleCreate: 0x70000004', ['K0109'], 'zeModuleCreate: 0x70000004', ['K0109']),
    ('local-over', 'dg2', '', 'zeCommandListAppendLaunchKernel: 0x70000003', ['K0101'],
     'zeCommandListAppendLaunchKernel: 0x70000003', ['K0101']),
    ('local-over-4-gib', 'dg2', '', 'zeCommandListAppendLaunchKernel: 0x0', [],
     'zeCommandListAppendLaunchKernel: 0x70000003', ['K0101']),
    ('local-wraps', 'dg2', '', 'zeCommandListAppendLaunchKernel: 0x0', [],
     'zeCommandListAppendLaunchKernel: 0x70000003', ['K0101']),
    ('cooperative-launch', 'dg2', '', 'zeCommandListAppendLaunchCooperativeKernel: 0x70000003', ['K0101'],
     'zeCommandListAppendLaunchCooperativeKernel: 0x70000003', ['K0101']),
    ('required-twice', 'dg2', LIMITS, 'zeKernelSetGroupSize: 0x78000013', ['K0103'],
     'zeKernelSetGroupSize: 0x78000013', ['K0103']),
    ('cooperative-product', 'dg2', '', 'zeCommandListAppendLaunchCooperativeKernel: 0x0', [],
     'zeCommandListAppendLaunchCooperativeKernel: 0x0', []),
    ('unlinked', 'dg2', LINK, 'zeKernelCreate: 0x78000018', ['K0130'], 'zeKernelCreate: 0x78000018', ['K0130']),
    ('many-events', 'dg2', '', 'zeEventPoolCreate: 0x70000003', ['K0217'], 'zeEventPoolCreate: 0x70000003', ['K0223']),
    ('event-index', 'dg2', '', 'zeEventCreate: 0x78000004', [], 'zeEventCreate: 0x78000004', []),
    ('no-wait-list', 'dg2', '', 'zeCommandListAppendMemoryCopy: 0x78000004', ['K0222'],
     'zeCommandListAppendMemoryCopy: 0x78000004', ['K0222']),
    ('launch-without-wait-list', 'dg2', '', 'zeCommandListAppendLaunchKernel: 0x78000004', ['K0222'],
     'zeCommandListAppendLaunchKernel: 0x78000004', ['K0222']),
    ('virtual-size', 'dg2', '', 'zeVirtualMemReserve: 0x78000003', [], 'zeVirtualMemReserve: 0x78000003', []),
    ('physical-size', 'dg2', '', 'zePhysicalMemCreate: 0x78000003', [], 'zePhysicalMemCreate: 0x78000003', []),
    ('ipc-of-stack', 'dg2', '', 'zeMemGetIpcHandle: 0x78000004', [], 'zeMemGetIpcHandle: 0x78000004', []),
    ('fill-nothing', 'dg2', '', 'zeCommandListAppendMemoryFill: 0x0', [],
     'zeCommandListAppendMemoryFill: 0x78000008', ['K0226']),
    ('large-image', 'dg2', '', None, [], 'zeImageCreate: 0x78000009', ['K0262']),
    ('image-of-no-width', 'dg2', '', None, [], 'zeImageCreate: 0x78000009', ['K0262']),
    ('large-image', 'pvc', '', None, [], 'zeImageCreate: 0x78000003', ['K0262']),
    ('region-outside', 'dg2', '', 'zeCommandListAppendImageCopyToMemory: 0x0', [],
     'zeCommandListAppendImageCopyToMemory: 0x78000004', ['K0263']),
    ('region-far-outside', 'dg2', '', None, [], 'zeCommandListAppendImageCopyToMemory: 0x78000004', ['K0263']),
    ('foreign-device', 'pvc', '', 'zeMemAllocDevice: 0x70000001', ['K0216'], 'zeMemAllocDevice: 0x70000001', ['K0216']),
    ('private-memory', 'pvc', 'private', 'zeKernelCreate: 0x0', [], 'zeKernelCreate: 0x70000003', ['K0115']),
    # Of SPIR-V 22.43 makes code that says nothing of its kernels.
    ('private-memory', 'pvc', PRIVATE, 'zeKernelCreate: 0x0', [], 'zeKernelCreate: 0x70000003', ['K0115']),
    ('private-memory', 'dg2', PRIVATE, 'zeKernelCreate: 0x0', [], 'zeKernelCreate: 0x70000003', ['K0115']),
]

# What cannot be known before it happens, and ends the process: the name, product and file, and the call it was in.
DIES = [
    ('append-without-memory', 'dg2', '', 'zeCommandListAppendLaunchKernel'),
    ('prints-without-memory', 'pvc', str(MEMORY), 'zeKernelCreate'),
]

ABORT = 'Abort was called at 80 line in file:\n./shared/source/{}\nAborted\n'
# A log, the code of its cause, and a word of the help or the rows.
TOLD = [
    ('Size of SLM (66560) larger than available (65536)', 'K0501', '66560'),
    ('zeModuleCreate failed: ZE_RESULT_ERROR_MODULE_BUILD_FAILURE', 'K0504', 'SLM'),
    ('zeKernelCreate failed: ZE_RESULT_ERROR_INVALID_NATIVE_BINARY', 'K0502', 'scratch'),
    ('zeKernelCreate failed: ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY', 'K0503', 'kiln inspect'),
    ('error: total scratch space exceeds HW supported limit for kernel big: 300000 bytes (max permitted PTSS 262144 '
     'bytes)', 'K0502', 'large-register-file'),
    ('Dynamic Link Not Supported Without Compiler flag -library-compilation', 'K0510', '-library-compilation'),
    ('zeModuleCreate failed: ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE', 'K0516', 'libigc'),
    ('zeKernelCreate failed: ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION', 'K0521', 'multiple'),
    ('zeMemAllocDevice failed: ZE_RESULT_ERROR_UNSUPPORTED_SIZE', 'K0512', 'RELAXED'),
    ('zeMemAllocDevice failed: ZE_RESULT_ERROR_DEVICE_LOST', 'K0508', 'not in the context'),
    ('zeMemAllocHost failed: ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY', 'K0513', 'memory.max'),
    ('zeImageCreate failed: ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY', 'K0507', 'kiln memory'),
    ('zeCommandQueueExecuteCommandLists failed: ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY', 'K0507', 'memory of the host'),
    ('zeCommandListAppendLaunchKernel failed: ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY', 'K0501', 'a GPU that hung'),
    ('zeCommandQueueSynchronize failed: ZE_RESULT_ERROR_DEVICE_LOST', 'K0511', 'dmesg'),
    ('Segmentation fault from GPU at 0x41000, ctx_id: 1 (CCS) type: 0 (NotPresent), level: 1 (PDE), access: 0 (Read), '
     'banned: 1, aborting.', 'K0506', 'pointers'),
    (ABORT.format('helpers/hw_helper_base.inl'), 'K0505', 'Cooperative'),
    (ABORT.format('command_container/command_encoder_xehp_and_later.inl'), 'K0505', 'Cooperative'),
    (ABORT.format('program/program_initialization.cpp'), 'K0505', 'global variables'),
    (ABORT.format('command_stream/scratch_space_controller_xehp_and_later.cpp'), 'K0505', 'spilled registers'),
    (ABORT.format('command_container/cmdcontainer.cpp'), 'K0505', 'reset lists'),
    (ABORT.format('command_stream/linear_stream.h'), 'K0505', 'reset lists'),
    (ABORT.format('program/sync_buffer_handler.cpp'), 'K0505', 'reset lists'),
    (ABORT.format('device_binary_format/zebin/zeinfo_decoder.cpp'), 'K0505', 'ocloc'),
    (ABORT.format('utilities/heap_allocator.cpp'), 'K0505', 'power of two'),
    (ABORT.format('os_interface/linux/drm_neo.cpp'), 'K0505', 'dmesg'),
    (ABORT.format('direct_submission/direct_submission_hw.inl'), 'K0505', 'dmesg'),
    (ABORT.format('cmdqueue/cmdqueue.cpp'), 'K0505', 'assert()'),
]


@unittest.skipUnless(INTEL, "Intel's driver does not load here")
class Tried(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        if 'driver: 24595\n' not in run(FAILURES, KERNELS, 'virtual-size', **capture('dg2')).stdout:
            self.skipTest("Intel's driver here is not 22.43, of which the table is")

    def file(self, name):
        if name != 'private':
            return name
        # 80 MB of private memory a work-item: more than there is, times all hardware threads.
        before, after = b'size:            80000\n', b'size:         80000000\n'
        code = MEMORY.read_bytes()
        self.assertEqual((code.count(before), len(before)), (1, len(after)))
        path = self.folder / 'private.bin'
        path.write_bytes(code.replace(before, after))
        return str(path)

    def test_each_is_gone_through_and_explained(self):
        for name, product, file, alone, watched, answer, guarded in TRIED:
            words = [FAILURES, KERNELS, name, self.file(file)]
            several = {'CreateMultipleRootDevices': '2'} if name == 'foreign-device' else {}
            with self.subTest(name=name, product=product):
                plain = run(*words, **capture(product), **several)
                self.assertEqual(plain.returncode < 0, alone is None, plain.stdout)
                watch = exec_('--device', 'capture:' + product, '--', *words, **several)
                self.assertEqual((watch.returncode, watch.stdout), (plain.returncode, plain.stdout))
                self.assertEqual(codes(watch.stderr), watched)
                if alone:
                    self.assertIn(alone + '\n', plain.stdout)
                guard = exec_('--guard', '--device', 'capture:' + product, '--', *words, **several)
                self.assertEqual((guard.returncode, codes(guard.stderr)), (0, guarded), guard.stderr)
                self.assertIn(answer + '\n', guard.stdout)
                self.assertTrue(guard.stdout.endswith('survived\n'))
                if (name, product) == ('large-image', 'dg2'):
                    self.assertEqual(guard.stderr.rpartition('kiln exec: ')[0], (GOLDEN / 'K0262.txt').read_text())
                if name == 'region-outside':
                    self.assertEqual(guard.stderr.rpartition('kiln exec: ')[0], (GOLDEN / 'K0263.txt').read_text())

    def test_what_ends_the_process_is_in_the_record(self):
        for name, product, file, call in DIES:
            with self.subTest(name=name):
                record = self.folder / name
                dead = exec_('--guard', '--record', record, '--device', 'capture:' + product, '--', FAILURES, KERNELS, name, file)
                self.assertLess(dead.returncode, 0, dead.stdout)
                told = json.loads(run(KILN, 'explain', '--json', record).stdout)['finding']
                self.assertEqual((told['code'], told['message']), ('K0530', 'the program ended inside ' + call))
                if 'Abort was called' in dead.stdout:
                    shown = subprocess.run([KILN, 'explain', '-'], input=dead.stdout, capture_output=True, text=True)
                    self.assertEqual(codes(shown.stdout), ['K0505'])
                    self.assertIn('reset lists', shown.stdout)


class Told(unittest.TestCase):
    def test_what_drivers_say_is_explained(self):
        for log, code, word in TOLD:
            with self.subTest(log=log):
                shown = subprocess.run([KILN, 'explain', '-'], input=log + '\n', capture_output=True, text=True)
                self.assertEqual((shown.returncode, codes(shown.stdout)), (0, [code]))
                self.assertIn(word, shown.stdout.replace(log, ''))


if __name__ == '__main__':
    unittest.main()
