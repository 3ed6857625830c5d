# SPDX-License-Identifier: MIT
# The command as a user types it: devices, output, doctor, samples; exit codes and JSON fields.
import json
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest

from command import KERNELS, KILN, kiln


def setUpModule():
    """A cache for all of them, so that what several run is compiled once."""
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    os.environ.update(KILN_CACHE='on', KILN_CACHE_DIR=folder.name)


class Devices(unittest.TestCase):
    def test_json_lists_the_cpu_device_with_the_limits_of_its_profile(self):
        for profile, slm in (('tgllp', 65536), ('dg2', 65536), ('pvc', 131072), ('bmg', 131072)):
            done = kiln('devices', '--json', '--device', f'cpu:{profile}')
            self.assertEqual(done.returncode, 0, done.stderr)
            device, = json.loads(done.stdout)['devices']
            self.assertEqual((device['kind'], device['slm_per_group']), ('cpu', slm))

    def test_all_kinds_are_listed_with_a_reason_for_a_missing_one(self):
        done = kiln('devices', '--json')
        answer = json.loads(done.stdout)
        kinds = [entry['kind'] for entry in answer['devices'] + answer['missing']]
        self.assertEqual(sorted(kinds), ['cpu', 'gpu'])
        self.assertEqual(done.returncode, 0)
        for missing in answer['missing']:
            self.assertRegex(missing['code'], '^K03')
            self.assertTrue(missing['help'])

    def test_an_unknown_device_is_a_usage_error(self):
        for name in ('tpu', 'cpu:', 'capture', 'gpu:0'):
            self.assertEqual(kiln('devices', '--device', name).returncode, 2, name)

    def test_an_unknown_profile_is_named_with_those_there_are(self):
        done = kiln('devices', '--device', 'cpu:arc9000')
        self.assertEqual(done.returncode, 2)
        self.assertIn('tgllp', done.stderr)


class Output(unittest.TestCase):
    """Standard output that takes nothing: every command says so, and ends with another status than 0."""
    COMMANDS = (['devices', '--device', 'cpu'], ['devices', '--device', 'cpu', '--json'], ['run', '--list'],
                ['run', 'saxpy', '--device', 'cpu'], ['inspect', str(KERNELS / 'saxpy.spv')], ['--help'], ['--version'],
                ['cache', 'list'], ['cache', 'list', '--json'], ['cache', 'stats', '--json'], ['cache', 'verify'],
                ['cache', 'prune'], ['cache', 'explain', str(KERNELS / 'saxpy.spv'), '--device', 'cpu'],
                ['cache', 'warm', str(KERNELS / 'saxpy.spv'), '--device', 'cpu', '--json'])

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.environment = {**os.environ, 'KILN_CACHE': 'on', 'KILN_CACHE_DIR': scratch.name + '/cache',
                            'KILN_KERNEL_PATH': str(KERNELS)}

    def run_with(self, stdout, *arguments, **others):
        return subprocess.run([KILN, *arguments], stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=120,
                              env=self.environment, **others)

    def test_a_full_disk_and_a_closed_output(self):
        for arguments in self.COMMANDS:
            with open('/dev/full', 'w') as full:
                done = self.run_with(full, *arguments)
            self.assertEqual(done.returncode, 1, (arguments, done.stderr))
            self.assertIn('K0411', done.stderr, arguments)
            self.assertIn('No space left', done.stderr, arguments)
            done = self.run_with(None, *arguments, preexec_fn=lambda: os.close(1))
            self.assertEqual(done.returncode, 1, (arguments, done.stderr))
            self.assertIn('Bad file descriptor', done.stderr, arguments)

    def test_more_than_a_buffer_full(self):
        with open('/dev/full', 'w') as full:
            done = self.run_with(full, 'inspect', '--json', *[str(KERNELS / 'saxpy.spv')] * 40)
        self.assertEqual(done.returncode, 1)
        self.assertIn('No space left', done.stderr)

    def test_a_status_that_is_none_of_success_stays(self):
        with open('/dev/full', 'w') as full:
            self.assertEqual(self.run_with(full, 'devices', '--device', 'cpu:none', '--json').returncode, 2)

    def test_a_reader_that_goes_away_is_no_reason_to_speak(self):
        for ignored in (False, True):
            read, write = os.pipe()
            os.close(read)
            done = self.run_with(write, 'devices', '--device', 'cpu', restore_signals=not ignored)
            os.close(write)
            self.assertEqual((done.returncode, done.stderr), (1 if ignored else -13, ''))


class Doctor(unittest.TestCase):
    SIMULATED = {'NEOReadDebugKeys': '1', 'SetCommandStreamReceiver': '1', 'ProductFamilyOverride': 'dg2',
                 'HardwareInfoOverride': '2x4x16', 'UseAubStream': '0', 'UseBindlessMode': '0',
                 'UseExternalAllocatorForSshAndDsh': '0'}

    def ask(self, *arguments, **environment):
        done = kiln('doctor', '--json', *arguments, **environment)
        answer = json.loads(done.stdout)
        self.assertEqual(done.returncode, 0 if answer['gpu_usable'] else 4, done.stderr)
        found = {}
        for finding in answer['findings']:
            self.assertEqual(finding['state'] == 'ok', 'diagnostic' not in finding, finding)
            if 'diagnostic' in finding:
                self.assertTrue(finding['diagnostic']['help'])
                found.setdefault(finding['diagnostic']['code'], []).append(finding)
        return answer, found

    def test_json_and_text_agree_and_name_the_device_that_run_uses(self):
        answer, found = self.ask()
        done = kiln('doctor')
        self.assertEqual(done.stdout.splitlines()[-1], answer['verdict'])
        self.assertEqual(done.stderr, '')
        for code in found:
            self.assertIn(f'[{code}]', done.stdout)
        self.assertEqual(answer['device'], 'gpu' if answer['gpu_usable'] else 'cpu')
        self.assertEqual(done.stdout.count('PROBLEM'),
                         sum(finding['state'] == 'problem' for finding in answer['findings']))

    def test_drivers_that_are_none_that_abort_and_that_hang_are_named_and_end_nothing(self):
        naming = lambda found, code, path: [entry['text'] for entry in found.get(code, []) if path in entry['text']]
        with tempfile.NamedTemporaryFile('w', suffix='.so') as text:
            text.write('no library')
            text.flush()
            _, found = self.ask(ZE_ENABLE_ALT_DRIVERS=text.name)
            self.assertEqual(len(naming(found, 'K0306', text.name)), 1)
            self.assertEqual(naming(found, 'K0601', text.name), [])
        aborts, hangs = os.environ['KILN_DRIVER_THAT_ABORTS'], os.environ['KILN_DRIVER_THAT_HANGS']
        answer, found = self.ask(ZE_ENABLE_ALT_DRIVERS=aborts)
        self.assertIn('ends the process while it is opened', naming(found, 'K0601', aborts)[0])
        self.assertEqual(naming(found, 'K0601', 'libze_loader'), [])
        self.assertIsNone(answer['device'])
        answer, found = self.ask('--timeout', '1', ZE_ENABLE_ALT_DRIVERS=hangs)
        self.assertIn('hangs', naming(found, 'K0601', hangs)[0])
        self.assertIn('no answer within 1 s', answer['verdict'])
        answer, found = self.ask(KILN_CPU_DRIVER=aborts)
        self.assertEqual(len(naming(found, 'K0601', aborts)), 1)

    def test_absurd_variables_and_folders(self):
        wild = '\x1b[31m\n' + 'x' * 100_000
        answer, found = self.ask(ZE_AFFINITY_MASK=wild, ZE_ENABLE_ALT_DRIVERS=',' * 1000 + wild, KILN_DEVICE=wild,
                                 HOME=wild, NEO_CACHE_DIR='/dev/null', PATH=':::', LD_LIBRARY_PATH=wild)
        self.assertLessEqual({'K0605', 'K0609', 'K0307'}, set(found))
        done = kiln('doctor', KILN_DEVICE=wild, ZE_AFFINITY_MASK=wild, ZE_ENABLE_ALT_DRIVERS=wild, KILN_CPU_DRIVER=wild)
        self.assertNotIn('\x1b', done.stdout)
        self.assertLess(len(done.stdout), 10_000)
        odd = subprocess.run([KILN, 'doctor', '--json'], env={**os.environ, b'IGC_odd': b'\xff\xfe'}, capture_output=True,
                             timeout=120)
        self.assertIn('IGC_odd', json.loads(odd.stdout)['findings'].__str__())
        with tempfile.TemporaryDirectory() as folder:
            gone = subprocess.run(['sh', '-c', 'rmdir "$PWD"; exec "$0" doctor --json', KILN], cwd=folder,
                                  capture_output=True, text=True, timeout=120)
            pathlib.Path(folder).mkdir(exist_ok=True)
        self.assertIn(gone.returncode, (0, 4), gone.stderr)
        json.loads(gone.stdout)

    def test_settings_files_in_the_current_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, 'igdrcl.config').write_text('SetCommandStreamReceiver = 1\n')
            pathlib.Path(folder, 'saxpy_options.txt').write_text('-cl-fast-relaxed-math')
            pathlib.Path(folder, 'saxpy.cl').touch()
            run = lambda **environment: json.loads(subprocess.run(
                [KILN, 'doctor', '--json'], cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True,
                timeout=120).stdout)
            codes = lambda answer: {finding['diagnostic']['code'] for finding in answer['findings']
                                    if 'diagnostic' in finding}
            self.assertLessEqual({'K0614', 'K0616'}, codes(run()))
            answer = run(NEOReadDebugKeys='1')
            self.assertIn('K0606', codes(answer))
            self.assertFalse(answer['gpu_usable'])

    def test_a_simulated_gpu_is_no_gpu_and_a_mask_that_hides_it_is_told(self):
        if '/nonexistent' in os.environ.get('ZE_ENABLE_ALT_DRIVERS', ''):
            self.skipTest("Intel's driver is not loaded under this sanitizer")
        answer, found = self.ask(**self.SIMULATED)
        if answer['device'] != 'gpu':
            self.skipTest("Intel's driver is not installed")
        self.assertFalse(answer['gpu_usable'])
        self.assertIn('simulated', answer['verdict'])
        self.assertIn('K0606', found)
        for mask, words in (('9', 'hides every device'), ('gpu', 'no list')):
            _, found = self.ask(**self.SIMULATED, ZE_AFFINITY_MASK=mask)
            self.assertIn(words, found['K0605'][0]['text'])
            self.assertNotIn('K0601', found)

    def test_usage(self):
        for arguments in (('--timeout', '0'), ('--timeout', 'x'), ('more',)):
            self.assertEqual(kiln('doctor', *arguments).returncode, 2, arguments)


class Run(unittest.TestCase):
    def names(self):
        return [entry['name'] for entry in json.loads(kiln('run', '--list', '--json').stdout)]

    def test_json_has_the_fields_and_host_time_contains_device_time(self):
        for name in ('saxpy', 'matmul', 'slm_limit', 'slm_table'):
            done = kiln('run', name, '--device', 'cpu', '--json', '--repeat', '2', KILN_CACHE='off')
            self.assertEqual(done.returncode, 0, done.stderr)
            answer = json.loads(done.stdout)
            self.assertTrue(answer['ok'])
            self.assertEqual(answer['binary'], 'jit')
            self.assertGreaterEqual(answer['host_ms'], answer['device_ms'])
            self.assertGreater(answer['device_ms'], 0)
            self.assertGreater(answer['build_ms'], 0)
            self.assertTrue(answer['device'].startswith('Kiln CPU device'))

    def test_all_samples_in_one_table(self):
        self.assertGreaterEqual(len(self.names()), 63)
        for arguments in ((), ('--size', '0'), ('--size', '101', '--seed', '7')):
            done = kiln('run', '--all', '--device', 'cpu', '--json', *arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ''))
            answer = json.loads(done.stdout)
            self.assertTrue(answer['ok'])
            self.assertEqual([sample['kernel'] for sample in answer['samples']], self.names())
            for sample in answer['samples']:
                self.assertTrue(sample['ok'], sample)
                self.assertTrue(sample['device'].startswith('Kiln CPU device'))
                self.assertGreater(sample['device_ms'], 0, sample)
                self.assertGreaterEqual(sample['host_ms'], sample['device_ms'], sample)
        table = kiln('run', '--all', '--device', 'cpu', '--size', '50')
        self.assertEqual((table.returncode, table.stderr), (0, ''))
        self.assertEqual([line.split()[0] for line in table.stdout.splitlines()], ['SAMPLE', *self.names()])

    def test_no_elements_are_a_clear_answer(self):
        done = kiln('run', 'saxpy', '--device', 'cpu', '--size', '0')
        self.assertEqual(done.returncode, 0)
        self.assertIn('ok           0 elements', done.stdout)

    def test_one_wrong_answer_among_all_ends_with_1(self):
        with tempfile.TemporaryDirectory() as folder:
            for file in KERNELS.glob('*.spv'):
                shutil.copy(file, folder)
            # Each word that is the constant 2.0f becomes 3.0f: another factor.
            broken = pathlib.Path(folder, 'coalescing.spv')
            code = broken.read_bytes()
            words = struct.unpack(f'<{len(code) // 4}f', code)
            self.assertIn(2, words)
            broken.write_bytes(b''.join(struct.pack('<f', 3) if word == 2 else code[4 * i:4 * i + 4]
                                        for i, word in enumerate(words)))
            pathlib.Path(folder, 'histogram.spv').unlink()
            done = kiln('run', '--all', '--device', 'cpu', '--size', '50', '--json', KILN_KERNEL_PATH=folder)
            self.assertEqual(done.returncode, 1)
            answer = json.loads(done.stdout)
            self.assertFalse(answer['ok'])
            failed = {sample['kernel'] for sample in answer['samples'] if not sample['ok']}
            self.assertIn('coalescing.contiguous', failed)
            self.assertEqual({name.split('.')[0] for name in failed}, {'coalescing', 'histogram'})
            self.assertEqual({sample['error']['code'] for sample in answer['samples'] if 'error' in sample}, {'K0201'})
            self.assertIn('coalescing.contiguous: element', done.stderr)
            self.assertEqual(done.stderr.count('K0201'), 1)  # one file is missing, two samples need it
            broken.unlink()
            done = kiln('run', '--all', '--device', 'cpu', '--size', '50', KILN_KERNEL_PATH=folder)
            self.assertEqual(done.returncode, 5, done.stderr)

    def test_what_a_kernel_costs_is_predicted(self):
        done = kiln('run', 'bank_conflict.stride', '--device', 'cpu', '--json', '--size', '64')
        self.assertEqual(json.loads(done.stdout)['predicted'], {'turns for one SLM access of 16 work-items': 1})
        done = kiln('run', 'access.index_function_4', '--device', 'cpu', '--size', '64')
        self.assertIn('predicted    cache lines for 16 reads: 4\n', done.stdout)

    def test_what_a_kernel_costs_is_counted(self):
        done = kiln('run', 'coalescing.contiguous', '--device', 'cpu', '--size', '4096', '--counters', '--json')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        run = json.loads(done.stdout)
        self.assertEqual(run['defects'], [])
        self.assertEqual(run['counters']['totals']['global_reads'],
                         {'accesses': 4096, 'bytes': 4 * 4096, 'sub_group_accesses': 256, 'lines': 1024})
        read = run['counters']['instructions'][0]
        self.assertEqual((read['neighbours'], read['argument_name']), ({'accesses': 4, 'bytes': 16}, 'in'))
        self.assertEqual(len(read['example']['lanes']), 16)
        text = kiln('run', 'access.index_function_4', '--device', 'cpu', '--size', '64', '--counters').stdout
        self.assertIn('predicted    cache lines for 16 reads: 4, counted 4\n', text)
        self.assertRegex(text, r'(?m)^  line 29 +read +global +a +4: 4 +4 +64 ')
        self.assertNotIn('counters', json.loads(kiln('run', 'saxpy', '--device', 'cpu', '--size', '9', '--json').stdout))

    def test_all_samples_are_clean_and_as_predicted(self):
        done = kiln('run', '--all', '--device', 'cpu', '--size', '100', '--counters', '--json')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        samples = json.loads(done.stdout)['samples']
        self.assertEqual(len(samples), len(self.names()))
        for sample in samples:
            self.assertEqual(sample['defects'], [], sample['kernel'])
            for each in sample.get('counted', []):
                self.assertEqual(each['predicted'], each['counted'], sample['kernel'])

    def test_a_sweep_of_a_sample_names_the_best(self):
        done = kiln('run', 'histogram.slm_256', '--device', 'cpu', '--size', '5000', '--sweep', 'group=16..128', '--counters', '--json')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        answer = json.loads(done.stdout)
        self.assertEqual([each['group'] for each in answer['sweep']], [16, 32, 64, 128])
        for each in answer['sweep']:
            self.assertTrue(each['right'])
            # Two barriers for each work-item of the two groups.
            self.assertEqual(each['barriers'], 2 * 2 * each['group'])
            self.assertIn('percent', each['occupancy'])
        self.assertIn(answer['best'], (16, 32, 64, 128))
        text = kiln('run', 'saxpy', '--device', 'cpu', '--size', '5000', '--sweep', 'group=16,64').stdout
        self.assertRegex(text, r'(?m)^best: groups of (16|64), ')
        for wrong in (('matmul', '--sweep', 'group=x'), ('slm_scatter.direct', '--sweep', 'group=16,32'),
                      ('saxpy', '--sweep', 'group=16', '--group', '8')):
            self.assertEqual(kiln('run', *wrong, '--device', 'cpu').returncode, 2, wrong)

    def test_two_samples_side_by_side(self):
        done = kiln('run', 'share.sub_group', '--against', 'share.slm', '--device', 'cpu', '--size', '1000', '--counters', '--json')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        answer = json.loads(done.stdout)
        self.assertTrue(answer['ok'] and answer['same_answer'])
        self.assertEqual((answer['this']['kernel'], answer['other']['kernel']), ('share.sub_group', 'share.slm'))
        self.assertNotIn('slm_reads', answer['this']['counters']['totals'])
        self.assertEqual(answer['other']['counters']['totals']['slm_reads']['accesses'], 10 * 1024)
        text = kiln('run', 'histogram.slm_256', '--against', 'histogram.registers_256', '--device', 'cpu', '--size', '5000',
                    '--counters').stdout
        self.assertIn('answers: the same', text)
        self.assertRegex(text, r'(?m)^SLM atomics +40000 +0$')
        other = json.loads(kiln('run', 'histogram.slm_256', '--against', 'histogram.slm_1024', '--device', 'cpu', '--size', '50',
                                '--json').stdout)
        self.assertTrue(other['ok'] and not other['same_answer'])
        self.assertEqual(kiln('run', 'saxpy', '--against', 'group=16', '--device', 'cpu', '--size', '50').returncode, 0)
        self.assertEqual(kiln('run', 'saxpy', '--against', 'saxpi', '--device', 'cpu').returncode, 2)

    def test_a_variant_for_cpus_is_taken_and_said(self):
        text = kiln('run', 'slm_table.cpu_variant', '--device', 'cpu', '--size', '500').stdout
        self.assertIn('taken        the variant for CPUs, slm_lookup.cpu.spv\n', text)
        self.assertIn('predicted    reads of the table: 500\n', text)

    def test_a_defect_ends_with_1_and_is_shown(self):
        with tempfile.TemporaryDirectory() as folder:
            # `i < n` becomes `i <= n`: OpULessThan (176) with five words becomes OpULessThanEqual (178).
            code = (KERNELS / 'saxpy.spv').read_bytes()
            less, less_or_equal = struct.pack('<I', 5 << 16 | 176), struct.pack('<I', 5 << 16 | 178)
            self.assertEqual(code.count(less), 1)
            pathlib.Path(folder, 'saxpy.spv').write_bytes(code.replace(less, less_or_equal))
            arguments = ('run', 'saxpy', '--device', 'cpu', '--size', '10', '--check-memory')
            done = kiln(*arguments, '--json', KILN_KERNEL_PATH=folder)
            self.assertEqual(done.returncode, 1)
            run = json.loads(done.stdout)
            self.assertTrue(run['ok'])
            self.assertNotIn('counters', run)
            self.assertEqual([defect['code'] for defect in run['defects']], ['K0802'] * 3)
            self.assertIn({'label': 'work-item', 'value': 10}, run['defects'][0]['rows'])
            self.assertEqual(done.stderr.count("kernel 'saxpy': work-item 10 of work-group (0, 0, 0) "), 3)
            text = kiln(*arguments, KILN_KERNEL_PATH=folder)
            self.assertIn('error[K0802]: kernel `saxpy` goes beyond an allocation', text.stdout)
        self.assertIn('no access out of bounds', kiln(*arguments).stdout)

    def test_slm_beyond_the_limit_is_refused_and_the_tile_it_names_runs(self):
        done = kiln('run', 'matmul', '--device', 'cpu:pvc', '--slm', '656384', '--json')
        self.assertEqual(done.returncode, 3)
        self.assertIn('error[K0101]', done.stderr)
        error = json.loads(done.stdout)['error']
        self.assertEqual(error['result'], 'ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY')
        rows = {row['label']: row.get('value') for row in error['rows']}
        self.assertEqual(rows['available a work-group'], 131072)
        self.assertEqual(rows['argument 7 `a_tile`'], 4 * 286 ** 2)
        edge = next(value for label, value in rows.items() if label.startswith('largest edge'))
        self.assertEqual(edge, 128)
        fits = kiln('run', 'matmul', '--device', 'cpu:pvc', '--slm', str(2 * 4 * edge ** 2), '--json')
        self.assertEqual(fits.returncode, 0, fits.stderr)
        self.assertTrue(json.loads(fits.stdout)['ok'])

    def test_512_bytes_a_work_item_allow_128_work_items_of_64_kib(self):
        done = kiln('run', 'slm_limit', '--device', 'cpu:dg2', '--group', '256')
        self.assertEqual(done.returncode, 3)
        self.assertIn('at most 128 work-items', done.stderr)
        self.assertEqual(kiln('run', 'slm_limit', '--device', 'cpu:dg2', '--group', '128').returncode, 0)

    def test_a_group_too_large_is_refused(self):
        done = kiln('run', 'saxpy', '--device', 'cpu', '--group', '2000')
        self.assertEqual(done.returncode, 3)
        self.assertIn('error[K0102]', done.stderr)

    def test_usage_errors_end_with_2(self):
        for arguments in ((), ('run',), ('fly',), ('run', 'nothing'), ('run', 'saxpy', '--all'),
                          ('run', '--all', '--slm', '4'), ('run', 'histogram.registers_256', '--group', '24'), ('run', '--all', '--list'), ('run', 'saxpy', '--size', '-1'), ('run', 'saxpy', '--size', 'many'),
                          ('run', 'saxpy', '--counters', '--repeat', '2'), ('run', 'saxpy', '--repeat', '0'), ('run', 'saxpy', '--slm', '4'),
                          ('run', 'matmul', '--slm', '1'), ('run', 'saxpy', '--size', '99999999999999999999')):
            self.assertEqual(kiln(*arguments, KILN_DEVICE='cpu').returncode, 2, arguments)

    def test_help_and_version_end_with_0(self):
        for arguments in (('--help',), ('run', '--help'), ('devices', '--help'), ('--version',), ('run', '--list')):
            done = kiln(*arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ''), arguments)
            self.assertTrue(done.stdout)

    def test_auto_falls_back_with_one_line(self):
        done = kiln('run', 'saxpy', '--size', '10', KILN_DEVICE='')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLessEqual(len(done.stderr.splitlines()), 1)

    def test_a_missing_cpu_driver_is_named(self):
        done = kiln('run', 'saxpy', '--device', 'cpu', KILN_CPU_DRIVER='/nowhere/driver.so')
        self.assertEqual(done.returncode, 4)
        self.assertIn('/nowhere/driver.so', done.stderr)


class Readme(unittest.TestCase):
    def test_the_example_is_the_one_that_is_compiled(self):
        readme = pathlib.Path(os.environ['KILN_README']).read_text()
        example = pathlib.Path(os.environ['KILN_EXAMPLE']).read_text()
        body = example[example.index('static Result<float>'):example.index('int main')].strip()
        self.assertIn(body, readme)


if __name__ == '__main__':
    unittest.main()
