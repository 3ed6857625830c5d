# SPDX-License-Identifier: MIT
# `kiln cache export` and `import`, also of archives made to deceive.
import fcntl
import json
import os
import pathlib
import struct
import subprocess
import unittest

from cache_case import CacheCase, KILN, MATMUL, entry, native_entry


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
        self.assertEqual(os.stat(self.archive).st_mode & 0o777, 0o600)  # it names variables and libraries
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


if __name__ == '__main__':
    unittest.main(verbosity=2)
