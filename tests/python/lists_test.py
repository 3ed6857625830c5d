# SPDX-License-Identifier: MIT
"""Lists, events and queues: lists_test.py SOURCE_ROOT BUILD_ROOT [unittest options]"""
import array
import math

from package import COUNT, kiln, OnTheDevice, run_tests


class Lists(OnTheDevice):
    def test_lists_events_and_queues(self):
        pool = kiln.EventPool(self.device, 2, timestamps=True)
        first, second = pool.event(0), pool.event(1)
        run = kiln.List(self.device, immediate=False)
        self.assertFalse(first.signalled)
        self.assertFalse(first.wait(0.000001))
        with self.assertRaises(kiln.Error) as caught:
            first.timestamps  # noqa: B018
        self.assertEqual((caught.exception.name, caught.exception.call), ('ZE_RESULT_NOT_READY', 'kiln_event_get_timestamps'))
        self.assertEqual(caught.exception.json['result_value'], 1)
        self.kernel(3, self.x, self.y, COUNT, groups=4, group_size=256, list=run, signal=first)
        self.kernel(3, self.x, self.y, COUNT, groups=4, group_size=256, list=run, signal=second, wait=[first])
        run.barrier()
        run.finish()
        queue = kiln.Queue(self.device)
        queue.execute(run)
        self.assertTrue(second.wait(math.inf))
        self.assertTrue(queue.synchronize())
        self.right(2)
        self.assertGreater(second.timestamps.duration, 0)
        second.reset()
        self.assertFalse(second.signalled)
        run.reset()
        # An event is for that launch alone.
        self.kernel(3, self.x, self.y, COUNT, groups=4, group_size=256)
        self.assertFalse(second.signalled)
        at_once = kiln.List(self.device, synchronous=False)
        at_once.fill(self.x, b'\0\0\x80\x3f')
        at_once.barrier()
        at_once.copy(self.y, self.x)
        at_once.synchronize()
        self.assertEqual(set(self.y.view('f')), {1.0})
        with self.assertRaises(kiln.Error) as caught:
            at_once.copy(self.device.buffer(4), self.x)
        self.assertEqual(caught.exception.code, 'K0206')
        with self.assertRaises(TypeError):
            self.kernel(3, self.x, self.y, COUNT, groups=4, group_size=256, wait=[3])
        with self.assertRaisesRegex(TypeError, r'\[event\]'):
            self.kernel(3, self.x, self.y, COUNT, groups=4, group_size=256, wait=first)
        first.close()
        with self.assertRaises(ValueError):
            self.kernel(3, self.x, self.y, COUNT, groups=4, group_size=256, signal=first)

    def test_lists_in_order_and_what_stands_in_them(self):
        (group,) = [number for number, each in enumerate(self.device.queue_groups) if each.compute][:1]
        run = self.refused_as_lacking('in_order_lists', lambda: kiln.List(
            self.device, synchronous=False, in_order=True, copy_offload=True, priority='high', queue_group=group,
            queue_index=self.device.queue_groups[group].queues - 1))
        if run is None:
            return
        event = self.refused_as_lacking('counter_based_events', lambda: kiln.Event.counter_based(self.device, timestamps=True))
        ticks = self.device.buffer(array.array('Q', [0, 0]))
        run.write_timestamp(ticks)
        for _ in range(3):
            self.kernel(3, self.x, self.y, COUNT, groups=4, group_size=256, list=run, signal=event)
        run.write_timestamp(ticks, 8)
        run.prefetch(self.x)
        run.advise(self.x, 'set_read_mostly')
        run.copy(self.x, self.y, 8, to_offset=4, source_offset=8)
        self.assertTrue(run.synchronize())
        self.right(3)
        self.assertEqual(list(self.x.view('f')[:4]), [0, 3 * 3 * 2 + 1, 3 * 3 * 3 + 1, 3])
        begin, end = ticks.view('Q')
        self.assertGreater(end, begin)
        if event is not None:
            self.assertTrue(event.signalled)
            self.assertGreater(event.timestamps.duration, 0)
        for wrong in (lambda: run.write_timestamp(ticks, 9), lambda: run.copy(self.x, self.y, 8, to_offset=4 * COUNT - 7),
                      lambda: run.advise(self.x, 'nothing'), lambda: kiln.List(self.device, priority='urgent'),
                      lambda: kiln.List(self.device, queue_group=-1), lambda: self.device.has('wings')):
            with self.assertRaises(ValueError):
                wrong()
        with self.assertRaises(TypeError):
            run.copy(self.x, kiln.Pointer(self.y.address))
        with self.assertRaises(kiln.Error) as caught:
            kiln.List(self.device, queue_group=99)
        self.assertEqual(caught.exception.code, 'K0224')
        with self.assertRaises(kiln.Error) as caught:
            kiln.List(self.device, immediate=False, priority='low')
        self.assertEqual(caught.exception.code, 'K0903')
        queue = kiln.Queue(self.device, priority='low', queue_group=group)
        closed = kiln.List(self.device, immediate=False, in_order=True)
        closed.fill(self.y, b'\0\0\x80\x3f')
        closed.finish()
        queue.execute(closed)
        queue.synchronize()
        self.assertEqual(set(self.y.view('f')), {1.0})
        self.refused_as_lacking('append_lists', lambda: run.append(closed))
        run.synchronize()


if __name__ == '__main__':
    run_tests()
