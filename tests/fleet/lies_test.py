# SPDX-License-Identifier: MIT
"""Entries that nobody should use, from a Redis and from a server of files: lies_test.py COUNT [SEED]. Each is a miss with a
reason, none is used."""
import collections
import random
import sys
import unittest

import servers
from fleet_case import FleetCase, key_of
from lies import Liar

servers.need((servers.REDIS, 'redis-server'), (servers.NGINX, 'nginx'), (servers.OPENSSL, 'openssl'))
COUNT = int(sys.argv[1])
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
KEYS = 100


class Lies(FleetCase):
    def entries(self, name, how='', **more):
        """What a store has of all keys when one node compiled them."""
        redis = servers.Redis()
        self.node(name, redis.url + how, f'keys={KEYS}', **more)
        servers.until(lambda: len(redis.keys()) == KEYS)
        return [redis.ask('GET', self.place(key)) for key in range(KEYS)]

    @staticmethod
    def place(key):
        return f'kiln:{{{key_of(key)}}}:entry'

    def runTest(self):
        keys = {name: servers.signing_key(self.root / name) for name in ('ours', 'theirs', 'old')}
        trusted = self.root / 'trusted'
        trusted.touch(mode=0o600)
        trusted.write_text(f'trust {keys["ours"]}\ntrust {keys["old"]}\nrevoke {keys["old"]} before 2100-01-01\n')
        signed = {name: self.entries(name, KILN_CACHE_SIGNING_KEY=str(self.root / name)) for name in keys}
        liar = Liar(random.Random(SEED), signed['ours'], signed['theirs'], signed['old'], self.entries('unsigned', ',unsigned'))
        redis, nginx = servers.Redis(), servers.Nginx()

        def store(server, key, data):
            if server is redis:
                redis.ask('SET', self.place(key), data)
            else:
                (nginx.folder / 'root' / 'kiln' / key_of(key)).write_bytes(data)
        reasons, told = collections.Counter(), 0
        while told < COUNT:
            server = redis if told // KEYS % 2 == 0 else nginx
            lies = [liar.random.choice(liar.kinds) for _ in range(KEYS)]
            for key, lie in enumerate(lies):
                store(server, key, getattr(liar, lie)(key))
            node = self.node(f'asks{told}', server.url + ',read-only', f'keys={KEYS}', 'each', trust=trusted)
            self.assertEqual((node['compiled'], node['remote_hits'], node['wrong']), (KEYS, 0, 0), [
                (lies[each['key']], each) for each in node['each'] if each['source'] != 'compiled'])
            for each in node['each']:
                self.assertNotIn(each['missed'], ('', 'not there'), lies[each['key']])
                self.assertNotIn('left alone', each['missed'], lies[each['key']])  # so that each of them was looked at
                reasons[each['missed'].split(': ')[-1]] += 1
            told += KEYS
        for server in (redis, nginx):  # the test can fail
            for key in range(KEYS):
                store(server, key, signed['ours'][key])
            self.assertEqual(self.node(f'last{server.port}', server.url + ',read-only', f'keys={KEYS}', trust=trusted)['remote_hits'], KEYS)
        print(f'{told} lies of {len(liar.kinds)} kinds: none used; ' + ', '.join(f'{count} {why}' for why, count in reasons.most_common(12)))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
