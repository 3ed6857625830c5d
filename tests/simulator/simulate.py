#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""simulate.py KILN: `kiln simulate` around programs: their statuses, signals that the caller ignores, and what outlives them."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

KILN = sys.argv.pop(1)

# Connects as a driver does, says so, and when its parent is gone reads a register 2000 times.
LEFT_BEHIND = """
import os, socket, struct, sys
parent = os.getppid()
end = socket.create_connection(('127.0.0.1', int(os.environ['TbxPort'])))
def read():
    end.sendall(struct.pack('<6I', 0, 1, 12, 0, 0x2234, 0))
    answer = b''
    while len(answer) < 16:
        more = end.recv(16 - len(answer))
        if not more: sys.exit('the simulated GPU is gone')
        answer += more
    return struct.unpack('<4I', answer)[3]
read()
print('connected', flush=True)
while os.getppid() == parent: pass
print(sum(read() == 0x100 for _ in range(2000)), file=open(sys.argv[1], 'w'))
"""

# Uploads a page and asks for it again and again, as release 22.43 does once it could not write an answer to the program's memory.
TAKES_NOTHING = """
import os, socket, struct
end = socket.create_connection(('127.0.0.1', int(os.environ['TbxPort'])))
end.sendall(struct.pack('<6I', 4, 1, 12, 0, 0x1000, 0x1000) + bytes(0x1000))
while True: end.sendall(struct.pack('<6I', 5, 1, 12, 0, 0x1000, 0x1000))
"""


def simulate(*program, **others):
    return subprocess.run([KILN, 'simulate', 'dg2', '--', *program], capture_output=True, text=True, timeout=200, **others)


class Simulate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        said = simulate('true').stderr
        if 'K0311' in said:
            raise unittest.SkipTest(said)

    def test_the_status_is_the_programs(self):
        self.assertEqual(simulate('sh', '-c', 'exit 3').returncode, 3)
        self.assertEqual(simulate('sh', '-c', 'kill -TERM $$').returncode, 128 + signal.SIGTERM)

    def test_what_registers_hold_is_a_byte(self):
        for text in ('256', '-1', '0x', 'zero', '1 '):
            with self.subTest(text):
                done = simulate('true', env=os.environ | {'KILN_SIMULATOR_REGISTERS': text})
                self.assertEqual(done.returncode, 125)
                self.assertIn(f'and not `{text}`', done.stderr)
                self.assertNotIn('install libkiln_simulator', done.stderr)
        for text in ('', '0', '255', '0xA5'):
            self.assertEqual(simulate('true', env=os.environ | {'KILN_SIMULATOR_REGISTERS': text}).returncode, 0)

    def test_a_caller_that_ignores_the_end_of_its_children_gets_the_status(self):
        ignore = lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        self.assertEqual(simulate('sh', '-c', 'exit 3', preexec_fn=ignore).returncode, 3)

    def test_signals_that_the_caller_ignores_stay_ignored(self):
        for each in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
            with self.subTest(each.name):
                ignore = lambda: signal.signal(each, signal.SIG_IGN)
                done = simulate('sh', '-c', f'kill -{each.value} $$; kill -{each.value} $PPID; echo lives', preexec_fn=ignore)
                self.assertEqual((done.returncode, done.stdout), (0, 'lives\n'))

    def test_what_a_program_leaves_behind_is_waited_for(self):
        with tempfile.TemporaryDirectory() as folder:
            answer, client = pathlib.Path(folder) / 'answer', pathlib.Path(folder) / 'client.py'
            client.write_text(LEFT_BEHIND)
            # The program ends with status 4 once the other is connected.
            script = 'mkfifo "$1/said"; "$0" "$1/client.py" "$1/answer" > "$1/said" & read line < "$1/said"; exit 4'
            done = simulate('sh', '-c', script, sys.executable, folder)
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertTrue(answer.exists(), 'the command ended before')
            self.assertEqual(answer.read_text(), '2000\n')

    def test_a_driver_that_no_longer_takes_answers_is_told_of(self):
        done = simulate(sys.executable, '-c', TAKES_NOTHING)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('their answers were not taken', done.stderr)


if __name__ == '__main__':
    done = unittest.main(exit=False).result
    sys.exit(77 if done.wasSuccessful() and done.skipped else not done.wasSuccessful())
