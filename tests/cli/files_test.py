# SPDX-License-Identifier: MIT
# What the command does with files: kernels, logs, and what they should not be.
import array
import json
import os
import pathlib
import resource
import struct
import subprocess
import tempfile
import unittest

from command import DATA, KERNELS, KILN, kiln


class Files(unittest.TestCase):
    def run_with(self, files, kernel='saxpy'):
        with tempfile.TemporaryDirectory() as folder:
            for name, content in files.items():
                pathlib.Path(folder, name).write_bytes(content)
            return kiln('run', kernel, '--device', 'cpu', '--size', '10', KILN_KERNEL_PATH=folder)

    def test_no_files(self):
        done = self.run_with({})
        self.assertEqual(done.returncode, 5)
        self.assertIn('error[K0201]', done.stderr)
        self.assertIn('saxpy.spv', done.stderr)

    def test_broken_files_are_errors_that_name_them(self):
        whole = (KERNELS / 'saxpy.spv').read_bytes()
        flipped = bytearray(whole)
        flipped[1] ^= 4
        for content in (b'', b'garbage that is no kernel', whole[:10], whole[:-3], whole[:400], bytes(flipped)):
            done = self.run_with({'saxpy.spv': content})
            self.assertEqual(done.returncode, 5, content[:20])
            self.assertRegex(done.stderr, r'error\[K020[23]\]')
            self.assertIn('saxpy.spv', done.stderr)

    def test_a_kernel_of_another_family_is_told(self):
        done = self.run_with({'saxpy.spv': (KERNELS / 'matmul.spv').read_bytes()})
        self.assertEqual(done.returncode, 5)
        self.assertIn('error[K0208]', done.stderr)
        self.assertIn('tiled', done.stderr)

    def test_a_folder_in_place_of_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, 'saxpy.spv').mkdir()
            done = kiln('run', 'saxpy', '--device', 'cpu', KILN_KERNEL_PATH=folder)
        self.assertEqual(done.returncode, 5)
        self.assertIn('error[K0201]', done.stderr)

    def test_native_binaries_for_other_devices_are_refused_alone_and_passed_over_beside_spirv(self):
        # The CPU device has bmg's limits, and executes its code where it can.
        native = {path.name: path.read_bytes() for path in KERNELS.glob('saxpy.*.bin') if 'bmg' not in path.name}
        if not native:
            self.skipTest('built without ocloc')
        done = self.run_with(native)
        self.assertEqual(done.returncode, 5)
        self.assertIn('error[K0202]', done.stderr)
        self.assertEqual(self.run_with({**native, 'saxpy.spv': (KERNELS / 'saxpy.spv').read_bytes()}).returncode, 0)


class Inspect(unittest.TestCase):
    def test_json_has_the_facts_of_every_part(self):
        done = kiln('inspect', '--json', str(KERNELS / 'slm_table.spv'), str(DATA / 'saxpy.ocloc-26.27.ar'))
        self.assertEqual(done.returncode, 0, done.stderr)
        spirv, fat = json.loads(done.stdout)['files']
        part, = spirv['parts']
        self.assertEqual(part['format'], 'spirv')
        slm = {kernel['name']: kernel['static_slm'] for kernel in part['kernels']}
        self.assertEqual((slm['strided'], slm['one_each_any']), (1024, 0))
        self.assertEqual([part.get('target') for part in fat['parts']], ['12.60.7 (pvc)', '20.1.0 (bmg-g21)', None])

    def test_the_table_has_a_line_for_each_kernel(self):
        done = kiln('inspect', str(DATA / 'memory.pvc.bin'))
        self.assertEqual(done.returncode, 0, done.stderr)
        line, = (line.split() for line in done.stdout.splitlines() if line.strip().startswith('private_array '))
        self.assertIn('2560000', line)

    def test_files_that_cannot_be_read_are_named_and_the_others_shown(self):
        done = kiln('inspect', '/nowhere', str(DATA / 'saxpy.patch_tokens.bin'), str(KERNELS / 'saxpy.spv'))
        self.assertEqual(done.returncode, 5)
        self.assertIn('error[K0201]', done.stderr)
        self.assertIn('error[K0209]', done.stderr)
        self.assertIn('saxpy ', done.stdout)
        both = json.loads(kiln('inspect', '--json', '/nowhere', str(DATA / 'saxpy.patch_tokens.bin')).stdout)
        self.assertEqual(both['files'][0]['error']['code'], 'K0201')
        self.assertIn('format', both['files'][1]['parts'][0]['error']['message'])

    def test_without_files_it_is_a_usage_error(self):
        self.assertEqual(kiln('inspect').returncode, 2)

    def test_a_symbol_that_is_defined_nowhere_is_named_with_its_kernel(self):
        for file in ('unresolved.spv', 'unresolved.ocloc-22.43.bin', 'unresolved.ocloc-26.27.bin'):
            done = kiln('inspect', str(DATA / file))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn('K0130', done.stdout, file)
            self.assertIn('`misspelt`, used by kernel `bad`', done.stdout, file)
            part, = json.loads(kiln('inspect', '--json', str(DATA / file)).stdout)['files'][0]['parts']
            self.assertEqual(part['unresolved'], [{'symbol': 'misspelt', 'kernel': 'bad'}], file)


class Outside(unittest.TestCase):
    """Files that have no end, no size, or more of it than there is memory."""
    READERS = (['inspect'], ['check', '--target', 'pvc'], ['cache', 'import'],
               ['bake', '--target', 'pvc', '-o', os.path.join(tempfile.gettempdir(), 'never-written.ar')])
    COMMANDS = (*READERS, ['explain'], ['run', 'saxpy', '--device', 'cpu', '--bundle'])

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.environment = {**os.environ, 'KILN_CACHE': 'on', 'KILN_CACHE_DIR': scratch.name + '/cache'}

    def limited(self, *arguments, mebibytes=1500):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))
        done = subprocess.run([KILN, *arguments], capture_output=True, text=True, timeout=120, preexec_fn=limit,
                              env=self.environment)
        if "Perhaps you're using ulimit -v" in done.stderr:
            self.skipTest('a sanitizer reserves more addresses than the limit leaves')
        return done

    def check_refused(self, done, *words):
        self.assertIn(done.returncode, (1, 2, 4, 5), (done.args, done.stderr))
        self.assertRegex(done.stderr, r'error\[K\d{4}\]', done.args)
        for word in words:
            self.assertIn(word, done.stderr, done.args)

    def test_devices_and_pipes_without_a_writer(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe = pathlib.Path(folder, 'pipe.spv')
            os.mkfifo(pipe)
            for command in self.COMMANDS:
                self.check_refused(self.limited(*command, '/dev/zero'), 'it is a device')
                if command != ['explain']:  # which waits for who writes its log
                    self.check_refused(self.limited(*command, str(pipe)), 'nobody writes to')

    def test_a_pipe_with_a_writer_is_read(self):
        with subprocess.Popen(['cat', str(KERNELS / 'saxpy.spv')], stdout=subprocess.PIPE) as writer:
            done = subprocess.run([KILN, 'inspect', '/dev/stdin'], stdin=writer.stdout, capture_output=True, text=True,
                                  timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('saxpy ', done.stdout)

    def test_sparse_files_and_files_that_need_more_memory_than_there_is(self):
        with tempfile.TemporaryDirectory() as folder:
            huge = pathlib.Path(folder, 'huge.spv')
            with open(huge, 'wb') as file:
                file.truncate(1 << 40)
            for command in self.READERS:
                self.check_refused(self.limited(*command, str(huge)), 'larger than 1 GiB')
            with open(huge, 'r+b') as file:
                file.truncate(900 << 20)
            for command in self.READERS:
                self.check_refused(self.limited(*command, str(huge), mebibytes=600), 'memory for')

    def test_what_is_read_but_cannot_be_worked_on_is_a_message_too(self):
        # Four million names: what is made of them needs far more than the file itself.
        count = 4_000_000
        names = array.array('I', [3 << 16 | 5, 0, 0]) * count  # OpName
        names[1::3] = array.array('I', range(count))
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, 'names.spv')
            file.write_bytes(struct.pack('<5I', 0x07230203, 0x10000, 0, count, 0) + names.tobytes())
            done = self.limited('inspect', str(file), mebibytes=350)
            self.check_refused(done, 'K0412')
            self.assertEqual(done.returncode, 5)


class Terminal(unittest.TestCase):
    """What a terminal obeys, or shows as what it is not, comes from files and arguments and goes no further."""
    WILD = '\x1b]0;title\x07\x9b31m\u202etxt.exe\u2066\u200f\u2028'

    def check_safe(self, raw, *told):
        text = raw.decode('utf-8')  # strict
        for c in text:
            self.assertFalse(c < ' ' and c not in '\n\t' or '\x7f' <= c < '\xa0' or '\u202a' <= c <= '\u202e' or
                             '\u2066' <= c <= '\u2069' or c in '\u200e\u200f\u061c\u2028\u2029', (hex(ord(c)), told))

    def test_names_of_files_and_kernels_arguments_and_variables(self):
        def name_of(text):
            data = text.encode() + b'\xff\xc2'
            return data + b'\0' * (4 - len(data) % 4)
        spirv = (KERNELS / 'saxpy.spv').read_bytes()
        wild = name_of(self.WILD)
        at = 20
        out = spirv[:20]
        while at < len(spirv):  # a kernel of that name
            words = struct.unpack_from('<I', spirv, at)[0]
            count, op = words >> 16, words & 0xffff
            if op == 15:
                name_end = spirv.index(b'\0', at + 12)
                rest = spirv[at + 12 + (name_end - at - 12) // 4 * 4 + 4:at + count * 4]
                head = spirv[at + 4:at + 12]
                out += struct.pack('<I', (3 + len(wild) // 4 + len(rest) // 4) << 16 | 15) + head + wild + rest
            else:
                out += spirv[at:at + count * 4]
            at += count * 4
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(os.fsencode(folder), self.WILD.encode() + b'\xff.spv')
            pathlib.Path(os.fsdecode(file)).write_bytes(out)
            runs = [['inspect', file], ['inspect', '--json', file], ['check', '--target', 'pvc,dg2', file],
                    ['check', '--json', '--target', 'dg2', '--local', b'x=1', file], ['explain', file], ['explain', file + b'x'],
                    ['check', '--target', self.WILD, file], [self.WILD], ['run', self.WILD], ['inspect', file + b'x'],
                    ['inspect', '--json', file + b'x'], ['devices', '--device', self.WILD], ['cache', 'explain', file],
                    ['cache', 'warm', '--device', 'cpu', file], ['bake', '--target', 'pvc', '-o', file + b'.ar', file],
                    ['doctor'], ['run', 'saxpy', '--device', 'cpu', '--bundle', file]]
            environment = {**os.environ, 'KILN_LOG': 'debug', 'ZE_AFFINITY_MASK': self.WILD, 'PATH': '/nonexistent',
                           'KILN_CACHE': 'on', 'KILN_CACHE_DIR': folder + '/cache'}
            for run in runs:
                done = subprocess.run([KILN, *run], capture_output=True, timeout=120, env=environment)
                self.check_safe(done.stdout, run)
                self.check_safe(done.stderr, run)
                self.assertTrue(done.stdout or done.stderr, run)

    def test_the_command_writes_through_one_place(self):
        folder = pathlib.Path(os.environ['KILN_README']).parent / 'src' / 'cli'
        for path in folder.glob('*.?pp'):
            if path.name == 'output.cpp':
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                code = line.split('//')[0]
                self.assertNotRegex(code, r'std::(printf|fprintf|vprintf|puts|fputs|putchar|perror|cout|cerr|clog)\b',
                                    f'{path.name}:{number}')


class Check(unittest.TestCase):
    def test_a_kernel_that_fits_pvc_but_not_dg2(self):
        done = kiln('check', str(DATA / 'saxpy.ocloc-26.27.ar'), str(KERNELS / 'matmul.spv'), '--target', 'pvc,dg2',
                    '--local', 'a_tile=65536', '--local', '8=4096', '--json', PATH='/nonexistent')
        self.assertEqual(done.returncode, 3, done.stderr)
        answer = json.loads(done.stdout)
        self.assertFalse(answer['fits'])
        saxpy, matmul = answer['kernels']
        self.assertEqual([result['by'] for result in saxpy['results']], ['native', 'spirv'])
        self.assertEqual([result['fits'] for result in matmul['results']], [True, False])
        reason, = matmul['results'][1]['reasons']
        self.assertEqual(reason['code'], 'K0101')

    def test_all_fit_on_the_targets_of_the_binaries(self):
        done = kiln('check', str(DATA / 'saxpy.ocloc-26.27.ar'))
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertEqual(done.stdout.splitlines()[0].split(), ['FILES', 'KERNEL', 'pvc', 'bmg-g21'])

    def test_one_kernel_over_the_limit_rules_out_its_whole_module(self):
        done = kiln('check', str(DATA.parent.parent / 'device' / 'spirv' / 'over_static.spv'), '--target', 'pvc', '--json')
        self.assertEqual(done.returncode, 3)
        codes = [[reason['code'] for reason in kernel['results'][0]['reasons']]
                 for kernel in json.loads(done.stdout)['kernels']]
        self.assertEqual(codes, [['K0109'], ['K0109']])

    def test_a_target_without_binary_or_spirv_is_no_yes(self):
        done = kiln('check', str(DATA / 'memory.pvc.bin'), '--target', 'tgllp')
        self.assertEqual(done.returncode, 3)
        self.assertIn('none', done.stdout)

    def test_usage_errors(self):
        file = str(KERNELS / 'matmul.spv')
        for arguments in ((), (file, '--target', 'arc9000'), (file, '--group', '0'), (file, '--group', '1,2,3,4'),
                          (file, '--groups', '4294967296'), (file, '--timeout', '0'), (file, '--target', 'pvc:tgllp'),
                          (file, '--local', 'a_tile'), (file, '--local', 'nothing=4'), (file, '--local', '7=x')):
            self.assertEqual(kiln('check', *arguments).returncode, 2, arguments)
        done = kiln('check', file, '--target', 'arc9000')
        self.assertEqual(done.stderr, (DATA.parent / 'golden' / 'K0404.txt').read_text())

    def test_a_file_that_cannot_be_read_ends_with_5_and_the_others_are_checked(self):
        done = kiln('check', '/nowhere', str(KERNELS / 'matmul.spv'))
        self.assertEqual(done.returncode, 5)
        self.assertIn('tiled', done.stdout)


class Explain(unittest.TestCase):
    def golden(self, name):
        return (DATA.parent / 'golden' / f'{name}.txt').read_text()

    def test_codes_of_level_zero_of_the_layers_above_and_of_kiln(self):
        for word, wanted in (('0x1879048195', 'ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY (0x70000003, 1879048195)'),
                             ('-5', 'SLM'), ('UR_RESULT_ERROR_OUT_OF_RESOURCES', 'SLM'), ('K0101', 'SLM')):
            done = kiln('explain', word)
            self.assertEqual((done.returncode, done.stderr), (0, ''), word)
            self.assertIn(wanted, done.stdout)
        self.assertEqual(json.loads(kiln('explain', 'K0304', '--json').stdout)['code'], 'K0304')
        answer = json.loads(kiln('explain', 'OUT_OF_DEVICE_MEMORY', '--json').stdout)
        self.assertEqual(answer['hexadecimal'], '0x70000003')

    def test_every_code_with_a_golden_text_is_explained(self):
        codes = {path.name[:5] for path in (DATA.parent / 'golden').glob('K*.txt')}
        for code in sorted(codes):
            self.assertEqual(kiln('explain', code).returncode, 0, code)

    def test_the_guides_failure_from_its_trace_and_from_a_pipe(self):
        log = DATA.parent / 'logs' / 'onetrace.log'
        done = kiln('explain', str(log))
        self.assertEqual((done.returncode, done.stdout), (0, self.golden('K0501')))
        piped = subprocess.run([KILN, 'explain', '-', '--json'], input=log.read_text(), capture_output=True, text=True,
                               timeout=120)
        self.assertEqual(json.loads(piped.stdout)['finding']['code'], 'K0501')

    def test_lines_longer_than_a_block_and_no_end_of_line(self):
        with tempfile.NamedTemporaryFile('w', suffix='.log') as file:
            file.write('x' * 3_000_000 + '\n' + (DATA.parent / 'logs' / 'debug_messages.log').read_text().rstrip())
            file.flush()
            answer = json.loads(kiln('explain', file.name, '--json').stdout)
        self.assertEqual((answer['lines'], answer['finding']['code']), (8, 'K0501'))

    def test_a_log_without_failure_ends_with_1(self):
        done = subprocess.run([KILN, 'explain', '-'], input='fine\n', capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stdout.startswith('no failure found in 1 lines\n  help: '), done.stdout)

    def test_kilns_own_report_is_read_back_with_the_page_of_its_code(self):
        refused = kiln('run', 'matmul', '--device', 'cpu:pvc', '--slm', '262144')
        self.assertEqual(refused.returncode, 3, refused.stderr)
        self.assertIn('zeCommandListAppendLaunchKernel would answer ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY (0x70000003)',
                      refused.stderr)
        report = json.loads(kiln('run', 'matmul', '--device', 'cpu:pvc', '--slm', '262144', '--json').stdout)['error']
        self.assertEqual((report['result'], report['result_value'], report['call'], report['answered_by']),
                         ('ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY', 0x70000003, 'zeCommandListAppendLaunchKernel',
                          'kiln, before the driver'))
        for text in (refused.stderr, json.dumps({'error': report}, indent=2), json.dumps(report)):
            done = subprocess.run([KILN, 'explain', '-'], input=text, capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertIn('Kiln reported K0101: kernel `tiled` asks for 262144 bytes', done.stdout)
            self.assertIn('OUT_OF_DEVICE_MEMORY', done.stdout)
            self.assertIn('\nK0101: static and dynamic SLM', done.stdout)

    def test_what_is_neither_code_nor_file(self):
        done = kiln('explain', 'nonsense')
        self.assertEqual((done.returncode, done.stderr), (2, self.golden('K0403')))
        done = kiln('explain', '/')
        self.assertEqual((done.returncode, done.stderr), (5, self.golden('K0402')))
        self.assertEqual(kiln('explain', 'no/such.log').returncode, 5)
        self.assertEqual(kiln('explain').returncode, 2)


if __name__ == '__main__':
    unittest.main()
