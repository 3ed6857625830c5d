# SPDX-License-Identifier: MIT
"""What the tests of a fleet share: nodes with folders of their own, and a store's key pair."""
import hashlib
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

NODE, STORE = os.environ['KILN_FLEET_NODE'], os.environ['KILN_FLEET_STORE']
SANITIZED = os.environ.get('KILN_SANITIZE', 'none') != 'none'
for name in list(os.environ):
    if name.startswith('KILN_CACHE') or name.lower().endswith('_proxy'):
        del os.environ[name]


def manifest(key):
    """As tests/fleet/node.cpp makes it."""
    fields = [('input.0.digest', f'number {key}'), ('library.libigc.so.1', '3d1eb51d')]
    return b'KILNMAN1' + b''.join(struct.pack('<I', len(part)) + part.encode() for field in fields for part in field)


def key_of(key):
    return hashlib.sha256(manifest(key)).hexdigest()


class FleetCase(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix='kiln-fleet-')
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        self.log = self.root / 'compilations'

    def environment(self, folder, remote, **more):
        trust = more.pop('trust', None) or str(self.root / 'nobody')
        more.setdefault('KILN_CACHE_REMOTE_WAIT', '10000')  # milliseconds: other programs have the machine too
        return {**os.environ, 'KILN_CACHE_DIR': str(self.root / folder), 'KILN_CACHE_REMOTE': remote, 'KILN_STORE': STORE,
                'KILN_CACHE_TRUST': str(trust), **more}

    def start(self, folder, remote, *settings, **more):
        node = subprocess.Popen([NODE, f'log={self.log}', *settings], env=self.environment(folder, remote, **more), text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.stop, node)
        return node

    @staticmethod
    def stop(node):
        """Also where an assertion failed meanwhile."""
        if node.poll() is None:
            node.kill()
            node.communicate()

    def end(self, node):
        out, lines = node.communicate(timeout=200)
        self.assertEqual(node.returncode, 0, out + lines)
        return {**json.loads(out), 'log': lines}

    def node(self, folder, remote, *settings, **more):
        return self.end(self.start(folder, remote, *settings, **more))

    def limited(self, limit):
        """kiln-store where the shell's `ulimit` says so."""
        program = self.root / 'limited'
        program.write_text(f'#!/bin/sh\nulimit {limit} || exit 9\nexec {STORE}\n')
        program.chmod(0o755)
        return {'KILN_STORE': str(program)}

    def compilations(self):
        return self.log.stat().st_size // 4 if self.log.exists() else 0
