# SPDX-License-Identifier: MIT
# `kiln run --report` as a user types it: what it writes, where it refuses to, and devices that do not count.
import json
import os
import pathlib
import re
import struct
import subprocess
import tempfile
import unittest

# The test runner's own, with a driver made for another test that has the name of Intel's.
os.environ.pop('LD_LIBRARY_PATH', None)
KILN = os.environ['KILN']
KERNELS = pathlib.Path(os.environ['KILN_KERNELS'])


def run(*arguments, **environment):
    return subprocess.run([KILN, 'run', *arguments], env={**os.environ, **environment}, capture_output=True, text=True,
                          timeout=120)


def with_lines(spirv, line):
    """SPIR-V whose loads and stores all say that they are from that line."""
    words = list(struct.unpack(f'<{len(spirv) // 4}I', spirv))
    name, made, named = words[3], words[:5], False
    made[3] += 1
    at = 5
    while at < len(words):
        size, opcode = words[at] >> 16, words[at] & 0xffff
        if opcode in (3, 5) and not named:  # OpSource or OpName: strings stand before them
            made += [4 << 16 | 7, name, *struct.unpack('<2I', b'a.cl\0\0\0\0')]
            named = True
        if opcode in (61, 62):  # OpLoad, OpStore
            made += [4 << 16 | 8, name, line, 1]
        made += words[at:at + size]
        at += size
    return struct.pack(f'<{len(made)}I', *made)


class Report(unittest.TestCase):
    def setUp(self):
        keep = tempfile.TemporaryDirectory()
        self.addCleanup(keep.cleanup)
        self.folder = pathlib.Path(keep.name)

    def test_the_page_has_the_numbers_of_the_json(self):
        page = self.folder / 'page.html'
        done = run('bank_conflict.stride_2', '--size', '1000', '--device', 'cpu', '--json', '--report', str(page))
        self.assertEqual(done.returncode, 0, done.stderr)
        seen, html = json.loads(done.stdout), page.read_text()
        values = re.findall(r'<data value="([^"]*)">', html)
        for field in ('device_ms', 'host_ms', 'build_ms'):
            self.assertIn(json.dumps(seen[field]), values)
        for instruction in seen['counters']['instructions']:
            self.assertIn(str(instruction['accesses']), values)
        drawn = [each for each in seen['counters']['instructions'] if 'example' in each]
        self.assertEqual(html.count('<figure>'), len(drawn))
        self.assertEqual(html.count('>turn 2<'), sum(each['example'].get('turns') == 2 for each in drawn))
        self.assertIn('>equal<', html)
        self.assertEqual(os.listdir(self.folder), ['page.html'])

    def test_text_names_the_page_and_shows_the_counters(self):
        page = self.folder / 'page.html'
        done = run('saxpy', '--size', '100', '--device', 'cpu', '--report', str(page))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(str(page), done.stdout)
        self.assertIn('global reads', done.stdout)

    def test_what_cannot_be_written_is_told_and_leaves_what_was_there(self):
        target, link = self.folder / 'target', self.folder / 'link'
        target.write_text('kept')
        link.symlink_to(target)
        (self.folder / 'folder').mkdir()
        for path in (link, self.folder / 'folder', self.folder / 'none' / 'page.html', '/dev/null'):
            done = run('saxpy', '--size', '100', '--device', 'cpu', '--json', '--report', str(path))
            self.assertEqual(done.returncode, 5, path)
            self.assertEqual(json.loads(done.stdout)['error']['code'], 'K0410')
            self.assertIn(str(path), done.stderr)
        self.assertTrue(link.is_symlink())
        self.assertEqual(target.read_text(), 'kept')
        self.assertEqual(sorted(os.listdir(self.folder)), ['folder', 'link', 'target'])
        self.assertFalse(pathlib.Path('/dev/null').is_file())

    def test_bad_usage(self):
        page = str(self.folder / 'page.html')
        for arguments in (['saxpy', '--report'], ['saxpy', '--report', ''], ['--all', '--report', page],
                          ['saxpy', '--report', page, '--repeat', '2'], ['nothing', '--report', page]):
            self.assertEqual(run(*arguments).returncode, 2, arguments)
        self.assertEqual(os.listdir(self.folder), [])

    def test_source_lines_beside_the_kernel(self):
        (self.folder / 'saxpy.spv').write_bytes(with_lines((KERNELS / 'saxpy.spv').read_bytes(), 3))
        (self.folder / 'saxpy.cl').write_bytes(b'first\nsecond\n  y[i] = "<b>" & \xff;\nfourth\n')
        page = self.folder / 'page.html'
        done = run('saxpy', '--size', '100', '--device', 'cpu', '--json', '--report', str(page),
                   KILN_KERNEL_PATH=str(self.folder))
        self.assertEqual(done.returncode, 0, done.stderr)
        html = page.read_text(encoding='utf-8')
        row = re.search(r'<tr><th[^>]*>3</th><td><pre><code>([^<]*)</code></pre></td><td[^>]*><data value="(\d+)">', html)
        self.assertEqual(row.group(1), '  y[i] = &quot;&lt;b&gt;&quot; &amp; \ufffd;')
        counted = json.loads(done.stdout)['counters']['instructions']
        self.assertEqual(int(row.group(2)), sum(each['accesses'] for each in counted if each['line'] == 3))

    def test_a_device_that_does_not_count(self):
        if os.environ['KILN_INTEL_DRIVER'] != 'yes':
            self.skipTest("Intel's driver is not loaded here")
        page = self.folder / 'page.html'
        done = run('matmul', '--device', 'capture:dg2', '--report', str(page))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('does not count', page.read_text())
        done = run('matmul', '--device', 'capture:dg2', '--counters', '--report', str(self.folder / 'other.html'))
        self.assertEqual(done.returncode, 2)
        self.assertIn('K0409', done.stderr)
        self.assertEqual(os.listdir(self.folder), ['page.html'])


if __name__ == '__main__':
    unittest.main()
