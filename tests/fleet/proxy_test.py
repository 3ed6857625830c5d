# SPDX-License-Identifier: MIT
"""Nodes behind a proxy that lies: proxy_test.py FAULTS signed|unsigned [SEED]. No wrong byte, no hang, whatever comes
through, with so many faults on average before a Redis and a server of files."""
import sys
import time

import servers
from fleet_case import FleetCase
from proxy import Proxy

servers.need((servers.REDIS, 'redis-server'), (servers.NGINX, 'nginx'), (servers.OPENSSL, 'openssl'))
FAULTS, SIGNED = int(sys.argv[1]), sys.argv[2] == 'signed'
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
KEYS, WAIT = 12, 100  # milliseconds


class Lies(FleetCase):
    def environment(self, *arguments, **more):
        return super().environment(*arguments, **more, **self.who)

    def runTest(self):
        how, self.who = ',unsigned', {}
        if SIGNED:
            trusted = self.root / 'trusted'
            trusted.touch(mode=0o600)
            trusted.write_text(f'trust {servers.signing_key(self.root / "key")}\n')
            how, self.who = '', {'trust': trusted, 'KILN_CACHE_SIGNING_KEY': str(self.root / 'key')}
        redis, nginx = servers.Redis(), servers.Nginx()
        stores = [('redis', redis, redis.url), ('http', nginx, nginx.url)]
        proxies, remotes = [], []
        for number, (name, server, url) in enumerate(stores):
            self.node('fills-' + name, url + how, f'keys={KEYS}', 'size=40000')
            servers.until(lambda: len(redis.keys() if server is redis else nginx.entries()) == KEYS)
            proxies.append(Proxy(server.port, SEED + number))
            # Each of the three has a breaker of its own.
            remotes += [url.replace(str(server.port), str(proxies[-1].port)) + how + more
                        for more in ('', ',read-only', ',read-only')]
        runs = hits = compiled = longest = 0
        begin = time.monotonic()
        wait, counts = WAIT, [0, 0]
        # On a crowded machine a breaker opens early before one of them, which then is asked once a node.
        while sum(counts) < 2 * FAULTS or min(counts) < FAULTS / 10:
            some = self.start(f'r{runs}', ' '.join(remotes[runs % 2 * 3:] + remotes[:runs % 2 * 3]), f'keys={KEYS + 4}', 'threads=3',
                              'size=40000', f'seed={runs}', 'compile_ms=1', KILN_CACHE_REMOTE_WAIT=str(wait))
            other = self.start(f's{runs}', remotes[runs % 2 * 3], f'keys={KEYS + 4}', 'size=40000', f'seed={runs}', KILN_CACHE_REMOTE_WAIT=str(wait))
            for node in (self.end(some), self.end(other)):
                self.assertEqual(node['wrong'], 0)
                hits += node['remote_hits']
                compiled += node['compiled']
                longest = max(longest, node['longest_us'])
            runs += 1
            # Where the machine is too crowded for an answer within the wait, nodes wait longer.
            before, counts = counts, [each.count() for each in proxies]
            wait += WAIT if any(count == earlier for count, earlier in zip(counts, before)) else 0
        # What nodes wrote through the proxies is right, or nobody's.
        for name, _, url in stores:
            node = self.node('reads-' + name, url + how + ',read-only', f'keys={KEYS + 4}', 'size=40000')
            self.assertEqual(node['wrong'], 0)
        faults = ', '.join(f'{each.count()} faults before {name} {each.faults}' for (name, *_), each in zip(stores, proxies))
        print(f'{faults}, {2 * runs} nodes, {hits} hits, {compiled} compilations, '
              f'longest wait {longest / 1000:.0f} ms where {wait} ms are the bound, {time.monotonic() - begin:.0f} s')
        self.assertGreater(hits, 0)


if __name__ == '__main__':
    import unittest
    unittest.main(argv=sys.argv[:1])
