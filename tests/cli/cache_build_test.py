# SPDX-License-Identifier: MIT
# What `kiln cache explain` and `warm` say of modules, and what programs then find.
import hashlib
import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

from cache_case import CacheCase, DAY, KERNELS, KILN, MAIN, MATMUL, NATIVE, PART, SAXPY, SPECIALIZED, USER, entry


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
        self.ask('explain', SAXPY, '--device', 'cpu:none', status=2)
        os.chdir(self.root)
        self.addCleanup(os.chdir, '/')
        self.assertEqual(self.ask('list', '--folder', 'a/b')['folder'], str(self.root / 'a' / 'b'))
        pathlib.Path('cafe').write_bytes(pathlib.Path(SAXPY).read_bytes())  # a file with the look of a key
        self.assertFalse(self.explain('cafe', status=1)['hit'])


class Rewarm(CacheCase):
    """Two drivers of the CPU device that differ in their build-id alone, which is a compiler's name."""
    KEEP = {'KILN_CACHE_KEEP_INPUTS': '1M'}
    MODULES = [[SAXPY], [MATMUL, '--options=-cl-mad-enable'], [SPECIALIZED, '--constant', '7=16', '--constant', '9=0x3'],
               ['--link', MAIN, PART]]

    def setUp(self):
        super().setUp()
        here = pathlib.Path(os.environ['KILN_CPU_DRIVER'])
        code = bytearray(here.read_bytes())
        note = code.index(b'\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0') + 16
        code[note] ^= 1
        other = self.root / here.name
        other.write_bytes(code)
        self.other = {'KILN_CPU_DRIVER': str(other)}

    def warm(self, **more):
        for module in self.MODULES:
            self.kiln('warm', *module, '--device', 'cpu', **{**self.KEEP, **more})

    def rewarm(self, *arguments, status=0, **more):
        return self.ask('rewarm', '--device', 'cpu', *arguments, status=status, **more)

    def hits(self, **more):
        return [self.ask('explain', *module, '--device', 'cpu', status=None, **more)['hit'] for module in self.MODULES]

    def figures(self, answer):
        return [answer[name] for name in ('compiled', 'there', 'without_inputs', 'beyond_limit')]

    def test_what_is_used_is_compiled_for_another_compiler(self):
        self.warm()
        self.assertEqual(self.figures(self.rewarm()), [0, 4, 0, 0])
        self.assertEqual(self.hits(**self.other), [False] * 4)
        before = list(self.entries())
        self.assertEqual(self.figures(self.rewarm('--dry-run', **self.other)), [4, 0, 0, 0])
        self.assertEqual(list(self.entries()), before)
        for key in before:
            self.age(key, DAY)
        hot = next(key for key, each in self.entries().items() if each['kernels'] == ['saxpy'])
        self.age(hot, 60)
        one = self.rewarm('--limit', '1', **self.other)
        self.assertEqual(self.figures(one), [1, 0, 0, 3])
        self.assertEqual((one['modules'][0]['key'], one['modules'][0]['outcome']), (hot, 'compiled'))
        self.assertEqual(self.hits(**self.other), [True, False, False, False])
        done = self.kiln('rewarm', '--device', 'cpu', **self.other)
        self.assertEqual((done.stdout.splitlines()[-1], done.stderr),
                         ('3 compiled, 1 there already, 0 whose inputs are not kept, 0 beyond the limit', ''))
        self.assertEqual(self.hits(**self.other), [True] * 4)
        self.assertEqual(self.figures(self.rewarm(**self.other)), [0, 4, 0, 0])
        self.assertEqual(self.hits(), [True] * 4)  # the older ones are there still

    def test_products(self):
        self.warm()
        self.assertEqual(self.rewarm('--for', 'pvc,dg2', **self.other)['modules'], [])

    def test_without_inputs_nothing_can_be_made(self):
        self.kiln('warm', SAXPY, '--device', 'cpu')
        self.assertEqual(self.figures(self.rewarm(status=1)), [0, 0, 1, 0])
        self.kiln('clear')
        self.warm()
        self.assertEqual(self.ask('stats', **self.KEEP)['inputs'], 5)
        kept = self.folder / 'v1' / 'inputs' / hashlib.sha256(pathlib.Path(SAXPY).read_bytes()).hexdigest()
        kept.write_bytes(kept.read_bytes()[:-4])
        self.assertEqual(self.figures(self.rewarm(status=1, **self.other)), [3, 0, 1, 0])
        self.kiln('clear')
        self.assertEqual(self.ask('stats')['inputs'], 0)

    def test_folders_that_are_not_there_and_caches_that_keep_nothing(self):
        self.rewarm(status=2)
        self.warm()
        self.assertEqual(self.rewarm(status=5, KILN_CACHE='read', **self.other)['error']['code'], 'K0712')
        self.kiln('rewarm', '--limit', '0', status=2)


class Shared(CacheCase):
    def on(self, kind):
        # AddressSanitizer would end a program that has another library before its own; what it takes over of fstatfs is not used here.
        asan = os.environ.get('ASAN_OPTIONS', '') + ':verify_asan_link_order=0'
        return {'LD_PRELOAD': os.environ['KILN_FAKE_STATFS'], 'KILN_TEST_F_TYPE': kind, 'ASAN_OPTIONS': asan}

    def test_file_systems_of_several_machines_are_told(self):
        self.write(entry('a'))
        for kind, name in ('0x6969', 'nfs'), ('0xbd00bd0', 'lustre'), ('0xff534d42', 'cifs'), ('0x47504653', 'gpfs'), ('0x65735546', 'fuse'):
            self.assertEqual(self.ask('stats', **self.on(kind))['file_system'], name)
            self.assertIn(f'on {name}', self.kiln('stats', **self.on(kind)).stdout)
            self.assertEqual(self.ask('explain', SAXPY, '--device', 'cpu', status=1, **self.on(kind))['file_system'], name)
        for kind in '0xef53', '0x794c7630', '0x1021994':  # ext4, overlay, tmpfs
            self.assertNotIn('file_system', self.ask('stats', **self.on(kind)))

    def test_a_folder_for_each_host(self):
        host = os.uname().nodename
        stats = self.ask('stats', KILN_CACHE_DIR=str(self.root / 'of-%h' / 'c'))
        self.assertEqual(stats['folder'], str(self.root / f'of-{host}' / 'c'))

    def test_it_is_used_without_locks_there(self):
        os.mkdir(self.root / 'run', mode=0o700)
        nfs = {**self.on('0x6969'), 'XDG_RUNTIME_DIR': str(self.root / 'run')}
        self.assertEqual(self.ask('warm', SAXPY, '--device', 'cpu', **nfs)['files'][0]['outcome'], 'compiled')
        self.assertFalse((self.folder / 'v1' / 'lock').exists())
        self.assertTrue((self.root / 'run' / 'kiln-cache.lock').exists())
        self.assertEqual(self.ask('warm', SAXPY, '--device', 'cpu', **nfs)['files'][0]['outcome'], 'was there')


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

    def test_modules_linked_on_the_cpu_device(self):
        linked = self.ask('explain', '--link', MAIN, PART, '--device', 'cpu', status=1)
        self.assertEqual((linked['hit'], linked['linked'], linked['manifest']['path']), (False, [MAIN, PART], 'link'))
        for outcome in ('compiled', 'was there'):
            warmed, = self.ask('warm', '--link', MAIN, PART, '--device', 'cpu')['files']
            self.assertEqual((warmed['file'], warmed['outcome']), (f'{MAIN} + {PART}', outcome))
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
