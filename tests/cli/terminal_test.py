# SPDX-License-Identifier: MIT
# What a terminal gets and a pipe does not: colours, and lines cut to its width.
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
import unittest

from command import DATA, KILN, kiln

ESCAPE = re.compile(r'\x1b\[[0-9;]*m')


def on_terminal(width, *arguments, **environment):
    """What the command writes to a terminal of so many columns."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('4H', 50, width, 0, 0))
    environment = {**os.environ, 'TERM': 'xterm', 'KILN_DEVICE': 'cpu', 'KILN_CPU_PROFILE': 'pvc', **environment}
    child = subprocess.Popen([KILN, *arguments], env=environment, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    output = b''
    try:
        while block := os.read(master, 1 << 16):
            output += block
    except OSError:  # the other side is gone
        pass
    os.close(master)
    child.wait(120)
    return output.decode().replace('\r\n', '\n')


class Terminal(unittest.TestCase):
    REFUSED = ('run', 'matmul', '--slm', '262144')
    SHOWN = (REFUSED, ('doctor',), ('devices',), ('check', str(DATA / 'memory.pvc.bin'), '--target', 'pvc,dg2'), ('fly',),
             ('check', '--target', 'help'), ('run', '--list'), ('help',), ('help', 'cache', 'explain'), ('explain', 'K0101'))

    def test_lines_are_cut_to_the_width_and_say_the_same(self):
        for arguments in self.SHOWN:
            for width in (60, 200):
                shown = on_terminal(width, *arguments, '--color', 'never')
                widest = max(map(len, shown.splitlines()))
                self.assertLessEqual(widest, width, (arguments, shown))
                self.assertNotIn('\x1b', shown)
            if arguments[0] in ('help', 'check', 'devices'):  # made for the width, a table, both outputs in turn
                continue
            piped = kiln(*arguments, KILN_DEVICE='cpu', KILN_CPU_PROFILE='pvc')
            told = [re.sub(r'==\d+==|\s', '', text)  # a sanitizer's process number, quoted in a driver's row
                    for text in (on_terminal(60, *arguments, '--color', 'never'), piped.stdout + piped.stderr)]
            self.assertEqual(*told, arguments)

    def test_a_long_cure_hangs_under_its_text(self):
        shown = on_terminal(60, *self.REFUSED, '--color', 'never')
        self.assertRegex(shown, r'(?m)^  help: 2 square tiles of .*\n        \S')
        self.assertRegex(shown, r'(?m)^error\[K0101\]: .*\n  \S')

    def test_a_table_keeps_its_columns(self):
        shown = on_terminal(80, 'check', '--target', 'help', '--color', 'never')
        rows = [line for line in shown.splitlines() if line.startswith('pvc ')]
        self.assertRegex(rows[0], r' 131072 +1024$')

    def test_severities_right_and_wrong_have_colours(self):
        for arguments, colored in ((self.REFUSED, ('1;31m', 'error[K0101]')), (self.REFUSED, ('36m', 'help:')),
                                   (('fly',), ('1;31m', 'error[K0400]')), (('run', 'saxpy', '--size', '9'), ('32m', 'ok')),
                                   (('run', '--all', '--size', '9'), ('32m', 'ok')), (('doctor',), ('32m', 'ok')),
                                   (('check', str(DATA / 'memory.pvc.bin'), '--target', 'pvc'), ('32m', 'yes'))):
            shown = on_terminal(200, *arguments)
            self.assertIn('\x1b[' + colored[0] + colored[1], shown, arguments)
            self.assertEqual(ESCAPE.sub('', shown).count('\x1b'), shown.count('\x1b[K'), arguments)

    def test_who_wants_no_colours_gets_none(self):
        for more, environment in ((('--color', 'never'), {}), (('--color=never',), {}), ((), {'NO_COLOR': '1'}),
                                  ((), {'TERM': 'dumb'})):
            self.assertNotIn('\x1b', on_terminal(80, *self.REFUSED, *more, **environment))
        self.assertIn('\x1b', on_terminal(80, *self.REFUSED, NO_COLOR=''))
        self.assertIn('\x1b', on_terminal(80, *self.REFUSED, '--color', 'always', NO_COLOR='1'))

    def test_pipes_get_neither_unless_asked(self):
        for arguments in self.SHOWN:
            done = kiln(*arguments, KILN_DEVICE='cpu', TERM='xterm', COLUMNS='40')
            self.assertNotIn('\x1b', done.stdout + done.stderr, arguments)
        piped = kiln(*self.REFUSED, '--color', 'never', KILN_DEVICE='cpu', KILN_CPU_PROFILE='pvc').stderr
        colored = kiln(*self.REFUSED, '--color', 'always', KILN_DEVICE='cpu', KILN_CPU_PROFILE='pvc').stderr
        self.assertTrue(colored.startswith('\x1b[1;31merror[K0101]\x1b[0m: '), colored)
        self.assertEqual(ESCAPE.sub('', colored), piped)

    def test_json_is_never_cut_or_coloured(self):
        for arguments in (('run', '--list', '--json'), ('fly', '--json'), ('check', '--target', 'help', '--json')):
            shown = on_terminal(40, *arguments, '--color', 'always')
            body = shown[shown.index('\n{\n') + 1:] if '\n{\n' in shown else shown
            json.loads(body)

    def test_a_choice_that_is_none_is_named(self):
        done = kiln('devices', '--color', 'alway')
        self.assertEqual(done.returncode, 2)
        self.assertIn('did you mean `always`?', done.stderr)


if __name__ == '__main__':
    unittest.main()
