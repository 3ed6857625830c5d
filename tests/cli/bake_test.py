# SPDX-License-Identifier: MIT
# `kiln bake`: bundles for every target that ocloc knows, loaded on each, and all that can go wrong.
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

KILN = os.environ['KILN']
NATIVE = str(pathlib.Path(os.environ['KILN_TEST_DATA'], 'memory.pvc.bin'))
SAXPY = str(pathlib.Path(os.environ['KILN_KERNELS'], 'saxpy.spv'))
CAPTURE = {'tgllp': 'tgllp', 'dg2-g10': 'dg2', 'pvc': 'pvc', 'bmg-g21': 'bmg', 'lnl-m': 'lnl', 'ptl-h': 'ptl'}
SCALE = '#include "factor.h"\nstatic int f(int x) { return FACTOR * x; }\nkernel void scale(global int* o) { o[0] = f(o[1]); }\n'
SHIFT = 'static int f(int x) { return x << 1; }\n\nkernel void shift(global int* o) { o[0] = f(o[1]); }\n'

# Meson puts the folders of all libraries that a test depends on here: a false driver among them.
os.environ.pop('LD_LIBRARY_PATH', None)


def kiln(*arguments, folder=None, **environment):
    return subprocess.run([KILN, *map(str, arguments)], cwd=folder, env={**os.environ, **environment},
                          capture_output=True, text=True, timeout=200)


def known_targets():
    if not shutil.which('ocloc'):
        return []
    with tempfile.TemporaryDirectory() as folder:
        return [target for target in CAPTURE if 'Matched ids' in subprocess.run(
            ['ocloc', 'ids', target], cwd=folder, capture_output=True, text=True).stdout]


def compiles_opencl():
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, 'k.cl').write_text('kernel void k(global int* o) { o[0] = 1; }')
        return kiln('bake', 'k.cl', '--target', 'pvc', '-o', 'k.ar', folder=folder).returncode == 0


TARGETS = known_targets()
OPENCL = bool(TARGETS) and compiles_opencl()


class InFolder(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)

    def write(self, **files):
        for name, text in files.items():
            (self.folder / name.replace('_', '.')).write_text(text)

    def bake(self, *arguments, status=0, **environment):
        done = kiln('bake', *arguments, '--json', folder=self.folder, **environment)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def refused(self, *arguments, status, code, **environment):
        """One error, and no output but what was there."""
        before = sorted(os.listdir(self.folder))
        error, = self.bake(*arguments, status=status, **environment)['errors']
        self.assertEqual(error['code'], code, error)
        self.assertTrue(error['help'])
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        return error['message'] + ' ' + ' '.join(row.get('text', '') for row in error['rows'])

    @contextlib.contextmanager
    def fake_ocloc(self, script):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, 'ocloc')
            program.write_text('#!/bin/sh\n' + script)
            program.chmod(0o755)
            yield f'{folder}:{os.environ["PATH"]}'


class Refusals(InFolder):
    def test_commands_that_cannot_be_meant(self):
        self.write(notes_txt='text', k_cl='kernel void k() {}')
        for arguments, code, words in (
                ((SAXPY, '--target', 'tglp', '-o', 'o.ar'), 'K0404', 'tglp'),
                ((SAXPY, '--target', 'dg2,pvc,dg2-g10', '-o', 'o.ar'), 'K0404', 'dg2-g10 is named twice'),
                ((SAXPY, '--target', 'pvc', '--target', 'xe-hpc', '-o', 'o.ar'), 'K0404', 'pvc is named twice'),
                (('notes.txt', '--target', 'pvc', '-o', 'o.ar'), 'K0420', 'notes.txt'),
                (('k.cl', '--target', 'pvc', '-o', './k.cl'), 'K0404', 'written over'),
                ((SAXPY, '--target', 'pvc', '-o', 'o.ar', '--depfile', './o.ar'), 'K0404', 'same file')):
            self.assertIn(words, self.refused(*arguments, status=2, code=code))
        for arguments in ((), (SAXPY,), (SAXPY, '-o', 'o.ar'), ('--target', 'pvc', '-o', 'o.ar')):
            self.assertEqual(kiln('bake', *arguments, folder=self.folder).returncode, 2, arguments)

    def test_outputs_that_cannot_be_written_are_refused_before_any_work(self):
        self.write(file_txt='')
        with self.fake_ocloc('echo started >&2; exit 1') as path:
            for output in ('none/o.ar', '.', '/dev/null', 'file.txt/o.ar'):
                text = self.refused(SAXPY, '--target', 'pvc', '-o', output, status=5, code='K0421', PATH=path)
                self.assertIn(output, text)
            self.refused(SAXPY, '--target', 'pvc', '-o', 'o.ar', '--depfile', 'none/d', status=5, code='K0421', PATH=path)
        self.assertTrue(pathlib.Path('/dev/null').is_char_device())

    def test_without_a_temporary_folder_nothing_is_written_into_the_current_one(self):
        self.write(source_spv='mine')
        with self.fake_ocloc('exit 0') as path:
            text = self.refused(SAXPY, '--target', 'pvc', '-o', 'o.ar', status=5, code='K0406', PATH=path, TMPDIR='/nonexistent')
        self.assertIn('TMPDIR', text)
        self.assertEqual((self.folder / 'source.spv').read_text(), 'mine')

    def test_no_ocloc_an_unknown_target_and_garbage_leave_what_was_there(self):
        self.write(o_ar='before')
        arguments = (SAXPY, '--target', 'pvc,dg2', '-o', 'o.ar')
        text = self.refused(*arguments, status=5, code='K0405', PATH='/nonexistent')
        self.assertIn('not installed', text)
        self.assertNotIn('OpenCL', text)
        for script, words in (('case "$*" in *dg2-g10*) echo "Cannot get HW Info for device dg2-g10."; exit 223;; esac; '
                               f'cp "{NATIVE}" result', 'does not know dg2-g10'),):
            with self.fake_ocloc(script) as path:
                self.assertIn(words, self.refused(*arguments, status=5, code='K0406', PATH=path))
        with self.fake_ocloc('echo garbage > result') as path:
            text = self.refused(*arguments, status=5, code='K0406', PATH=path)
        self.assertIn('cannot be read', text)
        self.assertIn('pvc, dg2-g10', text)
        self.assertEqual((self.folder / 'o.ar').read_text(), 'before')

    def test_damaged_spirv_never_reaches_a_compiler(self):
        whole = pathlib.Path(SAXPY).read_bytes()
        (self.folder / 'cut.spv').write_bytes(whole[:-6])
        with self.fake_ocloc('echo started >&2; exit 1') as path:
            self.refused('cut.spv', '--target', 'pvc', '-o', 'o.ar', status=5, code='K0209', PATH=path)
            self.refused('cut.spv', SAXPY, '--target', 'pvc', '-o', 'o.ar', status=5, code='K0209', PATH=path)
            self.refused('none.spv', '--target', 'pvc', '-o', 'o.ar', status=5, code='K0201', PATH=path)

    def test_an_interrupt_leaves_nothing_behind(self):
        with self.fake_ocloc('echo $$ >> "$PIDS"; sleep 1000') as path:
            pids = self.folder / 'pids'
            os.mkfifo(pids)
            running = subprocess.Popen([KILN, 'bake', SAXPY, '--target', 'pvc', '-o', 'o.ar'], cwd=self.folder,
                                       env={**os.environ, 'PATH': path, 'PIDS': str(pids), 'TMPDIR': str(self.folder)})
            compiler = int(pids.read_text())
            running.send_signal(signal.SIGINT)
            self.assertEqual(running.wait(timeout=60), -signal.SIGINT)
            self.assertRaises(ProcessLookupError, os.kill, compiler, 0)
        self.assertEqual(os.listdir(self.folder), ['pids'])


class CpuAlone(InFolder):
    def test_object_code_and_spirv_for_the_cpu_device(self):
        answer = self.bake(SAXPY, '--cpu', '-o', 'saxpy.ar', PATH='/nonexistent')
        self.assertEqual([each['member'] for each in answer['members']], ['kiln-cpu', 'generic_ir'])
        again = self.bake(SAXPY, '--cpu', '-o', 'again.ar', PATH='/nonexistent')
        self.assertEqual(again['bytes'], answer['bytes'])
        bundle = (self.folder / 'saxpy.ar').read_bytes()
        self.assertEqual(bundle, (self.folder / 'again.ar').read_bytes())
        for profile in ('pvc', 'tgllp'):
            run = json.loads(kiln('run', 'saxpy', '--bundle', 'saxpy.ar', '--device', 'cpu:' + profile, '--json',
                                  folder=self.folder).stdout)
            self.assertEqual((run['ok'], run['binary'], run['member'], run['target'], run['fit']),
                             (True, 'native', 'kiln-cpu', 'cpu', 'exact'))
        # Counting takes code that is made for it.
        counted = kiln('run', 'saxpy', '--bundle', 'saxpy.ar', '--device', 'cpu', '--counters', '--json', folder=self.folder)
        self.assertEqual(json.loads(counted.stdout)['counters']['kernel'], 'saxpy')
        # One byte of the object is another: the device refuses it, and compiles the SPIR-V.
        damaged = bytearray(bundle)
        damaged[bundle.index(b'\x7fELF') + 0x200] ^= 1
        (self.folder / 'saxpy.ar').write_bytes(damaged)
        run = json.loads(kiln('run', 'saxpy', '--device', 'cpu', '--json', KILN_KERNEL_PATH=str(self.folder)).stdout)
        self.assertEqual((run['ok'], run['binary'], run['member'], run['fit']), (True, 'jit', 'generic_ir', 'spirv'))

    def test_archives_that_are_cut_off_or_lie_are_refused_with_the_reason(self):
        self.bake(SAXPY, '--cpu', '-o', 'saxpy.ar', PATH='/nonexistent')
        whole = (self.folder / 'saxpy.ar').read_bytes()
        size = whole.index(b'kiln-cpu/') + 48
        for damaged, words in ((whole[:-1000], 'truncated'), (whole[:100], 'truncated'), (b'!<arch>\n', 'without members'),
                               (whole[:size] + b'-1        ' + whole[size + 10:], 'is no number')):
            (self.folder / 'bad.ar').write_bytes(damaged)
            for command in (('run', 'saxpy', '--bundle', 'bad.ar', '--device', 'cpu'), ('inspect', 'bad.ar'),
                            ('check', 'bad.ar', '--target', 'pvc')):
                done = kiln(*command, folder=self.folder)
                self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
                self.assertIn(words, done.stderr, command)


@unittest.skipUnless(TARGETS, 'no ocloc')
class EveryTarget(InFolder):
    def test_one_bundle_loads_natively_on_every_target_and_on_the_cpu_device(self):
        answer = self.bake(SAXPY, '--target', ','.join(TARGETS), '--cpu', '-o', 'saxpy.ar')
        members = {each['target']: each['member'] for each in answer['members']}
        self.assertEqual(list(members), [*TARGETS, 'cpu', None])
        ran = 0
        for target in TARGETS:
            self.assertRegex(members[target], r'^64\.\d+\.\d+\.\d+$')
            if os.environ['KILN_INTEL_DRIVER'] != 'yes':
                continue
            done = kiln('run', 'saxpy', '--device', 'capture:' + CAPTURE[target], '--json', folder=self.folder,
                        KILN_KERNEL_PATH='.')
            run = json.loads(done.stdout)
            if run.get('error', {}).get('code') in ('K0301', 'K0302', 'K0306', 'K0308'):
                continue  # no driver here, or one that does not know the product
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual((run['binary'], run['member'], run['target']), ('native', members[target], target))
            ran += 1
        if os.environ['KILN_INTEL_DRIVER'] == 'yes' and not ran:
            self.skipTest("Intel's driver is not installed")
        run = json.loads(kiln('run', 'saxpy', '--bundle', 'saxpy.ar', '--device', 'cpu', '--json', folder=self.folder).stdout)
        self.assertEqual((run['binary'], run['member'], run['ok']), ('native', 'kiln-cpu', True))

    def test_inspect_and_check_read_every_member(self):
        self.bake(SAXPY, '--target', ','.join(TARGETS), '-o', 'saxpy.ar')
        inspected, = json.loads(kiln('inspect', 'saxpy.ar', '--json', folder=self.folder).stdout)['files']
        self.assertEqual([part['format'] for part in inspected['parts']], ['native'] * len(TARGETS) + ['spirv'])
        for part in inspected['parts']:
            self.assertEqual([kernel['name'] for kernel in part['kernels']], ['saxpy'])
        checked = json.loads(kiln('check', 'saxpy.ar', '--json', folder=self.folder, PATH='/nonexistent').stdout)
        results = checked['kernels'][0]['results']
        self.assertEqual([(each['target'], each['by'], each['fits']) for each in results],
                         [(target, 'native', True) for target in TARGETS])

    def test_a_damaged_member_is_passed_over_for_spirv(self):
        self.bake(SAXPY, '--target', TARGETS[0], '-o', 'saxpy.ar')
        bundle = bytearray((self.folder / 'saxpy.ar').read_bytes())
        bundle[bundle.index(b'\x7fELF') + 40] ^= 0x80  # where the section headers are
        (self.folder / 'saxpy.ar').write_bytes(bundle)
        done = kiln('run', 'saxpy', '--bundle', 'saxpy.ar', '--device', 'cpu', '--json', folder=self.folder)
        self.assertEqual(json.loads(done.stdout)['fit'], 'spirv')
        self.assertIn('saxpy.ar, member 64.', done.stderr)

    def test_the_same_bytes_on_one_processor(self):
        self.bake(SAXPY, '--target', ','.join(TARGETS), '-o', 'a.ar')
        one = {min(os.sched_getaffinity(0))}
        done = subprocess.run([KILN, 'bake', SAXPY, '--target', ','.join(TARGETS), '-o', 'b.ar'], cwd=self.folder,
                              preexec_fn=lambda: os.sched_setaffinity(0, one), capture_output=True, timeout=200)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.folder / 'a.ar').read_bytes(), (self.folder / 'b.ar').read_bytes())


@unittest.skipUnless(OPENCL, 'no ocloc that compiles OpenCL C')
class Source(InFolder):
    def test_sources_are_linked_and_the_folder_does_not_show(self):
        bundles = []
        for place in ('one', 'another place'):
            folder = self.folder / place
            (folder / 'include').mkdir(parents=True)
            (folder / 'scale.cl').write_text(SCALE)
            (folder / 'shift.cl').write_text(SHIFT)
            (folder / 'include' / 'factor.h').write_text('#include "deep.h"\n')
            (folder / 'include' / 'deep.h').write_text('#define FACTOR COUNT\n')
            done = kiln('bake', 'scale.cl', 'shift.cl', SAXPY, '--target', 'pvc', '--options=-I include -DCOUNT=3',
                        '-o', 'all.ar', '--depfile', 'all.d', '--json', folder=folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([each['name'] for each in json.loads(done.stdout)['kernels']], ['scale', 'shift', 'saxpy'])
            self.assertEqual((folder / 'all.d').read_text().replace('\\\n', '').split(),
                             ['all.ar:', 'scale.cl', 'include/factor.h', 'include/deep.h', 'shift.cl', SAXPY])
            bundles.append((folder / 'all.ar').read_bytes())
        self.assertEqual(bundles[0], bundles[1])
        done = kiln('bake', 'scale.cl', '--target', 'pvc', '--options=-I include -DCOUNT=3 -g', '-o', 'debug.ar', folder=folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        debug = (folder / 'debug.ar').read_bytes()
        self.assertIn(bytes(folder / 'scale.cl'), debug)
        self.assertNotIn(b'kiln-', debug)  # the private folder's name
        # Both use work-item functions, and one has SLM arrays: answers tell whether linking kept them apart.
        table = SAXPY.replace('saxpy', 'slm_table')
        self.bake('one/shift.cl', SAXPY, table, '--target', 'pvc', '--cpu', '-o', 'two.ar')
        for sample in ('saxpy', 'slm_table.strided'):
            run = kiln('run', sample, '--bundle', 'two.ar', '--device', 'cpu', '--json', folder=self.folder)
            self.assertTrue(json.loads(run.stdout)['ok'], run.stderr)

    def test_errors_name_file_line_and_target_once(self):
        self.write(bad_cl='\nkernel void k(global int* o) { o[0] = undefined_thing; }\n', a_cl=SHIFT, b_cl='\n' + SHIFT,
                   f_cl='int f(int x) { return x; }\nkernel void k(global int* o) { o[0] = f(1); }',
                   h_cl='int f(int x);\nkernel void m(global int* o) { o[0] = f(1); }',
                   g_cl='int f(int x) { return 2; }\nkernel void l(global int* o) { o[0] = f(1); }', none_cl='int f(int x) { return x; }')
        text = self.refused('bad.cl', '--target', 'tgllp,pvc', '-o', 'o.ar', status=5, code='K0406')
        self.assertIn('bad.cl:2:39: error', text)
        self.assertIn('tgllp, pvc', text)
        text = self.refused('a.cl', 'b.cl', '--target', 'pvc', '-o', 'o.ar', status=2, code='K0420')
        self.assertIn('a.cl:3 b.cl:4', text)
        text = self.refused('f.cl', 'g.cl', 'h.cl', '--target', 'pvc', '-o', 'o.ar', status=2, code='K0420')
        self.assertIn('h.cl', text)
        self.bake('f.cl', 'h.cl', '--target', 'pvc', '-o', 'linked.ar')
        self.refused('none.cl', '--target', 'pvc', '-o', 'o.ar', status=2, code='K0420')


if __name__ == '__main__':
    unittest.main()
