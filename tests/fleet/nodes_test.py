# SPDX-License-Identifier: MIT
"""A cold start of a whole fleet, and nodes and the store killed at random:
nodes_test.py start NODES KEYS [OTHERS] | kills KILLS [SEED [NODES KEYS [WAIT]]]
KEYS of kills: that each node wants, from half as many before the newest on; WAIT: milliseconds that a question may take
OTHERS: programs that want the CPUs all the time, of the lowest priority, while nodes and store run only when nobody else does"""
import json
import os
import random
import signal
import subprocess
import sys
import time

import servers
from fleet_case import NODE, FleetCase

servers.need((servers.REDIS, 'redis-server'))
WHAT, COUNT = sys.argv[1], int(sys.argv[2])
MORE = int(sys.argv[3]) if len(sys.argv) > 3 else 1
OTHERS = int(sys.argv[4]) if len(sys.argv) > 4 else 0


class Start(FleetCase):
    def runTest(self):
        if OTHERS:
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))  # and all that it starts
        redis = servers.Redis()
        nodes = []
        for number in range(COUNT):
            nodes.append(subprocess.Popen(
                [NODE, f'log={self.log}', f'keys={MORE}', 'threads=4', 'compile_ms=20', f'seed={number}', 'wait', 'each'], text=True,
                env=self.environment(f'n{number}', redis.url + ',unsigned', KILN_CACHE_REMOTE_WAIT='20000'),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        for _ in range(OTHERS):
            other = subprocess.Popen(['chrt', '--other', '0', 'nice', '-n', '19', sys.executable, '-c', 'while True: pass'])
            self.addCleanup(other.wait)
            self.addCleanup(other.kill)
        begin = time.monotonic()
        for node in nodes:
            node.stdin.close()
            node.stdin = None  # they begin
        totals = [self.end(node) for node in nodes]
        took = time.monotonic() - begin
        hits = sum(each['remote_hits'] for each in totals)
        longest = max(each['longest_us'] for each in totals) / 1e6
        print(f'{COUNT} nodes of 4 threads, {MORE} keys: {self.compilations()} compilations, {hits} hits, {took:.1f} s, longest wait {longest:.1f} s; '
              f'commands of Redis: {redis.ask("INFO", "stats").decode().split("total_commands_processed:")[1].split()[0]}')
        missed = [each['missed'] for node in totals for each in node['each'] if each['missed'] not in ('', 'not there')]
        self.assertEqual(self.compilations(), MORE, sorted(missed) + [each['log'] for each in totals])
        self.assertEqual(hits, (COUNT - 1) * MORE)


class Kills(FleetCase):
    WORKERS, KEYS, WAIT = (int(more) for more in sys.argv[4:7] + ['6', '12', '3000'][len(sys.argv[4:7]):])

    def runTest(self):
        redis = servers.Redis(durable=True, first=True)  # a fleet does not crowd out its store, which has a machine of its own
        chance = random.Random(MORE)
        started = 0

        def start():
            nonlocal started
            started += 1
            done = self.compilations()
            return subprocess.Popen([NODE, f'log={self.log}', f'keys={self.KEYS}', f'first={max(0, done - self.KEYS // 2)}',
                                     'threads=4', 'compile_ms=5', f'seed={started}'], text=True,
                                    env=self.environment(f'n{started}', redis.url + ',unsigned', KILN_CACHE_REMOTE_WAIT=str(self.WAIT)),
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        workers = [start() for _ in range(self.WORKERS)]
        kills = of_store = longest = ended = 0
        begin = time.monotonic()
        while kills < COUNT:
            time.sleep(chance.uniform(0, 0.03))
            if chance.random() < 0.04:
                redis.kill()
                redis.start()
                of_store += 1
                kills += 1
                continue
            place = chance.randrange(self.WORKERS)
            worker = workers[place]
            if worker.poll() is None:
                worker.send_signal(signal.SIGKILL)
                kills += 1
            else:
                ended += 1
            out = worker.communicate()[0]
            self.assertIn(worker.returncode, (0, -signal.SIGKILL))
            if worker.returncode == 0:
                longest = max(longest, json.loads(out)['longest_us'])
            workers[place] = start()
        for worker in workers:
            out = worker.communicate(timeout=60)[0]
            self.assertEqual(worker.returncode, 0)
            longest = max(longest, json.loads(out)['longest_us'])
        took = time.monotonic() - begin
        data = self.log.read_bytes()
        attempts = [int.from_bytes(data[i:i + 4], 'little') for i in range(0, len(data), 4)]
        keys = len(set(attempts))
        print(f'{kills} kills, {of_store} of the store: {keys} keys, {len(attempts)} compilations, {len(attempts) - keys} more than keys, '
              f'{ended} nodes ended by themselves, longest wait {longest / 1e6:.1f} s, {took:.0f} s')
        self.assertLessEqual(len(attempts), keys + kills)
        check = self.node('checks', redis.url + ',unsigned,read-only', f'keys={max(attempts) + 1}', KILN_CACHE_REMOTE_WAIT='3000')
        self.assertEqual(check['wrong'], 0)


if __name__ == '__main__':
    import unittest
    unittest.TextTestRunner().run({'start': Start, 'kills': Kills}[WHAT]()).wasSuccessful() or sys.exit(1)
