# SPDX-License-Identifier: MIT
# `kiln exec` over a program that knows nothing of Kiln: it behaves as without, and what is refused is told.
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

from layer_case import CPU, GOLDEN, INTEL, KERNELS, KILN, RAW, TOPOLOGIES, capture, codes, exec_, run

ODD = os.environ['KILN_ODD_DRIVER']


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

    def test_a_program_that_opens_the_driver_by_its_name_gets_the_layer(self):
        # `kiln run` opens it past the loader.
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.basename(CPU)
            os.symlink(os.environ['KILN_LAYER'], os.path.join(folder, name))
            words = [KILN, 'devices', '--device', 'driver:' + name]
            done = run(*words, LD_LIBRARY_PATH=folder, KILN_LAYER_DRIVER=CPU, KILN_LAYER_VERBOSE='1')
            self.assertEqual((done.returncode, done.stderr), (0, 'kiln exec: no call was refused\n'))
            plain = run(*words, LD_LIBRARY_PATH=os.path.dirname(CPU), LD_PRELOAD=os.environ['KILN_LAYER'],
                        KILN_LAYER_DRIVER=CPU, KILN_LAYER_VERBOSE='1')
            self.assertEqual((plain.returncode, plain.stderr), (0, ''))

    def test_what_an_outer_exec_was_asked_for_stays(self):
        with tempfile.TemporaryDirectory() as folder:
            path, own = (pathlib.Path(folder) / name for name in ('outer.json', 'inner.json'))
            outer = ['--device', 'cpu', '--guard', '--verbose', '--json', path, '--', KILN, 'exec']
            told = lambda file: [json.loads(line) for line in file.read_text().splitlines()]
            inner = exec_(*outer, '--', RAW, KERNELS, 'queue')
            self.assertEqual([(each['code'], each['answered_by']) for each in told(path)], [('K0224', 'kiln')])
            quiet = exec_(*outer, '--', RAW, KERNELS, 'nothing')
            self.assertEqual(quiet.stderr.splitlines()[1:], ['kiln exec: no call was refused'])
            exec_(*outer, '--json', own, '--', RAW, KERNELS, 'queue')
            self.assertEqual((len(told(path)), len(told(own))), (0, 1))

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

    def test_a_program_whose_files_may_not_grow_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            limited = exec_('--device', 'cpu', '--json', os.path.join(folder, 'refused.json'), '--', RAW, KERNELS, 'small-files')
            self.assertIn('zeCommandQueueCreate: 0x', limited.stdout)
            self.assertEqual(limited.returncode, -signal.SIGXFSZ)

    def test_nothing_is_said_where_nothing_is_refused(self):
        quiet = exec_('--device', 'cpu', '--', RAW, KERNELS, 'nothing')
        self.assertEqual((quiet.returncode, quiet.stderr), (0, ''))
        loud = exec_('--device', 'cpu', '--verbose', '--', RAW, KERNELS, 'nothing')
        begin = 'kiln exec: each process that uses Level Zero says at its end what was refused; silence: none does\n'
        self.assertEqual((loud.returncode, loud.stderr), (0, begin + 'kiln exec: no call was refused\n'))
        other = exec_('--device', 'cpu', '--verbose', '--', 'true')
        self.assertEqual((other.returncode, other.stderr), (0, begin))

    def test_a_lost_device_comes_with_the_launches_before(self):
        lost = exec_('--device', 'cpu', '--', RAW, KERNELS, KILN_CPU_FAULT='lost=3')
        told = lost.stderr[lost.stderr.index('error[K0220]'):]
        self.assertRegex(told, r"= done before: +`tiled`, 1 x 1 x 1 groups of 16 x 16 x 1\n")
        self.assertRegex(told, r"= done before: +`saxpy`, 4 x 1 x 1 groups of 250 x 1 x 1\n")

    def test_the_launch_that_was_refused_is_none_of_the_eight_before(self):
        lost = exec_('--device', 'cpu', '--', RAW, KERNELS, 'until-lost', KILN_CPU_FAULT='lost=10')
        self.assertEqual(re.findall(r'`saxpy`, (\d+) x 1 x 1 groups', lost.stderr), list('98765432'))

    def test_launches_of_each_kind_are_those_before(self):
        lost = exec_('--device', 'cpu', '--', RAW, KERNELS, 'kinds-of-launches', KILN_CPU_FAULT='lost=4')
        self.assertEqual(re.findall(r'= done before: +(.*)\n', lost.stderr),
                         ['`tiled`, 1 x 1 x 1 groups of 16 x 16 x 1', '`saxpy`, 2 x 1 x 1 groups of 16 x 1 x 1',
                          '`saxpy`, groups as memory says of 16 x 1 x 1'])

    def test_files_of_the_program_stay_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            refused, own = os.path.join(folder, 'refused.json'), os.path.join(folder, 'own')
            exec_('--device', 'cpu', '--json', refused, '--', RAW, KERNELS, 'close-files', own)
            self.assertEqual(pathlib.Path(own).read_text(), '')
            self.assertEqual([json.loads(line)['code'] for line in pathlib.Path(refused).read_text().splitlines()],
                             ['K0260'])

    def test_a_log_that_the_driver_does_not_write_stays_as_it_was(self):
        plain = run(RAW, KERNELS, 'garbage-log', ZE_ENABLE_ALT_DRIVERS=CPU)
        self.assertEqual(plain.stdout.count('log as it was: 1\n'), 2)
        for mode in ((), ('--guard',), ('--cache',)):
            with self.subTest(mode), tempfile.TemporaryDirectory() as folder:
                layered = exec_('--device', 'cpu', *mode, '--', RAW, KERNELS, 'garbage-log', KILN_CACHE_DIR=folder)
                self.assertEqual((layered.returncode, layered.stdout), (0, plain.stdout))

    def test_a_child_has_nothing_of_its_parents_to_tell(self):
        forked = exec_('--device', 'cpu', '--', RAW, KERNELS, 'fork')
        self.assertIn('child: 0\n', forked.stdout)
        self.assertEqual(re.findall(r'kiln exec: .*', forked.stderr), ['kiln exec: 1 call was refused, for 1 reason'])

    def test_a_child_waits_for_no_thread_of_its_parent(self):
        forked = exec_('--device', 'cpu', '--', RAW, KERNELS, 'forks-beside')
        self.assertIn('children that did not come back: 0\n', forked.stdout)

    def test_memory_that_runs_out_is_told_once_whatever_its_size(self):
        layered = exec_('--device', 'cpu', '--', RAW, KERNELS, 'sizes', KILN_CPU_FAULT='memory=24M')
        self.assertEqual(layered.stdout.count('zeMemAllocDevice: 0x70000003\n'), 19)
        self.assertEqual(len(codes(layered.stderr)), 1)
        self.assertIn('kiln exec: 19 calls were refused, for 1 reason\n', layered.stderr)

    def test_errno_stays_as_the_driver_leaves_it(self):
        plain = run(RAW, KERNELS, 'errno', ZE_ENABLE_ALT_DRIVERS=CPU)
        layered = exec_('--device', 'cpu', '--', RAW, KERNELS, 'errno')
        self.assertIn('errno as it was: 1\n', plain.stdout)
        self.assertEqual(layered.stdout, plain.stdout)

    def test_a_call_of_which_nothing_more_is_known_has_the_meaning_of_its_code(self):
        layered = exec_('--device', 'cpu', '--', RAW, KERNELS, 'queue')
        told, _, summary = layered.stderr.rpartition('kiln exec: ')
        self.assertEqual(told, (GOLDEN / 'K0260.txt').read_text())
        self.assertEqual(summary, '1 call was refused, for 1 reason\n')


class Record(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, 'calls')

    def exec_(self, *words, **environment):
        return exec_('--device', 'cpu', '--record', self.path, '--', RAW, KERNELS, *words, **environment)

    def explained(self, path=None):
        shown = run(KILN, 'explain', '--json', path or self.path)
        answer = json.loads(shown.stdout)
        return shown.returncode, answer['record'], answer['finding']

    def test_what_was_under_way_is_there_however_the_program_ends(self):
        for how, status in (('abort', -signal.SIGABRT), ('segv', -signal.SIGSEGV), ('kill', -signal.SIGKILL), ('_exit', 0)):
            with self.subTest(how=how):
                self.assertEqual(self.exec_('die', how).returncode, status)
                code, record, finding = self.explained()
                launches = {each['groups'][0]: each['state'] for each in record['last'] if 'groups' in each}
                self.assertEqual(launches, {1: 'done', 2: 'done', 3: 'done', 4: 'under way', 5: 'under way'})
                self.assertEqual((code, record['exited'], record['runs'], finding['code']), (0, False, False, 'K0530'))
                calls = [each['call'] for each in record['last']]
                for call in ('zeModuleCreate', 'zeKernelCreate', 'zeMemAllocShared', 'zeCommandQueueExecuteCommandLists',
                             'zeCommandQueueSynchronize', 'zeEventHostSynchronize'):
                    self.assertIn(call, calls)
        self.assertEqual([(each['module'], each['bytes'] > 0) for each in record['last'] if 'module' in each], [(1, True)])

    def test_a_wait_that_spins_drives_out_nothing(self):
        self.assertEqual(self.exec_('die', 'spin').returncode, -signal.SIGABRT)
        _, record, finding = self.explained()
        launches = {each['groups'][0]: each['state'] for each in record['last'] if 'groups' in each}
        self.assertEqual(launches, {1: 'done', 2: 'done', 3: 'done', 4: 'under way', 5: 'under way'})
        self.assertLess(record['calls'], 100)
        self.assertEqual(finding['message'], 'the program ended while work may have been under way on the device')

    def test_an_event_that_is_asked_until_it_is_there(self):
        self.exec_('die', 'query')
        _, record, _ = self.explained()
        launches = {each['groups'][0]: each['state'] for each in record['last'] if 'groups' in each}
        self.assertEqual((launches[5], launches[6]), ('under way', 'done'))
        self.assertEqual([each['call'] for each in record['last']].count('zeEventQueryStatus'), 1)

    def test_an_event_of_a_list_in_order_ends_what_stands_before(self):
        for how, before in (('in-order', 'done'), ('any-order', 'under way')):
            with self.subTest(how=how):
                self.assertEqual(self.exec_('die', how).returncode, -signal.SIGABRT)
                _, record, _ = self.explained()
                launches = {each['groups'][0]: each['state'] for each in record['last'] if 'groups' in each}
                self.assertEqual(launches, {1: before, 2: 'done', 11: before, 12: 'done', 3: 'under way'})

    def test_a_list_is_known_as_long_as_it_lives(self):
        self.exec_('die', 'many-lists')
        _, record, _ = self.explained()
        launches = {each['groups'][0]: each['state'] for each in record['last'] if 'groups' in each}
        self.assertEqual((launches[4], launches[6]), ('done', 'done'))

    def test_a_program_that_ends_well_has_nothing_under_way(self):
        self.exec_('sizes')
        code, record, finding = self.explained()
        self.assertEqual((record['exited'], [each['state'] for each in record['last']]), (True, ['done'] * 20))
        self.assertEqual((code, finding), (1, None))

    def test_the_call_that_a_program_is_in(self):
        environment = {name: value for name, value in os.environ.items() if name != 'LD_LIBRARY_PATH'}
        waiting = subprocess.Popen([KILN, 'exec', '--device', 'cpu', '--record', self.path, '--', RAW, KERNELS, 'wait'],
                                   env=environment, stdout=subprocess.DEVNULL)
        try:
            for _ in range(2000):  # until it is there
                answer = json.loads(run(KILN, 'explain', '--json', self.path).stdout)
                last = answer.get('record', {}).get('last')
                if last and last[-1]['call'] == 'zeEventHostSynchronize':
                    break
            _, record, finding = self.explained()
            self.assertEqual((record['last'][-1]['state'], record['runs']), ('inside', True))
            self.assertEqual(finding['message'], 'the program is inside zeEventHostSynchronize')
        finally:
            waiting.kill()
            waiting.wait()
        _, record, finding = self.explained()
        self.assertEqual((record['last'][-1]['state'], record['runs']), ('inside', False))
        self.assertEqual(finding['message'], 'the program ended inside zeEventHostSynchronize')

    def test_a_lost_device_is_told_whatever_the_code_of_the_call(self):
        self.exec_('until-lost', KILN_CPU_FAULT='lost=10')
        _, record, finding = self.explained()
        self.assertEqual(finding['message'], 'the device was lost')
        self.assertEqual([each['state'] for each in record['last'] if 'groups' in each], ['done'] * 9 + ['refused'])

    def test_each_process_has_a_record_of_its_own(self):
        forked = self.exec_('fork-launches')
        child = re.search(r'child (\d+)', forked.stdout).group(1)
        groups = lambda record: [each['groups'][0] for each in record['last'] if 'groups' in each]
        _, record, _ = self.explained()
        self.assertEqual(groups(record), [1, 3])
        _, record, _ = self.explained(self.path + '.' + child)
        self.assertEqual((groups(record), record['process']), ([2], int(child)))
        poor = self.exec_('fork-launches', 'no-room')
        self.assertEqual(groups(self.explained()[1]), [1, 3])
        self.assertEqual(poor.stdout.count('zeCommandListAppendLaunchKernel: 0x0\n'), 3)
        two = exec_('--device', 'cpu', '--record', self.path, '--', 'sh', '-c',
                    f'{RAW} {KERNELS} sizes && exec {RAW} {KERNELS} nothing')
        self.assertEqual(two.returncode, 0)
        _, record, _ = self.explained()
        self.assertEqual(record['calls'], 20)

    def test_the_answers_are_the_same(self):
        plain = run(RAW, KERNELS, ZE_ENABLE_ALT_DRIVERS=CPU, RAW_EXECUTES='1')
        self.assertEqual(self.exec_(RAW_EXECUTES='1').stdout, plain.stdout)

    def test_a_file_stays_unless_a_record_replaces_it(self):
        self.assertEqual(exec_('--record', self.path, '--', 'true').returncode, 0)
        before = pathlib.Path(self.path).read_bytes()
        small = run('sh', '-c', f'ulimit -f 10; exec {KILN} exec --record {self.path} -- true')
        self.assertEqual((small.returncode, codes(small.stderr)), (125, ['K0451']))
        self.assertEqual(pathlib.Path(self.path).read_bytes(), before)
        self.assertEqual(exec_('--record', self.path, '--', 'true').returncode, 0)
        own = pathlib.Path(self.path + '-mine')
        for text in ('#!/bin/sh\n', 'kil'):
            own.write_text(text)
            own.chmod(0o755)
            done = exec_('--record', str(own), '--', str(own))
            self.assertEqual((done.returncode, codes(done.stderr), own.read_text()), (125, ['K0451'], text))
        own.write_text('')
        self.assertEqual(exec_('--record', str(own), '--', 'true').returncode, 0)
        self.assertEqual(sorted(os.listdir(os.path.dirname(self.path))), ['calls', 'calls-mine'])

    def test_no_record(self):
        self.assertEqual(exec_('--record', self.path, '--', 'true').returncode, 0)
        shown = run(KILN, 'explain', self.path)
        self.assertEqual(shown.returncode, 1)
        self.assertIn('no program has opened a Level Zero driver', shown.stdout)
        with open(self.path, 'r+b') as file:
            file.truncate(1000)
        cut = run(KILN, 'explain', self.path)
        self.assertEqual((cut.returncode, cut.stderr), (2, (GOLDEN / 'K0456.txt').read_text().replace('CALLS', self.path)))
        lost = exec_('--record', '/nonexistent/file', '--', 'echo', 'started')
        self.assertEqual((lost.returncode, lost.stdout, codes(lost.stderr)), (125, '', ['K0451']))
        # What cannot be written any more when the driver is opened is told, and the program goes on.
        layered = run(RAW, KERNELS, 'nothing', ZE_ENABLE_ALT_DRIVERS=os.environ['KILN_LAYER'], KILN_LAYER_DRIVER=CPU,
                      KILN_LAYER_RECORD='/nonexistent/file')
        self.assertEqual((layered.returncode, codes(layered.stderr)), (0, ['K0451']))


TABLES_IN_HANDLES = r"""
import ctypes, sys
library, calls = ctypes.CDLL(sys.argv[1]), lambda name, count: (ctypes.c_void_p * count)()
tables = {}
for name, count in (('Global', 1), ('Driver', 6)):
    tables[name] = (ctypes.c_void_p * count)()
    assert getattr(library, f'zeGet{name}ProcAddrTable')(0x10004, tables[name]) == 0
function = lambda table, place, *types: ctypes.CFUNCTYPE(ctypes.c_uint, *types)(tables[table][place])
assert function('Global', 0, ctypes.c_uint)(0) == 0
one, driver = ctypes.c_uint(1), ctypes.c_void_p()
assert function('Driver', 0, ctypes.c_void_p, ctypes.c_void_p)(ctypes.byref(one), ctypes.byref(driver)) == 0
get = function('Driver', 4, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
count = ctypes.c_uint(0)
assert get(driver, ctypes.byref(count), None) == 0
shown = ctypes.create_string_buffer(260 * count.value)
assert get(driver, ctypes.byref(count), shown) == 0
names = [shown.raw[260 * i:260 * i + 256].split(b'\0')[0].decode() for i in range(count.value)]
# ze_driver_ddi_handles_ext_properties_t behind ze_driver_properties_t
class Chained(ctypes.Structure):
    _fields_ = [('stype', ctypes.c_uint), ('next', ctypes.c_void_p), ('flags', ctypes.c_uint)]
class Properties(ctypes.Structure):
    _fields_ = [('stype', ctypes.c_uint), ('next', ctypes.c_void_p), ('rest', ctypes.c_ubyte * 20)]
chained = Chained(0x20027, None, 0)
properties = Properties(1, ctypes.addressof(chained))
assert function('Driver', 2, ctypes.c_void_p, ctypes.c_void_p)(driver, ctypes.byref(properties)) == 0
print('ZE_extension_driver_ddi_handles' in names, chained.flags, len(names) > 3)
"""


REFUSED_BUILDS = r"""
import ctypes, sys
layer = ctypes.CDLL(sys.argv[1])
table = (ctypes.c_void_p * 16)()
assert layer.zeGetModuleProcAddrTable(0x10004, table) == 0
class Description(ctypes.Structure):
    _fields_ = [('stype', ctypes.c_uint), ('next', ctypes.c_void_p), ('format', ctypes.c_uint), ('size', ctypes.c_size_t),
                ('code', ctypes.c_char_p), ('flags', ctypes.c_char_p), ('constants', ctypes.c_void_p)]
source = b'kernel void k() {}'
description = Description(0x1b, None, 3, len(source), source, b'', None)
garbage = 0x5a5a5a5a5a5a5a50
log, module = ctypes.c_void_p(garbage), ctypes.c_void_p(0x30)
create = ctypes.CFUNCTYPE(ctypes.c_uint, *[ctypes.c_void_p] * 5)(table[0])
link = ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.c_uint, *[ctypes.c_void_p] * 2)(table[2])
print(hex(create(0x10, 0x20, ctypes.byref(description), ctypes.byref(module), ctypes.byref(log))), log.value == garbage)
print(hex(link(1, ctypes.byref(module), ctypes.byref(log))), log.value == garbage)
"""


class Layer(unittest.TestCase):
    def test_what_stands_in_the_place_of_a_build_log_is_not_looked_at(self):
        built = run(sys.executable, '-c', REFUSED_BUILDS, os.environ['KILN_LAYER'], KILN_LAYER_DRIVER=ODD)
        self.assertEqual((built.returncode, built.stdout), (0, '0x7800000d True\n0x70000005 True\n'))
        self.assertEqual(codes(built.stderr), ['K0203', 'K0260'])

    def test_a_driver_that_cannot_be_asked_is_told(self):
        for mode in ('watch', 'guard'):
            built = run(sys.executable, '-c', REFUSED_BUILDS, os.environ['KILN_LAYER'], KILN_LAYER_DRIVER=ODD,
                        KILN_LAYER_MODE=mode, KILN_ODD_LACKS='1')
            self.assertEqual((built.returncode, built.stdout), (0, '0x7800000d True\n0x70000005 True\n'))
            self.assertEqual(codes(built.stderr), ['K0306', 'K0203', 'K0260'])
            self.assertIn('zeGetKernelProcAddrTable', built.stderr)

    def test_tables_inside_handles_are_not_offered(self):
        # Newer loaders call through them where the driver offers them, past the layer.
        ask = [sys.executable, '-c', TABLES_IN_HANDLES]
        self.assertEqual(run(*ask, CPU).stdout, 'True 1 True\n')
        self.assertEqual(run(*ask, os.environ['KILN_LAYER'], KILN_LAYER_DRIVER=CPU).stdout, 'False 0 True\n')


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

    @unittest.skipUnless(INTEL and not os.path.exists('/dev/dri'), "Intel's driver with a GPU, or none of it")
    def test_a_driver_without_a_device_is_told(self):
        done = exec_('--', RAW, KERNELS, 'good')
        self.assertEqual((done.returncode, codes(done.stderr)), (1, ['K0260']))
        self.assertIn('zeInit gave ZE_RESULT_ERROR_UNINITIALIZED', done.stderr)
        self.assertIn('kiln doctor', done.stderr)

    def test_files_that_cannot_be_meant(self):
        for words, status, code in ((('--json', '-'), 125, 'K0451'), (('--record', '-'), 125, 'K0451'),
                                    (('--record', 'calls', '--json', './calls'), 2, 'K0400')):
            done = exec_(*words, '--', 'true')
            self.assertEqual((done.returncode, done.stdout, codes(done.stderr)), (status, '', [code]))

    def test_the_layer_is_not_its_own_driver(self):
        layer = os.environ['KILN_LAYER']
        layered = run(RAW, KERNELS, ZE_ENABLE_ALT_DRIVERS=layer, KILN_LAYER_DRIVER=layer)
        self.assertEqual((layered.returncode, codes(layered.stderr)), (1, ['K0306']))

    def test_a_layer_that_is_not_installed(self):
        missing = exec_('--', 'true', KILN_LAYER='/nonexistent/libze_kiln_layer.so')
        self.assertEqual((missing.returncode, missing.stderr), (125, (GOLDEN / 'K0452.txt').read_text()))


IMAGE, GLOBALS = os.environ['KILN_IMAGE_SPIRV'], os.environ['KILN_GLOBALS_SPIRV']
# Of `raw`: the words, the call and its answer under --guard, and the code that says why. Driver 22.43 without a GPU
# dies of the first eight; `properties` it would never leave; of the rest it takes some and goes wrong.
DANGERS = [
    (['cooperative'], 'zeKernelSuggestMaxCooperativeGroupCount: 0x70000003', 'K0101'),
    (['null-kernel'], 'zeKernelSetGroupSize: 0x78000005', 'K0222'),
    (['null-list'], 'zeCommandListAppendLaunchKernel: 0x78000005', 'K0222'),
    (['null-groups'], 'zeCommandListAppendLaunchKernel: 0x78000007', 'K0222'),
    (['null-image', IMAGE], 'zeKernelSetArgumentValue: 0x78000005', 'K0121'),
    (['null-copy'], 'zeCommandListAppendMemoryCopy: 0x78000007', 'K0222'),
    (['file', GLOBALS], 'zeModuleCreate: 0x7800000f', 'K0113'),
    (['no-spirv'], 'zeModuleCreate: 0x70000004', 'K0203'),
    (['properties'], 'both the same: 1', None),
    (['queue'], 'zeCommandQueueCreate: 0x78000004', 'K0224'),
    (['fill'], 'zeCommandListAppendMemoryFill: 0x78000008', 'K0226'),
    (['alignment'], 'zeMemAllocShared: 0x7800000a', 'K0205'),
    (['odd-alignment'], 'zeMemAllocDevice: 0x7800000a', 'K0205'),
    (['size'], 'zeMemAllocHost: 0x70000002', 'K0225'),
    (['no-events'], 'zeEventPoolCreate: 0x78000008', 'K0223'),
]
# These are not in old drivers.
WITH_ARGUMENTS = [
    (['arguments-over'], 'zeCommandListAppendLaunchKernelWithArguments: 0x70000003', 'K0101'),
    (['arguments-group'], 'zeCommandListAppendLaunchKernelWithArguments: 0x78000013', 'K0102'),
]


class Guard(unittest.TestCase):
    def told(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'refused.json'
            done = exec_('--json', path, *words)
            return done, [json.loads(line) for line in path.read_text().splitlines()]

    def check(self, device, dangers):
        for words, answer, code in dangers:
            with self.subTest(words=words, device=device):
                guarded, told = self.told('--guard', '--device', device, '--', RAW, KERNELS, *words)
                self.assertEqual(guarded.returncode, 0, guarded.stdout)
                self.assertIn(answer + '\n', guarded.stdout)
                self.assertTrue(guarded.stdout.endswith('zeContextDestroy: 0x0\n'))
                if code:
                    self.assertIn((answer.partition(':')[0], code), [
                        (each['call'], each['code']) for each in told if each['answered_by'] != 'driver'])

    def test_what_would_end_the_process_does_not_on_the_cpu_device(self):
        # It has no images, and refuses such a kernel by itself.
        self.check('cpu', [each for each in DANGERS if each[0][0] != 'null-image'] + WITH_ARGUMENTS)

    def test_arguments_that_came_with_a_launch_are_those_of_the_next(self):
        guarded, told = self.told('--guard', '--device', 'cpu', '--', RAW, KERNELS, 'arguments-after')
        self.assertEqual(re.findall('zeCommandListAppend.*', guarded.stdout), [
            'zeCommandListAppendLaunchKernelWithArguments: 0x0', 'zeCommandListAppendLaunchKernel: 0x0',
            'zeCommandListAppendLaunchKernelWithArguments: 0x70000003', 'zeCommandListAppendLaunchKernelWithArguments: 0x0',
            'zeCommandListAppendLaunchKernel: 0x0'])
        self.assertEqual([each['code'] for each in told], ['K0101'])

    @unittest.skipUnless(INTEL, "Intel's driver does not load here")
    def test_what_would_end_the_process_does_not_in_intels_driver(self):
        if run(RAW, KERNELS, 'nothing', **capture('tgllp')).returncode != 0:
            self.skipTest("no driver of Intel's")
        self.check('capture:tgllp', DANGERS)
        self.check('capture:dg2', DANGERS)
        # Driver 26.27 compiles no kernel with images for it.
        self.check('capture:pvc', [each for each in DANGERS if each[0][0] != 'null-image'])

    def test_what_is_right_has_the_same_answers(self):
        plain = run(RAW, KERNELS, ZE_ENABLE_ALT_DRIVERS=CPU, RAW_EXECUTES='1')
        guarded = exec_('--guard', '--device', 'cpu', '--', RAW, KERNELS, RAW_EXECUTES='1')
        self.assertEqual((guarded.returncode, guarded.stdout), (0, plain.stdout))


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
