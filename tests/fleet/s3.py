# SPDX-License-Identifier: MIT
"""A bucket of S3 for tests, which checks each signature as AWS documents it (Signature Version 4), one of moto's server, which checks them
by botocore, and a server with the layout of bazel-remote: /ac/KEY and /cas/KEY."""
import hashlib
import hmac
import http.server
import importlib.util
import json
import os
import re
import sys
import threading
import urllib.parse
import urllib.request

import servers

MOTO = all(importlib.util.find_spec(name) for name in ('moto', 'flask', 'flask_cors'))


class Files:
    """Keeps what is PUT in memory; `refuses` says why a request is refused: a status, or None."""

    def __init__(self):
        self.files, self.asked = {}, []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def log_message(self, *_):
                pass

            def answer(self, status, body=b''):
                self.send_response(status)
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                if self.command != 'HEAD':
                    self.wfile.write(body)

            def serve(self):
                body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
                refused = outer.refuses(self, body)
                outer.asked.append((self.command, self.path, refused))
                if refused:
                    self.answer(refused)
                elif self.command == 'PUT':
                    outer.files[self.path] = body
                    self.answer(200)
                elif self.path in outer.files:
                    self.answer(200, outer.files[self.path])
                else:
                    self.answer(404)

            do_GET = do_HEAD = do_PUT = serve

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def refuses(self, request, body):
        return None

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class S3(Files):
    def __init__(self, access, secret, region):
        self.access, self.secret, self.region = access, secret, region
        super().__init__()

    @property
    def url(self):
        return f'http://127.0.0.1:{self.port}/bucket/kiln,s3={self.region}'

    def refuses(self, request, body):
        form = re.fullmatch(r'AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?'
                            r'Signature=([0-9a-f]{64})', request.headers.get('Authorization', ''))
        if not form:
            return 403
        access, day, region, names, signature = form.groups()
        digest = request.headers.get('x-amz-content-sha256', '')
        if access != self.access or region != self.region or digest != hashlib.sha256(body).hexdigest():
            return 403
        if not {'host', 'x-amz-date', 'x-amz-content-sha256'} <= set(names.split(';')) or None in map(request.headers.get, names.split(';')):
            return 403
        headers = ''.join(f'{name}:{" ".join(request.headers[name].split())}\n' for name in names.split(';'))
        question = '\n'.join([request.command, urllib.parse.quote(request.path), '', headers, names, digest])
        scope = f'{day}/{region}/s3/aws4_request'
        text = '\n'.join(['AWS4-HMAC-SHA256', request.headers['x-amz-date'], scope, hashlib.sha256(question.encode()).hexdigest()])
        key = ('AWS4' + self.secret).encode()
        for part in [*scope.split('/'), text]:
            key = hmac.digest(key, part.encode(), 'sha256')
        return None if hmac.compare_digest(key.hex(), signature) else 403


class Moto(servers.Server):
    """moto's server with a bucket, and a user of IAM who may read and fill it: `access` and `secret`."""

    def __init__(self):
        super().__init__()
        # What is asked first needs no user.
        self.run('env', 'INITIAL_NO_AUTH_ACTION_COUNT=4', sys.executable, '-m', 'moto.server', '-H', '127.0.0.1', '-p', str(self.port))
        policy = {'Version': '2012-10-17', 'Statement': [{'Effect': 'Allow', 'Resource': '*', 'Action': ['s3:GetObject', 's3:PutObject', 's3:ListBucket']}]}
        self.iam(Action='CreateUser')
        self.iam(Action='PutUserPolicy', PolicyName='store', PolicyDocument=json.dumps(policy))
        key = self.iam(Action='CreateAccessKey')
        self.access, self.secret = (re.search(f'<{name}>([^<]+)<', key)[1] for name in ('AccessKeyId', 'SecretAccessKey'))
        self.ask('s3', 'PUT', '/bucket')

    @property
    def url(self):
        return f'http://127.0.0.1:{self.port}/bucket/kiln,s3=us-east-1'

    def iam(self, **words):
        return self.ask('iam', 'POST', '/', urllib.parse.urlencode({**words, 'UserName': 'node', 'Version': '2010-05-08'}).encode())

    def ask(self, service, how, path, body=None):
        """Which service is meant stands in the signature, which is none here."""
        who = f'AWS4-HMAC-SHA256 Credential=nobody/20260101/us-east-1/{service}/aws4_request, SignedHeaders=host, Signature=0'
        request = urllib.request.Request(f'http://127.0.0.1:{self.port}{path}', body, {'Authorization': who}, method=how)
        return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60).read().decode()

    def asked(self):
        """(verb, key, status) of what was asked below kiln/."""
        return re.findall(r'"(\w+) /bucket/kiln/(\w+) [^"]*" (\d+)', (self.folder / 'out').read_text())


class BazelRemote(Files):
    def refuses(self, request, body):
        form = re.fullmatch(r'/(?:[\w./-]+/)?(ac|cas)/([0-9a-f]{64})', request.path)
        if not form:
            return 400
        named_by_content = request.command != 'PUT' or form[1] == 'ac' or hashlib.sha256(body).hexdigest() == form[2]
        return None if named_by_content else 400
