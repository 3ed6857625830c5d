#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a hit costs beside the store's own GET, and a local hit with stores and without:
hit_costs.py BUILD_FOLDER [--keys 300] [--size 65536] [--rounds 5] [--like FILE] [--json]"""
import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
arguments = argparse.ArgumentParser(description=__doc__)
arguments.add_argument('build', type=pathlib.Path)
arguments.add_argument('--keys', type=int, default=300)
arguments.add_argument('--size', type=int, default=65536)
arguments.add_argument('--rounds', type=int, default=5)
arguments.add_argument('--like', type=pathlib.Path, help='a native binary whose bytes the entries have, so that they compress as code does')
arguments.add_argument('--json', action='store_true')
given = arguments.parse_args()
NODE, STORE = (str(given.build.resolve() / name) for name in ('tests/fleet/fleet_node', 'src/store/kiln-store'))
os.environ.update(KILN_FLEET_NODE=NODE, KILN_FLEET_STORE=STORE)
sys.path.insert(0, str(SOURCE / 'tests' / 'fleet'))
import servers  # noqa: E402
from fleet_case import key_of  # noqa: E402

like = [f'like={given.like.resolve()}'] if given.like else []
root = pathlib.Path(tempfile.mkdtemp(prefix='kiln-bench-'))
redis, nginx = servers.Redis(), servers.Nginx()
key = servers.signing_key(root / 'key')
(root / 'trusted').write_text(f'trust {key}\n')
os.chmod(root / 'trusted', 0o600)


def node(folder, remote, **more):
    done = subprocess.run([NODE, f'keys={given.keys}', f'size={given.size}', 'each', *like], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, 'KILN_CACHE_DIR': str(root / folder), 'KILN_CACHE_REMOTE': remote, 'KILN_STORE': STORE,
                               'KILN_CACHE_TRUST': str(root / 'trusted'), 'KILN_CACHE_REMOTE_WAIT': '5000', **more})
    answer = json.loads(done.stdout)
    assert answer['wrong'] == 0, done.stderr
    return answer


def hits(folder, remote, source, **more):
    """Median and first microseconds; the first one starts the program that asks."""
    answer = node(folder, remote, **more)
    times = [each['us'] for each in answer['each'] if each['source'] == source]
    assert len(times) == given.keys, f'{len(times)} of {given.keys} are hits of {source}'
    return {'median_us': statistics.median(times[1:]), 'quiet_us': quiet(times[1:]), 'first_us': times[0]}


def quiet(times):
    """What a tenth of them stay below: other programs of the machine only add to it."""
    return sorted(times)[len(times) // 10]


def raw(port, request, body):
    """The store's own GET, one connection: microseconds."""
    times = []
    room = memoryview(bytearray(2 * given.size + 10000))  # taken once, so that the figure has no page faults
    with socket.create_connection(('127.0.0.1', port)) as to:
        to.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for number in range(given.keys):
            text = request(key_of(number)).encode()
            begin = time.perf_counter()
            to.sendall(text)
            size = to.recv_into(room)
            wanted = body(bytes(room[:min(size, 1000)]))
            while size < wanted:
                size += to.recv_into(room[size:])
            times.append((time.perf_counter() - begin) * 1e6)
    return {'median_us': statistics.median(times), 'quiet_us': quiet(times)}, wanted


def best(rounds, what):
    """The round of the lowest median."""
    return min((each[what] for each in rounds), key=lambda figures: figures['median_us'])


def http_size(data):
    head = data.split(b'\r\n\r\n')[0]
    return len(head) + 4 + int(head.lower().split(b'content-length:')[1].split()[0])


def redis_size(data):
    line = data.split(b'\r\n')[0]
    return len(line) + 4 + int(line[1:])


# What is kept is written into the folder by a thread that has the CPUs, too; `not kept` shows the hit alone.
WAYS = {f'{signed}{kept}': (more, settings) for signed, more in (('signed', ''), ('unsigned', ',unsigned'))
        for kept, settings in (('', {}), (', not kept', {'KILN_CACHE': 'read'}))}
figures = {}
for name, server, port in (('redis', redis, redis.port), ('http', nginx, nginx.port)):
    node('fills-' + name, server.url, KILN_CACHE_SIGNING_KEY=str(root / 'key'))
    servers.until(lambda: len(redis.keys() if server is redis else nginx.entries()) == given.keys, 60)
    rounds = []
    for number in range(given.rounds):
        # One after the other, so that what else the machine does is the same for all.
        if server is redis:
            own, size = raw(port, lambda key: f'GET kiln:{{{key}}}:entry\r\n', redis_size)
        else:
            own, size = raw(port, lambda key: f'GET /kiln/{key} HTTP/1.1\r\nHost: x\r\n\r\n', http_size)
        rounds.append({'own_get': own, **{how: hits(f'{how}-{name}-{number}', f'{server.url},read-only{unsigned}', 'store of several machines', **more)
                                          for how, (unsigned, more) in WAYS.items()}})
    figures[name] = {'bytes': size, **{what: best(rounds, what) for what in rounds[0]}}
    for how in WAYS:
        for share in ('median_us', 'quiet_us'):
            figures[name][how][share.replace('us', 'ratio')] = statistics.median(each[how][share] / each['own_get'][share] for each in rounds)
silent = socket.create_server(('127.0.0.1', 0))
local = {'without': '', 'redis up': redis.url, 'http up': nginx.url, 'silent': f'redis://127.0.0.1:{silent.getsockname()[1]}',
         'gone': f'redis://127.0.0.1:{servers.free_port()}'}
runs = {name: [] for name in local}
for _ in range(9):
    for name, remote in local.items():
        runs[name].append(hits('signed-redis-0', remote, "user's folder")['median_us'])
figures['local_hit_us'] = {name: statistics.median(all_of) for name, all_of in runs.items()}
figures['local_hit_spread_us'] = {name: max(all_of) - min(all_of) for name, all_of in runs.items()}
if given.json:
    print(json.dumps(figures))
else:
    for name in ('redis', 'http'):
        each = figures[name]
        own = each['own_get']
        print(f'{name}: own GET of {each["bytes"]} bytes {own["median_us"]:.0f} us, a tenth below {own["quiet_us"]:.0f}')
        for how in WAYS:
            hit = each[how]
            print(f'  hit of {given.size} bytes, {how}: {hit["median_us"]:.0f} us, a tenth below {hit["quiet_us"]:.0f}, the first {hit["first_us"]:.0f}; '
                  f'{hit["median_ratio"]:.2f} own GETs, a tenth {hit["quiet_ratio"]:.2f}, medians of {given.rounds} rounds')
    for name, median in figures['local_hit_us'].items():
        print(f'local hit, {name}: {median:.1f} us, medians of 9 runs within {figures["local_hit_spread_us"][name]:.1f} us')
