# SPDX-License-Identifier: MIT
"""Proxies between nodes and a store: one that delays, cuts, repeats, flips and stalls, by a seed, and one that does what it is told."""
import asyncio
import random
import threading
import warnings

warnings.simplefilter('ignore', ResourceWarning)  # of connections that are cut when the test ends


class Proxy:
    """Counts its faults in `faults`; `rate` of the pieces that come through suffer one."""

    def __init__(self, port, seed, rate=0.4):
        self.to, self.rate, self.random = port, rate, random.Random(seed)
        self.faults = dict.fromkeys(('delay', 'stall', 'cut', 'half', 'repeat', 'flip', 'drop'), 0)
        self.loop = asyncio.new_event_loop()
        started = threading.Event()
        threading.Thread(target=self.serve, args=(started,), daemon=True).start()
        started.wait()

    def serve(self, started):
        asyncio.set_event_loop(self.loop)

        async def begin():
            server = await asyncio.start_server(self.take, '127.0.0.1', 0)
            self.port = server.sockets[0].getsockname()[1]
            started.set()
        self.loop.create_task(begin())
        self.loop.run_forever()

    def count(self):
        return sum(self.faults.values())

    async def take(self, reader, writer):
        try:
            upstream = await asyncio.open_connection('127.0.0.1', self.to)
        except OSError:
            writer.close()
            return
        await asyncio.gather(self.pass_on(reader, upstream[1]), self.pass_on(upstream[0], writer))
        for each in (writer, upstream[1]):
            each.close()

    async def pass_on(self, reader, writer):
        try:
            while piece := await reader.read(65536):
                if not await self.send(piece, writer):
                    break
            writer.close()
        except OSError:
            pass

    async def send(self, piece, writer):
        fault = self.random.choice(list(self.faults)) if self.random.random() < self.rate else None
        if fault:
            self.faults[fault] += 1
        if fault == 'delay':
            await asyncio.sleep(self.random.uniform(0.001, 0.15))
        elif fault == 'stall':
            await asyncio.sleep(1)
        elif fault == 'cut':
            return False
        elif fault == 'half':
            writer.write(piece[:self.random.randrange(len(piece))])
            return False
        elif fault == 'repeat':
            piece += piece
        elif fault == 'flip':
            changed = bytearray(piece)
            for _ in range(self.random.choice((1, 1, 3, 20))):
                changed[self.random.randrange(len(changed))] ^= 1 << self.random.randrange(8)
            piece = bytes(changed)
        elif fault == 'drop':
            start = self.random.randrange(len(piece))
            piece = piece[:start] + piece[start + self.random.randrange(1, 200):]
        writer.write(piece)
        await writer.drain()
        return True


class Gate(Proxy):
    """Passes on what comes, `seconds` later, but nothing while it is `closed`, nor pieces that `swallows` picks; cuts the connection once in
    place of a piece that `loses` picks."""

    def __init__(self, port):
        self.closed, self.loses, self.swallows, self.seconds = threading.Event(), None, None, 0
        super().__init__(port, 0)

    async def send(self, piece, writer):
        await asyncio.sleep(self.seconds)
        while self.closed.is_set():
            await asyncio.sleep(0.01)
        if self.loses and self.loses(piece):
            self.loses = None
            return False
        if self.swallows and self.swallows(piece):
            return True
        writer.write(piece)
        await writer.drain()
        return True
