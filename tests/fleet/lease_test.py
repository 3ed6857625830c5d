# SPDX-License-Identifier: MIT
"""Leases whose answer nobody heard: given back, also where they were not given yet."""
import os
import signal
import socket
import unittest

import servers
from fleet_case import SANITIZED, FleetCase, key_of
from proxy import Gate

servers.need((servers.REDIS, 'redis-server'))
LEASE, TOKEN = (f'kiln:{{{key_of(0)}}}:{what}' for what in ('lease', 'token'))


class Unheard(FleetCase):
    def setUp(self):
        super().setUp()
        self.redis = servers.Redis()
        self.gate = Gate(self.redis.port)
        self.remote = f'redis://127.0.0.1:{self.gate.port},unsigned'
        self.questions = []

    def compiles_alone(self, swallows):
        self.gate.swallows = swallows
        self.start('a', self.remote, 'hold', KILN_CACHE_REMOTE_WAIT='1500')
        servers.until(lambda: self.compilations() == 1)

    def asks_for_a_lease(self, piece):
        asks = b"'EXISTS', KEYS[4]" in piece
        if asks:
            self.questions.append(piece)
        return asks

    def test_a_lease_whose_answer_is_never_heard_is_given_back(self):
        self.compiles_alone(lambda piece: piece.startswith(b'*2\r\n:3\r\n'))
        # One that runs out uses up no number.
        servers.until(lambda: self.redis.ask('GET', TOKEN) == b'2')
        self.assertIsNone(self.redis.ask('GET', LEASE))

    def test_a_question_that_comes_after_that_gets_none(self):
        self.compiles_alone(self.asks_for_a_lease)
        servers.until(lambda: self.redis.ask('KEYS', '*:gone:*'))
        with socket.create_connection(('127.0.0.1', self.redis.port)) as late:
            late.sendall(self.questions[-1])
            self.assertEqual(late.recv(64), b'*2\r\n:2\r\n:0\r\n')
        self.assertIsNone(self.redis.ask('GET', LEASE))
        other = self.start('b', self.redis.url + ',unsigned', 'hold')  # the next one waits for nobody
        servers.until(lambda: self.redis.ask('GET', LEASE))
        self.assertIsNone(other.poll())

    def test_a_store_that_is_silent_for_a_while_is_told_later(self):
        def silent(piece):
            return piece.startswith(b'*2\r\n:3\r\n') or b'unheard' in piece and len(self.questions) < 3 and not self.questions.append(piece)
        self.compiles_alone(silent)
        servers.until(lambda: self.redis.ask('GET', TOKEN) == b'2')
        self.assertEqual(len(self.questions), 3)


class GivenBack(FleetCase):
    def setUp(self):
        super().setUp()
        self.redis = servers.Redis()
        self.remote = self.redis.url + ',unsigned'

    def test_when_a_program_is_killed_whose_child_lives_on(self):
        file = self.root / 'child'
        node = self.start('a', self.remote, 'hold', f'fork={file}')
        child = int(servers.until(lambda: file.exists() and file.read_text().strip()))
        self.addCleanup(os.kill, child, signal.SIGKILL)
        self.assertEqual(self.redis.ask('GET', TOKEN), b'1')
        node.kill()
        node.communicate()
        servers.until(lambda: self.redis.ask('GET', TOKEN) == b'2')
        self.assertIsNone(self.redis.ask('GET', LEASE))

    def test_when_a_program_is_killed_before_the_answer(self):
        gate = Gate(self.redis.port)
        gate.seconds = 0.4
        node = self.start('a', f'redis://127.0.0.1:{gate.port},unsigned', 'hold')
        servers.until(lambda: self.redis.ask('GET', LEASE))
        self.assertEqual(self.compilations(), 0)
        node.kill()
        node.communicate()
        gate.seconds = 0  # the answer stays late
        # One that runs out uses up no number.
        servers.until(lambda: self.redis.ask('GET', TOKEN) == b'2')
        self.assertIsNone(self.redis.ask('GET', LEASE))

    @unittest.skipIf(SANITIZED, 'sanitizers take more memory than is left here')
    def test_when_there_is_no_memory_for_the_upload(self):
        self.start('a', self.remote, 'size=50000000', 'keys=2', 'threads=2', 'apart', 'hold=1', **self.limited('-Sd 160000'))
        servers.until(lambda: self.redis.ask('GET', TOKEN) == b'2')
        self.assertIsNone(self.redis.ask('GET', LEASE))
        self.assertEqual(self.redis.keys(), [])


if __name__ == '__main__':
    unittest.main()
