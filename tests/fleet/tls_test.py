# SPDX-License-Identifier: MIT
"""Stores behind TLS with certificates of the tests' own: who is not known is not spoken to."""
import os
import pathlib
import tempfile
import unittest

import servers
from fleet_case import FleetCase

servers.need((servers.REDIS, 'redis-server'), (servers.NGINX, 'nginx'), (servers.OPENSSL, 'openssl'))


class Tls(FleetCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix='kiln-fleet-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.own = servers.Certificate(self.folder)

    def credentials(self, *lines):
        file = self.root / 'credentials'
        file.touch(mode=0o600)
        file.write_text('\n'.join(lines) + '\n')
        return f',credentials={file}'

    def goes_through(self, url, stored, *lines):
        remote = url + ',unsigned' + self.credentials(f'ca {self.own.file}', *lines)
        first = self.node('a', remote, 'keys=3')
        self.assertEqual((first['compiled'], first['log']), (3, ''))
        servers.until(lambda: len(stored()) == 3)
        second = self.node('b', remote, 'keys=3')
        self.assertEqual((second['remote_hits'], second['compiled'], second['log']), (3, 0, ''))

    def is_refused(self, url, *lines):
        node = self.node('refused', url + ',unsigned' + (self.credentials(*lines) if lines else ''), 'keys=2')
        self.assertEqual((node['compiled'], node['remote_hits'], node['wrong']), (2, 0, 0), node)
        self.assertIn('is left alone for a while', node['log'])
        self.assertRegex(node['log'].lower(), 'certificate|ssl|tls')

    def nginx(self, certificate):
        server = servers.Nginx(listen=f' ssl; ssl_certificate {certificate.file}; ssl_certificate_key {certificate.key}')
        return server, server.url.replace('http:', 'https:')

    def test_nginx(self):
        server, url = self.nginx(self.own)
        self.goes_through(url, server.entries)
        self.is_refused(url)  # by nobody whom this machine knows

    def test_a_certificate_of_another_name(self):
        folder = self.folder / 'other'
        folder.mkdir()
        other = servers.Certificate(folder, 'DNS:cache.example')
        _, url = self.nginx(other)
        self.is_refused(url, f'ca {other.file}')

    def test_no_tls_where_it_is_asked_for(self):
        self.is_refused(servers.Nginx().url.replace('http:', 'https:'), f'ca {self.own.file}')

    def test_redis(self):
        try:
            plain = servers.Redis('--tls-port', str(port := servers.free_port()), '--tls-cert-file', str(self.own.file), '--tls-key-file',
                                  str(self.own.key), '--tls-ca-cert-file', str(self.own.file), '--tls-auth-clients', 'yes')
        except RuntimeError:
            self.skipTest('this redis-server knows no TLS')
        url = f'rediss://127.0.0.1:{port}'
        who = f'certificate {self.own.file}', f'key {self.own.key}'
        self.goes_through(url, plain.keys, *who)
        self.is_refused(url, *who)  # by nobody whom this machine knows
        node = self.node('nobody', url + ',unsigned' + self.credentials(f'ca {self.own.file}'), 'keys=2')  # it wants to know its clients
        self.assertEqual((node['compiled'], node['remote_hits']), (2, 0))


if __name__ == '__main__':
    os.umask(0o077)
    unittest.main()
