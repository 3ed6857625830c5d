# SPDX-License-Identifier: MIT
"""Stores of other kinds: S3, bazel-remote's layout, tokens, proxies; a Redis Cluster, replicas and users of an ACL."""
import os
import subprocess
import unittest

import servers
from fleet_case import FleetCase, key_of
from proxy import Gate
from s3 import MOTO, BazelRemote, Files, Moto, S3

servers.need((servers.REDIS, 'redis-server'), (servers.NGINX, 'nginx'))


class GatewayCase(FleetCase):
    def credentials(self, *lines):
        file = self.root / 'credentials'
        file.touch(mode=0o600)
        file.write_text('\n'.join(lines) + '\n')
        return f',credentials={file}'

    def goes_through(self, remote, stored):
        first = self.node('a', remote, 'keys=3', 'size=70000')
        self.assertEqual((first['compiled'], first['log']), (3, ''))
        servers.until(lambda: len(stored()) == 3)
        second = self.node('b', remote, 'keys=3', 'size=70000')
        self.assertEqual((second['remote_hits'], second['compiled'], second['log']), (3, 0, ''))

    def is_left_alone(self, remote, word):
        """One line says why, and the program compiles."""
        # What became of an upload is told with a later answer: with which one is a matter of time.
        node = self.node(word, remote, 'keys=1000', 'told=3', 'compile_ms=20')
        self.assertEqual((node['remote_hits'], node['wrong']), (0, 0), node)
        self.assertTrue(4 <= node['compiled'] < 1000, node)
        self.assertIn(word, node['log'])
        self.assertEqual(node['log'].count('\n'), 1, node['log'])


class Http(GatewayCase):
    def files(self, made):
        self.addCleanup(made.close)
        return made

    def test_s3(self):
        bucket = self.files(S3('AKID', 'a secret/of+theirs', 'eu-west-1'))
        self.goes_through(bucket.url + ',unsigned' + self.credentials('user AKID', 'password a secret/of+theirs'), lambda: bucket.files)
        self.assertIn(f'/bucket/kiln/{key_of(0)}', bucket.files)
        self.assertTrue(all(refused is None for *_, refused in bucket.asked), bucket.asked)

    def test_s3_with_a_wrong_secret(self):
        bucket = self.files(S3('AKID', 'right', 'eu-west-1'))
        self.is_left_alone(bucket.url + ',unsigned' + self.credentials('user AKID', 'password wrong'), 'does not let this user in (403)')
        self.is_left_alone(bucket.url + ',unsigned' + self.credentials('user AKID'), 'S3 wants an access key as user')
        self.assertEqual(bucket.files, {})

    @unittest.skipUnless(MOTO, 'moto, with its server, is not installed for this Python')
    def test_a_bucket_of_moto(self):
        bucket = Moto()
        remote = bucket.url + ',unsigned' + self.credentials(f'user {bucket.access}', f'password {bucket.secret}')
        self.goes_through(remote, lambda: [key for verb, key, status in bucket.asked() if (verb, status) == ('PUT', '200')])
        self.assertEqual({(verb, status) for verb, _, status in bucket.asked()}, {('GET', '404'), ('PUT', '200'), ('GET', '200')})
        self.is_left_alone(bucket.url + ',unsigned' + self.credentials(f'user {bucket.access}', 'password wrong'), 'does not let this user in (403)')

    def test_the_layout_of_bazel_remote(self):
        cache = self.files(BazelRemote())
        self.goes_through(f'http://127.0.0.1:{cache.port}/team/one/ac,unsigned', lambda: cache.files)

    def test_places_named_by_their_content_take_no_entries(self):
        cache = self.files(BazelRemote())
        self.is_left_alone(f'http://127.0.0.1:{cache.port}/cas,unsigned', 'it does not take what is put there (400)')

    def test_a_token(self):
        class Guarded(Files):
            def refuses(self, request, body):
                return None if request.headers.get('Authorization') == 'Bearer t0ken' else 401
        cache = self.files(Guarded())
        url = f'http://127.0.0.1:{cache.port}/generic,unsigned'
        self.goes_through(url + self.credentials('bearer t0ken'), lambda: cache.files)
        self.is_left_alone(url + self.credentials('bearer other'), 'does not let this user in (401)')

    def test_one_that_takes_nothing_is_still_read(self):
        class ReadOnly(Files):
            def refuses(self, request, body):
                return 405 if request.command == 'PUT' else None
        cache, filled = self.files(ReadOnly()), self.files(Files())
        url = 'http://127.0.0.1:{}/x,unsigned'
        self.node('a', url.format(filled.port), 'keys=3')
        servers.until(lambda: len(filled.files) == 3)
        cache.files = filled.files
        node = self.node('b', url.format(cache.port), 'keys=1000', 'told=20', 'compile_ms=20')  # uploads are refused between the questions
        self.assertEqual(node['remote_hits'], 3, node)
        self.assertIn('is only read for a while: it does not take what is put there (405)', node['log'])
        # One, or two at the same time, and after seconds one more each.
        self.assertLess(sum(verb == 'PUT' for verb, *_ in cache.asked), node['compiled'] - 10)

    def test_one_that_has_them_put_elsewhere(self):
        cache = servers.Nginx()
        front = servers.Nginx(more=f'return 307 http://127.0.0.1:{cache.port}$request_uri;')
        self.goes_through(front.url + ',unsigned', cache.entries)

    def test_proxies_of_the_environment(self):
        class Proxy(Files):
            def refuses(self, request, body):
                return None if request.path.startswith('http://') else 400  # proxies get whole URLs
        proxy, cache = self.files(Proxy()), self.files(Files())
        elsewhere = 'http://cache.invalid:81/x,unsigned'
        more = {'http_proxy': f'http://127.0.0.1:{proxy.port}'}
        self.assertEqual(self.node('a', elsewhere, 'keys=3', **more)['compiled'], 3)
        servers.until(lambda: len(proxy.files) == 3)
        self.assertEqual(self.node('b', elsewhere, 'keys=3', **more)['remote_hits'], 3)
        seen = len(proxy.asked)
        here = f'http://127.0.0.1:{cache.port}/x,unsigned'
        self.node('c', here, 'keys=3', no_proxy='127.0.0.1', **more)
        servers.until(lambda: len(cache.files) == 3)
        redis = servers.Redis()
        self.node('d', redis.url + ',unsigned', 'keys=3', all_proxy=more['http_proxy'], **more)
        servers.until(lambda: len(redis.keys()) == 3)
        self.assertEqual(len(proxy.asked), seen)


class KindsOfRedis(GatewayCase):
    def filled(self, *options):
        redis = servers.Redis(*options)
        self.node('fills', redis.url + ',unsigned', 'keys=3')
        servers.until(lambda: len(redis.keys()) == 3)
        return redis

    def test_a_replica_is_read(self):
        primary = self.filled()
        replica = servers.Redis('--replicaof', '127.0.0.1', str(primary.port))
        servers.until(lambda: len(replica.keys()) == 3)
        node = self.node('a', replica.url + ',unsigned', 'keys=9')
        self.assertEqual((node['compiled'], node['remote_hits']), (6, 3), node)
        self.assertIn('is only read for a while: it is a replica', node['log'])
        self.assertEqual(node['log'].count('\n'), 1, node['log'])
        # One that leads behind it does so, without a word.
        other = servers.Redis()
        node = self.node('b', f'{replica.url},unsigned,read-only {other.url},unsigned', 'keys=9')
        self.assertEqual((node['compiled'], node['remote_hits'], node['log']), (6, 3, ''), node)
        servers.until(lambda: len(other.keys()) == 6)

    def test_a_replica_that_has_not_its_data_yet(self):
        redis = servers.Redis('--replicaof', '127.0.0.1', str(servers.free_port()), '--replica-serve-stale-data', 'no')
        self.is_left_alone(redis.url + ',unsigned', 'it answers MASTERDOWN')

    def test_users_of_an_acl(self):
        redis = self.filled()
        # As docs/fleet.md gives them.
        redis.ask('ACL', 'SETUSER', 'reader', 'on', '>pass', '~kiln:*', '+get', '+exists', '+select', '+scan', '+info')
        redis.ask('ACL', 'SETUSER', 'writer', 'on', '>pass', '~kiln:*', '+get', '+exists', '+select', '+scan', '+info', '+eval', '+set', '+del',
                  '+incr', '+expire', '+pexpire', '+mget')
        redis.ask('ACL', 'SETUSER', 'nobody', 'on', '>pass')
        redis.ask('ACL', 'SETUSER', 'default', 'off')

        def url(user):
            return f'redis://{user}:pass@127.0.0.1:{redis.port},unsigned'
        node = self.node('a', url('writer'), 'keys=9', 'compile_ms=5')
        self.assertEqual((node['compiled'], node['remote_hits'], node['log']), (6, 3, ''), node)
        servers.until(lambda: self.node('b', url('reader') + ',read-only', 'keys=9')['remote_hits'] == 9 or None)
        node = self.node('c', url('reader'), 'keys=12')
        self.assertEqual(node['remote_hits'], 9, node)
        self.assertIn('is only read for a while: its ACL does not let this user do that', node['log'])
        self.is_left_alone(url('nobody'), 'its ACL does not let this user do that')
        self.is_left_alone(redis.url + ',unsigned', 'it wants a password')

    def test_a_database_that_it_has_not(self):
        redis = servers.Redis('--databases', '4')
        self.is_left_alone(redis.url + '/7,unsigned', 'it has no database 7')
        guarded = servers.Redis('--databases', '4', '--requirepass', 'secret')
        self.is_left_alone(guarded.url + '/3,unsigned', 'it wants a password')
        self.goes_through(guarded.url.replace('//', '//:secret@') + '/3,unsigned', lambda: guarded.ask_all(('AUTH', 'secret'), ('SELECT', 3), ('KEYS', '*:entry')))

    def test_a_sentinel_says_what_it_is(self):
        self.is_left_alone(servers.Sentinel(servers.Redis()).url + ',unsigned', 'it keeps no keys, as a Sentinel does not: name the primary')

    def test_an_address_that_moves_with_the_primary(self):
        first, second = servers.Redis(), servers.Redis()
        second.ask('REPLICAOF', '127.0.0.1', first.port)
        servers.until(lambda: b'master_link_status:up' in second.ask('INFO', 'replication'))
        address = Gate(first.port)
        remote = f'redis://127.0.0.1:{address.port},unsigned'
        self.assertEqual(self.node('a', remote, 'keys=3')['compiled'], 3)
        servers.until(lambda: len(second.keys()) == 3)
        sentinel = servers.Sentinel(first)  # not before: where others have the machine for half a second, it takes the first one for dead
        servers.until(sentinel.replicas)
        first.kill()
        servers.until(lambda: sentinel.primary() == second.port and b'role:master' in second.ask('INFO', 'replication'), 60)
        address.to = second.port
        node = self.node('b', remote, 'keys=4')
        self.assertEqual((node['compiled'], node['remote_hits'], node['log']), (1, 3, ''), node)
        servers.until(lambda: len(second.keys()) == 4)

    def test_a_cluster_says_what_it_is(self):
        nodes = [servers.Redis('--cluster-enabled', 'yes', '--cluster-config-file', f'nodes-{i}') for i in range(3)]
        places = [f'127.0.0.1:{node.port}' for node in nodes]
        client = servers.REDIS.replace('-server', '-cli')
        made = subprocess.run([client, '--cluster', 'create', *places, '--cluster-yes'], capture_output=True, text=True, timeout=60)
        self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
        servers.until(lambda: all(b'cluster_state:ok' in node.ask('CLUSTER', 'INFO') for node in nodes))
        node = self.node('a', nodes[0].url + ',unsigned', 'keys=30')
        self.assertEqual((node['compiled'], node['wrong']), (30, 0), node)
        self.assertIn('is a node of a Redis Cluster, which needs a proxy before it', node['log'])


if __name__ == '__main__':
    os.umask(0o077)
    unittest.main()
