#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`kiln doctor --report`: one file for a bug report, with nothing private in it, that replaces no other by accident."""
import getpass
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

from command import KILN

SECRET = 'hunter2'


def run(*arguments, cwd=None, before=(), **environment):
    return subprocess.run([*before, KILN, 'doctor', '--timeout', '60', *arguments], env={**os.environ, **environment}, cwd=cwd,
                          capture_output=True, text=True, check=False, timeout=280)


def in_page(text):
    """The JSON at the end of a page."""
    return json.loads(text.split('\n```json\n')[1].rsplit('```', 1)[0])


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_secrets_that_are_planted_do_not_come_out(self):
        home = self.folder / f'home-{SECRET}'
        (home / f'cache-{SECRET}').mkdir(parents=True)
        (home / 'igdrcl.config').write_text(f'PrintDebugMessages = {SECRET}\n{SECRET} = 1\n')
        sleeper = home / f'{SECRET}sleep'
        shutil.copy(shutil.which('sleep'), sleeper)
        secrets = {
            'HOME': str(home), 'USER': f'user{SECRET}', 'LOGNAME': f'user{SECRET}', 'HOSTNAME': f'{SECRET}-host',
            'ZE_TOKEN': SECRET, f'ZE_{SECRET}': '1', 'SYCL_PASSWORD': SECRET, 'NEO_API_KEY': SECRET, 'IGC_Secret': SECRET,
            f'KILN_{SECRET}': SECRET, 'UR_TOKEN': SECRET, 'ONEAPI_DEVICE_SELECTOR': f'level_zero:{SECRET}',
            'ZE_FLAT_DEVICE_HIERARCHY': SECRET, 'ZE_ENABLE_ALT_DRIVERS': f'{home}/lib{SECRET}.so,{home}/libze_intel_gpu.so.1,lib{SECRET}.so,'
            f'build/{SECRET}/libze_x.so,{home}/My {SECRET} dir/libze_x.so', 'KILN_CPU_DRIVER': f'{SECRET}.so', f'Enable{SECRET.title()}': '1',
            'LD_LIBRARY_PATH': f'{home}', 'NEO_CACHE_DIR': str(home / f'cache-{SECRET}'), 'AWS_SECRET_ACCESS_KEY': SECRET,
            'ZE_ENABLE_VALIDATION_LAYER': SECRET, 'GITHUB_TOKEN': SECRET, 'ZE_AFFINITY_MASK': '0'}
        # A host of that name too, where this may be made.
        namespace = ['unshare', '--uts', 'sh', '-c', f'hostname {SECRET}.example && exec "$0" "$@"']
        may = subprocess.run([*namespace, 'true'], capture_output=True, check=False).returncode == 0
        with subprocess.Popen([sleeper, '300']) as other:  # `ps` shows its name
            try:
                done = run('--report', 'page.md', cwd=home, before=namespace if may else (), **secrets)
            finally:
                other.kill()
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (home / 'page.md').read_text()
        at = page.find(SECRET)
        self.assertEqual(at, -1, page[max(0, at - 200):at + 100])
        self.assertNotIn(str(self.folder), page)
        for word in (socket.gethostname(), getpass.getuser(), str(pathlib.Path.home())):
            if len(word) > 6:  # shorter ones, such as root or vm, are words of the page too
                self.assertNotIn(word, page)
        # What it is for.
        for section in ('## What is wrong', '## Versions', '## Devices', '## Environment', '## Memory', "## The kernel's log"):
            self.assertIn(section, page)
        told = in_page(page)
        self.assertEqual(told['environment']['ZE_AFFINITY_MASK'], '0')
        self.assertRegex(told['environment']['LD_LIBRARY_PATH'], r'^\(folder \d\)$')
        self.assertGreaterEqual(told['variables_left_out'], 7)

    def test_what_it_holds(self):
        answer = run('--json', '--report', '-')
        self.assertEqual(answer.returncode, 0, answer.stderr)
        told = json.loads(answer.stdout)
        self.assertEqual([each['kind'] for each in told['devices']['devices'] + told['devices']['missing']].count('cpu'), 1)
        for device in told['devices']['devices']:
            self.assertGreater(device['slm_per_group'], 0)
        self.assertTrue(told['doctor']['findings'])
        self.assertGreater(told['memory']['host']['total'], 0)
        self.assertEqual(told['memory']['program'], '')
        self.assertEqual(told['kernel'].split(',')[0], os.uname().release)
        page = run('--report', '-').stdout
        self.assertTrue(page.startswith('# A machine'))
        self.assertEqual(set(in_page(page)), set(told))

    def test_a_device_does_not_hide_another(self):
        answer = run('--json', '--report', '-', NAME='16', HOSTNAME='gpu', KILN_CPU_DRIVER=os.environ['KILN_DRIVER_THAT_ABORTS'])
        devices = json.loads(answer.stdout)['devices']
        told = {each['kind']: each for each in devices['devices'] + devices['missing']}
        self.assertEqual(set(told), {'gpu', 'cpu'})
        self.assertEqual(told['cpu']['message'], 'asking for one ends the process: signal 6 (Aborted)')
        plain = run('--json', '--report', '-', NAME='16', HOSTNAME='cpu')
        cpu, = json.loads(plain.stdout)['devices']['devices'][-1:]
        self.assertEqual((cpu['kind'], 16 in cpu['sub_group_sizes']), ('cpu', True))

    @unittest.skipUnless(os.environ.get('KILN_INTEL_DRIVER') == 'yes', "without Intel's driver")
    def test_a_simulated_device_leaves_no_capture(self):
        run('--report', 'page.md', cwd=self.folder, NEOReadDebugKeys='1', SetCommandStreamReceiver='1', ProductFamilyOverride='tgllp')
        self.assertEqual(os.listdir(self.folder), ['page.md'])

    def test_files_stay(self):
        file = self.folder / 'page.md'
        file.write_text('mine')
        for arguments in ([], ['--json']):
            done = run('--report', str(file), *arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn('K0400', done.stderr)
            self.assertEqual(file.read_text(), 'mine')
        self.assertEqual(run('--report', str(file), '--force').returncode, 0)
        self.assertTrue(file.read_text().startswith('# A machine'))
        self.assertEqual(os.listdir(self.folder), ['page.md'])
        for wrong in (['--report', ''], ['--force'], ['--report']):
            self.assertEqual(run(*wrong).returncode, 2, wrong)
        lost = run('--report', str(self.folder / 'none' / 'page.md'))
        self.assertEqual(lost.returncode, 5)
        self.assertIn('K0410', lost.stderr)


if __name__ == '__main__':
    sys.exit(not unittest.main(exit=False).result.wasSuccessful())
