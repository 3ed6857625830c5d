# SPDX-License-Identifier: MIT
"""What operators do: push, pull, figures, images, explain."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import unittest

import servers
from fleet_case import STORE, FleetCase, key_of

servers.need((servers.REDIS, 'redis-server'), (servers.NGINX, 'nginx'))
KILN, KERNELS = os.environ['KILN'], pathlib.Path(os.environ['KILN_KERNELS'])
NATIVE, WRITER = os.environ['KILN_TEST_NATIVE'], os.environ['KILN_WRITER']


class Operator(FleetCase):
    def setUp(self):
        super().setUp()
        self.keys = self.root / 'trusted'
        self.redis = servers.Redis()

    def kiln(self, folder, *words, status=0, remote=None, **more):
        settings = {'KILN_CACHE_DIR': str(self.root / folder), 'KILN_CACHE_TRUST': str(self.keys), 'KILN_STORE': STORE,
                    'KILN_CACHE_REMOTE': self.redis.url if remote is None else remote, **more}
        done = subprocess.run([KILN, 'cache', *words], env={**os.environ, **settings}, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def ask(self, folder, *words, **more):
        return json.loads(self.kiln(folder, *words, '--json', **more))

    def write(self, folder, count):
        """Entries whose native code the command takes; see tests/cli/cache_writer.cpp."""
        entries = [{'manifest': {'input.0.digest': f'{i}', 'device.ip': f'0x{ip:x}'}, 'payload_of': NATIVE, 'facts_of': NATIVE}
                   for i in range(count) for ip in (0x30dc008, 0x30f0007)]  # dg2-g10, pvc
        done = subprocess.run([WRITER, str(self.root / folder)], input=json.dumps(entries), capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return sorted(done.stdout.split())

    def signer(self):
        key = self.kiln('x', 'keygen', str(self.root / 'key')).strip()
        self.kiln('x', 'trust', 'add', key)
        return {'KILN_CACHE_SIGNING_KEY': str(self.root / 'key')}

    def test_push_and_pull(self):
        nginx = servers.Nginx()
        both = f'{nginx.url} {self.redis.url}'
        keys = self.write('a', 2)
        refused = self.ask('a', 'push', remote=both, status=1)
        self.assertEqual((refused['pushed'], len(refused['refused'])), (0, 8))
        self.assertIn('no key to sign it with', refused['refused'][0]['reason'])
        signer = self.signer()
        self.assertEqual(self.ask('a', 'push', remote=both, **signer)['pushed'], 8)
        again = self.ask('a', 'push', remote=both, **signer)
        self.assertEqual((again['pushed'], again['there_already']), (0, 8))
        self.assertEqual(self.ask('b', 'pull')['pulled'], 4)
        self.assertEqual(sorted(each['key'] for each in self.ask('b', 'list')['entries']), keys)
        self.assertEqual(self.ask('b', 'pull')['there_already'], 4)
        some = self.ask('c', 'pull', '--for', 'dg2,bmg')
        self.assertEqual((some['pulled'], some['other_products']), (2, 2))
        # A store that cannot list wants to be told.
        self.kiln('d', 'pull', remote=nginx.url, status=1)
        wanted = self.root / 'wanted'
        wanted.write_text('\n'.join([*keys[:3], key_of(77)]) + '\n')
        self.assertEqual(self.ask('d', 'pull', '--keys', str(wanted), remote=nginx.url)['pulled'], 3)
        # Nobody takes what nobody trusts.
        self.keys.unlink()
        untrusted = self.ask('e', 'pull', status=1)
        self.assertEqual((untrusted['pulled'], len(untrusted['refused'])), (0, 4))

    def test_push_mends(self):
        keys = self.write('a', 1)
        signer = self.signer()
        self.ask('a', 'push', **signer)
        self.redis.ask('SET', f'kiln:{{{keys[0]}}}:entry', b'broken')
        self.assertEqual(self.ask('a', 'push', **signer)['pushed'], 1)
        self.assertEqual(self.ask('b', 'pull')['pulled'], 2)

    def test_figures(self):
        self.kiln('a', 'stats', '--fleet', remote='', status=5)
        self.write('a', 3)
        self.ask('a', 'push', remote=self.redis.url + ',unsigned')
        gone = f'redis://127.0.0.1:{servers.free_port()}'
        stores = self.ask('a', 'stats', '--fleet', remote=f'{self.redis.url} {gone}', status=1)['stores']
        self.assertEqual([each['up'] for each in stores], [True, False])
        self.assertNotIn('redis://', stores[1]['why'])
        self.assertEqual(stores[0]['entries'], 6)
        text = self.kiln('a', 'stats', '--prometheus', remote=f'{self.redis.url} {gone}')
        for line in text.splitlines():
            self.assertRegex(line, r'^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{store="[^"]+"\})? [0-9.e+-]+)$')
        figures = dict(line.rsplit(' ', 1) for line in text.splitlines() if not line.startswith('#'))
        self.assertEqual(figures['kiln_cache_entries'], '6')
        self.assertEqual(figures[f'kiln_cache_store_up{{store="{gone}/0"}}'], '0')
        self.assertEqual(figures[f'kiln_cache_store_entries{{store="{self.redis.url}/0"}}'], '6')
        names = re.findall(r'# TYPE (\S+)', text)
        self.assertEqual(len(names), len(set(names)))

    def test_an_image(self):
        keys = self.write('a', 2)
        image = self.root / 'image'
        self.assertEqual(self.ask('a', 'export', '--oci', str(image))['exported'], 4)

        def blob(about):
            data = (image / 'blobs' / 'sha256' / about['digest'].removeprefix('sha256:')).read_bytes()
            self.assertEqual((len(data), 'sha256:' + hashlib.sha256(data).hexdigest()), (about['size'], about['digest']))
            return data
        self.assertEqual(json.loads((image / 'oci-layout').read_text()), {'imageLayoutVersion': '1.0.0'})
        index = json.loads((image / 'index.json').read_text())
        manifest = json.loads(blob(index['manifests'][0]))
        config = json.loads(blob(manifest['config']))
        layer = self.root / 'layer.tar'
        layer.write_bytes(blob(manifest['layers'][0]))
        self.assertEqual(config['rootfs']['diff_ids'], [manifest['layers'][0]['digest']])
        self.assertEqual(config['config']['Labels']['org.kiln.entries'], '4')
        with tarfile.open(layer) as tar:
            for member in tar:
                self.assertEqual((member.uid, member.mode), (0, 0o755 if member.isdir() else 0o644))
            tar.extractall(self.root / 'root')
        place = self.root / 'root' / 'usr' / 'share' / 'kiln' / 'cache'
        self.assertEqual(sorted(path.parent.name + path.name for path in place.rglob('*') if path.is_file()), keys)
        self.assertEqual(self.ask('other', 'stats', KILN_CACHE_READ_ONLY=str(place))['read_only'][0]['entries'], 4)
        again = self.root / 'again'
        self.ask('a', 'export', '--oci', str(again))
        self.assertEqual((again / 'index.json').read_bytes(), (image / 'index.json').read_bytes())
        self.kiln('a', 'export', '--oci', str(again), status=2)

    def run_in_scratch(self, *words):
        """Their temporary files, too, go into the test's own folder."""
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, env={**os.environ, 'TMPDIR': str(self.root)})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def image_of(self, count):
        keys, image = self.write('a', count), self.root / 'image'
        self.ask('a', 'export', '--oci', str(image))
        return keys, image

    @unittest.skipUnless(shutil.which('skopeo'), 'skopeo is not installed')
    def test_skopeo_takes_an_image(self):
        _, image = self.image_of(2)
        # Its policy lets images in without signatures, whatever the machine's is.
        policy = self.root / 'policy.json'
        policy.write_text('{"default": [{"type": "insecureAcceptAnything"}]}')
        seen = json.loads(self.run_in_scratch('skopeo', '--policy', str(policy), 'inspect', f'oci:{image}:latest'))
        self.assertEqual(seen['Labels']['org.kiln.entries'], '4')
        for form, copied in (('oci', f'oci:{self.root}/copied:26.27'), ('docker-archive', f'docker-archive:{self.root}/copied.tar:kernels:26.27')):
            self.run_in_scratch('skopeo', '--policy', str(policy), 'copy', f'oci:{image}:latest', copied)
            again = json.loads(self.run_in_scratch('skopeo', '--policy', str(policy), 'inspect', copied))
            self.assertEqual((again['Labels'], len(again['Layers'])), (seen['Labels'], 1), form)

    @unittest.skipUnless(shutil.which('umoci'), 'umoci is not installed')
    def test_umoci_unpacks_an_image(self):
        keys, image = self.image_of(2)
        self.assertEqual(self.run_in_scratch('umoci', 'list', '--layout', str(image)), 'latest\n')
        bundle = self.root / 'bundle'
        self.run_in_scratch('umoci', 'unpack', '--rootless', '--image', f'{image}:latest', str(bundle))
        place = bundle / 'rootfs' / 'usr' / 'share' / 'kiln' / 'cache'
        self.assertEqual(sorted(path.parent.name + path.name for path in place.rglob('*') if path.is_file()), keys)
        self.assertEqual(self.ask('other', 'stats', KILN_CACHE_READ_ONLY=str(place))['read_only'][0]['entries'], 4)
        self.assertEqual(json.loads((bundle / 'config.json').read_text())['annotations']['org.kiln.entries'], '4')

    def test_explain_tells_of_stores(self):
        saxpy = str(KERNELS / 'saxpy.spv')
        signer = self.signer()
        ask = ('explain', saxpy, '--device', 'cpu')
        miss = self.ask('a', *ask, status=1)
        self.assertEqual((miss['hit'], miss['stores'][0]['hit'], 'why' in miss['stores'][0]), (False, False, False))
        self.kiln('a', 'warm', saxpy, '--device', 'cpu', **signer)
        servers.until(self.redis.keys)
        hit = self.ask('b', *ask)
        self.assertEqual((hit['hit'], hit['stores'][0]['hit']), (True, True))
        self.assertEqual(len(hit['stores'][0]['signer']), 64)
        self.assertIn('store hit', self.kiln('b', *ask))
        self.assertEqual(self.ask('b', 'list')['entries'], [])  # it only looked
        self.keys.unlink()
        self.assertIn('its signer is not trusted', self.ask('b', *ask, status=1)['stores'][0]['why'])
        self.redis.kill()
        self.assertIn('why', self.ask('b', *ask, status=1)['stores'][0])

    def test_a_real_kernel_goes_from_node_to_node(self):
        matmul = str(KERNELS / 'matmul.spv')
        remote = self.redis.url + ',unsigned'
        self.assertIn('compiled', self.kiln('a', 'warm', matmul, '--device', 'cpu', remote=remote))
        servers.until(self.redis.keys)
        self.assertIn('was there', self.kiln('b', 'warm', matmul, '--device', 'cpu', remote=remote))


if __name__ == '__main__':
    unittest.main()
