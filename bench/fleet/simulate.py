#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A fleet that starts cold, or whose drivers are upgraded in waves, as a discrete simulation with measured costs:
simulate.py [--nodes 10000] [--keys 50000] [--wanted 40] [--store none|http|cdn|redis] [--shards 1] [--window 60] [--waves 1]

Each node starts at a random moment of `window` seconds, or with its wave, and wants `wanted` keys, drawn by Zipf from all, on
four threads. A store is a queue with one server a shard; the costs of its answers are those that hit_costs.py and Redis' own
statistics gave here. What a question costs beyond `wait` is a timeout: then the node compiles, and leaves the store alone as
kiln-store does. Prints questions a second, bytes, compilations, and when the nodes were done."""
import argparse
import heapq
import itertools
import json
import random

# Seconds, of one core of the machine of docs/benchmarks.md.
COSTS = {
    'redis_get': 25e-6,      # GET of 24 KiB, the server's own time with its system calls
    'redis_lead': 15e-6,     # EVAL: no entry, a lease given or held
    'redis_put': 60e-6,      # EVAL with the entry
    'http_get': 60e-6,       # nginx, a file from the page cache
    'http_put': 150e-6,
    'network': 300e-6,       # there and back, within a data centre
    'edge': 2e-3,            # to a CDN's nearest place
}
BYTES = 24 << 10             # of an entry on the wire


def parse():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument('--nodes', type=int, default=10_000)
    a.add_argument('--keys', type=int, default=50_000)
    a.add_argument('--wanted', type=int, default=40)
    a.add_argument('--store', choices=('none', 'http', 'cdn', 'redis'), default='redis')
    a.add_argument('--shards', type=int, default=1)
    a.add_argument('--window', type=float, default=60, help='seconds in which the nodes start')
    a.add_argument('--waves', type=int, default=1, help='each of a share of the nodes with a driver of its own, `window` apart')
    a.add_argument('--compile', type=float, default=1.5, help='seconds of a compilation, the mean of an exponential distribution')
    a.add_argument('--wait', type=float, default=0.2)
    a.add_argument('--edges', type=int, default=20, help='places of the CDN')
    a.add_argument('--seed', type=int, default=1)
    a.add_argument('--json', action='store_true')
    return a.parse_args()


class Fleet:
    def __init__(self, given):
        self.given, self.random = given, random.Random(given.seed)
        self.events, self.order, self.now = [], itertools.count(), 0.0
        self.free_at = [0.0] * given.shards
        self.there, self.at_edge, self.led_until = set(), set(), {}
        self.closed_until, self.failures = [0.0] * given.nodes, [0] * given.nodes
        self.seconds = {}
        self.compilations = self.questions = self.timeouts = self.bytes_out = self.bytes_in = self.waits = 0
        self.compiled = {}
        self.done = []
        weights = [1 / (rank + 10) for rank in range(given.keys)]
        self.cumulative = list(itertools.accumulate(weights))

    def at(self, time, what, *arguments):
        heapq.heappush(self.events, (time, next(self.order), what, arguments))

    def run(self):
        given = self.given
        for node in range(given.nodes):
            wave = node * given.waves // given.nodes
            start = wave * given.window * 2 + self.random.random() * given.window
            wanted = list({(key, wave) for key in self.random.choices(range(given.keys), cum_weights=self.cumulative, k=given.wanted)})
            self.random.shuffle(wanted)
            threads = [wanted[i::4] for i in range(4)]
            state = {'left': sum(map(bool, threads)), 'start': start}
            for mine in threads:
                if mine:
                    self.at(start, self.want, node, state, mine, 0)
        while self.events:
            self.now, _, what, arguments = heapq.heappop(self.events)
            what(*arguments)

    def serve(self, key, cost, size=0, put=False):
        """When the answer is back: the queue of the key's shard, then the network."""
        shard = hash(key) % len(self.free_at)
        begin = max(self.now + COSTS['network'] / 2, self.free_at[shard])
        self.free_at[shard] = begin + cost
        self.questions += 1
        second = int(begin)
        self.seconds[second] = self.seconds.get(second, 0) + 1
        if put:
            self.bytes_in += size
        else:
            self.bytes_out += size
        return begin + cost + COSTS['network'] / 2

    def next(self, node, state, mine, place):
        if place + 1 < len(mine):
            self.want(node, state, mine, place + 1)
        else:
            state['left'] -= 1
            if state['left'] == 0:
                self.done.append(self.now - state['start'])

    def compile(self, node, state, mine, place, led=False):
        self.compilations += 1
        key = mine[place]
        self.compiled[key] = self.compiled.get(key, 0) + 1
        took = random.Random(hash(key)).expovariate(1 / self.given.compile)
        if led:
            self.led_until[key] = self.now + took
        self.at(self.now + took, self.compiled_one, node, state, mine, place)

    def compiled_one(self, node, state, mine, place):
        store, key = self.given.store, mine[place]
        if store != 'none' and self.now >= self.closed_until[node]:
            self.at(self.serve(key, COSTS['redis_put' if store == 'redis' else 'http_put'], BYTES, True), self.arrive, key)
        self.next(node, state, mine, place)

    def arrive(self, key):
        self.there.add(key)
        self.led_until.pop(key, None)

    def failed(self, node):
        self.timeouts += 1
        self.closed_until[node] = self.now + 2 ** min(self.failures[node], 6)
        self.failures[node] += 1

    def want(self, node, state, mine, place):
        store, key = self.given.store, mine[place]
        if store == 'none' or self.now < self.closed_until[node]:
            return self.compile(node, state, mine, place)
        if store == 'cdn':
            edge = (node % self.given.edges, key)
            if edge in self.at_edge:
                self.bytes_out += 0
                return self.at(self.now + COSTS['edge'], self.next, node, state, mine, place)
            if key in self.there:
                self.at_edge.add(edge)
        there = key in self.there
        back = self.serve(key, COSTS[('redis_get' if there else 'redis_lead') if store == 'redis' else 'http_get'], BYTES if there else 0)
        if back - self.now > self.given.wait:
            return self.at(self.now + self.given.wait, self.late, node, state, mine, place)
        self.at(back, self.answered, node, state, mine, place, there)

    def late(self, node, state, mine, place):
        self.failed(node)
        self.compile(node, state, mine, place)

    def answered(self, node, state, mine, place, there):
        self.failures[node] = 0
        if there:
            return self.next(node, state, mine, place)
        key = mine[place]
        if self.given.store != 'redis':
            return self.compile(node, state, mine, place)
        self.ask_to_lead(node, state, mine, place, self.now)

    def ask_to_lead(self, node, state, mine, place, since):
        key = mine[place]
        if key in self.there:
            return self.at(self.serve(key, COSTS['redis_get'], BYTES), self.next, node, state, mine, place)
        back = self.serve(key, COSTS['redis_lead'])
        if key not in self.led_until:
            self.led_until[key] = float('inf')
            return self.at(back, self.compile, node, state, mine, place, True)
        waited = self.now - since
        if waited > max(12.0, 2 * self.given.compile * 4):
            return self.compile(node, state, mine, place)
        self.waits += 1
        pause = min(max(waited / 8, 0.004), 0.5) * self.random.uniform(0.75, 1.25)
        self.at(back + pause, self.ask_to_lead, node, state, mine, place, since)


def main():
    given = parse()
    fleet = Fleet(given)
    fleet.run()
    done = sorted(fleet.done)
    figures = {
        'store': given.store, 'nodes': given.nodes, 'distinct_keys': len(fleet.compiled), 'compilations': fleet.compilations,
        'compilations_a_key': fleet.compilations / max(1, len(fleet.compiled)), 'questions': fleet.questions,
        'questions_a_second_at_most': max(fleet.seconds.values(), default=0), 'timeouts': fleet.timeouts, 'looks_while_waiting': fleet.waits,
        'gigabytes_out': fleet.bytes_out / 1e9, 'gigabytes_in': fleet.bytes_in / 1e9,
        'node_done_seconds_median': done[len(done) // 2], 'node_done_seconds_99': done[len(done) * 99 // 100],
    }
    if given.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f'{name.replace("_", " ")}: {value if isinstance(value, (str, int)) else round(value, 2)}')


if __name__ == '__main__':
    main()
