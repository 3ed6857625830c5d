#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`kiln exec --capture` and `kiln replay`: what programs launch is kept, and launched again."""
import json
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import unittest

from layer_case import CPU, GOLDEN, INTEL, KERNELS, KILN, RAW, capture, codes, exec_, run

QUEUE = os.environ['KILN_QUEUE']
SAXPY = os.path.join(KERNELS, 'saxpy.spv')
COMPILER = shutil.which('cc')


class Capture(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = os.path.join(self.folder.name, 'run.ar')

    def tearDown(self):
        self.folder.cleanup()

    def capture(self, *words, device='cpu', **environment):
        return exec_('--capture', self.file, '--device', device, *words, **environment)

    def replay(self, *words, status=0, device='cpu'):
        done = run(KILN, 'replay', self.file, '--device', device, '--json', *words)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertNotIn('\033', done.stdout + done.stderr)  # no terminal
        return json.loads(done.stdout)

    def members(self):
        """What the archive holds, read without Kiln."""
        data, at, found = pathlib.Path(self.file).read_bytes(), 8, {}
        self.assertTrue(data.startswith(b'!<arch>\n'))
        while at < len(data):
            name, size = data[at:at + 16].split(b'/')[0].decode(), int(data[at + 48:at + 58])
            found[name] = data[at + 60:at + 60 + size]
            at += 60 + size + size % 2
        return found

    def test_a_list_that_is_executed_twice(self):
        plain = run(QUEUE, SAXPY, ZE_ENABLE_ALT_DRIVERS=CPU)
        self.assertEqual((plain.returncode, plain.stdout), (0, '1 3\n1 5\n'))
        done = self.capture('--', QUEUE, SAXPY)
        self.assertEqual((done.returncode, done.stdout), (0, plain.stdout))
        # The child of fork() says nothing.
        self.assertEqual(done.stderr, f'kiln exec: 1 launch or build is in {self.file}\n')
        entry = json.loads(self.members()['1.json'])
        self.assertEqual((entry['kernel'], entry['groups'], entry['group_size']), ('saxpy', [10, 1, 1], [100, 1, 1]))
        self.assertEqual(entry['arguments'], [{'value': '00000040'}, {'memory': 0, 'offset': 0},
                                              {'memory': 0, 'offset': 4096}, {'value': 'e8030000'}])
        self.assertEqual([(each['kind'], each['size']) for each in entry['memory']], [('device', 8192)])
        self.assertNotEqual(self.members()['1-0.a'], self.members()['1-0.b'])
        again = self.replay('--repeat', '3')
        self.assertEqual((again['ok'], again['entries'][0]['executed']), (True, True))
        self.assertEqual(stat.S_IMODE(os.stat(self.file).st_mode), 0o600)

    def test_programs_have_the_same_answers(self):
        plain = run(RAW, KERNELS, ZE_ENABLE_ALT_DRIVERS=CPU, RAW_EXECUTES='1')
        for more in ([], ['--guard']):
            done = self.capture(*more, '--', RAW, KERNELS, RAW_EXECUTES='1')
            self.assertEqual((done.returncode, done.stdout), (0, plain.stdout))
        entries = self.replay()['entries']
        self.assertTrue(all(each['same'] for each in entries), entries)
        # Of `tiled` the first launch, and the first that was refused.
        self.assertEqual([(each['what'], each['kernel'], each['result']) for each in entries],
                         [('launch', 'saxpy', 'ZE_RESULT_SUCCESS'),
                          ('build', 'tilde', 'ZE_RESULT_ERROR_INVALID_KERNEL_NAME'),
                          ('launch', 'tiled', 'ZE_RESULT_SUCCESS'),
                          ('launch', 'tiled', 'ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY'),
                          ('build', '', 'ZE_RESULT_ERROR_INVALID_NATIVE_BINARY')])

    def test_another_answer_is_told(self):
        self.capture('--', QUEUE, SAXPY)
        data = pathlib.Path(self.file).read_bytes()
        at = data.index(b'1-0.a/') + 60 + 4096 + 8
        pathlib.Path(self.file).write_bytes(data[:at] + b'\0\0\0\x40' + data[at + 4:])  # y[2] was 3, is 2
        again = self.replay(status=1)
        self.assertEqual((again['ok'], again['entries'][0]['differences'][0]),
                         (False, {'name': 'y', 'memory': 0, 'count': 1, 'of': 1024, 'index': 2, 'got': '3',
                                  'wanted': '2', 'largest': 1.0}))
        self.replay('--tolerance', '1')
        text = run(KILN, 'replay', self.file, '--device', 'cpu')
        self.assertEqual((text.returncode, codes(text.stdout)), (1, ['K0435']))
        self.assertIn('DIFFERENT', text.stdout)

    def test_another_device_that_refuses(self):
        self.capture('--capture-kernel', 'tiled', '--', RAW, KERNELS, 'retried')
        self.replay()
        data = pathlib.Path(self.file).read_bytes()
        self.assertEqual(data.count(b'"local":1024}'), 2)
        pathlib.Path(self.file).write_bytes(data.replace(b'"local":1024}', b'"local":9999}').replace(b'9999}', b'90e3}'))
        wrong = run(KILN, 'replay', self.file, '--device', 'cpu')
        self.assertEqual((wrong.returncode, codes(wrong.stderr)), (5, ['K0453']))  # 90e3 is no whole number
        pathlib.Path(self.file).write_bytes(data.replace(b'"group_size":[8,8,1]', b'"group_size":[0,8,1]'))
        refused = self.replay(status=1)['entries'][-1]
        self.assertEqual((refused['same'], refused['error']['code']), (False, 'K0104'))

    def test_a_smaller_launch_after_one_that_was_refused(self):
        done = self.capture('--', RAW, KERNELS, 'retried')
        self.assertEqual(done.returncode, 0)
        entries = self.replay()['entries']
        self.assertEqual([(each['kernel'], each['result'], each['executed']) for each in entries],
                         [('tiled', 'ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY', False), ('tiled', 'ZE_RESULT_SUCCESS', True),
                          ('saxpy', 'ZE_RESULT_SUCCESS', True)])

    def test_what_is_refused_leaves_nothing_that_waits(self):
        for more in ([], ['--guard']):
            done = self.capture(*more, '--', RAW, KERNELS, 'refused-waiter')
            self.assertIn('zeCommandListAppendLaunchKernel: 0x70000003\n', done.stdout)
            self.assertIn('zeEventHostSynchronize: 0x0\n', done.stdout)
        self.assertEqual([each['result'] for each in self.replay()['entries']], ['ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY'])

    def test_a_list_that_runs_again_unheard(self):
        done = self.capture('--', QUEUE, SAXPY, '3')
        self.assertEqual(done.returncode, 0)
        # Whether the first turn was over when the second began is the device's business: but never a mixture of both.
        if 'K0261' in codes(done.stderr):
            self.assertIn('its list was executed again before the program heard of its end', done.stderr)
        else:
            self.assertTrue(self.replay()['ok'])

    def test_a_lost_device_leaves_the_memory_before(self):
        # A barrier, a copy of the memory and another barrier go before the launch, which is the fourth submission.
        for number in (4, 5):
            done = self.capture('--', RAW, KERNELS, 'until-lost', KILN_CPU_FAULT=f'lost={number}')
            self.assertEqual(done.returncode, 0)
            self.assertEqual(list(self.members()), ['m1', '1-0.b', '1.json'])
            entry = json.loads(self.members()['1.json'])
            self.assertEqual((entry['result'], entry['ended']), (0x70000001, False))
            again = self.replay(status=1)['entries'][0]
            self.assertEqual((again['result'], again['executed'], again['same']),
                             ('ZE_RESULT_ERROR_DEVICE_LOST', True, False))
            self.assertIn('it ends here', run(KILN, 'replay', self.file, '--device', 'cpu').stdout)

    def test_a_device_that_was_lost_before_refuses_nothing(self):
        for number in (1, 3):
            done = self.capture('--', RAW, KERNELS, 'until-lost', KILN_CPU_FAULT=f'lost={number}')
            self.assertEqual((done.returncode, os.path.getsize(self.file)), (0, 0))
            self.assertIn('= reason: the device was lost before its memory was copied\n', done.stderr)

    def test_values_of_no_bytes_and_null(self):
        for launch, argument in (('1', {}), ('2', {'null': True, 'size': 4})):
            done = self.capture('--capture-launch', launch, '--', RAW, KERNELS, 'no-bytes')
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(self.members()['1.json'])['arguments'][0], argument)
            self.assertTrue(self.replay()['ok'])

    def test_what_is_asked_for_often_is_kept_once(self):
        done = self.capture('--', RAW, KERNELS, 'asks-often')
        self.assertIn('kiln exec: 1 launch or build is in', done.stderr)

    def test_launches_that_are_not_kept_are_told(self):
        done = self.capture('--capture-kernel', 'saxpy', '--', RAW, KERNELS, 'kinds-of-launches')
        self.assertIn('K0261', codes(done.stderr))
        self.assertIn('= reason: its group count lies in memory\n', done.stderr)

    def test_one_inside_another_and_rights(self):
        pathlib.Path(self.file).touch(0o644)
        done = self.capture('--', KILN, 'exec', '--', QUEUE, SAXPY)
        self.assertEqual(done.stderr, f'kiln exec: 1 launch or build is in {self.file}\n')
        self.assertEqual(stat.S_IMODE(os.stat(self.file).st_mode), 0o600)

    def test_kernels_launches_and_how_much_are_chosen(self):
        self.capture('--capture-kernel', 'tiled', '--capture-launch', '2', '--', RAW, KERNELS)
        self.assertEqual([(each['launch'], each['result']) for each in self.replay()['entries'] if each['what'] == 'launch'],
                         [(2, 'ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY'), (2, 'ZE_RESULT_SUCCESS')])
        self.assertEqual(self.capture('--capture-kernel', 'nothing', '--', QUEUE, SAXPY).stderr,
                         'kiln exec: nothing was captured\n')
        empty = run(KILN, 'replay', self.file)
        self.assertEqual((empty.returncode, codes(empty.stderr)), (5, ['K0453']))
        refused = exec_('--capture-launch', '2', '--', QUEUE, SAXPY)
        self.assertEqual((refused.returncode, codes(refused.stderr)), (2, ['K0400']))

    def test_what_is_above_the_limit_is_not_kept(self):
        layered = run(QUEUE, SAXPY, ZE_ENABLE_ALT_DRIVERS=os.environ['KILN_LAYER'], KILN_LAYER_DRIVER=CPU,
                      KILN_LAYER_CAPTURE=self.file, KILN_LAYER_CAPTURE_LIMIT='16383')
        self.assertEqual(layered.returncode, 0)
        self.assertIn('K0261', codes(layered.stderr))
        self.assertEqual(layered.stderr, (GOLDEN / 'K0261.txt').read_text() + 'kiln exec: nothing was captured\n')

    def test_modules_count_towards_the_limit(self):
        size = os.path.getsize(SAXPY)
        for limit, kept in ((16384 + size - 1, False), (16384 + size, True)):
            pathlib.Path(self.file).write_bytes(b'')
            layered = run(QUEUE, SAXPY, ZE_ENABLE_ALT_DRIVERS=os.environ['KILN_LAYER'], KILN_LAYER_DRIVER=CPU,
                          KILN_LAYER_CAPTURE=self.file, KILN_LAYER_CAPTURE_LIMIT=str(limit))
            self.assertEqual((layered.returncode, os.path.getsize(self.file) > 0), (0, kept), layered.stderr)
            if not kept:
                self.assertIn(f'= reason: its module has {size} bytes, and of {limit} there are 0 in use\n', layered.stderr)

    def test_a_file_that_cannot_grow_leaves_the_program_alone(self):
        full = run('sh', '-c', 'ulimit -f 8; exec "$@"', '-', KILN, 'exec', '--capture', self.file, '--device', 'cpu',
                   '--', QUEUE, SAXPY)
        self.assertEqual(full.returncode, 0, full.stderr)
        self.assertIn('K0261', codes(full.stderr))
        self.assertIn('File too large', full.stderr)
        self.assertEqual(os.path.getsize(self.file), 0)

    def test_what_is_cut_or_damaged_is_said(self):
        self.capture('--', RAW, KERNELS)
        data = pathlib.Path(self.file).read_bytes()
        # Killed while the last was written: what is whole counts.
        pathlib.Path(self.file).write_bytes(data[:-20])
        listed = run(KILN, 'replay', self.file, '--list', '--json')
        self.assertEqual(listed.returncode, 0)
        self.assertEqual(len(json.loads(listed.stdout)['entries']), 4)
        self.assertIn('is cut off', listed.stderr)
        for wrong in (b'', b'!<arch>\n', b'no archive', data.replace(b'"memory":1', b'"memory":9'),
                      data.replace(b'capture 1', b'capture 7'), data.replace(b'"spirv"', b'"spirw"')):
            pathlib.Path(self.file).write_bytes(wrong)
            refused = run(KILN, 'replay', self.file, '--device', 'cpu')
            self.assertEqual((refused.returncode, codes(refused.stderr)), (5, ['K0453']), refused.stderr)
        missing = run(KILN, 'replay', '/nonexistent')
        self.assertEqual((missing.returncode, codes(missing.stderr)), (5, ['K0453']))

    @unittest.skipUnless(COMPILER, 'no C compiler')
    def test_a_program_in_c_does_the_same(self):
        self.capture('--', RAW, KERNELS, RAW_EXECUTES='1')
        several = run(KILN, 'replay', self.file, '--emit-c', self.folder.name)
        self.assertEqual((several.returncode, codes(several.stderr)), (2, ['K0400']))
        for entry, status, last in (('1', 0, 'memory is as it was captured'), ('2', 1, 'zeKernelCreate: 0x78000011'),
                                    ('3', 0, 'memory is as it was captured'),
                                    ('4', 1, 'zeCommandListAppendLaunchKernel: 0x70000003'),
                                    ('5', 1, 'zeModuleCreate: 0x7800000f')):
            folder = os.path.join(self.folder.name, entry)
            written = run(KILN, 'replay', self.file, '--entry', entry, '--emit-c', folder)
            self.assertEqual(written.returncode, 0, written.stderr)
            subprocess.run([COMPILER, '-std=c11', '-Wall', '-Wextra', '-Werror', 'replay.c', '-o', 'replay',
                            *os.environ['KILN_ZE_FLAGS'].split(), '-lze_loader'], cwd=folder, check=True)
            done = subprocess.run([os.path.join(folder, 'replay')], cwd=folder, capture_output=True, text=True,
                                  env={**os.environ, 'ZE_ENABLE_ALT_DRIVERS': CPU}, check=False)
            self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (status, last), done.stdout)

    @unittest.skipUnless(INTEL, "Intel's driver does not load here")
    def test_intels_driver_takes_what_is_between(self):
        if run(RAW, KERNELS, 'nothing', **capture('pvc')).returncode != 0:
            self.skipTest("no driver of Intel's")
        guarded = self.capture('--guard', '--', RAW, KERNELS, 'null-list', device='capture:tgllp')
        self.assertEqual(guarded.returncode, 0)
        self.assertIn('K0222', codes(guarded.stderr))
        for product in ('tgllp', 'pvc'):
            # Nothing is executed, so that the event behind a launch never comes.
            done = self.capture('--', QUEUE, SAXPY, device=f'capture:{product}')
            self.assertEqual((done.returncode, codes(done.stderr)), (0, ['K0261']))
        self.capture('--', QUEUE, SAXPY)
        again = self.replay(device='capture:pvc')
        self.assertEqual((again['ok'], again['entries'][0]['executed']), (True, False))


if __name__ == '__main__':
    unittest.main()
