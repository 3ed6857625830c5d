# SPDX-License-Identifier: MIT
# `kiln exec --cache`: a program that knows nothing of Kiln compiles once, and has the same answers.
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import unittest

from layer_case import CPU, INTEL, KERNELS, KILN, RAW, capture, codes, exec_, run

MODULES, COUNTING, TESTS = os.environ['KILN_MODULES'], os.environ['KILN_COUNTING_DRIVER'], os.environ['KILN_TESTS']
SAXPY, MATMUL = KERNELS + '/saxpy.spv', KERNELS + '/matmul.spv'
GLOBAL, SPECIAL, EXTERNAL = (os.path.join(TESTS, *each) for each in (
    ('device/spirv', 'global.spv'), ('cpu_driver', 'spec.spv'), ('cpu_program/spirv', 'external.spv')))
LINKED = [os.path.join(TESTS, 'device', 'spirv', name) for name in ('link_main.spv', 'link_part.spv')]
# What is not the same in two processes without a cache either: addresses; what driver 22.43 never set.
VARYING = re.compile(r'Module <0x[0-9a-f]+>|(?<=bytes, )[0-9a-f]{16}(?=\n)'
                     # A variable or function that is not given out: driver 26.27 says UNSUPPORTED_FEATURE of a module of
                     # SPIR-V, and INVALID_GLOBAL_NAME or INVALID_FUNCTION_NAME of one of native code.
                     r'|(?<=: 0x780000)(?:03|1[02])(?=, (?:0 bytes, )?there: 0\n)')


class Case(unittest.TestCase):
    """A driver that counts stands before the real one."""
    behind, name, environment = CPU, 'libze_kiln_cpu_counting.so', {}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.driver = self.folder / self.name  # by its name Kiln takes it for the one behind
        shutil.copy(COUNTING, self.driver)
        self.log, self.cache = self.folder / 'counted', self.folder / 'cache'
        if self.plain('facts', SAXPY).returncode != 0:
            self.skipTest('no driver of that kind')

    def variables(self, more):
        return {**self.environment, 'KILN_COUNTED': self.behind, 'KILN_COUNTING': str(self.log), **more}

    def plain(self, *words, **more):
        done = exec_('--device', f'driver:{self.driver}', '--', MODULES, *words, **self.variables(more))
        self.log.unlink(missing_ok=True)
        return done

    def words(self, *options):
        return ['--verbose', '--cache-folder', self.cache, '--device', f'driver:{self.driver}', *options, '--']

    def cached(self, *words, options=(), program=MODULES, **more):
        """Its answers, and what the driver was given."""
        done = exec_(*self.words(*options), program, *words, **self.variables(more))
        done.asked = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return done

    def summary(self, done, hits, stored, others=0):
        last = re.search(r'kiln exec: \d+ modules? made of SPIR-V: (\d+) from the cache, (\d+) compiled and stored, '
                         r'(\d+) compiled and not stored\n$', done.stderr)
        self.assertIsNotNone(last, done.stderr)
        self.assertEqual([int(each) for each in last.groups()], [hits, stored, others], done.stderr)

    def entries(self):
        return [path for path in self.cache.glob('v1/??/*') if path.is_file()]


class Cached(Case):
    def same_answers(self, *words, modules=1):
        plain = self.plain(*words)
        first, second = self.cached(*words), self.cached(*words)
        self.assertEqual(plain.returncode, 0, plain.stdout)
        for done in (first, second):
            self.assertEqual((done.returncode, VARYING.sub('', done.stdout)), (0, VARYING.sub('', plain.stdout)))
        binaries = [re.findall('native binary: .*', done.stdout) for done in (first, second)]
        self.assertEqual(*binaries)
        self.assertEqual((first.asked, second.asked), (['spirv 0x0'] * modules, ['native 0x0'] * modules))
        self.summary(first, 0, modules)
        self.summary(second, modules, 0)
        return plain

    def test_the_second_run_compiles_nothing_and_has_the_same_answers(self):
        for words in ([SAXPY], [MATMUL], [GLOBAL], [GLOBAL, '-cl-std=CL2.0 -library-compilation -ze-take-global-address'],
                      [KERNELS + '/histogram.spv', '-g'], [SPECIAL, '', '7=5', '9=3']):
            with self.subTest(words=words):
                self.same_answers('facts', *words)

    def test_modules_are_linked_after_their_build(self):
        plain = self.same_answers('link', *LINKED, modules=2)
        self.assertIn('linked: 0x0\n', plain.stdout)
        if self.behind == CPU:
            self.assertIn('doubled: 42\n', plain.stdout)

    def test_several_inputs_are_one_module(self):
        self.same_answers('program', *LINKED)

    def test_other_flags_and_constants_are_others(self):
        for words in ([SPECIAL], [SPECIAL, '-cl-fast-relaxed-math'], [SPECIAL, '', '7=5'], [SPECIAL, '', '7=6']):
            self.assertEqual(self.cached('facts', *words).asked, ['spirv 0x0'], words)
        self.assertEqual(len(self.entries()), 4)
        self.assertEqual(self.cached('facts', SPECIAL, '', '7=6').asked, ['native 0x0'])

    def test_what_is_not_sure_goes_to_the_driver_untouched(self):
        for words in (['chained', SAXPY], ['facts', SAXPY, '-zet-profile-flags 1'], ['facts', SPECIAL, '', '1234=5'],
                      ['facts', SPECIAL, '', '7=1', '7=2']):
            with self.subTest(words=words):
                plain, first, second = self.plain(*words), self.cached(*words), self.cached(*words)
                self.assertEqual((first.stdout, second.stdout), (plain.stdout, plain.stdout))
                self.assertEqual({each.split()[0] for each in first.asked + second.asked}, {'spirv'})
        self.assertEqual(self.entries(), [])

    def test_a_refused_build_keeps_its_code_and_log(self):
        refused = EXTERNAL if self.behind == CPU else os.path.join(TESTS, 'device', 'spirv', 'over_static.spv')
        plain = self.plain('facts', refused)
        self.assertRegex(plain.stdout, 'zeModuleCreate: 0x7')
        for _ in range(2):
            done = self.cached('facts', refused)
            self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout))
            self.assertEqual([each.split()[0] for each in done.asked], ['spirv'])
            self.summary(done, 0, 0)
        self.assertEqual(self.entries(), [])

    def test_a_damaged_entry_is_compiled_and_stored_anew(self):
        plain = self.cached('facts', SAXPY)
        entry, = self.entries()
        content = bytearray(entry.read_bytes())
        content[len(content) // 2] ^= 0x10
        entry.chmod(0o600)
        entry.write_bytes(content)
        again = self.cached('facts', SAXPY)
        self.assertEqual((again.stdout, again.asked), (plain.stdout, ['spirv 0x0']))
        self.assertEqual(again.stderr.count('kiln exec: kernel cache: damaged entry'), 1)
        self.assertEqual(self.cached('facts', SAXPY).asked, ['native 0x0'])

    def test_an_entry_that_the_driver_refuses_is_dropped(self):
        plain = self.cached('facts', SAXPY)
        refused = self.cached('facts', SAXPY, KILN_COUNTING_REFUSES='1')
        self.assertEqual((refused.stdout, refused.asked), (plain.stdout, ['native 0x7800000f', 'spirv 0x0']))
        self.assertIn('the driver refuses an entry', refused.stderr)
        self.summary(refused, 0, 1)

    def test_threads_and_processes_compile_once(self):
        self.assertEqual(self.cached('threads', SAXPY).asked.count('spirv 0x0'), 1)
        command = [KILN, 'exec', *self.words(), MODULES, 'threads', MATMUL]
        environment = {name: value for name, value in os.environ.items() if name != 'LD_LIBRARY_PATH'}
        both = [subprocess.Popen(command, env={**environment, **self.variables({})}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                 text=True) for _ in range(2)]
        for each in both:
            self.assertEqual((each.communicate(timeout=120)[0], each.returncode), ('failed: 0\n', 0))
        asked = self.log.read_text().splitlines()
        self.assertEqual((asked.count('spirv 0x0'), asked.count('native 0x0')), (1, 15))

    def test_nobody_waits_for_a_process_that_died(self):
        held = str(self.folder / 'never')
        environment = {name: value for name, value in os.environ.items() if name != 'LD_LIBRARY_PATH'}
        dying = subprocess.Popen([KILN, 'exec', *self.words(), MODULES, 'quiet', SAXPY],
                                 env={**environment, **self.variables({'KILN_COUNTING_HOLDS': held})}, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        while not self.log.exists() or self.log.read_text() != 'held 0x0\n':  # until it compiles
            self.assertIsNone(dying.poll())
            time.sleep(0.01)
        waiting = subprocess.Popen([KILN, 'exec', *self.words(), MODULES, 'quiet', SAXPY], env={**environment, **self.variables({})},
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        dying.send_signal(signal.SIGKILL)
        dying.wait()
        self.assertEqual(waiting.communicate(timeout=60)[0].splitlines()[-1], 'made: 1')
        self.assertEqual(self.log.read_text().splitlines(), ['held 0x0', 'spirv 0x0'])

    def test_files_of_the_program_stay_its_own(self):
        again = self.cached('again', SAXPY)
        self.assertEqual(again.asked, ['spirv 0x0', 'native 0x0'])
        half = len(again.stdout) // 2
        self.assertEqual(*(VARYING.sub('', each) for each in (again.stdout[:half], again.stdout[half:])))

    def test_it_works_beside_the_other_modes(self):
        self.cached('facts', SAXPY)
        record, kept = self.folder / 'calls', self.folder / 'kept.ar'
        done = self.cached('facts', SAXPY, options=('--guard', '--record', record, '--capture', kept))
        self.assertEqual((done.asked, done.returncode), (['native 0x0'], 0))
        self.assertIn('K0208', codes(done.stderr))  # of the kernel that is not there, with the names that are
        self.assertIn('kernel: saxpy', done.stderr)
        # The refused kernel's module is in the archive as the program gave it.
        self.assertIn(pathlib.Path(SAXPY).read_bytes(), kept.read_bytes())
        self.assertNotIn(b'\x7fELF', kept.read_bytes())


class Cpu(Cached):
    def test_a_child_waits_for_no_thread_of_its_parent(self):
        held = str(self.folder / 'held')
        forked = self.cached('fork', SAXPY, held, KILN_COUNTING_HOLDS=held)
        self.assertEqual(forked.stdout, 'child: 0\nchild: 0\nparent: 0\n')
        # The first child had a thread of its parent's in the cache, and does without; the second has it.
        self.assertEqual((forked.asked.count('spirv 0x0'), forked.asked.count('native 0x0')), (2, 1))

    def test_a_whole_program_has_the_same_answers(self):
        plain = run(RAW, KERNELS, ZE_ENABLE_ALT_DRIVERS=CPU, RAW_EXECUTES='1')
        for hits, stored in ((0, 3), (3, 0)):
            done = exec_('--device', 'cpu', '--verbose', '--cache', '--cache-folder', self.cache, '--', RAW, KERNELS, RAW_EXECUTES='1')
            self.assertEqual((done.returncode, done.stdout), (0, plain.stdout))
            self.summary(done, hits, stored)

    def test_the_variables_of_the_library_count(self):
        named = str(self.folder / 'named')
        words = ['--verbose', '--cache', '--device', 'cpu', '--', MODULES, 'facts', SAXPY]
        self.summary(exec_(*words, KILN_CACHE_DIR=named), 0, 1)
        self.summary(exec_(*words, KILN_CACHE_DIR=named, KILN_CACHE='read'), 1, 0)
        off = exec_(*words, KILN_CACHE_DIR=named, KILN_CACHE='off')
        self.summary(off, 0, 0, 1)
        self.assertEqual(off.stderr.count('kernel cache: it is off'), 1)
        fault = exec_(*words, KILN_CACHE_DIR=named, KILN_CPU_FAULT='allocation=1000')
        self.summary(fault, 0, 0, 1)
        self.assertEqual(fault.stderr.count('kiln exec: kernel cache: '), 1)
        wrong = exec_(*words, KILN_CACHE_DIR=named, KILN_CACHE='perhaps')
        self.assertEqual((wrong.returncode, wrong.stdout, codes(wrong.stderr)), (125, '', ['K0701']))
        by_hand = run(MODULES, 'facts', SAXPY, ZE_ENABLE_ALT_DRIVERS=os.environ['KILN_LAYER'], KILN_LAYER_DRIVER=CPU,
                      KILN_LAYER_CACHE=named, KILN_LAYER_VERBOSE='1')
        self.summary(by_hand, 1, 0)

    def test_a_folder_that_cannot_be_used_shows_before_the_program_runs(self):
        for folder in ('/proc/nothing', SAXPY):
            lost = exec_('--cache', '--cache-folder', folder, '--', 'echo', 'started')
            self.assertEqual((lost.returncode, lost.stdout, codes(lost.stderr)), (125, '', ['K0451']))
        self.assertEqual(exec_('--cache', '--cache-folder', '', '--', 'true').returncode, 2)

    def test_what_is_missing_above_the_folder_is_made_as_mkdir_makes_it(self):
        for above, end in (('plain', ''), ('slash', '/'), ('dot', '/.')):
            folder = self.folder / above / 'own'
            words = [KILN, 'exec', '--cache-folder', f'{folder}{end}', '--device', 'cpu', '--', 'true']
            made = subprocess.run(words, umask=0o027, capture_output=True, timeout=60)
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertEqual([stat.S_IMODE(each.stat().st_mode) for each in (folder.parent, folder)], [0o750, 0o700])

    def test_what_an_outer_exec_was_asked_for_stays(self):
        inner = exec_(*self.words(), KILN, 'exec', '--', MODULES, 'facts', SAXPY, **self.variables({}))
        self.assertEqual((inner.returncode, len(self.entries())), (0, 1))


@unittest.skipUnless(INTEL, "Intel's driver does not load here")
class Intel(Cached):
    behind, name, environment = 'libze_intel_gpu.so.1', 'libze_intel_counting.so', capture('tgllp')

    def test_variables_that_shape_code_are_in_the_key(self):
        self.cached('facts', SAXPY)
        self.assertEqual(self.cached('facts', SAXPY, IGC_ForceOCLSIMDWidth='8').asked, ['spirv 0x0'])
        dump = self.cached('facts', SAXPY, IGC_ShaderDumpEnable='1')
        self.summary(dump, 0, 0, 1)
        self.assertIn('kiln exec: kernel cache: ', dump.stderr)


class Guarded(Case):
    """With `--guard` all is known of a kernel before it is launched."""
    def binaries(self, *options):
        """How often the driver was asked for native code."""
        done = exec_('--device', f'driver:{self.driver}', *options, '--', MODULES, 'facts', KERNELS + '/access.spv',
                     **self.variables({'KILN_COUNTING_BINARIES': '1'}))
        self.assertEqual(done.returncode, 0, done.stderr)
        asked = [each.split()[0] for each in self.log.read_text().splitlines()]
        self.log.unlink()
        return asked.count('binary')

    def test_the_cpu_device_is_not_made_to_compile_kernels_that_nobody_makes(self):
        # For native code it compiles all of a module's. The program asks for it too, and prints it.
        self.assertEqual(self.binaries('--guard'), self.binaries())


del Cached, Case


if __name__ == '__main__':
    unittest.main()
