# SPDX-License-Identifier: MIT
# `kiln run … --advise`: alternatives that are run, refused with a reason, ranked, and true.
import json
import os
import pathlib
import re
import shutil
import tempfile
import unittest

from command import kiln
from front_end import needs_opencl_c

SOURCE = '''
__attribute__((intel_reqd_sub_group_size(16)))
kernel void strided(global const float* in, global float* out, uint w) {
  size_t x = get_global_id(0), y = get_global_id(1);
  out[x * w + y] = in[y * w + x];
}
kernel void sum(global const int* in, global int* out, local int* part) {
  size_t l = get_local_id(0), n = get_local_size(0);
  part[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (size_t s = n / 2; s > 0; s /= 2) {
    if (l < s) part[l] += part[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) atomic_add(out, part[0]);
  barrier(CLK_LOCAL_MEM_FENCE);
}
kernel void transpose(global const float* in, global float* out, uint w) {
  local float t[TILE][TILE];
  size_t lx = get_local_id(0), ly = get_local_id(1), gx = get_group_id(0) * TILE, gy = get_group_id(1) * TILE;
  t[ly][lx] = in[(gy + ly) * w + gx + lx];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[(gx + ly) * w + gy + lx] = t[lx][ly];
}
kernel void many(global const float* in, global float* out) {
  for (int k = 0; k < PER_ITEM; ++k) {
    size_t i = k * get_global_size(0) + get_global_id(0);
    out[i] = in[i] + 1;
  }
}
kernel void where(global uint* out) { out[get_global_id(0)] = get_group_id(0); }
__attribute__((reqd_work_group_size(64, 1, 1)))
kernel void fixed(global int* out) { out[get_global_id(0)] = 1; }
kernel void parts(global const int* in, global int* out, global int* more) {
  out[get_global_id(0)] = in[get_global_id(0)];
#if TILE <= 8
  more[get_global_id(0)] = 1;
#endif
}
__attribute__((reqd_work_group_size(64, 1, 1)))
kernel void stages(global const int* in, global const int* zeros, global int* out) {
  local int t[64];
  size_t l = get_local_id(0), g = get_global_id(0);
  int zero = 0;
#if TILE < 16
  zero = zeros[g * 16 % 1024];
  barrier(CLK_LOCAL_MEM_FENCE);  // there without TILE alone
#endif
  t[l] = in[g] + zero;
  barrier(CLK_LOCAL_MEM_FENCE);  // needed
  out[g] = t[63 - l];
  barrier(CLK_LOCAL_MEM_FENCE);  // not needed
}
kernel void divided(global const int* in, global int* out) {
  out[get_global_id(0)] = in[get_global_id(0)] / (int)(get_local_size(0) - 32);
}
'''


def line_of(comment):
    return next(i for i, line in enumerate(SOURCE.splitlines(), 1) if line.endswith(f'// {comment}'))


def alone(source, kernel):
    """The source with one kernel, each line where it was: compiled by several alternatives, the others cost seconds."""
    return re.sub(r'^(?:__attribute__.*\n)?kernel void (\w+)(?:.* }\n|(?:.|\n)*?^}\n)',
                  lambda found: found[0] if found[1] == kernel else '\n' * found[0].count('\n'), source, flags=re.MULTILINE)


# Sizes that the source has by itself.
DEFAULTS = '''
#ifndef EDGE
#define EDGE 8
#endif
#ifndef SCALE
#define SCALE 4
#endif
#ifndef PER_ITEM
#define PER_ITEM (2)
#endif
__attribute__((reqd_work_group_size(EDGE, EDGE, 1)))
kernel void turned(global const float* in, global float* out, uint w) {
  local float t[EDGE][EDGE];
  size_t lx = get_local_id(0), ly = get_local_id(1), gx = get_group_id(0) * EDGE, gy = get_group_id(1) * EDGE;
  t[ly][lx] = in[(gy + ly) * w + gx + lx] * SCALE;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[(gx + ly) * w + gy + lx] = t[lx][ly];
}
kernel void many(global const float* in, global float* out) {
  for (int k = 0; k < PER_ITEM; ++k) {
    size_t i = k * get_global_size(0) + get_global_id(0);
    out[i] = in[i] + SCALE;
  }
}
'''
STRIDED = ('strided', '--arg', 'in=iota:4096', '--arg', 'out=out:4096', '--arg', 'w=64', '--global', '64,64',
           '--group', '64,1')


class Advise(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.file = pathlib.Path(scratch.name) / 'mine.cl'
        self.source = SOURCE

    def run_it(self, kernel, *arguments, status=0, device='cpu:pvc', **environment):
        self.file.write_text(alone(self.source, kernel))
        if 'TILE' in self.source and not any('-DTILE' in each for each in arguments):
            arguments += ('--options=-DTILE=1 -DPER_ITEM=1',)
        done = kiln('run', f'{self.file}:{kernel}', *arguments, '--device', device, '--json', **environment)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return json.loads(done.stdout), done.stderr

    def advice(self, *arguments, **others):
        answer, said = self.run_it(*arguments, '--advise', **others)
        self.assertNotIn('work-group (', said)  # the device's own words of defects of alternatives
        return answer['advice'], answer

    def taken(self, advice):
        return {each['words']: each for each in advice['tried'] if each['refused'] is None}

    def refused(self, advice):
        return {each['words']: each['refused'] for each in advice['tried'] if each['refused'] is not None}


@needs_opencl_c
class File(Advise):
    def test_the_best_is_what_it_says_and_costs_what_a_run_of_its_own_counts(self):
        advice, answer = self.advice(*STRIDED)
        given, best = advice['tried'][0], advice['tried'][advice['best']]
        self.assertEqual(given['words'], 'as given')
        self.assertLess(best['cost'], given['cost'])
        self.assertEqual(min(each['cost'] for each in self.taken(advice).values()), best['cost'])
        finding, = [each for each in answer['findings'] if each['code'] == 'K0811']
        self.assertEqual([each.strip('`') for each in finding['help'][:-1]], [each.strip('`') for each in best['how']])
        self.assertTrue(answer['ok'] is None and answer['executed'])
        for trial in (given, next(each for each in advice['tried'] if each['words'] == 'groups of 8 x 8')):
            group = ','.join(map(str, trial['change'].get('group', [64, 1])))
            alone, _ = self.run_it(*STRIDED[:-1], group, '--counters')
            totals = alone['counters']['totals']
            self.assertEqual(trial['lines'], totals['global_reads']['lines'] + totals['global_writes']['lines'])

    def test_slm_goes_with_the_group_and_a_barrier_that_orders_nothing_is_found(self):
        advice, _ = self.advice('sum', '--arg', 'in=iota:1024', '--arg', 'out=out:1', '--local', 'part=512',
                                '--global', '1024', '--group', '128')
        taken, refused = self.taken(advice), self.refused(advice)
        self.assertEqual(refused['groups of 256'], 'K0801')
        self.assertIn('--local part=1024', taken['groups of 256, `__local` x 2']['how'])
        words = [each for each in taken if each.endswith('without barrier 3')]
        self.assertEqual(len(words), 1, advice)
        self.assertIn('line 16', taken[words[0]]['how'][-1])
        for barrier in (1, 2):
            self.assertEqual([why for each, why in refused.items() if each.endswith(f'without barrier {barrier}')],
                             ['K0803'])

    def test_sub_groups_and_registers(self):
        advice, _ = self.advice(*STRIDED)
        words = ' '.join(self.taken(advice))
        self.assertIn('sub-groups of 32', words)
        self.assertNotIn('sub-groups of 8', words)  # which PVC has not
        advice, _ = self.advice(*STRIDED, device='cpu:tgllp')
        self.assertIn('sub-groups of 8', ' '.join(self.taken(advice)))
        self.assertIn('256 registers', [each['what'] for each in advice['not_tried']])

    def test_what_depends_on_the_group_has_no_other(self):
        advice, _ = self.advice('where', '--arg', 'out=out:1024', '--group', '64')
        self.assertEqual({why for words, why in self.refused(advice).items() if words.startswith('groups')},
                         {'answer differs'})
        advice, _ = self.advice('fixed', '--arg', 'out=out:1024')
        self.assertIn('other work-groups', [each['what'] for each in advice['not_tried']])

    def test_an_output_that_an_alternative_does_not_write_is_an_answer_that_differs(self):
        advice, _ = self.advice('parts', '--arg', 'in=iota:1024', '--arg', 'out=out:1024', '--arg', 'more=out:1024',
                                '--group', '64', '--options=-DTILE=8 -DPER_ITEM=1', '--tries', '10')
        self.assertIn('TILE=4', self.taken(advice))
        self.assertEqual([why for words, why in self.refused(advice).items() if words.startswith('TILE=16')],
                         ['answer differs'] * 2)

    def test_barriers_are_those_of_the_code_that_they_are_left_out_of(self):
        advice, _ = self.advice('stages', '--arg', 'in=iota:1024', '--arg', 'zeros=zeros:1024', '--arg', 'out=out:1024',
                                '--options=-DTILE=8 -DPER_ITEM=1')
        barriers = {each['words'].split()[-1]: each for each in advice['tried'] if 'barrier' in each['words']}
        # Where a compiler makes nothing better of TILE=16, they are those of the code as given, with one more.
        with_tile, = {'TILE=16' in each['words'] for each in barriers.values()}
        needed = 1 if with_tile else 2
        self.assertEqual(list(barriers), ['1', '2'] if with_tile else ['1', '2', '3'])
        self.assertEqual([each['refused'] for each in barriers.values()], [None] * (needed - 1) + ['K0803', None])
        self.assertIn(f'line {line_of("needed")}:', barriers[str(needed)]['how'][-1])
        self.assertIn(f'line {max(i for i, line in enumerate(SOURCE.splitlines(), 1) if line.endswith("// not needed"))}:',
                      barriers[str(needed + 1)]['how'][-1])

    def test_without_native_code_an_alternative_cannot_be_compared(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, 'ocloc')
            program.write_text(f'#!/bin/sh\ncase "$*" in *large-register*) exit 1;; esac\nexec {shutil.which("ocloc")} "$@"\n')
            program.chmod(0o755)
            advice, _ = self.advice(*STRIDED, PATH=f'{folder}:{os.environ["PATH"]}')
        self.assertEqual([why for words, why in self.refused(advice).items() if words.endswith('256 registers')],
                         ['no native code'])

    def test_a_fault_of_an_alternative_is_told_as_that_and_what_was_given_is_saved(self):
        saved = self.file.parent / 'out.npy'
        arguments = ('divided', '--arg', 'in=iota:1024', '--arg', f'out=out:1024:{saved}', '--group', '64', '--advise')
        answer, said = self.run_it(*arguments, status=1)
        self.assertIn('K0438', said)
        self.assertIn('groups of 32', said)
        self.assertIn('--advise', said)
        self.assertEqual(answer['error']['code'], 'K0438')
        self.assertTrue(saved.exists())

    def test_a_device_that_is_lost_ends_the_search(self):
        answer, said = self.run_it(*STRIDED, '--advise', status=5, KILN_CPU_FAULT='lost=4')
        self.assertIn('K0220', said)
        self.assertEqual(answer['error']['code'], 'K0220')

    def test_of_a_wrong_run_nothing_is_tried(self):
        advice, answer = self.advice('fixed', '--arg', 'out=out:64', '--expect', 'out=2', status=1)
        self.assertEqual(advice['tried'], [])
        self.assertIs(answer['ok'], False)
        self.assertIn('mend', advice['not_tried'][0]['why'])

    def test_no_more_runs_than_allowed(self):
        advice, _ = self.advice(*STRIDED, '--tries', '3')
        self.assertEqual((len(advice['tried']), advice['cut']), (3, True))

    def test_text(self):
        self.file.write_text(alone(SOURCE, 'strided'))
        done = kiln('run', f'{self.file}:strided', *STRIDED[1:], '--device', 'cpu:pvc', '--advise',
                    '--options=-DTILE=1 -DPER_ITEM=1')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('no time is meant', done.stdout)
        rows = done.stdout.splitlines()
        at = next(i for i, each in enumerate(rows) if each.startswith('  TRIED'))
        costs = [float(each.split('%')[0].split()[-1]) for each in rows[at + 1:] if '%' in each and (' same ' in each or ' given ' in each)]
        self.assertEqual(costs, sorted(costs))


@unittest.skipUnless('KILN_TEST_ALL' in os.environ, 'they take long: ./run test --full has them')
@needs_opencl_c
class Sizes(Advise):
    def test_tiles_that_options_name(self):
        advice, _ = self.advice('transpose', '--arg', 'in=iota:4096', '--arg', 'out=out:4096', '--arg', 'w=64',
                                '--global', '64,64', '--group', '8,8', '--options=-DTILE=8 -DPER_ITEM=1')
        taken = self.taken(advice)
        for edge in (2, 4, 16, 32):
            trial = taken[f'TILE={edge}, groups of {edge} x {edge}']
            self.assertEqual(trial['change']['macros'], {'TILE': edge})
            self.assertEqual(trial['how'], [f'--options "-DTILE={edge} -DPER_ITEM=1"', f'--group {edge},{edge}'])
        self.assertLessEqual(len([each for each in advice['tried'] if each['words'].startswith('groups')]), 8)
        # And those by which each work-item does more.
        advice, _ = self.advice('many', '--arg', 'in=iota:4096', '--arg', 'out=out:4096', '--global', '1024',
                                '--group', '64', '--options=-DTILE=1 -DPER_ITEM=4')
        self.assertIn('PER_ITEM=8, 512 work-items', self.taken(advice))
        self.assertEqual(self.refused(advice)['PER_ITEM=8'], 'K0802')

    def test_sizes_that_the_source_has_by_itself(self):
        self.source = DEFAULTS
        # Macros are tried first.
        turned = ('turned', '--arg', 'in=iota:4096', '--arg', 'out=out:4096', '--arg', 'w=64', '--global', '64,64',
                  '--tries', '6')
        advice, _ = self.advice(*turned)
        taken = self.taken(advice)
        for edge in (2, 4, 16, 32):
            trial = taken[f'EDGE={edge}, groups of {edge} x {edge}']
            self.assertEqual(trial['how'], [f'--options "-DEDGE={edge}"', f'--group {edge},{edge}'])
        macros = {name for each in advice['tried'] for name in each['change'].get('macros', {})}
        self.assertEqual(macros, {'EDGE'})  # of another kernel, and no size
        self.assertNotIn('other tiles', [each['what'] for each in advice['not_tried']])
        # Those of the options are theirs.
        advice, _ = self.advice(*turned, '--options=-DEDGE=16')
        self.assertIn('EDGE=8, groups of 8 x 8', self.taken(advice))
        advice, _ = self.advice('many', '--arg', 'in=iota:4096', '--arg', 'out=out:4096', '--global', '2048',
                                '--group', '64', '--tries', '10')
        self.assertIn('PER_ITEM=4, 1024 work-items', self.taken(advice))
        self.assertEqual({name for each in advice['tried'] for name in each['change'].get('macros', {})}, {'PER_ITEM'})


class Sample(Advise):
    def test_samples_are_compared_with_the_host(self):
        done = kiln('run', 'bank_conflict.stride_16', '--size', '4096', '--device', 'cpu:pvc', '--advise', '--json')
        self.assertEqual(done.returncode, 0, done.stderr)
        advice = json.loads(done.stdout)['advice']
        self.assertGreater(len(self.taken(advice)), 3)
        self.assertEqual(advice['tried'][0]['percent'], 100)
        done = kiln('run', 'matmul', '--size', '40', '--device', 'cpu:pvc', '--advise', '--json', '--tries', '5')
        self.assertIn('--slm 1024', [each['words'] for each in json.loads(done.stdout)['advice']['tried']])

    def test_a_device_that_is_lost_ends_the_search(self):
        done = kiln('run', 'saxpy', '--size', '1000', '--device', 'cpu:pvc', '--advise', '--json', KILN_CPU_FAULT='lost=4')
        self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
        self.assertEqual(json.loads(done.stdout)['error']['code'], 'K0220')

    def test_usage(self):
        for arguments in (['--tries', '5'], ['--advise', '--tries', '1'], ['--advise', '--repeat', '2'],
                          ['--advise', '--sweep', 'group=16..32'], ['--advise', '--against', 'group=16']):
            done = kiln('run', 'saxpy', '--device', 'cpu', '--size', '100', *arguments)
            self.assertEqual(done.returncode, 2, arguments)


if __name__ == '__main__':
    unittest.main()
