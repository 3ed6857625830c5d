# SPDX-License-Identifier: MIT
# `kiln cache` on folders that are empty, used, damaged, or somebody else's to write.
import os
import time
import unittest

from cache_case import CacheCase, DAY, MATMUL, OTHER, SAXPY, entry


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


if __name__ == '__main__':
    unittest.main(verbosity=2)
