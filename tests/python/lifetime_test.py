# SPDX-License-Identifier: MIT
"""What is closed, collected, kept or lent: lifetime_test.py SOURCE_ROOT BUILD_ROOT [unittest options]"""
import array
import copy
import gc
import pickle
import threading
import weakref

from package import COUNT, kiln, OnTheDevice, run_tests, SPIRV


class Lifetimes(OnTheDevice):
    def test_what_is_closed(self):
        self.x.close()
        self.x.close()
        with self.assertRaises(ValueError):
            self.kernel(3, self.x, self.y, COUNT, groups=4, group_size=256)
        for use in (self.x.read, self.x.view, lambda: self.x.write(b'1')):
            with self.assertRaises(ValueError):
                use()
        self.kernel.close()
        self.refused('K0901', 3, self.y, self.y, COUNT)
        device = kiln.Device('cpu')
        device.close()
        for use in (lambda: device.buffer(4), lambda: kiln.Bundle(device, SPIRV / 'saxpy'), lambda: kiln.List(device),
                    lambda: device.info, device.check_status):
            with self.assertRaises(kiln.Error) as caught:
                use()
            self.assertEqual(caught.exception.code, 'K0901')

    def test_what_owns_a_handle_has_no_copies(self):
        for owner in (self.device, self.bundle, self.kernel, self.x, kiln.File(SPIRV / 'saxpy.spv')):
            for copied in (copy.copy, copy.deepcopy, pickle.dumps):
                with self.assertRaises(TypeError):
                    copied(owner)
        self.kernel(3, self.x, self.y, COUNT, groups=4, group_size=256)  # a copy would have ended them
        self.right()

    def test_the_collector_ends_objects_in_any_order(self):
        def made():
            device = kiln.Device('cpu')
            kernel = kiln.Bundle(device, SPIRV / 'saxpy').kernel('saxpy', 'float, global, global, uint')
            buffers = [device.buffer(array.array('f', [1] * 8)) for _ in range(2)]
            kernel.cycle = [kernel, device, buffers]
            return kernel, buffers
        kernel, buffers = made()
        gc.collect()
        kernel(3, *buffers, 8, groups=1, group_size=8)
        view = buffers[1].view('f')
        del kernel, buffers
        gc.collect()
        self.assertEqual(list(view), [4.0] * 8)

    def test_which_device_it_is(self):
        identity = self.device.identity
        self.assertEqual(len(identity.uuid), 16)
        self.assertTrue(any(identity.uuid))
        self.assertFalse(identity.sub_device)
        self.assertEqual(self.device.sub_devices(), ())
        (only,) = self.device.devices()
        self.assertTrue(self.device.can_access(only))
        self.assertEqual(only.native, self.device.native)
        lent = kiln.Device.lend(self.device.native, self.device)
        self.kernel = kiln.Bundle(lent, SPIRV / 'saxpy').kernel('saxpy', 'float, global, global, uint')
        self.kernel(3, self.x, self.y, COUNT, groups=4, group_size=256)
        self.right()
        with self.assertRaises(kiln.Error) as caught:
            kiln.Device.lend(kiln.NativeHandles(0, 0, 0), self.device)
        self.assertEqual(caught.exception.code, 'K0222')
        self.assertNotEqual(self.device.entry_point('zeMemAllocDevice'), 0)
        with self.assertRaises(kiln.Error) as caught:
            self.device.entry_point('zeNothing')
        self.assertEqual(caught.exception.code, 'K0232')

    def test_a_list_keeps_what_it_works_on(self):
        run = kiln.List(self.device, immediate=False)
        self.kernel(3, self.device.buffer(array.array('f', [1] * COUNT)), self.y, COUNT, groups=4, group_size=256, list=run)
        gc.collect()
        run.finish()
        queue = kiln.Queue(self.device, synchronous=True)
        queue.execute(run)
        self.assertEqual(set(self.y.view('f')), {4.0})

    def test_native_handles_and_lending(self):
        run = kiln.List(self.device)
        event = kiln.EventPool(self.device, 1).event(0)
        queue = kiln.Queue(self.device)
        for each in (self.bundle, self.kernel, run, event, queue):
            self.assertNotEqual(each.native, 0)
        with kiln.List.lend(self.device, run.native, synchronous=True) as list, kiln.Event.lend(self.device, event.native) as done:
            self.assertEqual((list.native, done.native), (run.native, event.native))
            self.kernel(3, self.x, self.y, COUNT, groups=4, group_size=256, list=list, signal=done)
            self.right()
        self.assertEqual(list.native, 0)
        self.assertTrue(event.signalled)
        self.kernel(3, self.x, self.y, COUNT, groups=4, group_size=256, list=run)
        self.right(2)
        with self.assertRaises(kiln.Error) as caught:
            kiln.List.lend(self.device, 0)
        self.assertEqual(caught.exception.code, 'K0903')

    def test_a_queue_keeps_its_lists(self):
        # What is submitted waits for the event; all that it works on is let go meanwhile.
        go = kiln.EventPool(self.device, 1).event(0)
        for end in ('synchronize', 'close'):
            go.reset()
            run = kiln.List(self.device, immediate=False)
            run.wait(go)
            buffer = self.device.buffer(b'1234', 'host')
            run.copy(self.y, buffer)
            run.finish()
            gone = [weakref.ref(each) for each in (run, buffer)]
            queue = kiln.Queue(self.device)
            queue.execute(run)
            del run, buffer
            gc.collect()
            self.assertNotIn(None, [each() for each in gone])
            self.assertFalse(queue.synchronize(0.000001))
            self.assertNotIn(None, [each() for each in gone])
            threading.Thread(target=go.signal).start()
            getattr(queue, end)()
            self.assertTrue(go.signalled)
            gc.collect()
            self.assertEqual([each() for each in gone], [None, None])
            self.assertEqual(self.y.read(4), b'1234')
        run = kiln.List(self.device, immediate=False)
        run.finish()
        queue = kiln.Queue(self.device)
        queue.execute(run)
        run = weakref.ref(run)
        queue.release()
        gc.collect()
        self.assertIsNone(run())
        queue.synchronize()


if __name__ == '__main__':
    run_tests()
