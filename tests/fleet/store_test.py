# SPDX-License-Identifier: MIT
"""Nodes and real stores: what one compiled the others find, and a store that fails costs little."""
import contextlib
import os
import pathlib
import re
import socket
import subprocess
import threading
import time
import unittest

import servers
from fleet_case import SANITIZED, FleetCase, key_of
from proxy import Gate

servers.need((servers.REDIS, 'redis-server'), (servers.NGINX, 'nginx'))


TOO_LONG = 'another machine compiles it for longer than that usually takes'


class Silent:
    """Takes connections, counts them, and says nothing."""

    def __init__(self):
        self.socket = socket.create_server(('127.0.0.1', 0))
        self.port = self.socket.getsockname()[1]
        self.taken = []
        threading.Thread(target=self.take, daemon=True).start()

    def take(self):
        while True:
            try:
                self.taken.append(self.socket.accept())
            except OSError:
                return


class Flooding:
    """Answers every question with `begin` and, where `more` is given, that without an end."""

    def __init__(self, begin, more=b''):
        self.begin, self.more = begin, more
        self.socket = socket.create_server(('127.0.0.1', 0))
        self.url = f'redis://127.0.0.1:{self.socket.getsockname()[1]}'
        threading.Thread(target=self.take, daemon=True).start()

    def take(self):
        while True:
            threading.Thread(target=self.answer, args=(self.socket.accept()[0],), daemon=True).start()

    def answer(self, client):
        with client, contextlib.suppress(OSError):
            while client.recv(65536):
                client.sendall(self.begin)
                while self.more:
                    client.sendall(self.more)


class Stores(FleetCase):
    def hits(self, server, options=''):
        remote = server.url + ',unsigned' + options
        first = self.node('a', remote, 'keys=3')
        self.assertEqual((first['compiled'], first['remote_hits']), (3, 0), first)
        servers.until(lambda: len(server.keys() if isinstance(server, servers.Redis) else server.entries()) == 3)
        second = self.node('b', remote, 'keys=3', 'each')
        self.assertEqual((second['compiled'], second['remote_hits'], second['log']), (0, 3, ''), second)
        again = self.node('b', remote, 'keys=3')
        self.assertEqual((again['compiled'], again['user_hits']), (0, 3), again)
        self.assertEqual(self.compilations(), 3)

    def test_redis_hands_entries_on(self):
        self.hits(servers.Redis())

    def test_http_hands_entries_on(self):
        self.hits(servers.Nginx())

    def test_what_comes_from_a_store_keeps_to_the_size_of_the_folder(self):
        redis = servers.Redis()
        self.node('a', redis.url + ',unsigned', 'keys=40', 'size=20000')
        servers.until(lambda: len(redis.keys()) == 40)
        most = 300 << 10
        hits = self.node('b', redis.url + ',unsigned', 'keys=40', 'size=20000', KILN_CACHE_MAX_SIZE=str(most))
        self.assertEqual((hits['compiled'], hits['remote_hits']), (0, 40), hits)
        sizes = [each.stat().st_size for each in (self.root / 'b' / 'v1').glob('??/*')]
        self.assertLess(0, len(sizes))
        self.assertLessEqual(sum(sizes), most)

    def test_several_in_their_order(self):
        redis, nginx = servers.Redis(), servers.Nginx()
        self.node('a', redis.url + ',unsigned', 'keys=2')
        servers.until(lambda: len(redis.keys()) == 2)
        both = self.node('b', f'{nginx.url},unsigned,read-only {redis.url},unsigned', 'keys=2')
        self.assertEqual((both['compiled'], both['remote_hits']), (0, 2), both)
        self.assertEqual(nginx.entries(), [])

    def test_what_hardly_shrinks_is_kept_as_it_is(self):
        redis = servers.Redis()
        text = self.root / 'text'
        text.write_text('what shrinks ' * 1000)
        for name, first, more, sizes in (('noise', 0, [], (65536, 66500)), ('text', 20, [f'like={text}'], (100, 10000))):
            keys = [f'first={first}', 'keys=6', 'size=65536', *more]
            self.node(name, redis.url + ',unsigned', *keys)
            servers.until(lambda: len(redis.keys()) == (6 if first == 0 else 12))
            for key in range(first, first + 6):
                size = redis.ask('STRLEN', f'kiln:{{{key_of(key)}}}:entry')
                self.assertTrue(sizes[0] < size < sizes[1], (name, key, size))
            hits = self.node(name + '-hits', redis.url + ',unsigned', *keys)
            self.assertEqual((hits['remote_hits'], hits['wrong']), (6, 0))

    def test_one_larger_than_all_that_may_wait(self):
        redis = servers.Redis()
        text = self.root / 'text'
        text.write_text('what shrinks ' * 1000)
        words = ['size=70000000', f'like={text}']
        first = self.node('a', redis.url + ',unsigned', *words)
        self.assertEqual((first['compiled'], first['log']), (1, ''))
        servers.until(redis.keys)
        self.assertEqual(self.node('b', redis.url + ',unsigned', *words)['remote_hits'], 1)

    def test_read_only_gives_nothing(self):
        redis = servers.Redis()
        for more in ({'KILN_CACHE': 'on'}, {'KILN_CACHE': 'read'}):
            remote = redis.url + (',unsigned,read-only' if more['KILN_CACHE'] == 'on' else ',unsigned')
            self.assertEqual(self.node('a' + more['KILN_CACHE'], remote, **more)['compiled'], 1)
        self.node('other', redis.url + ',unsigned', 'first=7')
        servers.until(lambda: len(redis.keys()) == 1)  # after those before it
        self.assertIn(key_of(7).encode(), redis.keys()[0])

    def test_password_and_lifetime(self):
        redis = servers.Redis('--requirepass', 'secret word')
        refused = self.node('a', redis.url.replace('//', '//:wrong@') + ',unsigned')
        self.assertEqual(refused['compiled'], 1)
        self.assertIn('does not let this user in', refused['log'])
        self.assertNotIn('wrong', refused['log'])
        who = self.root / 'who'
        who.write_text('password secret word\n')
        open_file = self.node('b', f'{redis.url},unsigned,credentials={who}')
        self.assertIn('chmod 600', open_file['log'])
        self.assertNotIn('secret', open_file['log'])
        who.chmod(0o600)
        remote = f'{redis.url},unsigned,credentials={who},ttl=1000,prefix=team'
        self.assertEqual(self.node('c', remote)['log'], '')

        def lifetime():
            with socket.create_connection(('127.0.0.1', redis.port)) as to:
                name = f'team:{{{key_of(0)}}}:entry'
                to.sendall(f'AUTH "secret word"\r\nTTL {name}\r\n'.encode())
                stream = to.makefile('rb')
                stream.readline()
                return int(stream.readline()[1:])
        servers.until(lambda: 900 < lifetime() <= 1000)
        self.assertEqual(self.node('d', remote)['remote_hits'], 1)

    def test_http_password(self):
        import base64
        nginx = servers.Nginx(more='if ($http_authorization != "Basic %s") { return 401; }' % base64.b64encode(b'me:secret').decode())
        self.assertIn('does not let this user in', self.node('a', nginx.url + ',unsigned')['log'])
        remote = nginx.url.replace('//', '//me:secret@') + ',unsigned'
        self.assertEqual(self.node('a', remote, 'first=5')['log'], '')
        servers.until(lambda: len(nginx.entries()) == 1)
        self.assertEqual(self.node('b', remote, 'first=5')['remote_hits'], 1)


class Failures(FleetCase):
    def node(self, *words, **more):
        return super().node(*words, **{'KILN_CACHE_REMOTE_WAIT': '200', **more})

    def test_a_local_hit_asks_nobody(self):
        silent = Silent()
        started = self.root / 'started'
        program = self.root / 'program'
        program.write_text(f'#!/bin/sh\ntouch {started}\n')
        program.chmod(0o755)
        self.node('a', '', 'keys=5')
        for remote in (f'redis://127.0.0.1:{silent.port},unsigned', f'http://127.0.0.1:{silent.port}/x,unsigned'):
            node = self.node('a', remote, 'keys=5', KILN_STORE=str(program))
            self.assertEqual((node['user_hits'], node['compiled'], node['log']), (5, 0, ''))
        self.assertEqual(silent.taken, [])
        self.assertFalse(started.exists())
        self.node('a', remote, 'first=9', KILN_STORE=str(program))  # the test can fail
        servers.until(started.exists)

    def test_one_that_is_silent_costs_one_wait(self):
        silent, asked = Silent(), 0
        for scheme in ('redis', 'http'):
            node = self.node('a' + scheme, f'{scheme}://127.0.0.1:{silent.port},unsigned', 'keys=8')
            self.assertEqual((node['compiled'], node['wrong']), (8, 0))
            # The others do not ask. On a busy machine kiln-store is the one that is given up.
            self.assertRegex(node['log'], r'\A[^\n]*(is left alone for a while:|does not answer in time)[^\n]*\n\Z')
            self.assertEqual(len(silent.taken), asked := asked + 1)

    def test_one_that_is_gone(self):
        port = servers.free_port()
        for scheme in ('redis', 'http'):
            node = self.node('a' + scheme, f'{scheme}://127.0.0.1:{port},unsigned', 'keys=8')
            self.assertEqual(node['compiled'], 8)
            self.assertEqual(node['log'].count('\n'), 1, node['log'])

    def test_the_program_is_missing_or_wrong(self):
        for program, word in (('/nonexistent', 'No such file'), ('/bin/true', 'kiln-store ended')):
            node = self.node('a' + word, 'redis://127.0.0.1:1,unsigned', 'keys=4', KILN_STORE=program)
            self.assertEqual(node['compiled'], 4)
            self.assertIn(word, node['log'])

    def test_one_that_floods_takes_nothing_from_the_next(self):
        redis = servers.Redis()
        self.node('a', redis.url + ',unsigned', 'keys=6')
        servers.until(lambda: len(redis.keys()) == 6)
        for name, *sends in (('announced', b'*256000000\r\n'), ('nested', b'*200000\r\n' * 7, b':1\r\n' * 9999),
                             ('bytes', b'$999999999999\r\n', bytes(1 << 20)), ('line', b'+', b'a' * (1 << 20))):
            flooding = Flooding(*sends)
            node = self.node(name, f'{flooding.url},unsigned,read-only {redis.url},unsigned', 'keys=6', 'threads=6', 'apart',
                             KILN_CACHE_REMOTE_WAIT='3000')
            self.assertEqual((node['compiled'], node['remote_hits']), (0, 6), (name, node))
            self.assertRegex(node['log'], rf'\Akernel cache: {flooding.url}[^\n]* is left alone for a while: [^;\n]*\n\Z')

    def test_programs_whose_stacks_are_large(self):
        redis = servers.Redis()
        if subprocess.run(['sh', '-c', 'ulimit -s 1048576'], stderr=subprocess.DEVNULL).returncode:
            self.skipTest('this user may have no stacks of a gigabyte')
        for name, counts in (('a', (40, 0)), ('b', (0, 40))):
            node = self.node(name, redis.url + ',unsigned', 'keys=40', 'threads=40', 'apart',
                             **{**self.limited('-s 1048576'), 'KILN_CACHE_REMOTE_WAIT': '10000'})
            self.assertEqual((node['compiled'], node['remote_hits'], node['log']), (*counts, ''), node)
            servers.until(lambda: len(redis.keys()) == 40)

    @unittest.skipIf(SANITIZED, 'sanitizers take more memory than is left here')
    def test_no_more_threads_than_there_is_memory_for(self):
        silent = Silent()
        node = self.node('a', f'http://127.0.0.1:{silent.port}/x,unsigned', 'keys=200', 'threads=200', 'apart', 'each',
                         **{**self.limited('-Sd 60000'), 'KILN_CACHE_REMOTE_WAIT': '3000'})
        self.assertEqual((node['compiled'], node['wrong']), (200, 0))
        self.assertNotIn('kiln-store ended', node['log'])
        self.assertIn('this machine gives kiln-store no more threads', {each['missed'] for each in node['each']})

    def test_more_than_waits_for_a_store_is_told_and_dropped(self):
        redis = servers.Redis()
        gate = Gate(redis.port)
        node = self.start('a', redis.url.replace(str(redis.port), str(gate.port)) + ',unsigned', 'keys=2', 'threads=2', 'apart', 'size=40000000',
                          'compile_ms=500', KILN_CACHE_REMOTE_WAIT='10000')
        servers.until(lambda: self.compilations() == 2)
        gate.closed.set()  # no upload ends
        totals = self.end(node)
        self.assertEqual((totals['compiled'], totals['log']), (2, 'kernel cache: an entry is not given to the stores: with it more than 64 MiB '
                                                                  'would wait to be uploaded\n'))
        gate.closed.clear()
        servers.until(redis.keys)

    def test_a_full_store_takes_nothing_and_costs_nothing(self):
        redis = servers.Redis('--maxmemory', '1mb', '--maxmemory-policy', 'noeviction')
        node = self.node('a', redis.url + ',unsigned', 'keys=3', 'size=2000000', 'compile_ms=1')
        self.assertEqual((node['compiled'], node['wrong']), (3, 0))
        self.assertIn('is only read for a while: it is full', node['log'] + self.node('b', redis.url + ',unsigned', 'first=5', 'size=2000000')['log'])


class SingleFlight(FleetCase):
    def test_others_wait_for_the_one_that_compiles(self):
        redis = servers.Redis()
        nodes = [self.start(f'n{i}', redis.url + ',unsigned', 'keys=6', 'threads=2', 'compile_ms=100', f'seed={i}') for i in range(6)]
        totals = [self.end(node) for node in nodes]
        self.assertEqual(self.compilations(), 6, totals)
        self.assertEqual(sum(each['remote_hits'] for each in totals), 30)

    def behind(self, redis):
        gate = Gate(redis.port)
        return gate, redis.url.replace(str(redis.port), str(gate.port)) + ',unsigned'

    def test_one_that_is_not_heard_of_for_seconds_is_not_overtaken(self):
        redis = servers.Redis()
        gate, remote = self.behind(redis)
        holds = self.start('holds', remote, 'compile_ms=1500')
        servers.until(lambda: self.compilations() == 1)
        gate.closed.set()  # neither extensions nor the upload come through
        waits = self.start('waits', redis.url + ',unsigned')
        time.sleep(5)
        gate.closed.clear()
        totals = [self.end(node) for node in (holds, waits)]
        self.assertEqual([(each['compiled'], each['remote_hits']) for each in totals], [(1, 0), (0, 1)], totals)

    def test_a_lease_whose_answer_was_lost_is_had_again(self):
        redis = servers.Redis()
        gate, remote = self.behind(redis)
        lost = []
        gate.loses = lambda piece: piece.startswith(b'*2\r\n:3\r\n') and not lost.append(piece)
        node = self.node('a', remote)
        self.assertEqual((node['compiled'], node['waited'], len(lost)), (1, 0, 1), node)

    def test_an_extension_that_comes_late_brings_no_lease_back(self):
        redis = servers.Redis()
        gate, remote = self.behind(redis)
        extensions = []
        gate.loses = lambda piece: b'last > tonumber' in piece and extensions.append(piece)
        dead = self.start('dead', remote, 'hold')
        servers.until(lambda: extensions)
        lease, = redis.ask('KEYS', '*:lease')
        dead.kill()
        dead.communicate()
        servers.until(lambda: not redis.ask('GET', lease))
        with socket.create_connection(('127.0.0.1', redis.port)) as late:
            late.sendall(extensions[-1])
            self.assertEqual(late.recv(64), b':0\r\n')
        self.assertFalse(redis.ask('GET', lease))

    def test_who_lost_the_lease_uploads_nothing_also_when_it_knows(self):
        redis = servers.Redis()
        for name, compiles in (('at-once', 600), ('noticed', 3500)):  # extensions go out every 1.25 s
            node = self.start(name, redis.url + ',unsigned', f'first={compiles}', f'compile_ms={compiles}')
            servers.until(lambda: redis.ask('KEYS', '*:lease'))
            lease, = redis.ask('KEYS', '*:lease')
            redis.ask('INCR', lease.replace(b':lease', b':token'))
            redis.ask('SET', lease, b'2 another')
            self.assertEqual(self.end(node)['compiled'], 1)
            self.assertEqual((redis.keys(), redis.ask('GET', lease)), ([], b'2 another'))
            redis.ask('DEL', lease)

    def test_a_dead_one_keeps_nobody_waiting_for_long(self):
        redis = servers.Redis()
        dead = self.start('dead', redis.url + ',unsigned', 'hold')
        servers.until(lambda: self.compilations() == 1)
        dead.kill()
        dead.communicate()
        node = self.node('b', redis.url + ',unsigned', 'each')
        self.assertEqual(node['compiled'], 1)
        self.assertNotIn(TOO_LONG, node['each'][0]['missed'])

    def test_a_wait_is_bounded_by_what_it_usually_takes(self):
        redis = servers.Redis()
        remote = redis.url + ',unsigned'
        self.node('a', remote, 'compile_ms=20')
        servers.until(lambda: redis.ask('GET', 'kiln:took:all'))
        redis.ask('DEL', redis.keys()[0])
        holds = self.start('holds', remote, 'hold')
        servers.until(lambda: self.compilations() == 2)
        node = self.node('b', remote, 'each')
        self.assertEqual((node['compiled'], node['waited']), (1, 1), node)
        self.assertRegex(node['log'], r'\A[^\n]* at most 1[12] s\n\Z')
        self.assertIn(TOO_LONG, node['each'][0]['missed'])
        holds.kill()
        holds.communicate()

    def test_where_nothing_is_known_the_log_has_the_whole_wait(self):
        redis = servers.Redis()
        remote = redis.url + ',unsigned'
        holds = self.start('holds', remote, 'hold')
        servers.until(lambda: self.compilations() == 1)
        waits = self.start('waits', remote)
        self.assertRegex(waits.stderr.readline(), ' at most (59|60) s')
        for node in (waits, holds):
            self.stop(node)

    def test_what_was_waited_for_and_refused_costs_the_next_store_no_time(self):
        redis, other = servers.Redis(), servers.Redis()
        for name in ('our-key', 'their-key'):
            servers.signing_key(self.root / name)
        # Signed by a key that nobody trusts, and later than a question may take.
        theirs = self.start('theirs', redis.url, 'compile_ms=6000', KILN_CACHE_SIGNING_KEY=str(self.root / 'their-key'))
        servers.until(lambda: self.compilations() == 1)
        waits = self.start('ours', f'{redis.url} {other.url},unsigned,read-only', KILN_CACHE_SIGNING_KEY=str(self.root / 'our-key'),
                           KILN_CACHE_REMOTE_WAIT='2000')
        self.assertIn('waits for another machine', waits.stderr.readline())
        self.node('fills', other.url + ',unsigned')
        servers.until(other.keys)
        totals = self.end(waits)
        self.assertEqual((totals['waited'], totals['compiled'], totals['remote_hits']), (1, 0, 1), totals)
        self.assertRegex(totals['log'], r'\A[^\n]*its signer is not trusted[^\n]*\n\Z')
        self.end(theirs)

    def test_a_number_that_a_store_gives_again_names_another(self):
        redis = servers.Redis()
        first = self.start('first', redis.url + ',unsigned', 'compile_ms=4000')
        servers.until(lambda: self.compilations() == 1)
        lease, = redis.ask('KEYS', '*:lease')
        self.assertTrue(redis.ask('GET', lease).startswith(b'1 '))
        redis.ask('FLUSHALL')  # as one that starts anew, empty
        redis.ask('SET', lease.replace(b':lease', b':token'), 1)
        redis.ask('SET', lease, b'1 another 10000')
        self.assertEqual(self.end(first)['compiled'], 1)
        self.assertEqual((redis.keys(), redis.ask('GET', lease)), ([], b'1 another 10000'))

    def test_many_leases_at_a_far_store_live_on(self):
        redis = servers.Redis()
        gate, remote = self.behind(redis)
        gate.seconds = 0.15  # each way
        holds = self.start('holds', remote, 'keys=48', 'threads=48', 'apart', 'compile_ms=14000')
        servers.until(lambda: self.compilations() == 48, 60)
        lost = []
        while holds.poll() is None:
            lost.append(48 - len(redis.ask('KEYS', '*:lease')) - len(redis.keys()))
            time.sleep(0.2)
        self.assertEqual((self.end(holds)['compiled'], max(lost)), (48, 0))

    def test_an_upload_that_is_refused_gives_its_lease_back(self):
        redis = servers.Redis()
        gate, remote = self.behind(redis)
        gate.seconds = 0.1  # of 64 KiB: two uploads are under way until they are given up
        released = set()
        gate.loses = lambda piece: b"INCR', KEYS[2]" in piece and released.update(re.findall(rb'[0-9a-f]{64}}:lease', piece))
        self.start('holds', remote, 'keys=3', 'threads=3', 'apart', 'size=25000000', 'compile_ms=1000')
        servers.until(lambda: len(released) == 3, 40)
        self.assertEqual(redis.keys(), [])


if __name__ == '__main__':
    unittest.main()
