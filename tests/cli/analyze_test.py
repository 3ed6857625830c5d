# SPDX-License-Identifier: MIT
# `kiln analyze`: its text is that of ocloc, and its counts are those that kernels were made for.
import json
import os
import pathlib
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

from command import DATA, KERNELS, KILN, kiln
from front_end import needs_opencl_c

sys.path.insert(0, os.environ['KILN_TESTS'] + '/native_code')
OCLOC = shutil.which('ocloc')
MODEL = (DATA / 'memory.pvc.bin').read_bytes()
MODEL = MODEL[MODEL.index(b'\x7fELF'):]
# One load and one store a work-item, of four neighbours and of four floats far from each other.
SHAPES = '''
kernel void wide(global const float4* a, global float4* b) {
  const size_t i = get_global_id(0);
  b[i] = a[i] * 2.0f;
}
kernel void strided(global const float* a, global float4* b, uint n) {
  const size_t i = get_global_id(0);
  b[i] = (float4)(a[i], a[i + n], a[i + 2 * n], a[i + 3 * n]) * 2.0f;
}
kernel void looped(global float* a, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i * 7];
  a[get_global_id(0)] = sum;
}
kernel void shared(global float* a, local float* tile) {
  const size_t i = get_local_id(0);
  tile[i] = a[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[i] = tile[i ^ 1];
}
kernel void counted(global int* a, local int* sums) {
  atomic_add(&sums[get_local_id(0) & 3], 1);
  atomic_add(&a[get_global_id(0) & 7], 5);
}
'''


needs_disassembler = unittest.skipIf('K0440' in kiln('analyze', str(DATA / 'memory.pvc.bin')).stderr, 'no libiga64 is installed')


def analyzed(*arguments):
    done = kiln('analyze', '--json', *map(str, arguments))
    return json.loads(done.stdout), done


def kernels(*arguments):
    result, done = analyzed(*arguments)
    assert done.returncode == 0, done.stderr
    return {kernel['kernel']: kernel for kernel in result['kernels']}


@needs_disassembler
class Page(unittest.TestCase):
    """`--report`; tests/cli/report_test.py looks at it in a browser."""
    def page(self, *arguments, status=0):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / 'page.html'
            result, done = analyzed(*arguments, '--report', file)
            self.assertEqual(done.returncode, status, done.stderr)
            return result, file.read_text()

    def test_numbers_are_those_of_the_json_and_every_instruction_is_there(self):
        result, html = self.page(DATA / 'memory.pvc.bin')
        for kernel in result['kernels']:
            self.assertIn(f'<code>{kernel["kernel"]}</code> for pvc', html)
            self.assertIn(f'<data value="{kernel["instructions"]}">', html)
        code = ''.join(re.findall(r'<td><pre><code>(.*?)</code></pre></td></tr>', html, re.S))
        shown = [line for line in code.splitlines() if line and not re.fullmatch(r'L\d+:', line)]
        self.assertGreaterEqual(len(shown), sum(kernel['instructions'] for kernel in result['kernels']))
        for part in ('http:', 'https:', 'src=', 'href=', '<script'):
            self.assertNotIn(part, html)

    @needs_opencl_c
    def test_source_beside_code_and_what_changed(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / 'one.cl'
            source.write_text(SHAPES.split('kernel void looped')[0].split('kernel void strided')[0])
            _, html = self.page(source, '--target', 'pvc', '--options=-g')
            self.assertIn('<pre><code>  b[i] = a[i] * 2.0f;</code></pre>', html)
            result, html = self.page(source, '--target', 'pvc', '--options', '', '--options=-cl-opt-disable')
            self.assertTrue(result['changes'])
            self.assertIn('id="changes"', html)
            for change in result['changes']:
                self.assertIn(f'<data value="{change["now"]}">', html)

    def test_what_cannot_be_written_is_told(self):
        _, done = analyzed(DATA / 'memory.pvc.bin', '--report', '/nowhere/page.html')
        self.assertEqual((done.returncode, 'K0410' in done.stderr), (5, True), done.stderr)


def sections(file):
    """Contents of an ELF file's sections, by name."""
    start, = struct.unpack_from('<Q', file, 40)
    number, names = struct.unpack_from('<HH', file, 60)
    headers = [struct.unpack_from('<IIQQQQIIQQ', file, start + 64 * i) for i in range(number)]
    name_of = lambda header: file[headers[names][4] + header[0]:].split(b'\0', 1)[0].decode()
    return {name_of(each): file[each[4]:each[4] + each[5]] for each in headers}


def elf(model, contents):
    """An ELF file with the header of another, and sections of (name, type, content); equal contents are one place."""
    header, body, names, table, places = bytearray(model[:64]), bytearray(), b'\0', [bytes(64)], {}
    for name, kind, content in [*contents, ('.shstrtab', 3, None)]:
        place = len(names)
        names += name.encode() + b'\0'
        content = names if content is None else content
        if id(content) not in places:
            places[id(content)] = 64 + len(body)
            body += content
        table.append(struct.pack('<IIQQQQIIQQ', place, kind, 0, 0, places[id(content)], len(content), 0, 0, 1, 0))
    struct.pack_into('<QQ', header, 32, 0, 64 + len(body))
    struct.pack_into('<HHHH', header, 56, 0, 64, len(table), len(table) - 1)
    return bytes(header) + bytes(body) + b''.join(table)


def goto(distance):
    """An instruction of pvc that may go to the next one, or so many bytes away."""
    return bytes.fromhex('2e00300402c00000') + struct.pack('<ii', distance, 16)


def count(kernel, unit, action=None, **like):
    return sum(each['count'] for each in kernel['messages']
               if each['unit'] == unit and action in (None, each['action']) and all(each[k] == v for k, v in like.items()))


@unittest.skipUnless(OCLOC, 'ocloc is not installed')
class Text(unittest.TestCase):
    def test_the_text_is_that_of_ocloc_for_all_samples_and_targets(self):
        from coalescing import disassemble
        files = sorted(KERNELS.glob('*.*.bin'))
        self.assertTrue(files)
        compared = 0
        for file in files:
            wanted = disassemble(OCLOC, str(file), file.name.split('.')[1])
            for kernel in analyzed(file, '--disassemble')[0]['kernels']:
                self.assertEqual(kernel['disassembly'], wanted[kernel['kernel']], f'{kernel["kernel"]} of {file}')
                compared += 1
        self.assertGreater(compared, 20)


@needs_disassembler
class Made(unittest.TestCase):
    """Files that no compiler writes: ELF around code that is put together here."""
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.model = sections(MODEL)

    def file(self, name, kernels, codes, more=()):
        info = "version: '1.20'\nkernels:\n" + ''.join(
            f'  - name: {each}\n    execution_env:\n      grf_count: 128\n      simd_size: 16\n' for each in kernels)
        note = '.note.intelgt.compat'
        path = pathlib.Path(self.folder.name, name)
        path.write_bytes(elf(MODEL, [(note, 7, self.model[note]), ('.ze_info', 0xff000011, info.encode()),
                                                  *((f'.text.{each}', 1, code) for each, code in codes), *more]))
        return path

    def refused(self, path, words):
        done = kiln('analyze', str(path))
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn('error[K0441]', done.stderr)
        self.assertIn(words, done.stderr)
        return done

    def test_a_kernel_that_is_described_again_and_again_is_refused(self):
        code = goto(16) * 4
        done = self.refused(self.file('twice.bin', ['k'] * 1000, [('k', code)]), 'kernel `k` more than once')
        self.assertEqual(done.stderr.count('error['), 1)

    def test_code_of_several_kernels_in_one_place_is_refused(self):
        code = goto(16) * 64
        names = [f'k{i}' for i in range(100)]
        self.refused(self.file('over.bin', names, [(each, code) for each in names]), 'lies over each other')
        self.assertEqual(kiln('analyze', str(self.file('one.bin', ['k'], [('k', code)]))).returncode, 0)

    def test_code_that_branches_without_end_takes_no_time_and_says_so(self):
        path = self.file('chain.bin', ['k'], [('k', goto(16) + goto(-16) * 20000)])
        kernel = kernels(path)['k']
        self.assertEqual((kernel['live_registers']['peak'], kernel['loops']), (None, None))
        text = kiln('analyze', str(path)).stdout
        self.assertIn('live registers: not known', text)
        self.assertIn('loops: not known', text)
        budget = pathlib.Path(self.folder.name, 'budget.json')
        self.assertEqual(kiln('analyze', str(path), '--write-budget', str(budget)).returncode, 0)
        content = json.loads(budget.read_text())
        self.assertNotIn('live_registers', content['kernels'][0])
        content['kernels'][0]['live_registers'] = 128
        budget.write_text(json.dumps(content))
        done = kiln('analyze', str(path), '--budget', str(budget))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn('live registers', done.stderr)

    def test_a_folder_with_a_long_name_is_kept_once(self):
        # A line table of 4000 files in one folder, whose name has 250,000 bytes: 1 GB if each had it.
        names = b'd' * 250_000 + b'\0\0' + b'f\0\x01\0\0' * 4000 + b'\0'
        header = bytes([1, 1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1]) + names
        unit = struct.pack('<HI', 3, len(header)) + header
        path = self.file('lines.bin', ['k'], [('k', goto(16) * 4)], [('.debug_line', 1, struct.pack('<I', len(unit)) + unit)])
        def limited(*arguments):
            limit = 600 << 20
            return subprocess.run([KILN, *arguments], capture_output=True, text=True, timeout=60,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)))
        if limited('--version').returncode != 0:
            self.skipTest('a sanitizer takes more memory than the limit')
        done = limited('analyze', str(path))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_kernel_that_takes_too_long_is_named_and_no_other(self):
        slow = goto(16) * 500_000
        path = self.file('slow.bin', ['a', 'slow', 'z'], [('a', goto(16) * 4), ('slow', slow), ('z', goto(16) * 8)])
        result, done = analyzed(path, '--timeout', '2')
        if done.returncode == 0:
            self.skipTest('this machine is quicker than the limit')
        self.assertEqual([each['code'] for each in result['errors']], ['K0441'])
        self.assertEqual(done.stderr.count('error['), 1, done.stderr)
        self.assertIn('kernel `slow`', done.stderr)
        self.assertIn('--timeout', done.stderr)
        self.assertEqual([each['kernel'] for each in result['kernels']], ['a', 'z'])


def write(path, text):
    path.write_text(text)
    return path


@unittest.skipUnless(OCLOC, 'ocloc is not installed')
class Sides(unittest.TestCase):
    """One file, two files, three files."""
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.source = {name: write(pathlib.Path(cls.folder.name, f'{name}.cl'), 'kernel void %s(global float* a) { a[get_global_id(0)] *= 2.0f; }\n' % name)
                      for name in 'abc'}
        done = analyzed(cls.source['a'], '--target', 'dg2')[1]
        if 'K0405' in done.stderr:
            raise unittest.SkipTest('this ocloc does not compile OpenCL C')

    def test_a_budget_is_of_all_files(self):
        budget = pathlib.Path(self.folder.name, 'budget.json')
        for names in ('ab', 'abc'):
            files = [str(self.source[each]) for each in names]
            done = kiln('analyze', *files, '--target', 'dg2', '--write-budget', str(budget))
            self.assertEqual(done.returncode, 0, done.stderr)
            content = json.loads(budget.read_text())
            self.assertEqual([each['kernel'] for each in content['kernels']], list(names))
            self.assertEqual(kiln('analyze', *files, '--target', 'dg2', '--budget', str(budget)).returncode, 0)
            content['kernels'][0]['live_registers'] = 0
            budget.write_text(json.dumps(content))
            done = kiln('analyze', *files, '--target', 'dg2', '--budget', str(budget))
            self.assertEqual((done.returncode, 'a for dg2-g10' in done.stderr), (3, True), done.stderr)

    def test_a_budget_of_one_kernel_twice_or_of_two_option_sets_is_refused(self):
        budget = pathlib.Path(self.folder.name, 'never.json')
        a = str(self.source['a'])
        done = kiln('analyze', a, a, '--target', 'dg2', '--write-budget', str(budget))
        self.assertEqual((done.returncode, 'error[K0444]' in done.stderr), (5, True), done.stderr)
        done = kiln('analyze', a, '--target', 'dg2', '--options', '', '--options=-cl-mad-enable', '--write-budget', str(budget))
        self.assertEqual((done.returncode, 'error[K0400]' in done.stderr), (2, True), done.stderr)
        self.assertFalse(budget.exists())

    def test_what_is_no_budget_is_refused(self):
        a = str(self.source['a'])
        for content in ({'kiln_budget': 2, 'kernels': []}, {'kiln_budget': 1, 'kernels': {}}, {'kiln_budget': 1, 'kernel': [], 'kernels': []},
                        {'kiln_budget': 1, 'kernels': [{'kernel': 'a', 'target': 'dg2-g10', 'live_register': 0}]}):
            budget = write(pathlib.Path(self.folder.name, 'wrong.json'), json.dumps(content))
            done = kiln('analyze', a, '--target', 'dg2', '--budget', str(budget))
            self.assertEqual((done.returncode, 'error[K0444]' in done.stderr), (5, True), content)

    def test_what_has_nothing_in_common_is_not_unchanged(self):
        result, done = analyzed(self.source['a'], self.source['b'], '--target', 'dg2')
        self.assertEqual((result['matched'], result['changes'], len(result['unmatched'])), (0, [], 2), done.stderr)
        text = kiln('analyze', str(self.source['a']), str(self.source['b']), '--target', 'dg2').stdout
        self.assertIn('nothing to compare', text)
        self.assertNotIn('nothing changed', text)

    def test_a_kernel_is_named_behind_a_colon_as_for_run(self):
        both = write(pathlib.Path(self.folder.name, 'both.cl'), ''.join(self.source[each].read_text() for each in 'ab').replace('2.0f', '3.0f', 1))
        for arguments in ([f'{both}:b'], [both, '--kernel', 'b'], [f'{both}:b', '--kernel', 'b']):
            result, done = analyzed(*arguments, '--target', 'dg2')
            self.assertEqual(([each['kernel'] for each in result['kernels']], done.returncode), (['b'], 0), done.stderr)
            self.assertEqual(result['kernels'][0]['file'], str(both))
        result, done = analyzed(f'{both}:a', '--kernel', 'b', '--target', 'dg2')
        self.assertEqual((done.returncode, 'error[K0400]' in done.stderr), (2, True), done.stderr)
        result, done = analyzed(f'{both}:c', '--target', 'dg2')
        self.assertEqual((done.returncode, 'kernel `c`' in done.stderr), (5, True), done.stderr)
        result, done = analyzed(f'{both}:a', f'{both}:b', '--target', 'dg2')
        self.assertEqual((result['matched'], result['unmatched'], done.returncode), (1, [], 0), done.stderr)

    def test_a_product_that_was_named_and_cannot_be_compiled_for_is_told(self):
        result, done = analyzed(self.source['a'], '--target', 'dg2,ptl')
        if len({each['target'] for each in result['kernels']}) > 1:
            self.skipTest('this ocloc knows both products')
        self.assertEqual([each['target'] for each in result['kernels']], ['dg2-g10'])
        self.assertEqual((done.returncode, 'ptl' in done.stderr), (5, True), done.stderr)

    def test_images_are_written_as_images(self):
        source = write(pathlib.Path(self.folder.name, 'image.cl'),
                       'kernel void image(write_only image2d_t o) { write_imagef(o, (int2)(get_global_id(0), get_global_id(1)), (float4)(1.0f)); }\n')
        for target in ('tgllp', 'dg2', 'pvc'):
            if 'images should not be used' in analyzed(source, '--target', target)[1].stderr:
                continue  # ocloc 26.27 on pvc, which has none
            kernel = kernels(source, '--target', target)['image']
            self.assertGreater(count(kernel, 'image', 'store'), 0, target)
            self.assertEqual(count(kernel, 'global', 'store'), 0, target)


class Shapes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not OCLOC:
            raise unittest.SkipTest('ocloc is not installed')
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.source = pathlib.Path(cls.folder.name, 'shapes.cl')
        cls.source.write_text(SHAPES)
        done = analyzed(cls.source, '--target', 'dg2,pvc,tgllp')[1]
        if 'K0405' in done.stderr:
            raise unittest.SkipTest('this ocloc does not compile OpenCL C')

    def test_one_wide_load_and_four_narrow_ones(self):
        for target in ('tgllp', 'dg2', 'pvc'):
            found = kernels(self.source, '--target', target)
            wide, strided = found['wide'], found['strided']
            # As many lanes as the kernel has, in messages of at most 16 lanes of these products (32 where they fit).
            messages = count(wide, 'global', 'load')
            self.assertEqual(messages, count(wide, 'global', 'load', elements=4, bits=32), target)
            self.assertEqual(count(strided, 'global', 'load', elements=4), 0, target)
            lanes = sum(each['count'] * each['lanes'] for each in wide['messages'] if (each['unit'], each['action']) == ('global', 'load'))
            self.assertEqual(lanes, wide['simd_size'], target)
            lanes = sum(each['count'] * each['lanes'] for each in strided['messages'] if (each['unit'], each['action']) == ('global', 'load'))
            self.assertEqual(lanes, 4 * strided['simd_size'], target)
            self.assertEqual(count(wide, 'scratch'), 0)

    def test_a_loop_has_what_it_does(self):
        for target in ('tgllp', 'dg2', 'pvc'):
            found = kernels(self.source, '--target', target)
            self.assertEqual(found['wide']['loops'], [])
            loops = found['looped']['loops']
            self.assertTrue(loops, target)
            self.assertTrue(any(each['unit'] == 'global' and each['action'] == 'load' for each in loops[0]['messages']), target)
            self.assertLess(loops[0]['instructions'], found['looped']['instructions'])

    def test_local_memory_barriers_and_atomics(self):
        for target in ('tgllp', 'dg2', 'pvc'):
            found = kernels(self.source, '--target', target)
            shared, counted = found['shared'], found['counted']
            self.assertEqual(count(shared, 'barrier'), 1, target)
            for action in ('load', 'store'):
                lanes = sum(each['count'] * each['lanes'] for each in shared['messages'] if (each['unit'], each['action']) == ('slm', action))
                self.assertEqual(lanes, shared['simd_size'], target)
            self.assertGreater(count(counted, 'slm', 'atomic'), 0)
            self.assertGreater(count(counted, 'global', 'atomic'), 0)
            self.assertEqual(count(found['wide'], 'slm'), 0)
            self.assertEqual(found['shared']['occupancy']['slm_known'], False)
        asked = kernels(self.source, '--target', 'dg2', '--local', 'tile=65536', '--kernel', 'shared', '--group', '64')['shared']
        self.assertEqual((asked['slm_bytes'], asked['occupancy']['limited_by'], asked['occupancy']['groups_per_core']), (65536, 'SLM', 2))

    def test_lines_are_those_of_the_source(self):
        # ocloc 22.43 writes lines for files of one kernel alone.
        source = pathlib.Path(self.folder.name, 'one.cl')
        source.write_text('\nkernel void one(global float* a) {\n  a[get_global_id(0)] *= 2.0f;\n}\n')
        found = kernels(source, '--target', 'dg2', '--options=-g')['one']
        lines = {each['line']: each for each in found['lines']}
        self.assertGreater(lines[3]['messages'], 0)
        self.assertTrue(set(lines) <= {0, 2, 3, 4}, lines)
        self.assertTrue(all(each['file'].endswith('one.cl') for each in found['lines']), found['lines'])
        self.assertEqual(kernels(source, '--target', 'dg2')['one']['lines'], [])
        self.assertIn('one.cl:3', kiln('analyze', str(source), '--target', 'dg2', '--options=-g').stdout)

    def test_two_sets_of_options_are_compared(self):
        result, done = analyzed(self.source, '--target', 'dg2', '--options', '', '--options=-cl-opt-disable')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(result['changes'])
        self.assertTrue(result['changes'][0]['worse'], result['changes'])
        text = kiln('analyze', str(self.source), '--target', 'dg2', '--options', '', '--options=-cl-opt-disable').stdout
        self.assertIn('worse', text.splitlines()[1])
        self.assertEqual(kiln('analyze', str(self.source), str(self.source), '--target', 'dg2').stdout, 'nothing changed\n')

    def test_a_budget_is_kept_and_broken(self):
        budget = pathlib.Path(self.folder.name, 'budget.json')
        self.assertEqual(kiln('analyze', str(self.source), '--target', 'dg2', '--write-budget', str(budget)).returncode, 0)
        self.assertEqual(kiln('analyze', str(self.source), '--target', 'dg2', '--budget', str(budget)).returncode, 0)
        content = json.loads(budget.read_text())
        entry, = (each for each in content['kernels'] if each['kernel'] == 'looped')
        entry['loop_instructions'] -= 1
        budget.write_text(json.dumps(content))
        result, done = analyzed(self.source, '--target', 'dg2', '--budget', budget)
        self.assertEqual(done.returncode, 3)
        self.assertIn('error[K0443]', done.stderr)
        self.assertIn('looped for dg2-g10', done.stderr)
        self.assertEqual(result['errors'][0]['code'], 'K0443')
        del entry['loop_instructions']
        budget.write_text(json.dumps(content))
        self.assertEqual(kiln('analyze', str(self.source), '--target', 'dg2', '--budget', str(budget)).returncode, 0)


class Files(unittest.TestCase):
    def test_the_samples_have_all_their_numbers(self):
        for file in sorted(KERNELS.glob('*.*.bin')):
            for name, kernel in kernels(file).items():
                self.assertGreater(kernel['instructions'], 0)
                self.assertEqual(sum(each['count'] for each in kernel['mix']), kernel['instructions'], name)
                self.assertEqual(count(kernel, 'thread'), 1, name)
                self.assertEqual(count(kernel, 'other'), 0, name)
                self.assertLessEqual(kernel['live_registers']['peak'], kernel['registers'], f'{name} of {file}')

    def test_the_text_says_what_a_kernel_costs(self):
        file, = list(KERNELS.glob('saxpy.*.bin'))[:1] or self.skipTest('built without ocloc')
        text = kiln('analyze', str(file)).stdout
        for words in ('kernel saxpy', 'live registers:', 'spills: none', 'occupancy:', 'global load of 32 bits for each of'):
            self.assertIn(words, text)

    def test_private_arrays_and_spills_are_told(self):
        file = KERNELS / 'access.pvc.bin'
        if not file.exists():
            self.skipTest('built without ocloc')
        found = kernels(file)
        self.assertGreater(found['private_array']['spills']['scratch_stores'], 0)
        self.assertGreater(found['private_array']['spills']['scratch_loads'], 0)
        self.assertEqual(found['private_scalars']['spills'], {'bytes': 0, 'scratch_stores': 0, 'scratch_loads': 0})

    @needs_disassembler
    def test_what_cannot_be_analyzed_is_named(self):
        for file, code in (('/nowhere', 'K0201'), (str(DATA / 'saxpy.patch_tokens.bin'), 'K0209')):
            done = kiln('analyze', file)
            self.assertEqual(done.returncode, 5)
            self.assertIn(f'error[{code}]', done.stderr)
        native = str(DATA / 'memory.pvc.bin')
        done = kiln('analyze', native, '--kernel', 'nobody')
        self.assertEqual((done.returncode, 'error[K0442]' in done.stderr), (5, True), done.stderr)
        # Products that were named and are not there are told, and the others are shown.
        result, done = analyzed(native, '--target', 'pvc,dg2-g10,tgllp')
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertEqual({each['target'] for each in result['kernels']}, {'pvc'})
        self.assertEqual([each['code'] for each in result['errors']], ['K0442', 'K0442'])
        for name, error in zip(('dg2-g10', 'tgllp'), result['errors'], strict=True):
            self.assertTrue(error['message'].endswith(f' for {name}'), error)
        self.assertEqual(analyzed(native, '--target', 'pvc')[1].returncode, 0)
        done = kiln('analyze', native, '--budget', '/nowhere')
        self.assertEqual((done.returncode, 'error[K0444]' in done.stderr), (5, True), done.stderr)
        self.assertEqual(kiln('analyze').returncode, 2)
        self.assertEqual(kiln('analyze', native, native, '--options=a', '--options=b').returncode, 2)

    @needs_disassembler
    def test_damaged_code_ends_nothing(self):
        random.seed(20)
        whole = (DATA / 'memory.pvc.bin').read_bytes()
        start = whole.index(b'\x7fELF') + 64
        with tempfile.TemporaryDirectory() as folder:
            for turn in range(12):
                damaged = bytearray(whole)
                for _ in range(1 + turn * 4):
                    damaged[random.randrange(start, start + 1024)] ^= 1 << random.randrange(8)
                path = pathlib.Path(folder, 'damaged.bin')
                path.write_bytes(damaged)
                done = kiln('analyze', str(path))
                self.assertIn(done.returncode, (0, 5), done.stderr)
                if done.returncode == 5:
                    self.assertRegex(done.stderr, r'error\[K0(209|441|442)\]')

    @needs_disassembler
    def test_a_product_that_the_library_does_not_know_is_named(self):
        result, done = analyzed(DATA / 'saxpy.ocloc-26.27.ar')
        if done.returncode == 0:
            self.assertEqual([each['target'] for each in result['kernels']], ['pvc', 'bmg-g21'])
        else:
            self.assertIn('does not know the product', done.stderr)
            self.assertEqual([each['target'] for each in result['kernels']], ['pvc'])


if __name__ == '__main__':
    unittest.main()
