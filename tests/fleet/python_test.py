# SPDX-License-Identifier: MIT
"""Stores of several machines from Python, and so from C: python_test.py SOURCE BUILD."""
import os
import pathlib
import sys
import unittest

import servers
from fleet_case import STORE, FleetCase

servers.need((servers.REDIS, 'redis-server'), (servers.OPENSSL, 'openssl'))
SOURCE, BUILD = map(pathlib.Path, sys.argv[1:3])
sys.path.insert(0, str(SOURCE / 'python'))
os.environ.update(KILN_LIBRARY=str(BUILD / 'src' / 'libkiln.so.0'), KILN_STORE=STORE)
import kiln  # noqa: E402


class Python(FleetCase):
    def load(self, folder, **options):
        with kiln.Cache(self.root / folder, **options) as cache:
            bundle = kiln.Bundle(kiln.Device('cpu'), SOURCE / 'spirv' / 'saxpy.spv', cache=cache)
            return bundle.origin, cache.counts

    def test_one_compiles_signs_and_gives_and_another_takes_what_it_trusts(self):
        redis = servers.Redis()
        trusted = self.root / 'trusted'
        trusted.touch(mode=0o600)
        trusted.write_text(f'trust {servers.signing_key(self.root / "key")}\n')
        origin, counts = self.load('a', remote=[redis.url], remote_wait=10, signing_key=self.root / 'key', trust_file=trusted, keep_inputs=1 << 20)
        self.assertEqual((origin, counts['compilations'], counts['remote_hits']), ('jit', 1, 0))
        self.assertEqual(len(list((self.root / 'a' / 'v1' / 'inputs').iterdir())), 1)
        servers.until(lambda: len(redis.keys()) == 1)
        options = {'remote': [redis.url + ',read-only'], 'remote_wait': 10}
        origin, counts = self.load('b', trust_file=trusted, **options)
        self.assertEqual((origin, counts['compilations'], counts['remote_hits'], counts['remote_refused']), ('cache', 0, 1, 0))
        origin, counts = self.load('c', trust_file=self.root / 'nobody', **options)
        self.assertEqual((origin, counts['compilations'], counts['remote_hits'], counts['remote_refused']), ('jit', 1, 0, 1))

    def test_what_cannot_be_meant(self):
        with self.assertRaises(TypeError):
            kiln.Cache(self.root / 'a', remote='redis://cache.example')
        with self.assertRaises(kiln.Error) as caught:
            kiln.Cache(self.root / 'a', remote=['redis://me:secret@cache.example,readonly'])
        self.assertNotIn('secret', str(caught.exception))
        for wrong in ({'remote_wait': -1}, {'keep_inputs': -1}):
            with self.assertRaises(ValueError):
                kiln.Cache(self.root / 'a', **wrong)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
