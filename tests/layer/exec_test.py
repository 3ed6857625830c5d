# SPDX-License-Identifier: MIT
# `kiln exec` over a program that knows nothing of Kiln: it behaves as without, and what is refused is told.
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest

KILN, RAW, KERNELS, CPU = (os.environ[name] for name in ('KILN', 'KILN_RAW', 'KILN_SPIRV', 'KILN_CPU_DRIVER'))
GOLDEN = pathlib.Path(os.environ['KILN_GOLDEN'])
INTEL = os.environ.get('KILN_INTEL_DRIVER') == 'yes'
TOPOLOGIES = {'tgllp': '1x6x16', 'dg2': '8x4x16', 'pvc': '8x8x8'}


def run(*words, timeout=120, **environment):
    clean = {name: value for name, value in os.environ.items() if name != 'LD_LIBRARY_PATH'}
    return subprocess.run(words, env={**clean, **environment}, capture_output=True, text=True, timeout=timeout)


def exec_(*words, **environment):
    return run(KILN, 'exec', *words, **environment)


def capture(product):
    """The variables that make Intel's driver answer without a GPU: CONTRIBUTING.md."""
    return {'NEOReadDebugKeys': '1', 'SetCommandStreamReceiver': '1', 'AUBDumpCaptureFileName': '/dev/null',
            'ProductFamilyOverride': product, 'HardwareInfoOverride': TOPOLOGIES[product], 'UseAubStream': '0',
            'UseBindlessMode': '0', 'UseExternalAllocatorForSshAndDsh': '0'}


def codes(text):
    return re.findall(r'(?m)^(?:error|warning)\[(K\d{4})\]', text)


class Cpu(unittest.TestCase):
    def test_the_program_gets_the_answers_that_it_gets_without(self):
        plain = run(RAW, KERNELS, ZE_ENABLE_ALT_DRIVERS=CPU, RAW_EXECUTES='1')
        layered = exec_('--device', 'cpu', '--', RAW, KERNELS, RAW_EXECUTES='1')
        self.assertEqual((plain.returncode, plain.stderr), (0, ''))
        self.assertEqual((layered.returncode, layered.stdout), (0, plain.stdout))
        self.assertIn('y[999] = 7\n', layered.stdout)
        told = codes(layered.stderr)
        for code in ('K0101', 'K0102', 'K0104', 'K0106', 'K0203', 'K0207', 'K0208', 'K0217', 'K0229'):
            self.assertIn(code, told)
        self.assertIn('asks for 300032 bytes of SLM a work-group, the device has 131072\n', layered.stderr)
        # The same launch was refused twice, and is told once.
        self.assertEqual(layered.stderr.count('zeCommandListAppendLaunchKernel gave'), 1)
        self.assertRegex(layered.stderr, r'\nkiln exec: \d+ calls were refused, for \d+ reasons\n$')

    def test_a_loader_that_wraps_handles_gives_them_too(self):
        plain = run(RAW, KERNELS, ZE_ENABLE_ALT_DRIVERS=CPU, ZE_ENABLE_LOADER_INTERCEPT='1', RAW_EXECUTES='1')
        layered = exec_('--device', 'cpu', '--', RAW, KERNELS, ZE_ENABLE_LOADER_INTERCEPT='1', RAW_EXECUTES='1')
        self.assertEqual((plain.returncode, layered.returncode, layered.stdout), (0, 0, plain.stdout))
        self.assertIn('K0101', codes(layered.stderr))

    def test_the_drivers_that_the_user_named_are_those_behind(self):
        layered = exec_('--', RAW, KERNELS, ZE_ENABLE_ALT_DRIVERS=CPU)
        self.assertEqual(layered.returncode, 0)
        self.assertIn('K0101', codes(layered.stderr))
        inner = exec_('--', KILN, 'exec', '--', RAW, KERNELS, ZE_ENABLE_ALT_DRIVERS=CPU)
        self.assertEqual((inner.returncode, codes(inner.stderr)), (0, codes(layered.stderr)))

    def test_a_product_is_handed_to_the_cpu_device(self):
        layered = exec_('--device', 'cpu:dg2', '--', RAW, KERNELS)
        self.assertIn('the device has 65536\n', layered.stderr)

    def test_refusals_go_to_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'refused.json')
            pathlib.Path(path).write_text('of another run\n')
            layered = exec_('--device', 'cpu', '--json', path, '--', RAW, KERNELS)
            objects = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]
            slm = next(each for each in objects if each['code'] == 'K0101' and 'Append' in each['call'])
            self.assertEqual((slm['call'], slm['result'], slm['answered_by']),
                             ('zeCommandListAppendLaunchKernel', 'ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY', 'driver'))
            self.assertEqual(codes(layered.stderr), [])
            self.assertIn(path, layered.stderr)
            explained = run(KILN, 'explain', path)
            self.assertEqual((explained.returncode, codes(explained.stdout)), (0, ['K0509']))
        lost = exec_('--json', '/nonexistent/file', '--', 'echo', 'started')
        self.assertEqual((lost.returncode, lost.stdout), (125, ''))
        self.assertEqual(lost.stderr, (GOLDEN / 'K0451.txt').read_text())

    def test_nothing_is_said_where_nothing_is_refused(self):
        quiet = exec_('--device', 'cpu', '--', RAW, KERNELS, 'nothing')
        self.assertEqual((quiet.returncode, quiet.stderr), (0, ''))
        loud = exec_('--device', 'cpu', '--verbose', '--', RAW, KERNELS, 'nothing')
        self.assertEqual((loud.returncode, loud.stderr), (0, 'kiln exec: no call was refused\n'))

    def test_a_call_of_which_nothing_more_is_known_has_the_meaning_of_its_code(self):
        layered = exec_('--device', 'cpu', '--', RAW, KERNELS, 'queue')
        told, _, summary = layered.stderr.rpartition('kiln exec: ')
        self.assertEqual(told, (GOLDEN / 'K0260.txt').read_text())
        self.assertEqual(summary, '1 call was refused, for 1 reason\n')


class Command(unittest.TestCase):
    def test_the_exit_status_is_the_programs(self):
        self.assertEqual(exec_('--', 'sh', '-c', 'exit 3').returncode, 3)
        self.assertEqual(exec_('--', 'sh', '-c', 'kill -9 $$').returncode, -signal.SIGKILL)

    def test_a_program_that_cannot_be_started(self):
        missing = exec_('--', 'no-such-program')
        self.assertEqual((missing.returncode, missing.stderr), (127, (GOLDEN / 'K0450.txt').read_text()))
        self.assertEqual(exec_('--', '/').returncode, 126)

    def test_the_programs_words_are_its_own(self):
        words = ['--json', '-h', '--', '{}', '[a,b]', '']
        echoed = exec_('--', 'printf', '%s\n', *words)
        self.assertEqual((echoed.returncode, echoed.stdout.splitlines()), (0, words))

    def test_words_without_a_program(self):
        for given in ([], ['--'], ['./program'], ['--verbose']):
            refused = exec_(*given)
            self.assertEqual((refused.returncode, codes(refused.stderr)), (2, ['K0400']), given)

    def test_a_driver_that_is_not_there(self):
        layered = exec_('--device', 'driver:/nonexistent', '--', RAW, KERNELS)
        self.assertEqual((layered.returncode, layered.stdout), (1, 'zeInit: 0x78000001\n'))
        self.assertEqual(codes(layered.stderr), ['K0306'])
        self.assertEqual(exec_('--device', 'nothing', '--', 'true').returncode, 2)

    def test_the_layer_is_not_its_own_driver(self):
        layer = os.environ['KILN_LAYER']
        layered = run(RAW, KERNELS, ZE_ENABLE_ALT_DRIVERS=layer, KILN_LAYER_DRIVER=layer)
        self.assertEqual((layered.returncode, codes(layered.stderr)), (1, ['K0306']))

    def test_a_layer_that_is_not_installed(self):
        missing = exec_('--', 'true', KILN_LAYER='/nonexistent/libze_kiln_layer.so')
        self.assertEqual((missing.returncode, missing.stderr), (125, (GOLDEN / 'K0452.txt').read_text()))


@unittest.skipUnless(INTEL, "Intel's driver does not load here")
class Intel(unittest.TestCase):
    def test_the_program_gets_the_answers_that_it_gets_without(self):
        for product in TOPOLOGIES:
            with self.subTest(product=product):
                plain = run(RAW, KERNELS, **capture(product))
                if plain.returncode != 0:
                    self.skipTest("no driver of Intel's: " + plain.stdout)
                layered = exec_('--device', 'capture:' + product, '--', RAW, KERNELS)
                self.assertEqual((layered.returncode, layered.stdout), (0, plain.stdout))
                told = codes(layered.stderr)
                for code in ('K0101', 'K0102', 'K0104', 'K0207', 'K0208'):
                    self.assertIn(code, told)
                have = 131072 if product == 'pvc' else 65536
                self.assertIn(f'asks for 300032 bytes of SLM a work-group, the device has {have}\n', layered.stderr)


if __name__ == '__main__':
    unittest.main()
