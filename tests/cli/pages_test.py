# SPDX-License-Identifier: MIT
# The manual page and the completions: nothing of the command is missing in them, and what reads them takes them.
import re
import shutil
import subprocess
import unittest

from command import kiln


def made(what):
    done = kiln('generate', what)
    assert (done.returncode, done.stderr) == (0, ''), (what, done)
    return done.stdout


def words(*command):
    """The options and the commands that `kiln help` lists, from its text alone."""
    text = kiln('help', *command).stdout
    listed = re.search(r'(?ms)^Commands:\n(.*?)\n\n', text)
    commands = re.findall(r'(?m)^  (\w+) ', listed.group(1)) if listed else []
    options = re.findall(r'(?m)^  (?:-\w, )?(--[\w-]+)', text)
    assert '--help' in options, text
    return commands, options


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.commands = {(): words()}
        for command in cls.commands[()][0]:
            cls.commands[command,] = words(command)
            for below in cls.commands[command,][0]:
                cls.commands[command, below] = words(command, below)
        assert len(cls.commands) >= 19, cls.commands

    def test_the_manual_has_every_option_of_every_command(self):
        manual = made('man').replace('\\-', '-')
        heads = re.split(r'(?m)^\.SS (?=kiln )', manual)
        sections = {tuple(re.match(r'kiln([ a-z]*)', head).group(1).split()): head for head in heads[1:]}
        for command, (_, options) in self.commands.items():
            section = heads[0] if not command else sections[command]
            for option in options:
                self.assertIn(f'\\fB{option}\\fR', section, command)

    def test_groff_takes_the_manual_without_a_warning(self):
        if not shutil.which('groff'):
            self.skipTest('groff is not installed')
        done = subprocess.run(['groff', '-man', '-ww', '-Tutf8'], input=made('man'), capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        plain = ' '.join(re.sub(r'\x1b\[[0-9;]*m|.\x08', '', done.stdout).split())  # groff stretches lines
        self.assertIn('kiln cache warm [OPTIONS] FILE...', plain)
        self.assertIn('… became', plain)

    def test_shells_take_the_completions(self):
        for shell in ('bash', 'zsh', 'fish'):
            text = made(shell)
            if shutil.which(shell):
                done = subprocess.run([shell, '-n'], input=text, capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stderr), (0, ''), shell)

    def test_zsh_and_fish_have_every_option_of_every_command(self):
        zsh, fish = made('zsh'), made('fish')
        for command, (commands, options) in self.commands.items():
            function = re.search(rf'(?ms)^{"_".join(("_kiln", *command))}\(\) {{\n(.*?)^}}', zsh).group(1)
            lines = [line for line in fish.splitlines()
                     if line.startswith(f"complete -c kiln -n '__kiln_is {' '.join(('kiln', *command))}' ")]
            for option in options:
                self.assertRegex(function, rf"{option}[=\[]", command)
                self.assertTrue(any(f' -l {option[2:]} ' in line for line in lines), (command, option))
            for below in commands:
                self.assertIn(f"'{below}:", function, command)
                self.assertTrue(any(f' -a {below} ' in line for line in lines), (command, below))

    def complete(self, line):
        """What bash offers behind this line."""
        script = made('bash') + '\ncompopt() { :; }\nCOMP_LINE=$1 COMP_POINT=${#1}\n_kiln\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
        done = subprocess.run(['bash', '-c', script, 'bash', line], capture_output=True, text=True, timeout=60, cwd='/')
        self.assertEqual((done.returncode, done.stderr), (0, ''), line)
        return done.stdout.split()

    def test_bash_offers_every_option_of_every_command(self):
        for command, (commands, options) in self.commands.items():
            line = ' '.join(('kiln', *command)) + ' '
            self.assertLessEqual(set(options), set(self.complete(line + '-')), command)
            if commands:
                self.assertEqual(self.complete(line), commands)

    def test_bash_offers_the_words_that_an_option_takes(self):
        for line, offered in (('kiln run --device cpu:p', ['pvc', 'ptl']), ('kiln run --device=cp', ['cpu', 'cpu:']),
                              ('kiln check x --target pvc,dg2-g1', ['pvc,dg2-g10', 'pvc,dg2-g11', 'pvc,dg2-g12']),
                              ('kiln run matm', ['matmul']), ('kiln run --size 4 saxp', ['saxpy']),
                              ('kiln run --size ', []), ('kiln inspect /et', ['/etc']), ('kiln help cach', ['cache']),
                              ('kiln run --report run --sl', ['--slm'])):
            found = self.complete(line)
            for word in offered:
                self.assertTrue(any(each.startswith(word) for each in found), (line, found))
            self.assertEqual(bool(found), bool(offered), line)


if __name__ == '__main__':
    unittest.main()
