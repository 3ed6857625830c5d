# SPDX-License-Identifier: MIT
# `kiln cache` on caches that are empty, used, damaged, somebody's else to write, and on archives made to deceive.
import fcntl
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import time
import unittest

os.environ.pop('LD_LIBRARY_PATH', None)
for name in ('KILN_CACHE', 'KILN_CACHE_DIR', 'KILN_CACHE_MAX_SIZE', 'KILN_DEVICE'):
    os.environ.pop(name, None)
KILN = os.environ['KILN']
WRITER, USER = os.environ['KILN_CACHE_WRITER'], os.environ['KILN_CACHE_USER']
KERNELS = pathlib.Path(os.environ['KILN_KERNELS'])
SAXPY, MATMUL = str(KERNELS / 'saxpy.spv'), str(KERNELS / 'matmul.spv')
TESTS = pathlib.Path(os.environ['KILN_TESTS'])
SPECIALIZED = str(TESTS / 'cpu_driver' / 'spec.spv')  # constants 7 and 9
MAIN, PART = (str(TESTS / 'device' / f'link_{name}.spv') for name in ('main', 'part'))
NATIVE = str(pathlib.Path(os.environ['KILN_TEST_DATA'], 'memory.pvc.bin'))
DAY = 24 * 3600
OTHER = 65534  # a user without rights


class CacheCase(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.root = pathlib.Path(self.scratch.name)
        self.folder = self.root / 'cache'

    identity = {}  # of the process: what subprocess.run takes

    def be_a_plain_user(self):
        """Root may do everything: from here on the commands are run by somebody who owns the scratch folder."""
        if os.geteuid() != 0:
            return
        for path in [self.root, *self.root.rglob('*')]:
            os.chown(path, OTHER, OTHER, follow_symlinks=False)
        self.identity = {'user': OTHER, 'group': OTHER, 'extra_groups': []}
        try:
            subprocess.run([KILN, '--version'], capture_output=True, check=True, timeout=60, **self.identity)
        except OSError:
            self.skipTest('the build folder is closed to other users')

    def kiln(self, *arguments, status=0, **environment):
        environment = {**os.environ, 'KILN_CACHE_DIR': str(self.folder), **environment}
        done = subprocess.run([KILN, 'cache', *arguments], env=environment, capture_output=True, text=True, timeout=120,
                              **self.identity)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def ask(self, *arguments, status=0, **environment):
        return json.loads(self.kiln(*arguments, '--json', status=status, **environment).stdout)

    def write(self, *entries, folder=None):
        """Keys of the entries, each a dictionary as cache_writer takes it."""
        done = subprocess.run([WRITER, str(folder or self.folder)], input=json.dumps(entries), capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()

    def file_of(self, key):
        return self.folder / 'v1' / key[:2] / key[2:]

    def age(self, key, seconds):
        at = time.time() - seconds
        os.utime(self.file_of(key), (at, at))

    def flip(self, key, at):
        path = self.file_of(key)
        data = bytearray(path.read_bytes())
        data[at] ^= 1
        path.write_bytes(data)

    def entries(self):
        return {entry['key']: entry for entry in self.ask('list')['entries']}


def entry(name, **others):
    return {'manifest': {'name': name}, 'payload': 1000, **others}


def native_entry(name, **others):
    return {'manifest': {'name': name}, 'payload_of': NATIVE, **others}


class Empty(CacheCase):
    def test_looking_leaves_nothing_behind(self):
        self.assertEqual(self.kiln('list').stdout, 'no entries\n')
        self.assertEqual(self.ask('list')['entries'], [])
        self.assertIn('not there yet', self.kiln('stats').stdout)
        stats = self.ask('stats')
        self.assertEqual((stats['exists'], stats['entries'], stats['bytes']), (False, 0, 0))
        self.assertEqual(self.ask('verify')['entries'], 0)
        self.assertEqual(self.ask('prune')['removed'], 0)
        self.assertEqual(self.ask('clear')['removed'], 0)
        self.assertEqual(self.ask('explain', 'abc', status=2)['error']['code'], 'K0407')
        self.assertEqual(os.listdir(self.root), [])

    def test_usage(self):
        for wrong in (['prune', '--max-size', '1.5G'], ['prune', '--older-than', '30'], ['explain', 'no such file'],
                      ['export', str(self.root / 'a.ar'), 'abc']):
            self.assertEqual(self.ask(*wrong, status=2)['error']['code'], 'K0407', wrong)
        for wrong in ([], ['frobnicate'], ['explain'], ['import'], ['list', '--remove']):
            self.kiln(*wrong, status=2)
        self.write(entry('a'))
        for wrong in (['clear', '--folder', ''], ['prune', '--max-size', ''], ['prune', '--older-than', ''],
                      ['list', '--folder='], ['export', str(self.root / 'a.ar'), '']):
            self.kiln(*wrong, status=2)
        self.assertEqual(len(self.entries()), 1)
        self.assertIn('KILN_CACHE_MAX_SIZE', self.kiln('stats', status=2, KILN_CACHE_MAX_SIZE='much').stderr)
        for command in ('stats', 'list', 'verify', 'explain', 'prune', 'clear', 'export', 'import'):
            self.assertIn('--json', self.kiln(command, '--help').stdout)

    def test_a_folder_that_others_may_write_to_is_not_used(self):
        self.write(entry('a'))
        os.chmod(self.folder, 0o777)
        for command in ('list', 'verify', 'clear', 'stats'):
            answer = self.ask(command, status=5)
            self.assertEqual(answer['unusable' if command == 'stats' else 'error']['code'], 'K0710')
        self.assertIn('K0710', self.kiln('stats', status=5).stderr)


class Stats(CacheCase):
    def test_why_the_cache_is_not_used(self):
        self.write(entry('a'))
        self.assertNotIn('unused', self.ask('stats'))
        for mode in ('off', 'read'):
            self.assertIn('KILN_CACHE', self.ask('stats', KILN_CACHE=mode)['unused'])
            self.assertIn('not used', self.kiln('stats', KILN_CACHE=mode).stdout)
        self.assertIn('KILN_CACHE_MAX_SIZE', self.ask('stats', KILN_CACHE_MAX_SIZE='0')['unused'])

    def bypassed(self, **environment):
        return {each['driver']: each['reason'] for each in self.ask('stats', **environment)['bypassed']}

    def test_variables_that_bypass_the_cache(self):
        self.assertEqual(self.bypassed(IGC_ShaderDumpEnable='0', IGC_ForceOCLSIMDWidth='16', IgcLibraryName='other'), {})
        self.assertEqual(set(self.bypassed(KILN_CPU_FAULT='lost=1')), {'intel', 'cpu'})
        for variables, name in (({'IGC_ShaderDumpEnable': '1'}, 'IGC_ShaderDumpEnable'),
                                ({'NEOReadDebugKeys': '1', 'IgcLibraryName': 'other'}, 'IgcLibraryName')):
            (driver, reason), = self.bypassed(**variables).items()
            self.assertEqual((driver, name in reason), ('intel', True))
            self.assertIn(f"bypassed    with Intel's driver: {reason}\n", self.kiln('stats', **variables).stdout)
            self.assertIsNone(self.explain_unused('cpu', **variables))
        if os.environ['KILN_INTEL_DRIVER'] == 'yes':
            variables = {'IGC_ShaderDumpEnable': '1'}
            self.assertEqual(self.explain_unused('capture:tgllp', **variables), self.bypassed(**variables)['intel'])

    def explain_unused(self, device, **environment):
        return self.ask('explain', SAXPY, '--device', device, status=1, **environment).get('unused')

    def test_a_folder_that_this_user_may_not_write(self):
        self.write(entry('a'))
        self.be_a_plain_user()
        os.chmod(self.folder / 'v1', 0o500)
        self.addCleanup(os.chmod, self.folder / 'v1', 0o700)
        answer = self.ask('stats', status=5)
        self.assertEqual((answer['unusable']['code'], answer['entries']), ('K0710', 1))
        self.assertIn('Permission denied', answer['unused'])
        closed = self.root / 'closed'
        closed.mkdir(mode=0o555)
        self.assertIn('Permission denied', self.ask('stats', '--folder', str(closed / 'a' / 'b'), status=5)['unused'])

    def test_folders_that_are_only_read_are_listed(self):
        first, open_to_all = self.root / 'first', self.root / 'open'
        self.write(entry('a'), entry('b'), folder=first)
        self.write(entry('a'), folder=open_to_all)
        os.chmod(open_to_all, 0o777)
        paths = {'KILN_CACHE_READ_ONLY': f'{first}:{open_to_all}:{self.root}/none'}
        listed = self.ask('stats', **paths)['read_only']
        self.assertEqual([each['folder'] for each in listed], [str(first), str(open_to_all), f'{self.root}/none'])
        self.assertEqual(listed[0]['entries'], 2)
        self.assertEqual([each['unusable']['code'] for each in listed[1:]], ['K0710', 'K0710'])
        self.assertIn(f'{first}: 2 entries', self.kiln('stats', **paths).stdout)


class Entries(CacheCase):
    def test_list_and_stats(self):
        flags = {'input.0.flags': '-DNAME=\x1b[31mred', 'device.ip': '0x30f0007',
                 'library.libigc.so.1': '3d1eb51dd75cf846ee0c31cdb4c4f9cc80bbbce6'}
        old, new, failed, crashed = self.write(
            entry('old', facts_of=MATMUL), {'manifest': flags, 'payload': 5000, 'facts_of': SAXPY},
            entry('failed', kind=2, code=0x70000004, log='error: no'), entry('crashed', kind=3, attempts=2))
        for key, days in ((old, 40), (failed, 3), (crashed, 2), (new, 1)):
            self.age(key, days * DAY)
        self.assertEqual(list(self.entries()), [new, crashed, failed, old])
        listed = self.entries()[new]
        self.assertEqual((listed['short'], listed['kind'], listed['kernels'], listed['device'], listed['compiler']),
                         (new[:12], 'binary', ['saxpy'], 'pvc', 'libigc.so.1 3d1eb51d…'))
        self.assertEqual(listed['flags'], '-DNAME=\x1b[31mred')
        text = self.kiln('list')
        self.assertNotIn('\x1b', text.stdout)
        self.assertEqual(text.stderr, '')  # no progress where there is no terminal
        self.assertIn('40 d ago', text.stdout.splitlines()[-1])
        stats = self.ask('stats', KILN_CACHE_MAX_SIZE='5M')
        self.assertEqual([stats[name] for name in ('entries', 'binaries', 'failures', 'crashes', 'damaged')],
                         [4, 2, 1, 1, 0])
        self.assertEqual(stats['max_size'], 5 << 20)
        self.assertEqual(stats['bytes'], sum(self.file_of(key).stat().st_size for key in (old, new, failed, crashed)))
        self.assertAlmostEqual(stats['newest_use'], time.time() - DAY, delta=60)
        self.assertAlmostEqual(stats['oldest_use'], time.time() - 40 * DAY, delta=60)

    def test_damaged_entries_are_named_and_removed_on_demand_alone(self):
        keys = self.write(*[entry(str(i)) for i in range(5)])
        self.assertEqual(self.ask('verify'), {'folder': str(self.folder), 'entries': 5, 'damaged': [], 'unreadable': [],
                                              'unusable': []})
        self.flip(keys[0], 100)
        self.file_of(keys[1]).write_bytes(b'')
        os.makedirs(self.file_of(keys[2]).parent, mode=0o700, exist_ok=True)
        self.file_of(keys[2]).write_bytes(self.file_of(keys[3]).read_bytes())  # whole, under another's name
        damaged = {each['key']: each for each in self.ask('verify', status=1)['damaged']}
        self.assertEqual(set(damaged), set(keys[:3]))
        self.assertFalse(damaged[keys[0]]['removed'])
        self.assertIn('checksum', damaged[keys[0]]['damage'])
        self.assertEqual(self.ask('stats')['damaged'], 3)
        self.assertIn('damage', self.entries()[keys[2]])
        self.assertIn('DAMAGED', self.kiln('explain', keys[0], status=1).stdout)
        self.kiln('verify', '--remove', status=1)
        self.assertEqual(set(self.entries()), set(keys[3:]))
        self.assertIn('2 entries read, 0 damaged', self.kiln('verify').stdout)

    def test_prune_and_clear(self):
        keys = self.write(*[entry(str(i), payload=10_000) for i in range(6)])
        for days, key in enumerate(keys):
            self.age(key, days * DAY + 60)
        self.assertEqual(self.ask('prune')['removed'], 0)
        done = self.ask('prune', '--older-than', '4d')
        self.assertEqual((done['removed'], done['kept']), (2, 4))
        self.assertGreater(done['removed_bytes'], 20_000)
        self.assertEqual(set(self.entries()), set(keys[:4]))
        self.assertIn('2 entries removed', self.kiln('prune', '--max-size', '25K').stdout)
        self.assertEqual(set(self.entries()), set(keys[:2]))
        self.assertEqual(self.ask('prune', KILN_CACHE_MAX_SIZE='13K')['removed'], 1)
        self.assertEqual(set(self.entries()), {keys[0]})
        self.assertEqual(self.ask('clear')['removed'], 1)
        self.assertEqual(self.entries(), {})


class Unusable(CacheCase):
    """What lies at places of entries, and is none."""

    def make(self):
        """Eight things at the places of entries, by their names below the folder; two good entries beside them."""
        keys = self.write(*[entry(str(i)) for i in range(40)])
        by_folder = {key[:2]: key for key in keys}  # one of each folder
        keys = list(by_folder.values())[:10]
        for path in set(self.folder.glob('v1/??/*')) - {self.file_of(key) for key in keys}:
            path.unlink()
        outside = self.root / 'outside'
        outside.mkdir()
        (outside / 'mine').write_text('mine')
        places = [self.file_of(key) for key in keys]
        for place in places[:4]:
            place.unlink()
        os.mkfifo(places[0])
        places[1].symlink_to(outside / 'mine')
        (places[2] / 'in' / 'it').mkdir(parents=True)
        (places[2] / 'in' / 'mine').write_text('here')
        (places[2] / 'link').symlink_to(outside)
        places[3].symlink_to(outside)
        os.chmod(places[4], 0o660)
        os.chmod(places[5].parent, 0o770)
        for place in (places[6], places[7]):
            place.unlink()
            place.parent.rmdir()
        places[6].parent.symlink_to(outside)
        places[7].parent.write_text('a file')
        bad = places[:5] + [place.parent for place in places[5:8]]
        if os.geteuid() == 0:
            os.chown(places[8], OTHER, OTHER)
            bad.append(places[8])
        return {str(path.relative_to(self.folder)) for path in bad}, keys[8:] if len(bad) == 8 else keys[9:]

    def check_outside(self):
        self.assertEqual((self.root / 'outside' / 'mine').read_text(), 'mine')
        self.assertEqual(os.listdir(self.root / 'outside'), ['mine'])

    def test_they_are_counted_and_named(self):
        bad, good = self.make()
        answer = self.ask('verify', status=1)
        self.assertEqual({each['name'] for each in answer['unusable']}, bad)
        self.assertEqual((answer['entries'], answer['damaged']), (len(good), []))
        self.assertFalse(any(each['removed'] for each in answer['unusable']))
        text = self.kiln('verify', status=1).stdout
        for name in bad:
            self.assertIn(name, text)
        self.assertEqual(self.ask('list')['unusable_entries'], len(bad))
        self.assertEqual(self.ask('stats')['unusable_entries'], len(bad))
        for command in ('list', 'stats', 'prune'):
            self.assertIn('kiln cache verify', self.kiln(command).stdout, command)
        self.assertEqual({'v1/' + each['name'] for each in self.ask('prune')['unusable']}, bad)

    def test_verify_removes_them_and_nothing_else(self):
        bad, good = self.make()
        removed = self.ask('verify', '--remove', status=1)['unusable']
        self.assertEqual({each['name'] for each in removed if each['removed']}, bad)
        for name in bad:
            self.assertFalse(os.path.lexists(self.folder / name), name)
        self.assertEqual(set(self.entries()), set(good))
        self.check_outside()
        self.assertEqual(self.ask('verify')['unusable'], [])

    def test_clear_removes_them_and_what_was_set_aside(self):
        bad, good = self.make()
        aside = self.folder / 'v1' / 'damaged' / 'full' / 'er'
        aside.mkdir(parents=True)
        (aside / 'file').write_text('x')
        (aside / 'link').symlink_to(self.root / 'outside')
        for path in (aside, *aside.parents[:2]):
            os.chmod(path, 0o700)
        (self.folder / 'v1' / 'README').write_text('not by Kiln')
        answer = self.ask('clear')
        self.assertEqual(answer['removed'], len(good))
        self.assertEqual({'v1/' + each['name'] for each in answer['unusable'] if each['removed']}, bad)
        self.assertEqual([path for path in self.folder.rglob('*') if not path.is_dir()],
                         [path for path in (self.folder / 'v1').iterdir() if path.name in ('README', 'usage', 'lock')])
        self.assertEqual(list((self.folder / 'v1' / 'damaged').iterdir()), [])
        self.check_outside()

    def test_an_entry_that_this_user_may_not_read_is_not_called_damaged(self):
        key, other = self.write(entry('a'), entry('b'))
        self.be_a_plain_user()
        os.chmod(self.file_of(key), 0)
        answer = self.ask('verify', status=1)
        self.assertEqual((answer['damaged'], [each['key'] for each in answer['unreadable']]), ([], [key]))
        stats = self.ask('stats')
        self.assertEqual((stats['damaged'], stats['unreadable']), (0, 1))
        self.assertNotIn('damage', self.entries()[key])
        self.assertIn('unreadable', self.kiln('list').stdout)
        self.assertNotIn('DAMAGED', self.kiln('explain', key, status=1).stdout)
        self.assertTrue(self.ask('verify', '--remove', status=1)['unreadable'][0]['removed'])
        self.assertEqual(set(self.entries()), {other})

    def test_what_cannot_be_removed_is_said(self):
        key, = self.write(entry('a'))
        place = self.file_of(key)
        place.unlink()
        (place / 'in').mkdir(parents=True)
        self.be_a_plain_user()
        os.chmod(place, 0o500)
        self.addCleanup(os.chmod, place, 0o700)
        self.assertEqual([each['removed'] for each in self.ask('verify', '--remove', status=1)['unusable']], [False])
        self.assertEqual([each['removed'] for each in self.ask('clear', status=1)['unusable']], [False])


class Explain(CacheCase):
    def test_an_entry_by_the_first_digits_of_its_key(self):
        keys = self.write(*[entry(str(i), log='note: \x1b[31mred\nmore') for i in range(17)],
                          entry('k', facts_of=MATMUL, kind=2, code=0x70000004))
        first = min(keys, key=lambda key: sum(other[0] == key[0] for other in keys))
        crowded = max(keys, key=lambda key: sum(other[0] == key[0] for other in keys))[0]
        error = self.ask('explain', crowded, status=2)['error']
        self.assertIn('entries have keys', error['message'])
        self.assertEqual(self.ask('explain', first)['key'], first)
        shown = self.ask('explain', keys[-1])
        self.assertEqual((shown['manifest'], shown['kind'], shown['result']),
                         ({'name': 'k'}, 'failure', 'ZE_RESULT_ERROR_MODULE_BUILD_FAILURE'))
        self.assertEqual(shown['created'], 1_700_000_000)
        self.assertEqual([kernel['name'] for kernel in shown['kernels']], ['tiled'])
        self.assertEqual(self.ask('explain', keys[0])['log'], 'note: \x1b[31mred\nmore')
        text = self.kiln('explain', keys[0]).stdout
        self.assertNotIn('\x1b', text)
        self.assertIn('\\x1b[31mred\nmore', text)

    def explain(self, *arguments, status, **environment):
        return self.ask('explain', '--device', 'cpu', *arguments, status=status, **environment)

    def test_hit_miss_and_what_tells_the_nearest_entry_apart(self):
        wanted = self.explain(SAXPY, status=1)
        self.assertFalse(wanted['hit'])
        self.assertIsNone(wanted['nearest'])
        self.write({'manifest': wanted['manifest'], 'payload': 3000})
        self.assertEqual(self.explain(SAXPY, status=0)['key'], wanted['key'])
        self.assertIn('hit', self.kiln('explain', SAXPY, '--device', 'cpu').stdout)

        missed = self.explain(SAXPY, '--options=-cl-mad-enable', status=1)
        self.assertNotEqual(missed['key'], wanted['key'])
        self.assertEqual(missed['nearest'], {
            'key': wanted['key'], 'same_input': True,
            'differences': [{'name': 'input.0.flags', 'wanted': '-cl-mad-enable', 'found': ''}]})

        # Another compiler, and a nearer entry of another file: the same file's is the one to tell of.
        self.kiln('clear')
        upgraded = {**wanted['manifest'], 'library.libigc.so.1': '3d1eb51dd75cf846', 'env.IGC_X': '16', 'path': 'link'}
        same, = self.write({'manifest': upgraded, 'payload': 10})
        self.write({'manifest': self.explain(MATMUL, status=1)['manifest'], 'payload': 10})
        nearest = self.explain(SAXPY, status=1)['nearest']
        self.assertEqual(nearest['key'], same)
        self.assertEqual({each['name']: (each['wanted'], each['found']) for each in nearest['differences']},
                         {'library.libigc.so.1': (None, '3d1eb51dd75cf846'), 'env.IGC_X': (None, '16'),
                          'path': ('build', 'link')})
        text = self.kiln('explain', SAXPY, '--device', 'cpu', status=1).stdout
        self.assertIn('library.libigc.so.1: was 3d1eb51d…, is not set', text)
        self.assertIn('path: link became build', text)

        other = self.explain(str(KERNELS / 'slm_table.spv'), status=1)['nearest']
        self.assertFalse(other['same_input'])

    def saxpy_entry(self, **others):
        wanted = self.explain(SAXPY, status=1)
        return self.write({'manifest': wanted['manifest'], 'payload': 3000, **others})[0]

    def test_a_cache_that_is_off_hits_nothing(self):
        self.saxpy_entry()
        answer = self.explain(SAXPY, status=1, KILN_CACHE='off')
        self.assertFalse(answer['hit'])
        self.assertIn('KILN_CACHE', answer['unused'])
        self.assertNotIn('hit ', self.kiln('explain', SAXPY, '--device', 'cpu', status=1, KILN_CACHE='off').stdout)
        self.assertTrue(self.explain(SAXPY, status=0, KILN_CACHE='read')['hit'])

    def test_a_folder_that_cannot_be_used_is_no_empty_one(self):
        self.saxpy_entry()
        os.chmod(self.folder, 0o777)
        answer = self.explain(SAXPY, status=5)
        self.assertEqual((answer['hit'], answer['unusable']['code']), (False, 'K0710'))
        done = self.kiln('explain', SAXPY, '--device', 'cpu', status=5)
        self.assertIn('K0710', done.stderr)
        self.assertNotIn('empty', done.stdout)

    def test_a_bad_entry_at_the_key_is_no_missing_one(self):
        key = self.saxpy_entry()
        for spoil, word in ((lambda: os.chmod(self.file_of(key), 0o620), 'others may write'),
                            (lambda: os.chmod(self.file_of(key).parent, 0o770), 'v1/' + key[:2]),
                            (lambda: self.flip(key, 70), 'checksum')):
            os.chmod(self.file_of(key), 0o600)
            os.chmod(self.file_of(key).parent, 0o700)
            spoil()
            answer = self.explain(SAXPY, status=1)
            self.assertIn(word, answer['damage'])
            self.assertFalse(answer['hit'])
            text = self.kiln('explain', SAXPY, '--device', 'cpu', status=1).stdout
            self.assertIn(word, text)
            self.assertNotIn('no entry', text)
            self.assertNotIn('empty', text)

    def test_a_remembered_failure_counts_for_an_hour(self):
        self.saxpy_entry(kind=2, code=0x70000004)  # of the year 2023
        answer = self.explain(SAXPY, status=1)
        self.assertEqual((answer['hit'], 'too long ago' in answer['missed']), (False, True))
        self.assertNotIn('hit ', self.kiln('explain', SAXPY, '--device', 'cpu', status=1).stdout)
        self.kiln('clear')
        self.saxpy_entry(kind=2, code=0x70000004, created=int(time.time()) - 60)
        self.assertEqual(self.explain(SAXPY, status=0)['kind'], 'failure')
        self.kiln('clear')
        self.saxpy_entry(kind=3, attempts=1)
        self.assertFalse(self.explain(SAXPY, status=1)['hit'])

    def test_folders_that_are_only_read_are_asked_first(self):
        shared = self.root / 'shared'
        wanted = self.explain(SAXPY, status=1)
        self.write({'manifest': wanted['manifest'], 'payload': 3000}, folder=shared)
        self.assertEqual(self.explain(SAXPY, status=0, KILN_CACHE_READ_ONLY=str(shared))['folder'], str(shared))
        missed = self.explain(SAXPY, '--options=-g', status=1, KILN_CACHE_READ_ONLY=str(shared))
        self.assertEqual(missed['nearest']['key'], wanted['key'])

    def test_a_load_that_would_not_ask_the_cache(self):
        answer = self.explain(SAXPY, status=1, KILN_CPU_FAULT='allocation=1000000')
        self.assertIn('KILN_CPU_FAULT', answer['unused'])

    def test_files_that_are_no_spirv_and_devices_that_are_none(self):
        native = self.root / 'native.bin'
        native.write_bytes(b'\x7fELF' + bytes(100))
        self.assertEqual(self.ask('explain', str(native), status=2)['error']['code'], 'K0407')
        self.ask('explain', SAXPY, '--device', 'cpu:none', status=4)
        os.chdir(self.root)
        self.addCleanup(os.chdir, '/')
        self.assertEqual(self.ask('list', '--folder', 'a/b')['folder'], str(self.root / 'a' / 'b'))
        pathlib.Path('cafe').write_bytes(pathlib.Path(SAXPY).read_bytes())  # a file with the look of a key
        self.assertFalse(self.explain('cafe', status=1)['hit'])


class Share(CacheCase):
    def setUp(self):
        super().setUp()
        self.archive = str(self.root / 'kernels.ar')
        self.other = str(self.root / 'other')

    def listed(self, folder):
        return {each['key'] for each in self.ask('list', '--folder', folder)['entries']}

    def test_round_trip(self):
        first, second, failed = self.write(native_entry('1'), native_entry('2', facts_of=MATMUL), entry('3', kind=2))
        self.assertEqual(self.ask('export', self.archive)['exported'], 2)
        members = pathlib.Path(self.archive).read_bytes()
        self.assertIn(self.file_of(first).read_bytes(), members)
        done = self.ask('import', self.archive, '--folder', self.other)
        self.assertEqual((done['imported'], done['there_already'], done['refused']), (2, 0, []))
        self.assertEqual(self.listed(self.other), {first, second})
        self.assertEqual(self.ask('verify', '--folder', self.other)['damaged'], [])
        self.assertEqual(self.ask('import', self.archive, '--folder', self.other)['there_already'], 2)
        self.kiln('export', self.archive)
        self.assertEqual(pathlib.Path(self.archive).read_bytes(), members)
        self.assertEqual(self.ask('export', self.archive, second[:12])['exported'], 1)
        self.assertEqual(self.ask('export', self.archive, failed, status=1)['refused'][0]['name'], failed)
        self.assertEqual(sorted(os.listdir(self.root)), ['cache', 'kernels.ar', 'other'])

    def test_links_and_pipes_stay_what_they_are(self):
        self.write(native_entry('1'))
        self.kiln('export', self.archive)
        link, pipe = self.root / 'link', self.root / 'pipe'
        (self.root / 'behind').write_text('old')
        os.symlink(self.root / 'behind', link)
        self.kiln('export', str(link))
        self.assertTrue(link.is_symlink())
        os.mkfifo(pipe)
        with subprocess.Popen(['cat', str(pipe)], stdout=subprocess.PIPE) as reader:
            self.kiln('export', str(pipe))
            self.assertEqual(reader.communicate(timeout=60)[0], pathlib.Path(self.archive).read_bytes())
        self.assertTrue(pipe.is_fifo())
        self.assertEqual((self.root / 'behind').read_bytes(), pathlib.Path(self.archive).read_bytes())

    def test_standard_output_gets_the_archive_and_nothing_else(self):
        self.write(native_entry('1'))
        self.kiln('export', self.archive)
        for more in ([], ['--json']):
            done = subprocess.run([KILN, 'cache', 'export', '/dev/stdout', '--folder', str(self.folder), *more],
                                  capture_output=True, timeout=60)
            self.assertEqual(done.stdout, pathlib.Path(self.archive).read_bytes())
            self.assertIn(b'exported', done.stderr)
        with open('/dev/full', 'w') as full:
            done = subprocess.run([KILN, 'cache', 'export', '/dev/stdout', '--folder', str(self.folder)], stdout=full,
                                  stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, 5)
        done = subprocess.run([KILN, 'cache', 'export', '/dev/stdout', '--folder', str(self.folder)],
                              stderr=subprocess.PIPE, timeout=60, preexec_fn=lambda: os.close(1))
        self.assertEqual(done.returncode, 5)

    def test_a_damaged_entry_is_not_exported_and_gives_way_to_a_whole_one(self):
        key, = self.write(native_entry('1'))
        self.kiln('export', self.archive)
        self.flip(key, -1)
        refused, = self.ask('export', str(self.root / 'second.ar'), status=1)['refused']
        self.assertEqual(refused['name'], key)
        self.assertEqual(self.ask('import', self.archive)['imported'], 1)
        self.assertEqual(self.ask('verify')['damaged'], [])

    def test_hostile_archives(self):
        good, moved, unread = self.write(native_entry('good'), native_entry('moved'), entry('no native code'))
        data = {key: self.file_of(key).read_bytes() for key in (good, moved, unread)}
        names = ['../' * 8 + moved, '/etc/passwd', moved, good, 'f' * 64, unread]
        contents = [data[moved], b'x', data[good], data[good], data[moved], data[unread]]
        member = lambda name, content: f'{name:<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n'.encode() + content + (
            b'\n' if len(content) % 2 else b'')
        table = ''.join(name.replace('/', '\\') + '/\n' for name in names).encode()
        places = [table.index(name.replace('/', '\\').encode()) for name in names]
        archive = b'!<arch>\n' + member('//', table) + b''.join(
            member(f'/{place}', content) for place, content in zip(places, contents))
        pathlib.Path(self.archive).write_bytes(archive)
        done = self.ask('import', self.archive, '--folder', self.other, status=1)
        self.assertEqual((done['imported'], len(done['refused'])), (1, 5), done)
        self.assertEqual(self.listed(self.other), {good})
        found = [path for path in pathlib.Path(self.other).rglob('*') if path.is_file() and path.stat().st_size > 0]
        self.assertIn(pathlib.Path(self.other, 'v1', good[:2], good[2:]), found)
        self.assertEqual(sorted(os.listdir(self.root)), ['cache', 'kernels.ar', 'other'])
        self.assertIn('5 refused', self.kiln('import', self.archive, '--folder', self.other, status=1).stdout)

        for content in (b'', b'no archive', archive[:-100]):
            pathlib.Path(self.archive).write_bytes(content)
            self.assertEqual(self.ask('import', self.archive, status=5)['error']['code'], 'K0408')
        for path in (self.archive + '.none', str(self.root)):
            self.assertEqual(self.ask('import', path, status=5)['error']['code'], 'K0408')

    def test_a_cache_that_is_off_or_only_read_takes_nothing(self):
        self.write(native_entry('1'))
        self.kiln('export', self.archive)
        for mode in ('off', 'read'):
            error = self.ask('import', self.archive, '--folder', self.other, status=5, KILN_CACHE=mode)['error']
            self.assertEqual(error['code'], 'K0712')
            self.assertIn('KILN_CACHE', error['message'])
            self.assertFalse(os.path.exists(self.other))

    def test_the_size_holds_for_imports_too(self):
        keys = self.write(*[native_entry(str(i)) for i in range(6)])
        self.kiln('export', self.archive)
        size = -(-self.file_of(keys[0]).stat().st_size // 4096) * 4096  # on disk
        mine = self.write(native_entry('mine'), folder=self.other)[0]
        place = pathlib.Path(self.other, 'v1', mine[:2], mine[2:])
        os.utime(place, (1e9, 1e9))
        answer = self.ask('import', self.archive, '--folder', self.other, KILN_CACHE_MAX_SIZE=str(7 * size))
        self.assertEqual((answer['imported'], answer['pruned'], answer['imported_pruned']), (6, 0, 0))
        self.kiln('clear', '--folder', self.other)
        self.write(native_entry('mine'), folder=self.other)
        os.utime(place, (1e9, 1e9))
        text = self.kiln('import', self.archive, '--folder', self.other, KILN_CACHE_MAX_SIZE=str(6 * size + 4096),
                         status=1).stdout
        self.assertIn('3 pruned', text)  # until 80% are left: mine, the oldest, and two of the archive
        self.assertNotIn(mine, self.listed(self.other))
        self.assertEqual(len(self.listed(self.other)), 4)
        answer = self.ask('import', self.archive, '--folder', self.other, KILN_CACHE_MAX_SIZE='100', status=1)
        self.assertEqual(len(answer['refused']), 2)

    def test_an_import_waits_for_another_process_that_prunes(self):
        keys = self.write(*[native_entry(str(i)) for i in range(6)])
        self.kiln('export', self.archive)
        size = -(-self.file_of(keys[0]).stat().st_size // 4096) * 4096  # on disk
        self.write(folder=self.other)
        lock = self.lock_pruning(self.other)
        self.addCleanup(os.close, lock)
        with subprocess.Popen([KILN, 'cache', 'import', self.archive, '--folder', self.other, '--json'],
                              env={**os.environ, 'KILN_CACHE_MAX_SIZE': str(3 * size)}, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as importing:
            # Until it has imported all, and rests.
            all_there = lambda: all(pathlib.Path(self.other, 'v1', key[:2], key[2:]).exists() for key in keys)
            state = lambda: pathlib.Path(f'/proc/{importing.pid}/stat').read_text().rpartition(')')[2].split()[0]
            while importing.poll() is None and not (all_there() and state() == 'S'):
                os.sched_yield()
            self.assertTrue(all_there())
            self.lock_pruning(self.other, lock)
            answer = json.loads(importing.communicate(timeout=60)[0])
        self.assertEqual((answer['imported'], answer['pruned'], importing.returncode), (6, 4, 1))
        self.assertEqual(len(self.listed(self.other)), 2)

    def lock_pruning(self, folder, held=None):
        """As a process that prunes; with `held` the lock is given back."""
        file = os.open(pathlib.Path(folder, 'v1', 'lock'), os.O_RDWR | os.O_CREAT, 0o600) if held is None else held
        kind = fcntl.F_WRLCK if held is None else fcntl.F_UNLCK
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack('hhqqi4x', kind, os.SEEK_SET, 1 << 62, 1, 0))
        return file

    def test_an_archive_of_nothing_and_one_of_others(self):
        self.ask('export', self.archive)
        done = self.ask('import', self.archive)
        self.assertEqual((done['imported'], done['refused']), (0, []))
        member = lambda name: f'{name:<16}{0:<12}{0:<6}{0:<6}{644:<8}{2:<10}`\nxx'.encode()
        for content in (b'!<arch>\n', b'!<arch>\n' + member('a.o/') + member('b.o/')):
            pathlib.Path(self.archive).write_bytes(content)
            error = self.ask('import', self.archive, status=5)['error']
            self.assertEqual(error['code'], 'K0408', content)

    def test_an_archive_that_cannot_be_written_leaves_nothing(self):
        self.write(entry('1'))
        for path in (str(self.root / 'none' / 'a.ar'), str(self.folder), '/dev/full/a.ar'):
            self.assertEqual(self.ask('export', path, status=5)['error']['code'], 'K0408')
        self.assertEqual(os.listdir(self.root), ['cache'])


class Use(CacheCase):
    """`kiln run` and `kiln cache warm` with a folder of their own, on the CPU device."""

    def run_saxpy(self, status=0, **environment):
        environment = {**os.environ, 'KILN_CACHE_DIR': str(self.folder), 'KILN_KERNEL_PATH': str(KERNELS), **environment}
        done = subprocess.run([KILN, 'run', 'saxpy', '--device', 'cpu', '--json'], env=environment, capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(answer['ok'], status == 0)
        return answer.get('binary')

    def test_the_second_run_compiles_nothing_and_survives_damage(self):
        self.assertEqual(self.run_saxpy(), 'jit')
        self.assertEqual(self.run_saxpy(), 'cache')
        [key] = self.entries()
        for at in (0, 70, self.file_of(key).stat().st_size - 1):
            self.flip(key, at)
            self.assertEqual(self.run_saxpy(), 'jit')
            self.assertEqual(self.run_saxpy(), 'cache')
        self.file_of(key).write_bytes(b'')
        self.assertEqual(self.run_saxpy(), 'jit')
        self.assertEqual(list(self.entries()), [key])

    def test_off_and_read_write_nothing(self):
        for mode in ('off', 'read'):
            self.assertEqual(self.run_saxpy(KILN_CACHE=mode), 'jit')
            self.assertFalse(self.folder.exists())
        self.run_saxpy()
        self.assertEqual(self.run_saxpy(KILN_CACHE='read'), 'cache')
        self.assertEqual(self.run_saxpy(KILN_CACHE='off'), 'jit')
        self.run_saxpy(KILN_CACHE='sometimes', status=2)

    def test_warm_is_what_a_run_finds(self):
        [first] = self.ask('warm', SAXPY, '--device', 'cpu')['files']
        self.assertEqual(first['outcome'], 'compiled')
        [second] = self.ask('warm', SAXPY, '--device', 'cpu')['files']
        self.assertEqual(second['outcome'], 'was there')
        self.assertEqual(self.run_saxpy(), 'cache')
        self.assertTrue(self.ask('explain', SAXPY, '--device', 'cpu')['hit'])
        self.kiln('warm', SAXPY, '--device', 'cpu', '--options=-cl-mad-enable')
        self.assertEqual(len(self.entries()), 2)
        self.assertIn('K0201', self.kiln('warm', 'absent.spv', '--device', 'cpu', status=5).stderr)
        self.assertIn('K0712', self.kiln('warm', SAXPY, '--device', 'cpu', status=5, KILN_CACHE='off').stderr)

    def test_warm_does_not_succeed_where_nothing_is_kept(self):
        for others in ({'KILN_CACHE_MAX_SIZE': '0'}, {'KILN_CPU_FAULT': 'allocation=1000000'}):
            answer = self.ask('warm', SAXPY, MATMUL, '--device', 'cpu', status=5, **others)
            self.assertEqual([(each['outcome'], each['error']['code']) for each in answer['files']],
                             [('compiled, not kept', 'K0712')] * 2)
            name, = others
            done = self.kiln('warm', SAXPY, MATMUL, '--device', 'cpu', status=5, **others)
            self.assertEqual(done.stderr.count('K0712'), 1)
            self.assertIn(name, done.stderr)

    def test_warm_takes_regular_files_alone(self):
        pipe = self.root / 'pipe'
        os.mkfifo(pipe)
        for path in (str(pipe), '/dev/zero'):
            answer = self.ask('warm', path, '--device', 'cpu', status=5)
            self.assertEqual(answer['files'][0]['error']['code'], 'K0201')
            self.assertIn('regular', str(answer['files'][0]['error']))

    def test_names_do_nothing_to_a_terminal(self):
        name = self.root / 'red\x1b[31m.spv'
        name.write_bytes(pathlib.Path(SAXPY).read_bytes())
        folder = str(self.root / 'folder\x1b[31m')
        for arguments, status in ((['warm', str(name), str(name) + 'none', '--device', 'cpu'], 5),
                                  (['explain', str(name), '--device', 'cpu'], 0), (['explain', str(name) + 'none'], 2),
                                  (['stats'], 0), (['list'], 0), (['verify'], 0), (['export', str(name) + '.ar'], 0),
                                  (['import', str(name)], 5)):
            done = self.kiln(*arguments, '--folder', folder, status=status)
            self.assertNotIn('\x1b', done.stdout + done.stderr, arguments)


class Modules(CacheCase):
    """What programs build with specialization constants, or link."""

    def program(self, how, device, *inputs):
        """Where a program that loads or links these has its binary from."""
        environment = {**os.environ, 'KILN_CACHE_DIR': str(self.folder)}
        done = subprocess.run([USER, how, device, *inputs], env=environment, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def outcomes(self, *arguments, status=0):
        return [each['outcome'] for each in self.ask('warm', *arguments, status=status)['files']]

    def test_constants(self):
        asked = lambda *constants: [SPECIALIZED, '--device', 'cpu', *(f'--constant={each}' for each in constants)]
        self.assertEqual(self.program('load', 'cpu', SPECIALIZED, '7=16'), 'jit')
        for same in ('7=16', '7=0x10'):
            self.assertTrue(self.ask('explain', *asked(same))['hit'])
        self.assertEqual(self.outcomes(*asked('7=16')), ['was there'])
        for constants, wanted in ((['7=17'], '7=0x11'), (['7=16', '9=1'], '7=0x10 9=0x1'), ([], None)):
            nearest = self.ask('explain', *asked(*constants), status=1)['nearest']
            self.assertEqual((nearest['same_input'], nearest['differences']), (True, [
                {'name': 'input.0.constants', 'wanted': wanted, 'found': '7=0x10'}]))
        self.assertIn('input.0.constants: 7=0x10 became 7=0x11', self.kiln('explain', *asked('7=17'), status=1).stdout)
        self.assertEqual(self.outcomes(*asked('9=3', '7=17')), ['compiled'])
        self.assertEqual(self.program('load', 'cpu', SPECIALIZED, '7=17', '9=3'), 'cache')
        self.assertEqual(self.program('load', 'cpu', SPECIALIZED, '7=17', '9=4'), 'jit')

    def test_constants_that_cannot_be_meant(self):
        for wrong in ('7', '=1', '7=', 'a=1', '7=-1', '7=0x', '7=1.5', '4294967296=1', '7=18446744073709551616'):
            for command in ('explain', 'warm'):
                answer = self.ask(command, SPECIALIZED, '--device', 'cpu', '--constant', wrong, status=2)
                self.assertEqual(answer['error']['code'], 'K0407', wrong)

    def test_spirv_in_a_fat_binary(self):
        spirv, both = pathlib.Path(SAXPY).read_bytes(), str(self.root / 'both.ar')
        subprocess.run([KILN, 'bake', SAXPY, '--cpu', '-o', both], check=True, capture_output=True, timeout=120)
        alone = self.root / 'alone.ar'
        alone.write_bytes(b'!<arch>\n' + b'%-16s%-12d%-6d%-6d%-8s%-10d`\n' % (b'generic_ir/', 0, 0, 0, b'644', len(spirv)) + spirv)
        asked = self.ask('explain', str(alone), '--device', 'cpu', status=1)
        self.assertEqual((asked['member'], asked['native_first'], asked['hit']), ('generic_ir', False, False))
        self.assertEqual(self.outcomes(str(alone), '--device', 'cpu'), ['compiled'])
        for file in (str(alone), SAXPY):
            self.assertTrue(self.ask('explain', file, '--device', 'cpu')['hit'])
        self.assertNotIn('member', self.ask('explain', SAXPY, '--device', 'cpu'))
        self.assertEqual(self.outcomes(both, '--device', 'cpu'), ['native: nothing to compile'])
        asked = self.ask('explain', both, '--device', 'cpu')
        self.assertEqual((asked['member'], asked['native_first'], asked['hit']), ('generic_ir', True, True))
        self.assertIn('of member  generic_ir, unless', self.kiln('explain', both, '--device', 'cpu').stdout)
        for files in (['--link', MAIN, both], [NATIVE]):
            self.assertEqual(self.ask('explain', *files, '--device', 'cpu', status=2)['error']['code'], 'K0407')

    def test_several_files_are_no_module_by_themselves(self):
        self.assertEqual(self.ask('explain', MAIN, PART, '--device', 'cpu', status=2)['error']['code'], 'K0407')
        self.assertEqual(self.outcomes(SAXPY, MATMUL, '--device', 'cpu'), ['compiled', 'compiled'])

    def test_a_device_that_links_nothing(self):
        linked = self.ask('explain', '--link', MAIN, PART, '--device', 'cpu', status=1)
        self.assertEqual((linked['hit'], linked['linked'], linked['manifest']['path']), (False, [MAIN, PART], 'link'))
        failed, = self.ask('warm', '--link', MAIN, PART, '--device', 'cpu', status=5)['files']
        self.assertEqual((failed['file'], failed['outcome'], failed['error']['code']),
                         (f'{MAIN} + {PART}', 'failed', 'K0203'))
        self.assertEqual(self.ask('explain', '--link', MAIN, NATIVE, '--device', 'cpu', status=2)['error']['code'], 'K0407')
        self.assertEqual(self.ask('explain', '--link', MAIN, 'none.spv', '--device', 'cpu', status=5)['error']['code'], 'K0201')
        # A module of one file is the same either way.
        self.kiln('warm', '--link', SAXPY, '--device', 'cpu')
        self.assertEqual(self.program('load', 'cpu', SAXPY), 'cache')

    @unittest.skipIf(os.environ['KILN_INTEL_DRIVER'] != 'yes', 'Intel\'s driver links, and is not there')
    def test_linked_modules(self):
        device = 'capture:tgllp'
        asked = lambda *files: ['--link', *files, '--device', device]
        self.assertEqual(self.program('link', device, MAIN, PART), 'jit')
        self.assertTrue(self.ask('explain', *asked(MAIN, PART))['hit'])
        self.assertEqual(self.outcomes(*asked(MAIN, PART)), ['was there'])
        self.assertIn(f'{MAIN} + {PART}', self.kiln('explain', *asked(MAIN, PART)).stdout)
        for other, names in (([PART, MAIN], ['input.0.digest', 'input.1.digest']),
                             ([MAIN, PART, '--options=-cl-mad-enable'], ['input.0.flags', 'input.1.flags'])):
            nearest = self.ask('explain', *asked(*other), status=1)['nearest']
            self.assertTrue(nearest['same_input'])
            self.assertEqual([each['name'] for each in nearest['differences']], names)
        self.assertEqual(self.outcomes(*asked(PART, MAIN)), ['compiled'])
        self.assertEqual(self.program('link', device, PART, MAIN), 'cache')
        self.assertEqual(len(self.entries()), 2)


class Distrust(unittest.TestCase):
    def test_a_settings_file_that_is_not_trusted_is_named_and_keeps_the_cache_out(self):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink('nowhere', os.path.join(folder, 'neo.config'))

            def warm(device):
                return subprocess.run([KILN, 'cache', 'warm', '--folder', os.path.join(folder, 'cache'), '--device', device,
                                       KERNELS / 'saxpy.spv', KERNELS / 'matmul.spv'],
                                      cwd=folder, capture_output=True, text=True, timeout=120)

            self.assertNotIn('K0720', warm('cpu').stderr)  # it reads none
            if os.environ['KILN_INTEL_DRIVER'] != 'yes':
                return
            done = warm('capture:tgllp')
            self.assertEqual(done.stderr.count('K0720: `./neo.config`'), 1, done.stderr)
            self.assertEqual(done.stdout.count('not kept'), 2, done.stdout)


if __name__ == '__main__':
    unittest.main(verbosity=2)
