# SPDX-License-Identifier: MIT
"""Signed entries on real stores, and everything that a store can do wrong: never used, always with a reason."""
import os
import subprocess
import unittest

import servers
from fleet_case import FleetCase, key_of

servers.need((servers.REDIS, 'redis-server'), (servers.NGINX, 'nginx'))
KILN = os.environ['KILN']


class Trust(FleetCase):
    def setUp(self):
        super().setUp()
        self.keys = self.root / 'trusted'
        self.redis = servers.Redis()
        self.ours, self.theirs = self.new_key('ours'), self.new_key('theirs')

    def kiln(self, *words, status=0, **more):
        done = subprocess.run([KILN, 'cache', *words], env={**os.environ, 'KILN_CACHE_TRUST': str(self.keys), **more},
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def new_key(self, name):
        return self.kiln('keygen', str(self.root / name)).strip()

    def upload(self, key=0, by='ours', server=None, folder=None):
        """The bytes that a store has after a node compiled and signed."""
        server = server or self.redis
        node = self.node(folder or f'from-{key}-{by}', server.url, f'first={key}', KILN_CACHE_SIGNING_KEY=str(self.root / by))
        self.assertEqual((node['compiled'], node['log']), (1, ''))
        return servers.until(lambda: self.redis.ask('GET', self.place(key)))

    @staticmethod
    def place(key):
        return f'kiln:{{{key_of(key)}}}:entry'

    fresh = 0

    def ask(self, key=0, **more):
        self.fresh += 1
        return self.node(f'asks{self.fresh}', self.redis.url + ',read-only', f'first={key}', 'each', trust=self.keys, **more)

    def refused(self, why, key=0, counted=True):
        node = self.ask(key)
        self.assertEqual((node['compiled'], node['remote_hits'], node['wrong']), (1, 0, 0), node)
        self.assertIn(why, node['each'][0]['missed'])
        self.assertIn(why, node['log'])
        self.assertEqual(node['remote_refused'], int(counted))

    def test_signatures(self):
        self.upload()
        self.refused('its signer is not trusted')
        self.kiln('trust', 'add', self.ours, 'build farm')
        self.assertEqual(self.ask()['remote_hits'], 1)
        self.upload(1, 'theirs')
        self.refused('its signer is not trusted', 1)

    def test_unsigned_ones_count_nowhere_else(self):
        self.node('a', self.redis.url + ',unsigned')
        servers.until(lambda: self.redis.ask('GET', self.place(0)))
        self.kiln('trust', 'add', self.ours)
        self.refused('it is not signed')

    def test_without_a_key_nothing_is_uploaded(self):
        self.node('a', self.redis.url)
        self.node('b', self.redis.url + ',unsigned', 'first=1')
        servers.until(lambda: self.redis.keys())
        self.assertEqual(self.redis.keys(), [self.place(1).encode()])

    def test_lies(self):
        self.kiln('trust', 'add', self.ours)
        good, other = self.upload(0), self.upload(1)
        seal = slice(32, 32 + 112)

        def store(data):
            self.redis.ask('SET', self.place(0), data)
        store(other)
        self.refused('it is the entry of another key')
        store(good[:32] + other[seal] + good[144:])
        self.refused('its checksum is wrong', counted=False)
        store(good[:8] + b'\x02' + good[9:])
        self.refused('it is of another version', counted=False)
        store(b'')
        self.refused('it is cut short', counted=False)
        store(b'<html>not here</html>' * 3)
        self.refused("it is nothing of Kiln's", counted=False)
        store(good[:-1])
        self.refused('its checksum is wrong', counted=False)
        store(good[:16] + (2**40).to_bytes(8, 'little') + good[24:])
        self.refused('it is too large', counted=False)
        store(good)
        self.assertEqual(self.ask()['remote_hits'], 1)

    def test_flipped_bits(self):
        self.kiln('trust', 'add', self.ours)
        good = self.upload(0)
        for place in [*range(0, 148, 7), *range(148, len(good), len(good) // 25)]:
            bad = bytearray(good)
            bad[place] ^= 1 << place % 8
            self.redis.ask('SET', self.place(0), bytes(bad))
            node = self.ask()
            self.assertEqual((node['compiled'], node['remote_hits'], node['wrong']), (1, 0, 0), place)
            self.assertNotEqual(node['each'][0]['missed'], 'not there', place)

    def test_revocation_reaches_what_is_in_folders(self):
        self.kiln('trust', 'add', self.ours)
        self.upload()
        taken = self.node('mine', self.redis.url + ',read-only', trust=self.keys)
        self.assertEqual(taken['remote_hits'], 1)
        self.assertEqual(self.node('mine', '', trust=self.keys)['user_hits'], 1)
        self.kiln('trust', 'revoke', self.ours, '--since', '2100-01-01')
        self.assertEqual(self.node('mine', '', trust=self.keys)['user_hits'], 1)
        self.kiln('trust', 'revoke', self.ours, '--before', '2100-01-01')
        node = self.node('mine', '', 'each', trust=self.keys)
        self.assertEqual(node['compiled'], 1)
        self.assertIn('what its signer signed before 2100-01-01', node['each'][0]['missed'])
        self.refused('what its signer signed before 2100-01-01')
        self.kiln('trust', 'remove', self.ours)
        self.refused('its signer is not trusted')
        self.kiln('trust', 'revoke', self.ours)
        self.refused('its signer is revoked')

    def test_a_bad_entry_is_replaced_by_who_may(self):
        self.kiln('trust', 'add', self.ours)
        self.upload()
        for bad in (b'nothing', self.redis.ask('GET', self.place(0))[:-9] + b'123456789'):
            self.redis.ask('SET', self.place(0), bad)
            self.fresh += 1
            node = self.node(f'mends{self.fresh}', self.redis.url, trust=self.keys, KILN_CACHE_SIGNING_KEY=str(self.root / 'ours'))
            self.assertEqual(node['compiled'], 1)
            servers.until(lambda: self.redis.ask('GET', self.place(0)) != bad)
            self.assertEqual(self.ask()['remote_hits'], 1)

    def test_signed_folders_and_archives(self):
        for name in ('shared', 'unsigned'):
            self.node(name, '', 'keys=3')
        shared = self.root / 'shared'
        self.assertIn('3 entries signed', self.kiln('sign', '--key', str(self.root / 'ours'), '--folder', str(shared)))
        self.assertIn('0 entries signed, 3 were', self.kiln('sign', '--key', str(self.root / 'ours'), '--folder', str(shared)))
        os.chmod(shared / 'v1', 0o777)  # anybody may write here
        for path in shared.rglob('??'):
            if path.is_dir():
                os.chmod(path, 0o777)

        def read(name, options):
            self.fresh += 1
            return self.node(f'reads{self.fresh}', '', 'keys=3', 'each', trust=self.keys, KILN_CACHE_READ_ONLY=str(self.root / name) + options)
        self.assertEqual(read('shared', '')['compiled'], 3)
        self.assertEqual(read('shared', ',signed')['compiled'], 3)
        self.kiln('trust', 'add', self.ours)
        self.assertEqual(read('shared', ',signed')['compiled'], 0)
        unsigned = read('unsigned', ',signed')
        self.assertEqual({each['missed'] for each in unsigned['each']}, {'it is not signed'})

    def test_keys_are_not_written_over_and_lists_not_misread(self):
        text = (self.root / 'ours').read_text()
        self.kiln('keygen', str(self.root / 'ours'), status=5)
        self.assertEqual((self.root / 'ours').read_text(), text)
        self.kiln('trust', 'add', 'abc', status=2)
        self.kiln('trust', 'remove', self.ours, status=2)
        self.kiln('trust', 'add', self.ours, '--before', '2026-01-01', status=2)
        self.keys.write_text('nonsense\n')
        self.kiln('trust', 'add', self.ours, status=5)
        self.assertEqual(self.keys.read_text(), 'nonsense\n')


if __name__ == '__main__':
    unittest.main()
