# SPDX-License-Identifier: MIT
# `kiln run FILE` and `kiln test`: nothing that is given is dropped, counted wrong or called right unseen.
import array
import json
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as xml_tree

from command import KERNELS, kiln
from front_end import needs_opencl_c

SAXPY = str(KERNELS / 'saxpy.spv')
ARGUMENTS = ('--arg', 'a=2', '--arg', 'x=iota:10', '--arg', 'y=ones:10', '--arg', 'n=10')
SOURCE = '''
struct S { int a; float b; };
__kernel void inc(__global float4* x) { x[get_global_id(0)] += 1.0f; }
__kernel void one(__global float* x) { x[get_global_id(0)] += 1.0f; }
__kernel void members(__global struct S* s) { s[get_global_id(0)].a += 1; }
__kernel void member(struct S s, __global int* o) { o[get_global_id(0)] = s.a; }
__kernel void bits(__global uint* out) { out[get_global_id(0)] = 0xfffffff0u; }
__kernel void copy(__global const float* in, __global float* out) { out[get_global_id(0)] = in[get_global_id(0)]; }
__kernel void back(__global float* a, __global float* b) { b[get_global_id(0)] = a[get_global_id(0)]; a[get_global_id(0)] = 5; }
__kernel void big(__global ulong* x) { x[get_global_id(0)] += 0; }
__kernel void three(__global float3* x) { x[get_global_id(0)] += 1.0f; }
__attribute__((reqd_work_group_size(8, 1, 1))) __kernel void eight(__global int* o) { o[get_global_id(0)] = 1; }
'''


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.source = self.folder / 'mine.cl'
        self.source.write_text(SOURCE)

    def run_file(self, *arguments, device='cpu', **others):
        return kiln('run', *map(str, arguments), '--device', device, **others)

    def json_of(self, *arguments, status=0, **others):
        done = self.run_file(*arguments, '--json', **others)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def refused(self, code, word, *arguments, status=2):
        done = self.run_file(*arguments)
        self.assertEqual(done.returncode, status, (arguments, done.stdout, done.stderr))
        self.assertIn(code, done.stderr, arguments)
        self.assertIn(word, done.stderr, arguments)

    def case(self, text, name='case.yaml', folder='.'):
        path = self.folder / folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path


class Options(Case):
    def test_each_path_is_meant_from_where_it_is_written(self):
        path = self.case('kernel: saxpy.spv\narguments: {a: 2, x: in.npy, n: 10}\nsave: {y: y.npy}\n', folder='sub')
        shutil.copy(SAXPY, path.parent)
        (path.parent / 'in.npy').write_bytes(
            b"\x93NUMPY\x01\x00\x46\x00" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (10,), }".ljust(69) + b'\n' + bytes(40))
        shutil.copy(path.parent / 'in.npy', self.folder / 'here.npy')
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        self.json_of('sub/case.yaml', '--arg', 'y=here.npy', '--save', 'x=there.npy')
        self.assertTrue((path.parent / 'y.npy').exists())
        self.assertTrue((self.folder / 'there.npy').exists())
        self.assertFalse((path.parent / 'there.npy').exists())
        # The other run is of the same files, wherever the temporary folder is.
        (self.folder / 'tmp').mkdir()
        path.write_text(path.read_text().split('save')[0])
        self.assertTrue(self.json_of('sub/case.yaml', '--arg', 'y=here.npy', '--against', 'group=2', TMPDIR='tmp')['ok'])
        (path.parent / 'saxpy').write_bytes((path.parent / 'saxpy.spv').read_bytes())
        path.write_text(path.read_text().replace('saxpy.spv', 'saxpy'))
        os.chdir(path.parent)
        self.assertTrue(self.json_of('case.yaml', '--arg', 'y=../here.npy', '--against', 'group=2')['ok'])

    def test_the_command_line_goes_before_a_description(self):
        path = self.case(f'kernel: {SAXPY}\narguments: {{a: 2, x: "iota:10", y: "ones:10", n: 10}}\nexpect: {{y: 5}}\ntolerance: 1e-9\n')
        self.json_of(path, status=1)
        self.json_of(path, '--tolerance', '100')
        random = f'kernel: {SAXPY}\narguments: {{a: 2, x: "random:10", y: "ones:10", n: 10}}\nseed: 7\n'
        first = [self.json_of(self.case(text), *more)['outputs'][0]['sha256']
                 for text, more in ((random, ()), (random, ('--seed', '8')), (random.replace('7', '8'), ()))]
        self.assertNotEqual(first[0], first[1])
        self.assertEqual(first[1], first[2])
        self.refused('K0433', 'seed', self.case(random.replace('7', '1.7')))

    def test_descriptions_that_say_two_things(self):
        good = f'kernel: {SAXPY}\narguments: {{a: 2, x: "iota:10", y: "ones:10", n: 10}}\n'
        for more, line in (('kernel: a.spv\n', 'line 3'), ('expect: {y: 1, y: 2}\n', 'line 3'), ('---\nfoo: bar\n', 'line 3'),
                           ('expect:\n  y: [&_q 1,*_q]\n', 'line 4'), ('expect: &a\n  y: 1\n', 'line 3'), ('expect:\n  y:\n', 'line 4')):
            self.refused('K0433', line, self.case(good + more))
        self.json_of(self.case('# a *bold* word & more\n' + good + '# &b *x\n'))

    def test_a_null_and_a_list_of_one_in_a_description(self):
        text = f'kernel: {SAXPY}\narguments: {{a: 2, x: X, y: [5], n: 0}}\nexpect: {{y: [5]}}\n'
        self.assertTrue(self.json_of(self.case(text.replace('X', 'null')))['arguments'][1]['null'])
        self.assertEqual(self.json_of(self.case(text.replace('X', '[3]')))['arguments'][1]['bytes'], 4)
        answer = self.json_of(SAXPY, '--arg', 'a=2', '--arg', 'x=3,', '--arg', 'y=5,', '--arg', 'n=1')
        self.assertEqual(answer['outputs'][0]['first'], [11])

    def test_what_is_saved_where(self):
        y = self.folder / 'y.npy'
        spv = self.folder / 'k.npy'
        shutil.copy(SAXPY, spv)
        out = ('--arg', 'a=2', '--arg', 'x=iota:10', '--arg', f'y=out:10:{y}', '--arg', 'n=10')
        self.refused('K0431', 'saved twice', SAXPY, *out, '--save', f'y={self.folder}/z.npy')
        self.refused('K0431', 'saved twice', SAXPY, *ARGUMENTS, '--save', f'y={y}', '--save', f'2={self.folder}/z.npy')
        self.refused('K0430', 'another buffer', SAXPY, *ARGUMENTS, '--save', f'y={y}', '--save', f'x={self.folder}/./y.npy')
        self.refused('K0430', '.npy', SAXPY, *ARGUMENTS, '--save', f'y={self.source}')
        self.refused('K0430', 'the kernel is in', f'{spv}:saxpy', *ARGUMENTS, '--save', f'y={spv}')
        self.refused('K0400', 'FILE.npy', SAXPY, *out, '--sweep', 'group=1,2')
        self.refused('K0400', 'FILE.npy', SAXPY, *out, '--against', 'group=2')
        self.refused('K0431', 'two things', SAXPY, *ARGUMENTS, '--expect', 'y=1', '--expect', '2=iota:10')
        self.assertEqual(self.source.read_text(), SOURCE)
        self.assertFalse(y.exists())
        self.json_of(SAXPY, *out)
        self.assertTrue(y.exists())

    def test_what_cannot_be_expected_is_no_zero(self):
        for wrong in ('y=null', 'y=local:40', 'y=out:10'):
            self.refused('K0430', 'can be expected', SAXPY, *ARGUMENTS, '--expect', wrong)
        self.refused('K0431', 'kernel `saxpy`', SAXPY, *ARGUMENTS, '--expect', 'y=1,2')

    def test_files_of_data_are_no_kernel_files(self):
        large = self.folder / 'large.bin'
        with large.open('wb') as file:
            file.truncate((1 << 30) + 8)
        for name, word in ((large, '1 GiB'), (self.folder / 'none.npy', 'No such file')):
            done = self.run_file(SAXPY, *ARGUMENTS[:2], '--arg', f'x=file:{name}', *ARGUMENTS[4:])
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn('K0432', done.stderr)
            self.assertIn(word, done.stderr)
            self.assertNotIn('kernel file', done.stderr)

    def test_options_that_have_no_effect_are_told(self):
        self.assertIn('-DX=1', self.run_file(SAXPY, *ARGUMENTS, '--options=-DX=1').stderr)
        self.assertEqual(self.run_file(SAXPY, *ARGUMENTS, '--options=-cl-fast-relaxed-math').returncode, 0)

    def test_more_than_the_device_takes_is_refused_before_it_is_made(self):
        answer = self.json_of(SAXPY, '--arg', 'a=2', '--arg', f'x=zeros:{1 << 36}', '--arg', 'y=ones:10', '--arg', 'n=10', '--global', '10',
                              status=5)
        self.assertEqual(answer['error']['code'], 'K0207')


class Sweeps(Case):
    def test_work_items_of_a_sweep_do_not_overflow(self):
        self.refused('K0431', '4294967296', SAXPY, *ARGUMENTS, '--groups', '16777216', '--group', '256', '--sweep', 'group=1,2')

    def test_without_an_answer_nothing_is_right(self):
        self.assertIsNone(self.json_of(SAXPY, *ARGUMENTS, '--sweep', 'group=1,2')['ok'])
        self.assertIs(self.json_of(SAXPY, *ARGUMENTS, '--sweep', 'group=1,2', '--expect', 'y=0', status=1)['ok'], False)
        self.refused('K0431', '3 (does not divide)', SAXPY, *ARGUMENTS, '--sweep', 'group=3,4')
        done = self.run_file(SAXPY, *ARGUMENTS, '--sweep', 'group=1,2', '--expect', 'y=0', '--json', device='capture:pvc')
        if done.returncode == 4:
            self.skipTest('no driver of Intel here')
        if 'RTLD_DEEPBIND' in done.stderr:
            self.skipTest('a sanitizer ends the process when a compiler of Intel is loaded')
        answer = json.loads(done.stdout)
        self.assertEqual((done.returncode, answer['ok'], [each['same'] for each in answer['sweep']]), (0, None, [None, None]))


class Suite(Case):
    def setUp(self):
        super().setUp()
        self.case(f'kernel: {SAXPY}\narguments: {{a: 2, x: "iota:10", y: "ones:10", n: 10}}\n')

    def test_a_file_for_the_results_is_asked_for_before(self):
        started = self.folder / 'started.npy'
        self.case(self.folder.joinpath('case.yaml').read_text() + f'save: {{y: {started}}}\n')
        for junit in (self.folder / 'none' / 'x.xml', self.folder):
            done = kiln('test', str(self.folder), '--device', 'cpu', '--junit', str(junit))
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertIn('K0436', done.stderr)
        self.assertFalse(started.exists())

    @unittest.skipUnless(os.path.exists('/dev/full'), 'there is no /dev/full')
    def test_results_are_printed_even_where_they_cannot_be_written(self):
        done = kiln('test', str(self.folder), '--device', 'cpu', '--json', '--junit', '/dev/full')
        self.assertEqual(done.returncode, 5, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual((answer['cases'][0]['answer'], answer['error']['code']), ('not compared', 'K0436'))

    def test_only_descriptions_are_cases(self):
        for wrong in ('saxpy', SAXPY):
            done = kiln('test', wrong, '--device', 'cpu')
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn('K0400', done.stderr)

    def test_names_that_xml_has_no_place_for(self):
        self.folder.joinpath('case.yaml').rename(self.folder / 'a\uffff\ufffeb.yaml')
        xml = self.folder / 'x.xml'
        self.assertEqual(kiln('test', str(self.folder), '--device', 'cpu', '--junit', str(xml)).returncode, 0)
        self.assertEqual(xml_tree.parse(xml).getroot()[0].get('name'), 'a\ufffd\ufffdb')


@needs_opencl_c
class Sources(Case):
    def kernel(self, name):
        """A file with this kernel alone: each is compiled for the device."""
        file = self.folder / f'{name}.cl'
        wanted = [each for each in SOURCE.splitlines() if f' {name}(' in each or each.startswith('struct')]
        file.write_text('\n'.join(wanted) + '\n')
        return f'{file}:{name}'

    def test_work_items_are_counted_in_the_type_of_the_kernel(self):
        saved = self.folder / 'x.npy'
        self.json_of(self.kernel('inc'), '--arg', 'x=zeros:8', '--save', f'x={saved}')
        self.assertIn(b"'shape': (8, 4)", saved.read_bytes())
        for given in (f'x={saved}', 'x=zeros:float:32', 'x=zeros:uchar:128'):
            answer = self.json_of(self.kernel('inc'), '--arg', given, '--save', f'x={self.folder / "z.npy"}')
            self.assertEqual(answer['groups'][0] * answer['group_size'][0], 8, given)
        again = self.json_of(self.kernel('inc'), '--arg', f'x={saved}', '--save', f'x={saved}')
        self.assertIn(b"'shape': (8, 4)", saved.read_bytes())
        self.assertEqual((again['outputs'][0]['max'], again['outputs'][0]['type']), (2, 'float4'))
        bytes_given = self.json_of(self.kernel('one'), '--arg', 'x=zeros:uchar:4000', '--expect', 'x=1')
        self.assertEqual(bytes_given['groups'][0] * bytes_given['group_size'][0], 1000)
        self.assertEqual(bytes_given['outputs'][0]['type'], 'float')

    def test_structs_do_not_say_how_many_they_are(self):
        data = self.folder / 's.bin'
        data.write_bytes(struct.pack('<ifif', 1, 0, 2, 0))
        for given in (f's=file:{data}', 's=zeros:uchar:16', 's=zeros:int:4'):
            self.refused('K0431', '--global', self.kernel('members'), '--arg', given)
            self.json_of(self.kernel('members'), '--arg', given, '--global', '2')
        single = self.folder / 'one.bin'
        single.write_bytes(struct.pack('<if', 258, 0))
        answer = self.json_of(self.kernel('member'), '--arg', f's=file:{single}', '--arg', 'o=out:4', '--expect', 'o=258')
        self.assertEqual((answer['arguments'][0]['bytes'], 'value' in answer['arguments'][0]), (8, False))

    def test_lists_are_whole_vectors(self):
        self.refused('K0431', '3 numbers', self.kernel('copy'), '--arg', 'in=float4:1,2,3', '--arg', 'out=out:3')
        self.json_of(self.kernel('copy'), '--arg', 'in=nan,inf,-nan', '--arg', 'out=out:3', '--expect', 'out=nan,inf,nan')

    def test_two_that_call_things_otherwise_are_compared(self):
        here, there = self.folder / 'a.cl', self.folder / 'b.cl'
        here.write_text('__kernel void a1(__global float* p) { p[get_global_id(0)] = 1; }')
        there.write_text('__kernel void b1(__global float* q) { q[get_global_id(0)] = 1; }')
        answer = self.json_of(f'{here}:a1', '--arg', 'p=zeros:4', '--against', there)
        self.assertEqual((answer['ok'], answer['other']['kernel']), (True, 'b1'))
        # What only the other one writes is compared too.
        differ = self.json_of(self.kernel('copy'), '--arg', 'in=ones:4', '--arg', 'out=out:4', '--against', self.kernel('back'), status=1)
        self.assertEqual([(each['name'], each['differ'], each['largest']) for each in differ['buffers']], [('in', 4, 4), ('out', 0, 0)])

    def test_signs_that_one_of_two_does_not_know(self):
        spirv, = self.spirv_of('__kernel void bits(__global uint* out) { out[get_global_id(0)] = 0xfffffff0u; }')
        for one, other in ((spirv, self.kernel('bits')), (self.kernel('bits'), spirv)):
            answer = self.json_of(one, '--arg', '0=out:4', '--against', other)
            self.assertTrue(answer['ok'], (one, answer))

    def spirv_of(self, text):
        """Compiled, without the strings that say how the source calls types."""
        (self.folder / 'u.cl').write_text(text)
        subprocess.run(['ocloc', 'compile', '-file', 'u.cl', '-device', 'dg2', '-spv_only', '-output', 'u', '-output_no_suffix'],
                       cwd=self.folder, check=True, capture_output=True)
        made = [each for each in self.folder.iterdir() if each.read_bytes()[:4] == b'\x03\x02\x23\x07']
        words = array.array('I', made[0].read_bytes())
        kept, at = words[:5], 5
        while at < len(words):
            count = words[at] >> 16
            if words[at] & 0xffff != 7:
                kept += words[at:at + count]
            at += count
        (self.folder / 'stripped.spv').write_bytes(kept.tobytes())
        yield self.folder / 'stripped.spv'

    def test_the_group_that_a_kernel_requires_is_named(self):
        self.refused('K0431', 'groups of 8,1,1 alone', self.kernel('eight'), '--arg', 'o=out:12')

    def test_numbers_are_as_exact_as_their_type(self):
        answer = self.json_of(self.kernel('big'), '--arg', 'x=18446744073709551614,18446744073709551615,18446744073709551613',
                              '--expect', 'x=18446744073709551614,18446744073709551614,18446744073709551613', status=1)
        self.assertEqual((answer['outputs'][0]['min'], answer['outputs'][0]['max']), (18446744073709551613, 18446744073709551615))
        self.assertEqual(answer['differences'][0]['largest'], 1)
        three = self.json_of(self.kernel('three'), '--arg', 'x=zeros:2', '--expect', 'x=1')
        self.assertEqual((three['elements'], three['outputs'][0]['first']), (6, [1] * 6))


if __name__ == '__main__':
    unittest.main()
