# SPDX-License-Identifier: MIT
"""What kiln-store needs is not in the library or the program that uses it; and a kiln-store without Redis, or none at all."""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import servers
from fleet_case import STORE, FleetCase

LIBRARY, WITHOUT_REDIS = os.environ['KILN_LIBRARY'], os.environ['KILN_STORE_WITHOUT_REDIS']
REMOTE = re.compile(r'lib(curl|hiredis|zstd|sodium|ssl|nghttp|ssh)')


def needed(file):
    """The libraries that a file names itself."""
    told = subprocess.run(['readelf', '-dW', file], check=True, capture_output=True, text=True).stdout
    return re.findall(r'\(NEEDED\).*\[(.*)\]', told)


def mapped(process):
    """Those that a process has."""
    return {line.split('/')[-1].strip() for line in pathlib.Path(f'/proc/{process}/maps').read_text().splitlines() if '/' in line}


class Library(FleetCase):
    @unittest.skipUnless(shutil.which('readelf') and LIBRARY.endswith('.so') or '.so.' in LIBRARY, 'no readelf, or a static library')
    def test_it_names_none_of_them(self):
        of_store = [name for name in needed(STORE) if REMOTE.match(name)]
        self.assertTrue({'libcurl', 'libzstd'} <= {name.split('.')[0].split('-')[0] for name in of_store}, of_store)  # the test can fail
        of_library = needed(LIBRARY)
        self.assertIn('libcrypto.so.3', of_library)
        self.assertEqual([name for name in of_library if REMOTE.match(name)], [])

    def test_a_program_that_asked_has_none_of_them(self):
        if not servers.NGINX:
            self.skipTest('nginx is not installed')
        nginx = servers.Nginx()
        has = []
        for number, remote in enumerate(('', nginx.url + ',unsigned')):  # libcrypto may need libzstd for itself
            node = self.start(f'n{number}', remote, 'hold')
            self.addCleanup(node.communicate)
            self.addCleanup(node.kill)
            servers.until(lambda: self.compilations() == number + 1)  # the store was asked before
            has.append(mapped(node.pid))
        self.assertIn('GET /kiln/', (nginx.folder / 'access.log').read_text())
        self.assertTrue(any(name.startswith('libcrypto') for name in has[0]), has)
        self.assertEqual({name for name in has[1] - has[0] if '.so' in name}, set())


class Parts(FleetCase):
    def test_without_redis_http_is_left(self):
        if not servers.NGINX:
            self.skipTest('nginx is not installed')
        nginx = servers.Nginx()
        remote = f'redis://127.0.0.1:1,unsigned {nginx.url},unsigned'
        first = self.node('a', remote, 'keys=2', KILN_STORE=WITHOUT_REDIS)
        self.assertEqual((first['compiled'], first['log'].count('\n')), (2, 1), first)
        self.assertIn('it was built without hiredis (Meson option remote_redis)', first['log'])
        servers.until(lambda: len(nginx.entries()) == 2)
        second = self.node('b', remote, 'keys=2', KILN_STORE=WITHOUT_REDIS)
        self.assertEqual((second['compiled'], second['remote_hits']), (0, 2), second)

    def test_without_any_the_library_says_what_is_missing(self):
        node = self.node('a', 'http://127.0.0.1:1/x,unsigned', 'keys=3', KILN_STORE=str(self.root / 'nothing'))
        self.assertEqual((node['compiled'], node['log'].count('\n')), (3, 1), node)
        self.assertIn('a build of Kiln with libcurl has it (Meson option remote_cache)', node['log'])


if __name__ == '__main__':
    unittest.main()
