# SPDX-License-Identifier: MIT
# Command lines that cannot be meant: what is said of them, on which of the two outputs, and the exit status.
import json
import unittest

from command import DATA, kiln


class Words(unittest.TestCase):
    def refused(self, *arguments, **environment):
        done = kiln(*arguments, **{'KILN_DEVICE': 'cpu', **environment})
        self.assertEqual((done.returncode, done.stdout), (2, ''), (arguments, done.stderr))
        return done.stderr

    def test_the_nearest_word_is_named(self):
        for arguments, unknown, near in ((('runn',), 'runn', 'run'), (('help', 'devcies'), 'devcies', 'devices'),
                                         (('cache', 'stat'), 'stat', 'stats'), (('help', 'cache', 'lits'), 'lits', 'list'),
                                         (('run', 'saxpy', '--sise', '4'), '--sise', '--size'),
                                         (('run', '--size=4', '--sede=4', 'saxpy'), '--sede', '--seed'),
                                         (('cache', 'warm', '--devise', 'cpu', 'x'), '--devise', '--device'),
                                         (('--verison',), '--verison', '--version'),
                                         (('run', 'saxpy', 'json'), 'json', '--json'),
                                         (('rnu', 'saxpy', '--size', '4'), 'rnu', 'run')):
            said = self.refused(*arguments)
            self.assertTrue(said.startswith('error[K0400]: '), said)
            self.assertIn(f'`{unknown}`', said)
            self.assertIn(f'did you mean `{near}`?', said)

    def test_samples_products_and_devices_are_suggested_too(self):
        for arguments, near in ((('run', 'saxpi'), 'saxpy'), (('run', 'coalesing.contiguos'), 'coalescing.contiguous'),
                                (('check', 'x', '--target', 'pcv'), 'pvc'), (('check', 'x', '--target', 'dg2-g1'), 'dg2-g10'),
                                (('run', 'saxpy', '--device', 'cpuu'), 'cpu'), (('run', 'saxpy', '--device', 'atuo'), 'auto'),
                                (('run', 'saxpy', '--device', 'pvc'), 'cpu:pvc'),
                                (('run', 'saxpy', '--device', 'capture:dg3'), 'capture:dg2')):
            self.assertIn(f'help: did you mean `{near}`?', self.refused(*arguments), arguments)
        said = self.refused('run', 'saxpy', KILN_DEVICE='cpu:pvcc')
        self.assertIn('did you mean `cpu:pvc`?', said)
        self.assertIn('asked for by: KILN_DEVICE', said)
        said = self.refused('run', 'saxpy', '--device', 'cpu', KILN_CPU_PROFILE='pvcc')
        self.assertIn('KILN_CPU_PROFILE', said)
        self.assertIn('did you mean `pvc`?', said)

    def test_an_option_whose_value_cannot_be_meant_is_named(self):
        for option, value, command in (('--group', '-1', ('check', 'x')), ('--group', '4,0', ('check', 'x')),
                                       ('--groups', '99999999999', ('check', 'x')), ('--local', 'a=-4', ('check', 'x')),
                                       ('--older-than', '5w', ('cache', 'prune')), ('--max-size', '-1', ('cache', 'prune')),
                                       ('--older-than', '9' * 30 + 'd', ('cache', 'prune'))):
            said = self.refused(*command, option, value)
            self.assertRegex(said, rf'^error\[K040[47]\]: {option} .*`{value}`\n')
            self.assertIn(f'help: give {option} ', said)
            done = kiln(*command, option, value, '--json')
            self.assertIn(f'{option} ', done.stdout)
            json.loads(done.stdout)

    def test_a_level_of_the_log_that_is_none_is_named_and_stays_the_usual(self):
        for level, lines in (('loud', 1), ('off', 0), ('warning', 0), ('', 0)):
            done = kiln('run', '--list', KILN_LOG=level)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (0, lines), level)
        self.assertIn('`loud`', kiln('run', '--list', KILN_LOG='loud').stderr)

    def test_a_word_that_is_like_none_gets_no_suggestion(self):
        for arguments in (('fly',), ('--fly',), ('run', 'saxpy', 'more'), ('run', 'saxpy', '--xyzzy'), ('--', 'fly')):
            said = self.refused(*arguments)
            self.assertIn(f'`{arguments[-1]}`', said)
            self.assertNotIn('did you mean', said)
            self.assertIn('`kiln help', said)

    def test_what_is_missing_or_does_not_go_together_is_named(self):
        for arguments, words in ((('run',), ('sample', '--list')), (('check',), ('FILE',)), (('inspect',), ('FILE',)),
                                 (('explain',), ('CODE|FILE',)), (('bake', 'x.cl'), ('--output',)),
                                 (('bake', 'x.cl', '-o', 'y'), ('--target', '--cpu')), (('cache', 'export'), ('FILE',)),
                                 (('run', 'saxpy', '--size'), ('--size', 'value')),
                                 (('run', 'saxpy', '--json=3'), ('--json', 'no value')),
                                 (('run', 'saxpy', '--size', '1', '--size', '2'), ('--size', 'more than once')),
                                 (('run', 'saxpy', '--all'), ('SAMPLE', '--all')),
                                 (('run', '--all', '--slm', '4'), ('--slm', '--all')),
                                 (('run', 'saxpy', '--counters', '--repeat', '2'), ('--counters', '--repeat'))):
            said = self.refused(*arguments)
            for word in words:
                self.assertIn(word, said, arguments)
            self.assertIn('help: ', said)

    def test_numbers_are_refused_by_name_with_their_range(self):
        for option, command, range_ in (('--size', ('run', 'saxpy'), '0 to 1073741824'),
                                        ('--group', ('run', 'saxpy'), '1 to 1048576'),
                                        ('--slm', ('run', 'matmul'), '0 to 4294967295'),
                                        ('--repeat', ('run', 'saxpy'), '1 to 1000000'),
                                        ('--seed', ('run', 'saxpy'), '0 to 4294967295'),
                                        ('--timeout', ('doctor',), '1 to 3600'),
                                        ('--timeout', ('check', 'x'), '0.001 to 86400 seconds'),
                                        ('--timeout', ('bake', 'x', '-o', 'y', '--cpu'), '0.001 to 86400 seconds')):
            for value in ('-1', '99999999999999999999', '1' * 400, 'many', '', '0x', 'nan'):
                said = self.refused(*command, option, value)
                self.assertIn(f'error[K0400]: {option} ', said)
                self.assertIn(value, said)
                self.assertIn(f'help: give {option} {range_}\n', said)

    def test_in_json_it_is_one_object(self):
        for arguments in (('fly',), ('run', '--fly'), ('run',), ('run', 'saxpy', '--size', '-1'), ('cache', 'list', 'x'),
                          ('doctor', '--timeout', 'x'), ('check',)):
            done = kiln(*arguments, '--json')
            self.assertEqual(done.returncode, 2, arguments)
            error = json.loads(done.stdout)['error']
            self.assertEqual((error['code'], error['severity']), ('K0400', 'error'))
            self.assertTrue(error['message'])
            self.assertTrue(error['help'])


class Advice(unittest.TestCase):
    def test_who_asks_for_the_cpu_device_hears_nothing_of_gpus(self):
        for arguments, environment in ((('run', 'matmul', '--slm', '262144'), {}),
                                       (('run', 'saxpy', '--group', '2000'), {}),
                                       (('run', 'saxpy'), {'KILN_CPU_DRIVER': '/nowhere/driver.so'}),
                                       (('run', 'saxpy'), {'KILN_CPU_DRIVER': 'libm.so.6'}),
                                       (('run', 'saxpy', '--bundle', str(DATA / 'memory.pvc.bin')), {}),
                                       (('devices',), {'KILN_CPU_DRIVER': '/nowhere/driver.so'})):
            done = kiln(*arguments, '--device', 'cpu', **environment)
            self.assertNotEqual(done.returncode, 0, arguments)
            self.assertRegex(done.stderr, r'(?m)^  help: ', arguments)
            self.assertNotRegex(done.stderr, 'GPU|modprobe|render|apt install|ocloc', arguments)


class Help(unittest.TestCase):
    COMMANDS = ('devices', 'doctor', 'run', 'inspect', 'check', 'bake', 'explain', 'cache', 'help')

    def test_alone_it_lists_the_commands_as_a_mistake(self):
        done = kiln()
        self.assertEqual((done.returncode, done.stdout), (2, ''))
        for command in self.COMMANDS:
            self.assertRegex(done.stderr, rf'(?m)^  {command} +[A-Z]')
        done = kiln('cache')
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r'(?m)^  warm +[A-Z]')

    def test_help_lists_and_says_all_about_one(self):
        done = kiln('help')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        for command in self.COMMANDS:
            self.assertRegex(done.stdout, rf'(?m)^  {command} +[A-Z]')
        self.assertEqual(done.stdout, kiln('--help').stdout)
        for command in (*((command,) for command in self.COMMANDS), ('cache', 'warm')):
            done = kiln('help', *command)
            self.assertEqual((done.returncode, done.stderr), (0, ''), command)
            self.assertIn('Usage: kiln ' + ' '.join(command), done.stdout)
            self.assertEqual(done.stdout, kiln(*command, '--help').stdout)
            self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100)


if __name__ == '__main__':
    unittest.main()
