# SPDX-License-Identifier: MIT
# `kiln run FILE`: a kernel of the user's with its arguments, as a user types it.
import array
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree as xml_tree

from command import KERNELS, KILN, kiln
from front_end import needs_opencl_c

SAXPY = str(KERNELS / 'saxpy.spv')
ARGUMENTS = ('--arg', 'a=2', '--arg', 'x=iota:1000', '--arg', 'y=ones:1000', '--arg', 'n=1000')
SCALE = '''
__kernel void scale(__global const int* in, __global int* out, int by) {
  size_t i = get_global_id(0);
  out[i] = in[i] * by;
}
__kernel void over(__global int* out) {
  out[get_global_id(0) + 1] = 7;
}
__kernel void sums(__global const float4* in, __global float* out, __local float* part) {
  size_t l = get_local_id(0);
  part[l] = in[get_global_id(0)].x;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) {
    float sum = 0;
    for (size_t i = 0; i < get_local_size(0); ++i) sum += part[i];
    out[get_group_id(0)] = sum;
  }
}
'''


def run(*arguments, **others):
    return kiln('run', *arguments, '--device', 'cpu', **others)


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.source = self.folder / 'mine.cl'
        self.source.write_text(SCALE)

    def json_of(self, *arguments, status=0):
        done = run(*arguments, '--json')
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return json.loads(done.stdout)


class Spirv(Case):
    def test_a_kernel_runs_and_what_it_wrote_is_summed_up(self):
        answer = self.json_of(SAXPY, *ARGUMENTS)
        output, = answer['outputs']
        self.assertEqual((output['name'], output['type'], output['first'][:3], output['max']), ('y', 'float', [1, 3, 5], 1999))
        self.assertIsNone(answer['ok'])
        self.assertEqual(answer['groups'][0] * answer['group_size'][0], 1000)

    def test_a_buffer_is_saved_as_numpy_reads_it_and_taken_again(self):
        file = self.folder / 'y.npy'
        self.json_of(SAXPY + ':saxpy', *ARGUMENTS, '--save', f'y={file}')
        data = file.read_bytes()
        self.assertEqual(data[:8], b'\x93NUMPY\x01\x00')
        self.assertIn(b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000,), }", data)
        self.assertEqual(array.array('f', data[128:]).tolist(), [2.0 * i + 1 for i in range(1000)])
        again = self.json_of(SAXPY, '--arg', 'a=0', '--arg', f'x={file}', '--arg', f'y={file}', '--arg', 'n=1000')
        self.assertEqual(again['outputs'][0]['max'], 1999)

    def test_what_is_expected_decides(self):
        right = self.json_of(SAXPY, *ARGUMENTS[:6], '--arg', 'n=0', '--expect', 'y=1')
        self.assertEqual((right['ok'], right['elements']), (True, 1000))
        wrong = self.json_of(SAXPY, *ARGUMENTS, '--expect', 'y=iota:1000', status=1)
        difference, = wrong['differences']
        self.assertEqual((difference['count'], difference['index'], difference['got'], difference['wanted']), (1000, 0, '1', '0'))
        text = run(SAXPY, *ARGUMENTS, '--expect', 'y=iota:1000')
        self.assertEqual(text.returncode, 1)
        self.assertIn('K0435', text.stdout)
        self.json_of(SAXPY, *ARGUMENTS, '--expect', 'y=iota:1000', '--tolerance', '2')

    def test_counters_memory_and_report(self):
        counted = self.json_of(SAXPY, *ARGUMENTS, '--counters')
        self.assertEqual(counted['counters']['work_items'], 1000)
        beyond = self.json_of(SAXPY, '--arg', 'a=2', '--arg', 'x=iota:1000', '--arg', 'y=ones:900', '--arg', 'n=1000', '--check-memory', status=1)
        self.assertEqual(beyond['defects'][0]['code'], 'K0802')
        page = self.folder / 'page.html'
        self.json_of(SAXPY, *ARGUMENTS, '--report', str(page))
        self.assertIn('answer not compared', page.read_text())

    def test_mistakes_are_named(self):
        for arguments, code, word in (
                ((SAXPY,), 'K0431', '`a`, `x`, `y`, `n`'), ((SAXPY + ':nothing',), 'K0431', 'no kernel `nothing`'),
                ((SAXPY, *ARGUMENTS, '--arg', 'z=1'), 'K0431', '`z`'), ((SAXPY, '--arg', 'x=1:2:3'), 'K0430', 'x=1:2:3'),
                ((SAXPY, *ARGUMENTS, '--group', '256'), 'K0431', '--groups 4,1,1'),
                ((SAXPY, *ARGUMENTS, '--size', '5'), 'K0400', '--size'), (('saxpy', '--arg', 'a=1'), 'K0401', './saxpy'),
                ((SAXPY, *ARGUMENTS, '--group', 'a,b'), 'K0430', '--group'), ((str(self.folder / 'none.spv'),), 'K0201', 'none.spv'),
                ((SAXPY, *ARGUMENTS[2:], '--arg', 'a=none.npy'), 'K0431', 'float'),
                ((SAXPY, *ARGUMENTS[:2], *ARGUMENTS[4:], '--arg', f'x={self.source}.npy'), 'K0432', 'mine.cl.npy')):
            done = run(*arguments)
            self.assertEqual(done.returncode, 5 if code == 'K0201' else 2, (arguments, done.stderr))
            self.assertIn(code, done.stderr, arguments)
            self.assertIn(word, done.stderr, arguments)

    def test_the_launch_check_refuses_before_the_driver(self):
        done = run(SAXPY, *ARGUMENTS, '--group', '100000', '--groups', '1')
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn('K0102', done.stderr)


@needs_opencl_c
class OpenClC(Case):
    def test_a_source_is_compiled_and_its_types_are_known(self):
        answer = self.json_of(f'{self.source}:scale', '--arg', 'in=iota:100', '--arg', 'out=out:100', '--arg', 'by=-3')
        self.assertEqual(answer['outputs'][0]['min'], -297)
        self.assertEqual([each['type'] for each in answer['arguments']], ['int* (read)', 'int* (written)', 'int'])

    def test_local_memory_and_vectors(self):
        answer = self.json_of(f'{self.source}:sums', '--arg', 'in=ones:64', '--arg', 'out=out:4', '--local', 'part=64',
                              '--group', '16', '--global', '64', '--expect', 'out=16')
        self.assertTrue(answer['ok'])

    def test_which_kernel_is_asked_for(self):
        done = run(str(self.source))
        self.assertEqual(done.returncode, 2)
        self.assertIn('mine.cl:scale', done.stderr)

    def test_a_write_behind_a_buffer_is_seen_without_counters(self):
        done = run(f'{self.source}:over', '--arg', 'out=out:100')
        self.assertEqual(done.returncode, 1)
        self.assertIn('K0434', done.stderr)

    def test_a_kernel_that_faults_is_told(self):
        self.source.write_text('__kernel void far(__global int* out, long at, int by) { out[at] = 8 / by; }')
        for at, by in (('0x10000000000', '1'), ('0', '0')):
            done = run(str(self.source), '--arg', 'out=out:4', '--arg', f'at={at}', '--arg', f'by={by}', '--json')
            if by == '0' and done.returncode == 0:
                continue  # where the CPU device gives such a division a value
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn('K0438', done.stderr)
            self.assertEqual(json.loads(done.stdout)['error']['code'], 'K0438')

    def test_threads_that_fault_together_are_told_once(self):
        self.source.write_text('__kernel void all(__global int* out, int by) { out[get_global_id(0)] = 8 / by; }')
        reader, writer = os.pipe()
        os.write(writer, b' ' * fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096))  # full: who tells has to wait
        words = [KILN, 'run', str(self.source), '--arg', 'out=out:65536', '--arg', 'by=0', '--group', '64', '--json', '--device', 'cpu']
        process = subprocess.Popen(words, env={**os.environ, 'KILN_CPU_THREADS': '16'}, stdout=subprocess.PIPE, stderr=writer, text=True)
        os.close(writer)
        tasks = pathlib.Path(f'/proc/{process.pid}/task')
        for _ in range(1000):
            if process.poll() is not None or any('pipe_write' in each.read_text() for each in tasks.glob('*/wchan')):
                break
            time.sleep(0.01)
        time.sleep(0.2)  # for the others to come there too
        with open(reader, encoding='utf-8') as errors:
            said = errors.read()
        answer = process.communicate()[0]
        if process.returncode != 0:  # where the CPU device gives such a division no value
            self.assertEqual((process.returncode, said.count('K0438')), (1, 1), said)
            self.assertEqual(json.loads(answer)['error']['code'], 'K0438')

    def test_errors_of_the_compiler_and_lines_of_the_report(self):
        broken = self.folder / 'broken.cl'
        broken.write_text('__kernel void k(__global int* a) { a[0] = b; }\n')
        done = run(str(broken), '--arg', 'a=zeros:1')
        self.assertEqual(done.returncode, 5)
        self.assertIn('K0406', done.stderr)
        page = self.folder / 'page.html'
        self.json_of(f'{self.source}:scale', '--arg', 'in=iota:100', '--arg', 'out=out:100', '--arg', 'by=2', '--report', str(page))
        self.assertIn('out[i] = in[i] * by;', page.read_text())


    def test_a_header_is_found_beside_the_file_from_whatever_folder(self):
        away = self.folder / 'away'
        away.mkdir()
        (away / 'times.h').write_text('#define TIMES 3\n')
        (away / 'scale.cl').write_text('#include "times.h"\nkernel void scale(global int* a) { a[get_global_id(0)] *= TIMES; }\n')
        for path in (away / 'scale.cl', 'away/scale.cl'):
            done = subprocess.run([KILN, 'run', str(path), '--device', 'cpu', '--arg', 'a=1,2,3', '--expect', 'a=3,6,9'],
                                  cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_private_arrays_may_ask_for_any_alignment(self):
        for alignment in (16, 32, 64, 128):
            source = self.folder / f'aligned_{alignment}.cl'
            source.write_text('kernel void aligned(global float* o, global const float* in) {\n'
                              '  size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);\n'
                              f'  float a[8] __attribute__((aligned({alignment})));\n'
                              '  for (int j = 0; j < 8; ++j) a[j] = in[i] * j + 1;\n'
                              '  barrier(CLK_LOCAL_MEM_FENCE);\n'
                              '  a[4] += a[0];\n'
                              '  barrier(CLK_LOCAL_MEM_FENCE);\n'
                              '  float s = 0;\n'
                              '  for (int j = 0; j < 8; ++j) s += a[j];\n'
                              '  o[i] = s;\n'
                              '}\n')
            # Rows of 17 items and 5 of them: where an item's elements lie is a multiple of nothing.
            done = run(f'{source}:aligned', '--group', '17,5', '--global', '34,10', '--arg', 'in=iota:340',
                       '--arg', f'o=out:340:{self.folder}/o.npy')
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            out = (self.folder / 'o.npy').read_bytes()[-340 * 4:]
            self.assertEqual(list(array.array('f', out)), [28.0 * i + 9 for i in range(340)])


class Suite(Case):
    CASE = """kernel: saxpy.spv:saxpy
arguments: {a: 2, x: 'iota:10', y: 'ones:10', n: 10}
expect: {y: [1, 3, 5, 7, 9, 11, 13, 15, 17, 19]}
"""

    def setUp(self):
        super().setUp()
        shutil.copy(SAXPY, self.folder)
        (self.folder / 'right.yaml').write_text(self.CASE)

    def test_a_description_runs_from_any_folder(self):
        self.assertTrue(self.json_of(str(self.folder / 'right.yaml'))['ok'])

    def test_a_folder_is_a_suite(self):
        done = kiln('test', str(self.folder), '--device', 'cpu')
        self.assertEqual(done.returncode, 0, done.stderr)
        (self.folder / 'wrong.yaml').write_text(self.CASE.replace('19]', '20]'))
        (self.folder / 'error.yaml').write_text(self.CASE.replace('a: 2', '"<&": 2'))
        (self.folder / 'open.yaml').write_text(self.CASE.split('expect')[0])
        xml = self.folder / 'results.xml'
        done = kiln('test', str(self.folder), '--device', 'cpu', '--json', '--junit', str(xml))
        self.assertEqual(done.returncode, 1, done.stderr)
        answers = {pathlib.Path(each['case']).stem: each for each in json.loads(done.stdout)['cases']}
        self.assertEqual({name: each['answer'] for name, each in answers.items()},
                         {'right': 'right', 'wrong': 'WRONG', 'error': 'ERROR', 'open': 'not compared'})
        self.assertIn('number 9 is 19, should be 20', answers['wrong']['reason'])
        suite = xml_tree.parse(xml).getroot()
        self.assertEqual((suite.get('tests'), suite.get('failures'), suite.get('errors')), ('4', '1', '1'))
        self.assertIn('<&', suite.find("testcase[@name='error']/error").get('message'))

    def test_one_that_hangs_fails_alone(self):
        done = kiln('test', str(self.folder), '--device', 'cpu', '--timeout', '0.001', '--json')
        self.assertEqual(done.returncode, 1)
        self.assertIn('time limit', json.loads(done.stdout)['cases'][0]['reason'])

    def test_mistakes(self):
        empty = self.folder / 'empty'
        empty.mkdir()
        self.assertEqual(kiln('test', str(empty)).returncode, 2)
        self.assertEqual(kiln('test').returncode, 2)
        broken = self.folder / 'broken.yaml'
        broken.write_text('kernel: [')
        done = run(str(broken))
        self.assertEqual(done.returncode, 2)
        self.assertIn('K0433', done.stderr)


class SeveralRuns(Case):
    def test_a_sweep_names_the_best(self):
        answer = self.json_of(SAXPY, *ARGUMENTS, '--sweep', 'group=2..16')
        self.assertEqual([(each['group'], each.get('same')) for each in answer['sweep']], [(2, True), (4, True), (8, True), (16, None)])
        self.assertEqual(answer['sweep'][3]['refused'], 'does not divide')
        self.assertIn(answer['best'], (2, 4, 8))
        for wrong in ('group=', 'group=0..4', 'group=8..4', 'slm=1..2', 'group=1,,2'):
            self.assertEqual(run(SAXPY, *ARGUMENTS, '--sweep', wrong).returncode, 2, wrong)

    @needs_opencl_c
    def test_a_sweep_says_at_which_size_a_kernel_goes_wrong(self):
        source = self.folder / 'fixed.cl'
        source.write_text('kernel void sums(global int* out) { out[get_group_id(0)] = 1; }\n')
        done = run(str(source), '--arg', 'out=out:4', '--global', '64', '--sweep', 'group=16,4')
        self.assertEqual((done.returncode, 'K0434' in done.stderr, 'group=4' in done.stderr), (1, True, True), done.stderr)
        source.write_text('kernel void far(global int* out) { out[get_local_size(0) == 4 ? 0x10000000000 : 0] = 1; }\n')
        done = run(str(source), '--arg', 'out=out:4', '--global', '64', '--sweep', 'group=16,4', '--json')
        self.assertEqual((done.returncode, 'K0438' in done.stderr, 'group=4' in done.stderr), (1, True, True), done.stderr)
        self.assertIn({'label': 'at', 'text': 'group=4'}, [{key: row.get(key) for key in ('label', 'text')} for row in
                                                          json.loads(done.stdout)['error']['rows']])

    def test_another_group_size_does_the_same_work(self):
        answer = self.json_of(SAXPY, *ARGUMENTS, '--groups', '10', '--group', '100', '--against', 'group=50')
        self.assertTrue(answer['ok'])
        self.assertEqual(answer['other']['groups'], [20, 1, 1])

    def test_two_devices_and_two_groups_agree(self):
        for other in ('device=cpu:dg2', 'group=100', SAXPY):
            answer = self.json_of(SAXPY, *ARGUMENTS, '--against', other)
            self.assertTrue(answer['ok'], other)
            self.assertEqual(answer['buffers'][0]['numbers'], 1000)

    def test_without_a_temporary_folder_two_runs_are_not_compared(self):
        done = run(SAXPY, *ARGUMENTS, '--against', SAXPY, TMPDIR='/nonexistent')
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn('K0436', done.stderr)

    @needs_opencl_c
    def test_other_options_differ(self):
        source = self.folder / 'by.cl'
        source.write_text('__kernel void k(__global int* a) { a[get_global_id(0)] = BY; }')
        answer = self.json_of(str(source), '--arg', 'a=out:10', '--options=-DBY=1', '--against', 'options=-DBY=2', status=1)
        self.assertEqual((answer['buffers'][0]['differ'], answer['buffers'][0]['here'], answer['buffers'][0]['there']), (10, '1', '2'))
        done = run(str(source), '--arg', 'a=out:10', '--options=-DBY=1', '--against', 'options=-DBYE=2')
        self.assertEqual(done.returncode, 5)
        self.assertIn('K0437', done.stderr)

    @needs_opencl_c
    def test_an_argument_that_only_the_other_has_is_its_own(self):
        source = self.folder / 'two.cl'
        source.write_text('kernel void plain(global const int* a, global int* b) { b[get_global_id(0)] = a[get_global_id(0)]; }\n'
                          'kernel void tiled(global const int* a, global int* b, local int* tile, int more) {\n'
                          '  tile[get_local_id(0)] = a[get_global_id(0)];\n'
                          '  b[get_global_id(0)] = tile[get_local_id(0)] + more; }')
        given = ['--arg', 'a=iota:int:64', '--arg', 'b=out:int:64', '--local', 'tile=64', '--group', '16', '--against', ':tiled']
        self.assertTrue(self.json_of(f'{source}:plain', *given, '--arg', 'more=0')['ok'])
        self.assertEqual(self.json_of(f'{source}:plain', *given, '--arg', 'more=3', status=1)['buffers'][0]['differ'], 64)
        done = run(f'{source}:plain', *given, '--arg', 'less=3')  # which neither has
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn('less', done.stderr)


if __name__ == '__main__':
    unittest.main()
