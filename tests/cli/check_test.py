# SPDX-License-Identifier: MIT
# `kiln check` with compilers and drivers that fail, hang, write garbage, are missing, or end the process.
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

from front_end import needs_opencl_c

KILN = os.environ['KILN']
KERNELS = pathlib.Path(os.environ['KILN_KERNELS'])
DATA = pathlib.Path(os.environ['KILN_TEST_DATA'])
SAXPY = str(KERNELS / 'saxpy.spv')
SLM_TABLE = str(KERNELS / 'slm_table.spv')
LARGE_SLM = ('kernel void small(global float* o) { o[0] = 1; }\n'
             'kernel void large(global float* o, int i) { local float t[ITEMS];\n'
             '  t[get_local_id(0)] = i; barrier(1); o[get_global_id(0)] = t[i]; }\n')


# Meson puts the folders of all libraries that a test depends on here: the false driver among them.
os.environ.pop('LD_LIBRARY_PATH', None)


def kiln(*arguments, **environment):
    return subprocess.run([KILN, 'check', *arguments], env={**os.environ, **environment}, capture_output=True,
                          text=True, timeout=200)


def checked(test, *arguments, status, **environment):
    """The answer by kernel and target."""
    done = kiln(*arguments, '--json', **environment)
    test.assertEqual(done.returncode, status, done.stdout + done.stderr)
    answer = json.loads(done.stdout)
    cells = {(row['kernel'], cell['target']): cell for row in answer['kernels'] for cell in row['results']}
    return answer, cells


@contextlib.contextmanager
def fake_ocloc(script):
    """A PATH on which ocloc is this shell script."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, 'ocloc')
        program.write_text('#!/bin/sh\n' + script)
        program.chmod(0o755)
        yield f'{folder}:{os.environ["PATH"]}'


@contextlib.contextmanager
def source(name, text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, name)
        path.write_text(text)
        yield path


class FakeOcloc(unittest.TestCase):
    def test_missing_spirv_speaks_for_itself_and_source_is_an_error_with_a_cure(self):
        _, cells = checked(self, SAXPY, '--target', 'pvc', status=0, PATH='/nonexistent')
        self.assertEqual(cells['saxpy', 'pvc']['by'], 'spirv')
        self.assertIn('not installed', cells['saxpy', 'pvc']['note'])
        done = kiln(SAXPY, '--target', 'pvc', PATH='/nonexistent')
        self.assertIn('yes*', done.stdout)
        self.assertIn('note: pvc: ocloc is not installed', done.stdout)
        with source('k.cl', LARGE_SLM) as path:
            answer, cells = checked(self, str(path), SAXPY, '--target', 'pvc', status=5, PATH='/nonexistent')
        error, = answer['errors']
        self.assertEqual(error['code'], 'K0405')
        self.assertTrue(error['help'])
        self.assertTrue(cells['saxpy', 'pvc']['fits'])

    def test_a_refusal_is_a_no_with_the_compilers_words_file_and_target(self):
        with fake_ocloc('echo "error: total scratch space exceeds"; exit 245') as path:
            _, cells = checked(self, SAXPY, '--target', 'pvc', status=3, PATH=path)
            done = kiln(SAXPY, '--target', 'pvc,dg2', PATH=path)
        cell = cells['saxpy', 'pvc']
        self.assertEqual((cell['fits'], cell['by']), (False, 'none'))
        reason, = cell['reasons']
        self.assertEqual(reason['code'], 'K0406')
        self.assertIn('saxpy.spv` for pvc', reason['message'])
        self.assertIn('error: total scratch space exceeds', [row['text'] for row in reason['rows']])
        self.assertIn('no K0406', done.stdout)

    def test_a_source_without_a_kernel_is_told(self):
        for text in ('', '// nothing yet\n', 'int twice(int v) { return 2 * v; }\n'):
            with tempfile.TemporaryDirectory() as folder:
                source = pathlib.Path(folder, 'none.cl')
                source.write_text(text)
                done = kiln(source, '--target', 'dg2')
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertIn('has no kernel', done.stdout + done.stderr, text)

    def test_a_compiler_that_hangs_crashes_or_writes_garbage_gives_no_answer(self):
        for script, limit, words in (('sleep 1000', '0.3', 'time limit of 0.3 s'), ('kill -SEGV $$', '60', 'SIGSEGV'),
                                     ('echo garbage > result', '60', 'cannot be read'),
                                     ('printf "" > result', '60', 'left no binary'),
                                     ('yes', '0.3', 'time limit of 0.3 s')):
            with fake_ocloc(script) as path, tempfile.TemporaryDirectory() as folder:
                _, cells = checked(self, SAXPY, '--target', 'pvc', '--timeout', limit, status=5, PATH=path, TMPDIR=folder)
                left = os.listdir(folder)
            reason, = cells['saxpy', 'pvc']['reasons']
            self.assertEqual(reason['code'], 'K0406', script)
            self.assertIn(words, ' '.join(row['text'] for row in reason['rows']), script)
            self.assertEqual(left, [], script)

    def test_a_target_that_ocloc_does_not_know_falls_back_to_spirv(self):
        with fake_ocloc('echo "Error: Cannot get HW Info for device pvc."; exit 223') as path:
            _, cells = checked(self, SAXPY, '--target', 'pvc', status=0, PATH=path)
        self.assertEqual(cells['saxpy', 'pvc']['by'], 'spirv')
        self.assertIn('does not know the target', cells['saxpy', 'pvc']['note'])

    def test_options_go_to_ocloc_in_one_word_and_files_beside_the_input_are_not_seen(self):
        with source('saxpy.spv', '') as copy, fake_ocloc('ls; for i; do echo "[$i]"; done; exit 1') as path:
            copy.write_bytes(pathlib.Path(SAXPY).read_bytes())
            (copy.parent / 'saxpy_options.txt').write_text('-cl-opt-disable')
            _, cells = checked(self, str(copy), '--target', 'dg2', '--options=-cl-mad-enable -DX="; exit"', status=3,
                               PATH=path)
        words = [row['text'] for row in cells['saxpy', 'dg2-g10']['reasons'][0]['rows']]
        self.assertIn('[-cl-mad-enable -DX="; exit"]', words)
        self.assertIn('source.spv', words)
        self.assertFalse([word for word in words if 'saxpy' in word])

    def test_a_native_binary_at_hand_needs_no_compiler(self):
        with fake_ocloc('sleep 1000') as path:
            _, cells = checked(self, str(DATA / 'saxpy.ocloc-26.27.ar'), '--target', 'pvc,bmg', status=0, PATH=path)
        self.assertEqual([cell['by'] for cell in cells.values()], ['native', 'native'])

    def test_an_interrupt_ends_the_compilers_and_leaves_nothing_behind(self):
        with tempfile.TemporaryDirectory() as folder, fake_ocloc('echo $$ >> "$PIDS"; sleep 1000') as path:
            pids = pathlib.Path(folder, 'pids')
            os.mkfifo(pids)
            running = subprocess.Popen([KILN, 'check', SAXPY, '--target', 'pvc'], stdout=subprocess.PIPE,
                                       env={**os.environ, 'PATH': path, 'PIDS': str(pids), 'TMPDIR': folder})
            compiler = int(pids.read_text())
            running.send_signal(signal.SIGINT)
            out, _ = running.communicate(timeout=60)
            self.assertEqual((running.returncode, out), (-signal.SIGINT, b''))
            self.assertRaises(ProcessLookupError, os.kill, compiler, 0)
            self.assertEqual([each.name for each in pathlib.Path(folder).iterdir()], ['pids'])


@needs_opencl_c
class RealOcloc(unittest.TestCase):
    def test_source_that_fits_pvc_but_not_dg2_and_finds_its_header_and_options(self):
        with source('large.cl', '#include "items.h"\n' + LARGE_SLM) as path:
            (path.parent / 'items.h').write_text('#define ITEMS (COUNT)\n')
            _, cells = checked(self, str(path), '--target', 'pvc,dg2', '--options=-DCOUNT=25000', status=3)
            self.assertEqual((cells['large', 'pvc']['fits'], cells['large', 'pvc']['by']), (True, 'compiled'))
            self.assertEqual([each['code'] for each in cells['large', 'dg2-g10']['reasons']], ['K0109'])
            self.assertFalse(cells['small', 'dg2-g10']['fits'])  # the driver refuses the whole module
            checked(self, str(path), '--target', 'pvc,dg2', '--options=-DCOUNT=16000', status=0)

    def test_an_error_in_the_source_is_shown_once(self):
        with source('bad.cl', 'kernel void k(global int* o) { o[0] = undefined_thing; }') as path:
            done = kiln(str(path), '--target', 'pvc,dg2,tgllp')
        self.assertEqual((done.returncode, done.stdout), (5, ''))
        self.assertEqual(done.stderr.count('error[K0406]'), 1)
        self.assertIn('undefined_thing', done.stderr)


class FakeDriver(unittest.TestCase):
    """SPIR-V alone, for Kiln and for a driver that is Kiln's own for the CPU in disguise."""

    def ask(self, faults, file, *more, status):
        return checked(self, file, '--target', 'pvc', '--driver', *more, status=status, PATH='/nonexistent',
                       LD_LIBRARY_PATH=os.environ['KILN_FAKE_DRIVER'], FAKE_DRIVER=faults)[1]

    def test_what_the_driver_prints_is_no_answer(self):
        cell, = self.ask('', SAXPY, '--group', '16', '--groups', '3', status=0).values()
        self.assertEqual(cell['driver'], {'fits': True, 'call': 'zeCommandListAppendLaunchKernel',
                                          'result': 'ZE_RESULT_SUCCESS', 'ended_by': None, 'said': None})
        self.assertTrue(cell['agree'])
        cell, = self.ask('', SAXPY, '--groups', '1', '--group', '1025', status=3).values()
        self.assertEqual(cell['driver']['call'], 'zeKernelSetGroupSize')
        self.assertEqual(cell['driver']['result'], 'ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION')
        self.assertEqual([reason['code'] for reason in cell['reasons']], ['K0102'])
        self.assertIsNone(cell['driver']['said'])  # what it printed before was not about this call

    def test_kernels_that_end_the_driver_are_told_from_those_behind_them(self):
        cells = self.ask('abort:strided,segv:one_each,hang:one_each_any', SLM_TABLE, '--timeout', '3', status=3)
        ends = {kernel: cell['driver']['ended_by'] for (kernel, _), cell in cells.items() if not cell['agree']}
        self.assertEqual(ends, {'strided': 'SIGABRT', 'one_each': 'SIGSEGV', 'one_each_any': 'time limit of 3 s'})
        self.assertEqual(cells['strided', 'pvc']['driver']['said'], 'Abort was called at 12 line in file: fake.cpp')
        self.assertEqual(cells['strided', 'pvc']['driver']['call'], 'zeKernelCreate')
        self.assertTrue(all(cell['fits'] for cell in cells.values()))
        self.assertTrue(cells['every_item', 'pvc']['driver']['fits'])

    def test_the_text_says_the_disagreement_loudly_and_nothing_of_the_driver(self):
        done = kiln(SLM_TABLE, '--target', 'pvc,tgllp', '--driver', PATH='/nonexistent', FAKE_DRIVER='abort:strided',
                    LD_LIBRARY_PATH=os.environ['KILN_FAKE_DRIVER'])
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stderr, '')
        self.assertIn('DISAGREEMENT: strided on pvc: Kiln says yes*, the driver: zeKernelCreate ended the process by '
                      'SIGABRT', done.stdout)
        self.assertNotIn('noise', done.stdout)

    def test_no_driver_at_all_ends_with_4(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, 'libze_intel_gpu.so.1').write_text('no library')
            answer, cells = checked(self, SAXPY, '--target', 'pvc', '--driver', status=4, PATH='/nonexistent',
                                    LD_LIBRARY_PATH=folder)
        self.assertEqual(answer['errors'][0]['code'], 'K0306')
        self.assertIsNone(cells['saxpy', 'pvc']['driver']['fits'])

    def test_a_target_that_no_capture_device_stands_for_is_not_asked(self):
        _, cells = checked(self, SAXPY, '--target', 'rkl', '--driver', status=0, PATH='/nonexistent')
        self.assertEqual((cells['saxpy', 'rkl']['fits'], cells['saxpy', 'rkl']['driver']['fits']), (True, None))


@unittest.skipUnless(os.environ['KILN_INTEL_DRIVER'] == 'yes', "Intel's driver is not loaded here")
class RealDriver(unittest.TestCase):
    def setUp(self):
        answer = json.loads(kiln(SAXPY, '--target', 'pvc', '--driver', '--json').stdout)
        if [error['code'] for error in answer['errors']] == ['K0306']:
            self.skipTest("Intel's driver is not installed")

    def test_kiln_and_the_driver_agree_about_the_samples(self):
        files = [str(KERNELS / f'{name}.spv') for name in ('matmul', 'saxpy', 'slm_limit', 'slm_table')]
        binaries = [str(path) for path in KERNELS.glob('*.bin')]
        for tile, status in ((1024, 0), (32768, 0), (32772, 3)):
            _, cells = checked(self, *files, *binaries, '--target', 'tgllp,dg2,pvc', '--driver', '--group', '16',
                               '--groups', '7,2', '--local', f'a_tile={tile}', '--local', f'b_tile={tile}',
                               status=status)
            self.assertEqual({key for key, cell in cells.items() if not cell['agree']}, set(), tile)
            refused = {key: cell['driver']['result'] for key, cell in cells.items() if not cell['fits']}
            self.assertEqual(refused, {} if status == 0 else {
                ('tiled', target): 'ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY' for target in ('tgllp', 'dg2-g10')})

    def test_the_drivers_own_reason_comes_along(self):
        file = DATA.parent.parent / 'device' / 'spirv' / 'over_static.spv'
        _, cells = checked(self, str(file), '--target', 'dg2', '--driver', status=3)
        for cell in cells.values():
            self.assertEqual([reason['code'] for reason in cell['reasons']], ['K0109'])
            self.assertEqual((cell['driver']['call'], cell['driver']['fits']), ('zeModuleCreate', False))
            self.assertIn('larger than available (65536)', cell['driver']['said'])

    def test_kiln_and_the_driver_agree_about_what_files_take_for_granted(self):
        targets = {'unresolved.spv': 'tgllp,dg2,pvc', 'doubles.spv': 'tgllp,dg2,pvc', 'unresolved.ocloc-22.43.bin': 'pvc',
                   'unresolved.ocloc-26.27.bin': 'pvc', 'memory.pvc.bin': 'pvc'}
        fits = {}
        for path in (None, '/nonexistent'):  # with ocloc, and by the SPIR-V alone
            environment = {'PATH': path} if path else {}
            for file, target in targets.items():
                done = kiln(str(DATA / file), '--target', target, '--driver', '--json', **environment)
                for row in json.loads(done.stdout)['kernels']:
                    for cell in row['results']:
                        self.assertTrue(cell['agree'], (file, row['kernel'], cell))
                        fits[file, cell['target']] = cell['fits']
        self.assertEqual({key for key, fit in fits.items() if fit}, {('doubles.spv', 'pvc'), ('memory.pvc.bin', 'pvc')})

    def test_kiln_and_the_driver_agree_about_a_version_that_is_no_drivers(self):
        with source('memory.pvc.bin', '') as path:
            code = (DATA / 'memory.pvc.bin').read_bytes()
            path.write_bytes(code.replace(b"version:         '1.", b"version:         '9."))
            _, cells = checked(self, str(path), '--target', 'pvc', '--driver', status=3)
        for cell in cells.values():
            self.assertEqual([reason['code'] for reason in cell['reasons']], ['K0131'])
            self.assertTrue(cell['agree'], cell)

    def test_a_product_that_the_driver_does_not_know_is_no_failure(self):
        _, cells = checked(self, SAXPY, '--target', 'tgllp,bmg,lnl', '--driver', status=0)
        self.assertTrue(cells['saxpy', 'tgllp']['driver']['fits'])
        for target in ('bmg-g21', 'lnl-m'):
            driver = cells['saxpy', target]['driver']
            self.assertTrue(driver['fits'] or 'does not know' in driver['reason'], driver)


if __name__ == '__main__':
    unittest.main()
