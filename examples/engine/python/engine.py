#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An engine in Python: frames in flight on three lanes, recorded by several threads, through losses of the device."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import sys
from typing import Any, Callable, Dict, List, Optional

import graph
import kiln
import reference
from graph import say


def type_of(device: kiln.Device) -> str:
    if device.info.kind == 'cpu':
        return 'cpu'
    return 'integrated' if device.identity.integrated else 'discrete'


def pci_of(device: kiln.Device) -> str:
    pci = device.identity.pci
    return f'{pci.domain:04x}:{pci.bus:02x}:{pci.device:02x}.{pci.function:x}' if pci else ''


def is_meant(device: kiln.Device, pick: str) -> bool:
    what, _, value = pick.partition(':')
    told = {'uuid': device.identity.uuid.hex(), 'pci': pci_of(device), 'type': type_of(device)}
    if what == 'name':
        return bool(value) and value in device.info.name
    return bool(value) and told.get(what) == value


def choose(request: Optional[str], pick: Optional[str]) -> kiln.Device:
    """Memory of their own first, as Vulkan programs choose; then the driver's order."""
    meant = [each for each in kiln.Device(request).devices() if pick is None or is_meant(each, pick)]
    if not meant:
        raise RuntimeError(f'no device is {pick!r}; --list-devices shows what there is')
    return min(meant, key=lambda each: ('discrete', 'integrated', 'cpu').index(type_of(each)))


class Engine:
    """One opening of a device."""

    def __init__(self, options: argparse.Namespace, cache: kiln.Cache, recorders: concurrent.futures.Executor,
                 sink: Callable[[Dict[str, Any]], None]) -> None:
        self.options, self.cache, self.recorders, self.sink = options, cache, recorders, sink
        self.reloads = 0
        self.watched: Any = None
        self.unread: Optional[graph.Slot] = None  # submitted, but for its readback
        self.device = choose(options.device, options.pick)
        self.info = self.device.info
        say(f'{self.info.name} ({self.device.identity.uuid.hex()})')
        self.ways = graph.Ways(self.device, options.submission)
        self.main, self.analysis = (graph.Lane(self.device, self.ways, number=number) for number in range(2))
        self.copy = graph.Lane(self.device, self.ways, copies=True)
        passes, convolve = (kiln.Bundle(self.device, pathlib.Path(options.kernels, family), cache=cache) for family in ('passes', 'convolve'))
        self.kernels = self.on_threads(lambda _: graph.Kernels(passes, convolve))
        self.tile = graph.tile_that_fits(self.kernels[0].multiply, options.tile)
        try:
            self.frames = self.what_fits()
        except Exception:
            self.stop()  # the first upload may still run, and what it uses goes with the exception
            raise

    def what_fits(self) -> graph.Frames:
        """Images of half the edge as long as memory does not suffice. A device that is lost may call that so, too."""
        size = self.options.size
        lanes = [self.copy, self.analysis, *[self.main] * (graph.BANDS + 1), self.copy]
        while True:
            try:
                return graph.Frames(self.device, self.ways, size, self.tile, lanes, self.options.timeout)
            except kiln.Error as error:
                lack = ('OUT_OF_DEVICE_MEMORY', 'OUT_OF_HOST_MEMORY', 'UNSUPPORTED_SIZE')
                if size == 1 or self.is_lost() or not error.name.endswith(lack):
                    raise
                say(f'images of {size} x {size} do not fit, so half the edge: {error.text}')
            size //= 2

    def is_lost(self) -> bool:
        try:
            self.device.check_status()
        except kiln.Error as error:
            return error.name.endswith('DEVICE_LOST')
        return False

    def on_threads(self, work: Callable[[int], Any]) -> List[Any]:
        """All of them are done when this returns, also where one fails."""
        futures = [self.recorders.submit(work, thread) for thread in range(self.options.threads)]
        concurrent.futures.wait(futures)
        return [future.result() for future in futures]

    def frame(self, number: int) -> None:
        if self.has_changed():
            self.reload()
        slot = self.frames.slots[number % 2]
        self.take(slot)
        slot.frame = number
        slot.staging.write(reference.image(self.frames.size, number))

        def record(thread: int) -> None:
            for task in range(thread, graph.TASKS, self.options.threads):
                self.frames.record(task, slot, self.kernels[thread])
        self.on_threads(record)
        # Whatever a list waits for was submitted before it, so that one queue for all lanes would do.
        self.copy.submit(slot.lists[graph.UPLOAD])
        self.submit_readback()
        self.analysis.submit(slot.lists[graph.ANALYSIS])
        slot.in_flight = True
        self.unread = slot
        self.main.submit(*slot.lists[graph.FIRST_BAND:graph.FINISH + 1])

    def submit_readback(self) -> None:
        if self.unread is not None:
            self.copy.submit(self.unread.lists[graph.READBACK])
            self.unread = None

    def take(self, slot: graph.Slot) -> None:
        """Waits for the frame in a slot and tells what it was."""
        if not slot.in_flight:
            return
        graph.wait_in_time(slot.read, self.options.timeout, f'frame {slot.frame}')
        for event in (slot.uploaded, slot.scanned, slot.finished, slot.read):
            event.reset()
        slot.in_flight = False
        size = self.frames.size
        wrong = reference.compare(slot.results.view('I'), size, slot.frame) if self.options.check else ''
        self.sink({'frame': slot.frame, 'size': size, 'total': graph.total_of(slot), 'wrong': wrong,
                   'microseconds': graph.times_of(slot, self.info)})

    def finish(self) -> None:
        self.submit_readback()
        for slot in sorted(self.frames.slots, key=lambda each: each.frame):
            self.take(slot)

    def has_changed(self) -> bool:
        try:
            now = os.stat(self.options.watch).st_mtime_ns if self.options.watch else None
        except OSError:
            return False  # an editor may be in the middle of replacing the file: the next frame asks again
        before, self.watched = self.watched, now
        return bool(now != before)

    def reload(self) -> None:
        """Compiles `convolve` again. What is wrong with it is told, and the old one stays."""
        try:
            bundle = kiln.Bundle.compile(self.device, pathlib.Path(self.options.watch), cache=self.cache)
            fresh = self.on_threads(lambda _: graph.Kernels.convolve_of(bundle))
        except kiln.Error as error:
            if self.is_lost():
                raise
            say(f'the kernel stays as it is: {error.text}')
            return
        self.finish()  # the device may be at work on the old one
        for kernels, kernel in zip(self.kernels, fresh):
            kernels.convolve = kernel
        self.reloads += 1
        say(f'the kernel is that of {self.options.watch} now')

    def stop(self) -> None:
        """What the device still works on must be done before its memory goes. A lost device answers at once."""
        timeout = self.options.timeout
        for lane in (self.copy, self.analysis, self.main):  # they know what reached the device, also of half a frame
            if not lane.wait(timeout):
                timeout = 0


class Report:
    """What is told of a run."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.frames: List[Dict[str, Any]] = []
        self.losses = self.reloads = 0
        self.last: Dict[str, Any] = {}
        self.error = ''

    def add(self, outcome: Dict[str, Any]) -> None:
        self.frames.append(outcome)
        if outcome['wrong']:
            say(f'frame {outcome["frame"]} is wrong: {outcome["wrong"]}')
        if not self.options.json:
            said = '' if not self.options.check else ', wrong' if outcome['wrong'] else ', right'
            times = ' '.join(f'{name} {time:.1f}' for name, time in outcome['microseconds'].items())
            print(f'frame {outcome["frame"]}: total {outcome["total"]}{said}, microseconds: {times}', flush=True)

    def print_json(self) -> None:
        print(json.dumps({'frames': self.frames, **self.last, 'threads': self.options.threads, 'losses': self.losses,
                          'reloads': self.reloads, 'checked': self.options.check, 'error': self.error}))


def run(engine: Engine, options: argparse.Namespace, report: Report) -> None:
    """The frames that are left, on one opening of the device."""
    for number in range(len(report.frames), options.frames):
        if options.step:
            engine.finish()  # so that who steps sees each frame
            sys.stdin.readline()
        engine.frame(number)
    engine.finish()


def run_through_losses(options: argparse.Namespace, cache: kiln.Cache, report: Report) -> int:
    """Opens the device as often as it is lost, as long as frames come out in between. Gives the exit status."""
    with concurrent.futures.ThreadPoolExecutor(options.threads) as recorders:
        while True:
            before, engine = len(report.frames), None
            try:
                engine = Engine(options, cache, recorders, report.add)
                report.last = {'device': engine.info.name, 'in_order': engine.ways.in_order, 'append': engine.ways.append,
                               'tile': engine.tile}
                run(engine, options, report)
                return int(any(outcome['wrong'] for outcome in report.frames))
            except (kiln.Error, RuntimeError, graph.TimeOut) as error:
                # As Kiln tells it, also where the driver calls it lack of memory.
                code, report.error = getattr(error, 'code', ''), str(error)
                lost = code == 'K0220' or getattr(error, 'name', '').endswith('DEVICE_LOST')
                if not lost or report.losses and len(report.frames) == before:
                    say(report.error)
                    return 2 if code == 'K0307' else 4 if engine is None and not report.losses else 1
                say(f'the device is lost; it is opened again: {report.error}')
                report.error = ''
            finally:
                # What was made on the old device goes before a new one is opened.
                if engine is not None:
                    engine.stop()
                    report.reloads += engine.reloads
            report.losses += 1


def within(least: int, most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        value = int(text)
        if not least <= value <= most:
            raise ValueError(text)
        return value
    return number


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description='Computes frames: upload, histogram, prefix sum, matrix product, convolution, sum, readback.',
        epilog='Exit status: 0 right, 1 wrong results or an error on the way, 2 usage, 4 no device.')
    parser.add_argument('--device', help='gpu, cpu, cpu:PRODUCT, capture:PRODUCT or driver:LIBRARY; default: KILN_DEVICE, else gpu')
    parser.add_argument('--pick', help="among that driver's devices: uuid:HEX, pci:DOMAIN:BUS:DEVICE.FUNCTION, name:PART, "
                        'type:discrete, type:integrated or type:cpu; default: the best')
    parser.add_argument('--frames', type=within(1, 1000000), default=8, help='1 to 1000000 (8)')
    parser.add_argument('--size', type=within(1, 1024), default=256, help='of the images, 1 to 1024 (256); halved where memory lacks')
    parser.add_argument('--tile', type=within(1, 1024), default=16, help='of the matrix product, 1 to 1024 (16); lowered to what fits')
    parser.add_argument('--threads', type=within(1, 64), default=8, help='that record, 1 to 64 (8)')
    parser.add_argument('--submission', choices=('auto', 'in-order', 'barriers'), default='auto')
    parser.add_argument('--kernels', default=os.environ.get('KILN_KERNEL_PATH', 'kernels'), help='folder with passes.* and convolve.*')
    parser.add_argument('--watch', help='OpenCL C of the kernel `convolve`: compiled now, and again when it changes between frames')
    parser.add_argument('--timeout', type=within(1, 3600), default=60, help='seconds for a frame, 1 to 3600 (60)')
    for switch, what in (('step', 'each frame waits for a line on standard input'), ('check', "compares each frame with the host's"),
                         ('json', 'prints JSON'), ('list-devices', 'what there is, and ends')):
        parser.add_argument('--' + switch, action='store_true', help=what)
    return parser.parse_args()


def main() -> int:
    options = parse()
    if options.list_devices:
        try:
            for device in kiln.Device(options.device).devices():
                pci = pci_of(device)
                print(f'{device.info.name}: uuid:{device.identity.uuid.hex()}{" pci:" + pci if pci else ""} type:{type_of(device)}')
        except kiln.Error as error:
            say(str(error))
            return 2 if error.code == 'K0307' else 4
        return 0
    kiln.log_to(lambda level, line: say(line) if level != 'debug' else None)
    try:
        cache = kiln.Cache()
    except kiln.Error as error:
        say(str(error))  # a variable of the cache's says what it does not take
        return 2
    report = Report(options)
    status = run_through_losses(options, cache, report)
    if options.json and status != 2:
        report.print_json()
    return status


if __name__ == '__main__':
    sys.exit(main())
