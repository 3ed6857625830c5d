# SPDX-License-Identifier: MIT
"""Real stores for tests: redis-server, or valkey-server, and nginx, each on a loopback port and in a folder of its own,
ended by its process id."""
import atexit
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PATHS = os.pathsep.join([os.environ.get('PATH', ''), '/usr/sbin', '/usr/bin'])
REDIS = shutil.which('redis-server', path=PATHS) or shutil.which('valkey-server', path=PATHS)
NGINX = shutil.which('nginx', path=PATHS)
OPENSSL = shutil.which('openssl', path=PATHS)


def need(*programs):
    """Ends the test as skipped where one is not there."""
    for program, name in programs:
        if not program:
            print(f'skipped: {name} is not installed')
            sys.exit(77)


def free_port(beside=0):
    """With another one free that much above it, where `beside` is not 0."""
    while True:
        with socket.socket() as probe, socket.socket() as other:
            probe.bind(('127.0.0.1', 0))
            port = probe.getsockname()[1]
            if port + beside > 65535 or beside and other.connect_ex(('127.0.0.1', port + beside)) == 0:
                continue
            return port


def until(what, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.005)
    raise TimeoutError('it does not come')


def signing_key(file):
    """A new private key; gives the public one, 64 digits."""
    subprocess.run([OPENSSL, 'genpkey', '-algorithm', 'ed25519', '-out', file], check=True)
    os.chmod(file, 0o600)
    der = subprocess.run([OPENSSL, 'pkey', '-in', file, '-pubout', '-outform', 'DER'], check=True, capture_output=True).stdout
    return der[-32:].hex()


class Certificate:
    """Self-made, for 127.0.0.1, or for another name that nobody here has."""

    def __init__(self, folder, name='IP:127.0.0.1'):
        self.file, self.key = folder / 'certificate.pem', folder / 'certificate-key.pem'
        subprocess.run([OPENSSL, 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj',
                        '/CN=kiln', '-addext', f'subjectAltName={name}', '-keyout', self.key, '-out', self.file], check=True, capture_output=True)


class Server:
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='kiln-fleet-'))
        self.port = free_port()
        self.process = None
        atexit.register(self.remove)

    def run(self, *command):
        with open(self.folder / 'out', 'ab') as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd=self.folder)
        until(self.answers)

    def answers(self):
        if self.process.poll() is not None:
            raise RuntimeError((self.folder / 'out').read_text())
        with socket.socket() as probe:
            return probe.connect_ex(('127.0.0.1', self.port)) == 0

    def kill(self, how=signal.SIGKILL):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait()

    def remove(self):
        self.kill(signal.SIGTERM)
        shutil.rmtree(self.folder, ignore_errors=True)


class Redis(Server):
    def __init__(self, *options, durable=False, first=False):
        """first: it runs before all other programs, where this one may say so."""
        super().__init__()
        self.first = first
        if '--cluster-enabled' in options:
            self.port = free_port(beside=10000)  # where its nodes speak to each other
        self.options = ['--appendonly', 'yes', '--appendfsync', 'always'] if durable else ['--appendonly', 'no']
        self.options += options
        self.start()

    @property
    def url(self):
        return f'redis://127.0.0.1:{self.port}'

    def start(self):
        before = ['nice', '-n', '-20'] if self.first else []  # which goes on where it may not
        self.run(*before, REDIS, '--port', str(self.port), '--bind', '127.0.0.1', '--dir', str(self.folder), '--save', '', *self.options)

    def ask(self, *words):
        return Redis.ask_all(self, words)

    def ask_all(self, *questions):
        """The answer to the last one, in the protocol RESP2: bytes, a number, None or a list."""
        with socket.create_connection(('127.0.0.1', self.port), timeout=10) as to:
            stream = to.makefile('rb')
            for words in questions:
                parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
                to.sendall(b'*%d\r\n' % len(parts) + b''.join(b'$%d\r\n%s\r\n' % (len(part), part) for part in parts))
                answer = self.read(stream)
            return answer

    def read(self, stream):
        line = stream.readline().rstrip()
        kind, rest = line[:1], line[1:]
        if kind == b'$':
            return None if rest == b'-1' else stream.read(int(rest) + 2)[:-2]
        if kind == b'*':
            return [self.read(stream) for _ in range(int(rest))]
        if kind == b'-':
            raise RuntimeError(rest.decode())
        return int(rest) if kind == b':' else rest

    def keys(self):
        return sorted(key for key in self.ask('KEYS', '*') if key.endswith(b':entry'))


class Sentinel(Server):
    """Watches one Redis and its replicas, under the name `kernels`."""

    def __init__(self, primary):
        super().__init__()
        (self.folder / 'settings').write_text(
            f'port {self.port}\nbind 127.0.0.1\nsentinel monitor kernels 127.0.0.1 {primary.port} 1\n'
            'sentinel down-after-milliseconds kernels 500\nsentinel failover-timeout kernels 5000\n')
        self.run(REDIS, str(self.folder / 'settings'), '--sentinel')

    @property
    def url(self):
        return f'redis://127.0.0.1:{self.port}'

    def primary(self):
        """Its port."""
        return int(Redis.ask(self, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'kernels')[1])

    def replicas(self):
        return Redis.ask(self, 'SENTINEL', 'REPLICAS', 'kernels')

    def read(self, stream):
        return Redis.read(self, stream)


NGINX_SETTINGS = """
daemon off; pid {folder}/pid; error_log {folder}/error.log; worker_processes 1;
events {{ worker_connections 512; }}
http {{
  access_log {folder}/access.log; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port}{listen};
    location /kiln/ {{ root {folder}/root; dav_methods PUT; client_max_body_size 256m; {more} }}
  }}
}}
"""


class Nginx(Server):
    def __init__(self, more='', listen=''):
        super().__init__()
        (self.folder / 'root' / 'kiln').mkdir(parents=True)
        os.chmod(self.folder, 0o755)
        for each in (self.folder / 'root', self.folder / 'root' / 'kiln'):
            os.chmod(each, 0o777)
        (self.folder / 'settings').write_text('user root;' * (os.geteuid() == 0) + NGINX_SETTINGS.format(folder=self.folder, port=self.port, more=more, listen=listen))
        self.start()

    @property
    def url(self):
        return f'http://127.0.0.1:{self.port}/kiln'

    def start(self):
        self.run(NGINX, '-c', str(self.folder / 'settings'), '-p', str(self.folder))

    def entries(self):
        return sorted((self.folder / 'root' / 'kiln').iterdir())

    def kill(self, how=signal.SIGTERM):
        super().kill(signal.SIGTERM)  # the workers go with it
