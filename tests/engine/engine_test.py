# SPDX-License-Identifier: MIT
"""The example engine: faults, little memory, kernels that change while frames run; and what Intel's driver accepts."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ENGINE = os.environ['ENGINE']
# By this interpreter: `python3` may be a script of a version manager, which takes half a second to find it.
START = [sys.executable, ENGINE] if ENGINE.endswith('.py') else [ENGINE]
SOURCES = pathlib.Path(os.environ['ENGINE_SOURCES'])
# Of frames with images of 64 x 64: examples/engine/README.md.
TOTALS = [630180672, 639164160, 648919744, 657215104]


def engine(*arguments, **environment):
    done = subprocess.run([*START, *arguments], env={**os.environ, **environment}, capture_output=True, text=True, timeout=300,
                          stdin=subprocess.DEVNULL)
    done.report = json.loads(done.stdout) if '--json' in arguments and done.stdout else None
    return done


def run(*arguments, frames=4, size=64, **environment):
    return engine('--device', 'cpu', '--check', '--json', '--frames', str(frames), '--size', str(size), *arguments, **environment)


class Behaviour(unittest.TestCase):
    def right(self, done, frames=4, sizes=(64,)):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([each['frame'] for each in done.report['frames']], list(range(frames)))
        self.assertEqual({each['size'] for each in done.report['frames']}, set(sizes))
        self.assertEqual({each['wrong'] for each in done.report['frames']}, {''})

    def test_results_are_those_of_the_page(self):
        done = run()
        self.right(done)
        self.assertEqual([each['total'] for each in done.report['frames']], TOTALS)
        self.assertTrue(done.report['in_order'] and done.report['append'])
        for frame in done.report['frames']:
            self.assertTrue(all(time > 0 for time in frame['microseconds'].values()), frame)

    def test_sizes_and_threads(self):
        for size, threads in ((1, 1), (17, 64), (100, 3)):
            self.right(run('--threads', str(threads), size=size), sizes=(size,))

    def test_a_lost_device_is_opened_again(self):
        for number in (1, 3, 9, 14):  # the first is the upload at the start
            done = run(KILN_CPU_FAULT=f'reset={number}')
            self.right(done)
            self.assertEqual(done.report['losses'], 1)
            self.assertEqual([each['total'] for each in done.report['frames']], TOTALS)

    def test_a_device_that_stays_lost_ends_the_run(self):
        done = run(KILN_CPU_FAULT='lost=12')
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn('K0220', done.report['error'])
        self.assertEqual(done.report['losses'], 1)
        self.assertGreater(len(done.report['frames']), 0)

    def test_lack_of_memory_makes_frames_smaller(self):
        self.right(run(size=256, KILN_CPU_FAULT='memory=1M'), sizes=(128,))
        self.right(run(size=256, KILN_CPU_FAULT='memory=200K'), sizes=(64,))
        for number in (5, 19):
            self.right(run(KILN_CPU_FAULT=f'allocation={number}'), sizes=(32,))

    def test_lack_of_shared_local_memory_makes_tiles_smaller(self):
        for product, edge in (('bmg', 128), ('tgllp', 90)):
            done = engine('--device', 'cpu:' + product, '--check', '--json', '--frames', '1', '--size', '200', '--tile', '200')
            self.right(done, frames=1, sizes=(200,))
            self.assertEqual(done.report['tile'], edge)

    def test_a_frame_that_never_ends_is_told(self):
        done = run('--timeout', '1', KILN_CPU_FAULT='event')
        self.assertEqual(done.returncode, 4)
        self.assertIn('is not done after 1 s', done.stderr)

    def test_a_build_that_fails_is_told(self):
        done = run(KILN_CPU_FAULT='build', KILN_CACHE='off')
        self.assertEqual(done.returncode, 4)
        self.assertIn('K0203', done.stderr)

    def test_a_device_is_picked(self):
        listed = engine('--device', 'cpu', '--list-devices', KILN_CPU_DEVICES='3')
        self.assertEqual(listed.returncode, 0, listed.stderr)
        third = listed.stdout.splitlines()[2].split('uuid:')[1].split()[0]
        for pick in ('uuid:' + third, 'type:cpu', 'name:Kiln'):
            self.right(run('--pick', pick, frames=1, KILN_CPU_DEVICES='3'), frames=1)
        for pick in ('uuid:00', 'pci:', 'name:', 'type:discrete', 'nonsense'):
            self.assertEqual(run('--pick', pick).returncode, 4)

    def test_a_device_that_is_not_there_is_told(self):
        for arguments in ([], ['--list-devices']):
            done = engine('--device', 'cpu', *arguments, KILN_CPU_DRIVER='/nowhere.so')
            self.assertEqual((done.returncode, done.stdout), (4, ''), done.stderr)
            self.assertIn('/nowhere.so', done.stderr)
            self.assertNotIn('Traceback', done.stderr)

    def test_what_a_variable_cannot_mean_is_usage(self):
        done = engine('--device', 'cpu', KILN_CACHE='perhaps')
        self.assertEqual((done.returncode, done.stdout), (2, ''), done.stderr)
        self.assertIn('KILN_CACHE', done.stderr)
        self.assertNotIn('Traceback', done.stderr)

    def test_what_cannot_be_meant_is_usage(self):
        for arguments in (['--frames', '0'], ['--frames'], ['--size', '1025'], ['--tile', '1x'], ['--nonsense'], ['--device', 'nonsense'],
                          ['--submission', 'sideways'], ['--threads', '-1'], ['--list-devices', '--device', 'nonsense']):
            done = engine(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ''), arguments)
            self.assertNotEqual(done.stderr, '')


class Reload(unittest.TestCase):
    """The kernel's source changes between frames that a line on standard input starts."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.source = pathlib.Path(self.folder.name, 'convolve.cl')
        self.text = (SOURCES / 'convolve.cl').read_text(encoding='utf-8')
        self.assertIn('filtered[at] = (uint)sum', self.text)
        # Twice the sum tells which kernel it was.
        self.other = self.text.replace('filtered[at] = (uint)sum + cumulative[image[at]]',
                                       'filtered[at] = 2 * ((uint)sum + cumulative[image[at]])')
        self.write(self.text)

    def write(self, text):
        beside = self.source.with_suffix('.new')  # replaced at once, as editors do
        beside.write_text(text, encoding='utf-8')
        beside.replace(self.source)

    def follow(self, texts):
        """The totals of frames, before each of which the source becomes a text (None: stays), and the report's end."""
        with subprocess.Popen([*START, '--device', 'cpu', '--size', '64', '--step', '--frames', str(len(texts)), '--watch', self.source],
                              env={**os.environ, 'KILN_CACHE_DIR': os.path.join(self.folder.name, 'cache')}, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            totals = []
            for text in texts:
                if text is not None:
                    self.write(text)
                process.stdin.write('\n')
                process.stdin.flush()
                line = process.stdout.readline()
                if not line:
                    break
                totals.append(int(line.split('total ')[1].split(',')[0]))
            _, said = process.communicate(timeout=300)
        if 'K0405' in said:
            self.skipTest('no compiler of OpenCL C: ' + said.strip().splitlines()[-1])
        self.assertEqual(process.returncode, 0, said)
        return totals, said

    def test_a_kernel_that_changes_is_taken(self):
        totals, said = self.follow([None, self.other, None, self.text])
        self.assertEqual(totals, [TOTALS[0], 2 * TOTALS[1] % 2**32, 2 * TOTALS[2] % 2**32, TOTALS[3]])
        self.assertEqual(said.count('the kernel is that of'), 3)

    def test_a_kernel_that_is_broken_is_not_taken(self):
        for broken, code in ((self.text.replace('float sum = 0.0f;', 'float sum = nothing;'), 'K0251'),
                             (self.text.replace('kernel void convolve', 'kernel void other'), 'K0208'), ('', 'K02')):
            self.write(self.text)
            totals, said = self.follow([None, broken, None, self.other])
            self.assertEqual(totals, TOTALS[:3] + [2 * TOTALS[3] % 2**32], said)
            self.assertEqual(said.count('the kernel stays as it is'), 1, said)
            self.assertIn(code, said)


class Capture(unittest.TestCase):
    """Intel's driver without a GPU executes nothing, but refuses what a GPU's would."""

    def test_every_submission_is_accepted(self):
        for how in ('auto', 'barriers'):
            done = engine('--device', 'capture:' + os.environ['ENGINE_PRODUCT'], '--frames', '6', '--json', '--submission', how)
            if done.returncode == 4 and not done.report['frames']:
                self.skipTest(done.stderr.strip().splitlines()[0])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len(done.report['frames']), 6)
            self.assertEqual(done.report['losses'], 0)


class Checker(unittest.TestCase):
    """Intel's performance checker, in the validation layer of newer loaders, has nothing to say about engine and samples."""

    ADVICE = '[performance]'

    def said(self, *command):
        environment = {'KILN_KERNEL_PATH': os.environ['ENGINE_SAMPLES' if command[0] != ENGINE else 'KILN_KERNEL_PATH'],
                       'ZE_ENABLE_VALIDATION_LAYER': '1', 'ZEL_ENABLE_PERFORMANCE_CHECKER': '1', 'ZEL_ENABLE_LOADER_LOGGING': '1',
                       'ZEL_LOADER_LOG_CONSOLE': '1', 'ZEL_LOADER_LOGGING_LEVEL': 'warn'}
        done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout + done.stderr

    def test_it_has_no_advice(self):
        # This example's list is synchronous, since that is the shortest: the checker must say so, where there is one.
        if self.ADVICE not in self.said(os.environ['ENGINE_SYNCHRONOUS'], os.environ['ENGINE_SAMPLES'] + '/saxpy'):
            self.skipTest('this loader has no performance checker')
        self.assertNotIn(self.ADVICE, self.said(ENGINE, '--device', 'gpu', '--check', '--size', '64'))
        self.assertNotIn(self.ADVICE, self.said(os.environ['ENGINE_COMMAND'], 'run', '--all', '--device', 'gpu'))


class Layered(unittest.TestCase):
    """As `kiln exec` finds a program: with eight threads that record, two lists in order and one of copies."""

    def under(self, *options, **environment):
        done = subprocess.run([os.environ['ENGINE_COMMAND'], 'exec', '--verbose', '--device', 'cpu', *options, '--', ENGINE, '--device',
                               'gpu', '--check', '--json', '--frames', '4', '--size', '64', '--kernels', SOURCES],  # SPIR-V alone
                              env={**os.environ, **environment}, capture_output=True, text=True, timeout=300,
                              stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([each['total'] for each in json.loads(done.stdout)['frames']], TOTALS)
        self.assertIn('kiln exec: no call was refused\n', done.stderr)
        return done

    def test_it_runs_as_without(self):
        self.under()
        self.under('--guard')

    def test_its_kernels_are_compiled_once(self):
        with tempfile.TemporaryDirectory() as folder:
            cache = ('--cache', '--cache-folder', os.path.join(folder, 'of_layer'))
            for own, summary in (('first', '2 modules made of SPIR-V: 0 from the cache, 2 compiled and stored, 0 compiled and not'),
                                 ('second', '2 modules made of SPIR-V: 2 from the cache, 0 compiled and stored, 0 compiled and not')):
                # The engine's own cache is a new one each time, so that it asks its driver to compile, in its process.
                done = self.under(*cache, KILN_CACHE_DIR=os.path.join(folder, own), KILN_COMPILER='off')
                self.assertIn('kiln exec: ' + summary, done.stderr)

    def test_its_kernels_are_kept_and_launched_again(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = os.path.join(folder, 'engine.ar')
            self.under('--capture', kept, '--capture-launch', '3')
            done = subprocess.run([os.environ['ENGINE_COMMAND'], 'replay', kept, '--device', 'cpu', '--json'], capture_output=True,
                                  text=True, timeout=300, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            entries = json.loads(done.stdout)['entries']
            self.assertEqual({each['kernel'] for each in entries}, {'histogram', 'scan', 'multiply', 'convolve', 'reduce'})
            self.assertTrue(all(each['same'] and each['executed'] for each in entries))


if __name__ == '__main__':
    result = unittest.main(exit=False).result
    for _, reason in result.skipped:
        print('skipped: ' + reason)
    sys.exit(77 if result.wasSuccessful() and len(result.skipped) == result.testsRun else not result.wasSuccessful())
