#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`kiln memory`: machines from files, a real control group, watching, and what it refuses."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

from command import DATA, KILN, kiln

MACHINES = DATA.parent / 'memory'


class Machine:
    """The files of such a text in a folder: tests/unit/memory_fixture.hpp."""

    def __init__(self, name):
        self.folder = tempfile.TemporaryDirectory()
        file = None
        for line in (MACHINES / f'{name}.txt').read_text().splitlines(keepends=True):
            if line.startswith('=== '):
                file = pathlib.Path(self.folder.name) / line[4:].strip()
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text('')
            elif file:
                with file.open('a') as to:
                    to.write(line)

    def __enter__(self):
        return self.folder.name

    def __exit__(self, *_):
        self.folder.cleanup()


class Memory(unittest.TestCase):
    def told(self, name, *arguments):
        with Machine(name) as root:
            done = kiln('memory', '--root', root, '--json', *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def codes(self, name, *arguments):
        return [(each['code'], each['severity']) for each in self.told(name, *arguments)['causes']]

    def test_causes(self):
        self.assertEqual(self.codes('host_behind', '--size', str(int(19.4 * 2**30)))[0], ('K0240', 'error'))
        self.assertNotIn('K0240', str(self.codes('host_behind', '--size', str(int(19.3 * 2**30)))))
        # Nobody has asked for anything: what would be in the way of all that is free.
        self.assertEqual(self.codes('host_behind')[0], ('K0240', 'warning'))
        self.assertEqual(self.codes('mirror'), [('K0243', 'warning')])  # of two cards, and once
        self.assertEqual(self.codes('single_card'), [])
        self.assertEqual(self.codes('host', '--size', '6000000000', '--kind', 'host'), [('K0241', 'error')])

    def test_text(self):
        with Machine('others') as root:
            done = kiln('memory', '--root', root, '--size', str(4 << 30))
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in ['card       0000:03:00.0, 8086:e223, xe', '  memory   32.0 GiB',
                     '5001234  llama-server  0000:03:00.0     30.0 GiB      100 MiB        1',
                     'host       15.6 GiB, available 9.3 GiB', '  swap     8.0 GiB, free 8.0 GiB',
                     '  promised at most 23.6 GiB at once']:
            self.assertIn(line, done.stdout)
        self.assertIn('warning[K0244]: `llama-server` (process 5001234) holds 30.0 GiB', done.stdout)

    def test_a_machine_that_the_command_does_not_run_on(self):
        with tempfile.TemporaryDirectory() as root:
            (pathlib.Path(root) / 'proc').mkdir()
            done = kiln('memory', '--root', root)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('\nprocess    none of that machine was named: ', done.stdout)
        self.assertNotIn('no limit', done.stdout)

    def test_promises(self):
        for mode, line in (('0', 'at most 23.6 GiB at once'), ('1', 'without limit'), ('2', '0 B of 0 B')):
            with Machine('others') as root:
                file = pathlib.Path(root) / 'proc/sys/vm/overcommit_memory'
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(mode + '\n')
                self.assertIn(f'  promised {line}', kiln('memory', '--root', root).stdout)

    def test_a_process(self):
        with Machine('others') as root:
            done = kiln('memory', '--root', root, '--pid', '5001234', '--json')
            missing = kiln('memory', '--root', root, '--pid', '5009999', '--json')
        self.assertEqual(json.loads(done.stdout)['program'], 'llama-server')
        self.assertEqual(missing.returncode, 2)
        self.assertEqual(json.loads(missing.stdout)['error']['code'], 'K0400')

    def test_this_machine(self):
        told = json.loads(kiln('memory', '--json').stdout)
        total = next(line for line in pathlib.Path('/proc/meminfo').read_text().splitlines() if line.startswith('MemTotal'))
        self.assertEqual(told['host']['total'], int(total.split()[1]) * 1024)
        self.assertEqual(told['program'], 'kiln')
        self.assertGreater(told['limits']['addresses_used'], 0)

    def test_limits_of_a_process(self):
        script = 'ulimit -l 64; ulimit -v 4000000; exec sleep 60'
        with subprocess.Popen(['bash', '-c', script]) as sleeper:
            try:
                while pathlib.Path(f'/proc/{sleeper.pid}/comm').read_text() != 'sleep\n':
                    pass
                told = json.loads(kiln('memory', '--pid', str(sleeper.pid), '--json').stdout)
            finally:
                sleeper.kill()
        self.assertEqual(told['limits']['locked'], 64 * 1024)
        self.assertEqual(told['limits']['address_space'], 4000000 * 1024)

    def test_a_real_control_group(self):
        limit = 64 << 20
        try:
            group = make_group(limit)
        except OSError as error:
            self.skipTest(f'no control group can be made: {error}')
        with subprocess.Popen(['sleep', '60']) as sleeper:
            try:
                (group / 'cgroup.procs').write_text(str(sleeper.pid))
                told = json.loads(
                    kiln('memory', '--pid', str(sleeper.pid), '--json', '--size', str(1 << 30), '--kind', 'host').stdout)
            finally:
                sleeper.kill()
                sleeper.wait()
                group.rmdir()
        self.assertEqual(told['groups'][0]['limit'], limit)
        self.assertTrue(told['groups'][0]['path'].endswith(group.name))
        self.assertIn(('K0242', 'error'), [(each['code'], each['severity']) for each in told['causes']])

    def test_watch(self):
        with subprocess.Popen([KILN, 'memory', '--watch=0.1', '--json'], stdout=subprocess.PIPE, text=True) as watching:
            lines = [json.loads(watching.stdout.readline()) for _ in range(3)]
            watching.send_signal(signal.SIGINT)
            watching.communicate(timeout=60)
        self.assertEqual([line['program'] for line in lines], ['kiln'] * 3)
        self.assertEqual(watching.returncode, 0)
        with subprocess.Popen([KILN, 'memory', '--watch', '--json'], stdout=subprocess.PIPE, text=True) as watching:
            self.assertEqual(json.loads(watching.stdout.readline())['program'], 'kiln')
            watching.send_signal(signal.SIGTERM)
            watching.communicate(timeout=60)
        self.assertEqual(watching.returncode, 0)

    def test_what_cannot_be_meant(self):
        for arguments in [['--watch=0'], ['--watch=x'], ['--size', '0'], ['--size', '-1'], ['--kind', 'vram'],
                          ['--pid', '0'], ['--pid', 'x'], ['--root', ''], ['--root', '/none'], ['--root', '/usr'], ['surplus']]:
            with self.subTest(arguments):
                done = kiln('memory', *arguments)
                self.assertEqual(done.returncode, 2)
                self.assertIn('error[K0400]', done.stderr)
        self.assertIn('device, host or shared', kiln('memory', '--kind', 'hots').stderr)


def make_group(limit):
    """A new control group with that limit, of the version that counts memory here."""
    first = pathlib.Path('/sys/fs/cgroup/memory')
    unified = not first.is_dir()
    own = next(line.split(':', 2)[2] for line in pathlib.Path('/proc/self/cgroup').read_text().splitlines()
               if (line.startswith('0::') if unified else 'memory' in line.split(':')[1].split(',')))
    base = pathlib.Path('/sys/fs/cgroup') if unified else first
    group = pathlib.Path(f'{base}{own.rstrip("/")}/kiln-test-{os.getpid()}')
    group.mkdir()
    try:
        (group / ('memory.max' if unified else 'memory.limit_in_bytes')).write_text(str(limit))
        # Without swap, where the kernel counts it.
        swap = group / ('memory.swap.max' if unified else 'memory.memsw.limit_in_bytes')
        if swap.exists():
            swap.write_text('0' if unified else str(limit))
    except OSError:
        group.rmdir()
        raise
    return group


if __name__ == '__main__':
    result = unittest.main(exit=False).result
    for _, reason in result.skipped:
        print('skipped:', reason)
    sys.exit(not result.wasSuccessful())
