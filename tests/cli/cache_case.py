# SPDX-License-Identifier: MIT
# What the tests of `kiln cache` share: a folder of their own, the command, and entries made to order.
import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

os.environ.pop('LD_LIBRARY_PATH', None)
for name in ('KILN_CACHE', 'KILN_CACHE_DIR', 'KILN_CACHE_MAX_SIZE', 'KILN_DEVICE'):
    os.environ.pop(name, None)
KILN = os.environ['KILN']
WRITER, USER = os.environ['KILN_CACHE_WRITER'], os.environ['KILN_CACHE_USER']
KERNELS = pathlib.Path(os.environ['KILN_KERNELS'])
SAXPY, MATMUL = str(KERNELS / 'saxpy.spv'), str(KERNELS / 'matmul.spv')
TESTS = pathlib.Path(os.environ['KILN_TESTS'])
SPECIALIZED = str(TESTS / 'cpu_driver' / 'spec.spv')  # constants 7 and 9
MAIN, PART = (str(TESTS / 'device' / 'spirv' / f'link_{name}.spv') for name in ('main', 'part'))
NATIVE = str(pathlib.Path(os.environ['KILN_TEST_DATA'], 'memory.pvc.bin'))
DAY = 24 * 3600
OTHER = 65534  # a user without rights


class CacheCase(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.root = pathlib.Path(self.scratch.name)
        self.folder = self.root / 'cache'

    identity = {}  # of the process: what subprocess.run takes

    def be_a_plain_user(self):
        """Root may do everything: from here on the commands are run by somebody who owns the scratch folder."""
        if os.geteuid() != 0:
            return
        for path in [self.root, *self.root.rglob('*')]:
            os.chown(path, OTHER, OTHER, follow_symlinks=False)
        self.identity = {'user': OTHER, 'group': OTHER, 'extra_groups': []}
        try:
            subprocess.run([KILN, '--version'], capture_output=True, check=True, timeout=60, **self.identity)
        except OSError:
            self.skipTest('the build folder is closed to other users')

    def kiln(self, *arguments, status=0, **environment):
        environment = {**os.environ, 'KILN_CACHE_DIR': str(self.folder), **environment}
        done = subprocess.run([KILN, 'cache', *arguments], env=environment, capture_output=True, text=True, timeout=120,
                              **self.identity)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def ask(self, *arguments, status=0, **environment):
        return json.loads(self.kiln(*arguments, '--json', status=status, **environment).stdout)

    def write(self, *entries, folder=None):
        """Keys of the entries, each a dictionary as cache_writer takes it."""
        done = subprocess.run([WRITER, str(folder or self.folder)], input=json.dumps(entries), capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()

    def file_of(self, key):
        return self.folder / 'v1' / key[:2] / key[2:]

    def age(self, key, seconds):
        at = time.time() - seconds
        os.utime(self.file_of(key), (at, at))

    def flip(self, key, at):
        path = self.file_of(key)
        data = bytearray(path.read_bytes())
        data[at] ^= 1
        path.write_bytes(data)

    def entries(self):
        return {entry['key']: entry for entry in self.ask('list')['entries']}


def entry(name, **others):
    return {'manifest': {'name': name}, 'payload': 1000, **others}


def native_entry(name, **others):
    return {'manifest': {'name': name}, 'payload_of': NATIVE, **others}
