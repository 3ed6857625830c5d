# SPDX-License-Identifier: MIT
# `kiln run --report` as a user types it: what it writes, where it refuses to, and devices that do not count.
import hashlib
import json
import os
import pathlib
import re
import struct
import subprocess
import tempfile
import unittest
from html import unescape

# The test runner's own, with a driver made for another test that has the name of Intel's.
os.environ.pop('LD_LIBRARY_PATH', None)
KILN = os.environ['KILN']
KERNELS = pathlib.Path(os.environ['KILN_KERNELS'])


# Each family of samples is compiled once: most of the time would go there.
CACHE = tempfile.TemporaryDirectory()
unittest.addModuleCleanup(CACHE.cleanup)


def run(*arguments, **environment):
    return subprocess.run([KILN, 'run', *arguments], capture_output=True, text=True, timeout=120,
                          env={**os.environ, 'KILN_CACHE': 'on', 'KILN_CACHE_DIR': CACHE.name, **environment})


def with_lines(spirv, line, source):
    """SPIR-V whose loads and stores all say that they are from that line, and which names that source."""
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
        if opcode == 330:  # OpModuleProcessed
            text = f'source saxpy.cl sha256 {hashlib.sha256(source).hexdigest()}'.encode()
            text += bytes(4 - len(text) % 4)
            made += [(len(text) // 4 + 1) << 16 | 330, *struct.unpack(f'<{len(text) // 4}I', text)]
        elif opcode != 8:  # OpLine
            made += words[at:at + size]
        at += size
    return struct.pack(f'<{len(made)}I', *made)


def shown(html, between=''):
    """What a reader sees of it, without tooltips."""
    body = html[html.index('<body>'):]
    return unescape(re.sub(r'<[^>]*>', between, re.sub(r'<title>[^<]*</title>', '', body))).replace('\u202f', '')


def pictures(html):
    return [re.sub(r'<title>[^<]*</title>', '', each) for each in re.findall(r'<svg class="lanes".*?</svg>', html, re.S)]


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
            # The two write a double with other digits at times: 3.419516 and 3.4195159999999998.
            self.assertTrue(any(abs(float(each) - seen[field]) < 1e-9 for each in values), field)
        for instruction in seen['counters']['instructions']:
            self.assertIn(str(instruction['accesses']), values)
        drawn = [each for each in seen['counters']['instructions'] if 'example' in each]
        self.assertEqual(html.count('<li><span>'), len(drawn))
        self.assertLess(html.count('<figure>'), len(drawn))
        self.assertGreater(html.count('>turn 2<'), 0)
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

    def test_several_runs_have_pages_too(self):
        page = self.folder / 'page.html'
        for arguments, sections in (
                (['saxpy', '--size', '1000', '--sweep', 'group=32,64', '--repeat', '2'], ['sweep']),
                (['saxpy', '--size', '1000', '--against', 'group=32', '--counters'], ['sides', 'counted'])):
            done = run(*arguments, '--device', 'cpu', '--report', str(page))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(str(page), done.stdout)
            self.assertEqual(re.findall(r'<section id="([^"]*)"', page.read_text()), sections)
            page.unlink()  # that of the next is its own
            done = run(*arguments, '--device', 'cpu', '--json', '--report', str(self.folder / 'none' / 'page.html'))
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertIn('K0410', done.stderr)

    def test_source_lines_beside_the_kernel(self):
        source = b'first\nsecond\n  y[i] = "<b>" & \xff;\nfourth\n'
        (self.folder / 'saxpy.spv').write_bytes(with_lines((KERNELS / 'saxpy.spv').read_bytes(), 3, source))
        page = self.folder / 'page.html'

        def html(expected):
            done = run('saxpy', '--size', '100', '--device', 'cpu', '--json', '--report', str(page),
                       KILN_KERNEL_PATH=str(self.folder))
            self.assertEqual(done.returncode, 0, done.stderr)
            text = page.read_text(encoding='utf-8')
            self.assertEqual(re.findall(r'saxpy\.cl[^<]*(?=</p>)', text), expected)
            return text, json.loads(done.stdout)['counters']['instructions']

        html([f'saxpy.cl, which is not in {self.folder}.'])
        (self.folder / 'saxpy.cl').write_bytes(source + b'fifth\n')
        text, _ = html([f'saxpy.cl that lies in {self.folder}: its lines would be others.'])
        self.assertNotIn('fifth', text)
        (self.folder / 'saxpy.cl').write_bytes(source)
        text, counted = html([])
        row = re.search(r'<tr><th[^>]*>3</th><td><pre><code>([^<]*)</code></pre>[^/]*</td><td[^>]*><data value="(\d+)">', text)
        self.assertEqual(row.group(1), '  y[i] = &quot;&lt;b&gt;&quot; &amp; \ufffd;')
        self.assertEqual(int(row.group(2)), sum(each['accesses'] for each in counted if each['line'] == 3))

    def test_each_sample_says_what_was_found_and_where(self):
        page, codes = self.folder / 'page.html', set()
        for sample in json.loads(run('--list', '--json').stdout):
            name = sample['name']
            with self.subTest(name):
                size = '40' if name == 'matmul' or 'shape' in name else '1000'
                choices = (name, '--size', size, '--device', 'cpu')
                done = run(*choices, '--json', '--report', str(page))
                self.assertEqual(done.returncode, 0, done.stderr)
                seen, html, text = json.loads(done.stdout), page.read_text(), run(*choices, '--counters').stdout
                instructions = seen['counters']['instructions']

                # Lines, on the page those of the source, and no ids.
                source = (KERNELS / seen['file']).with_suffix('.cl').read_text().splitlines()
                lines = {each['line'] for each in instructions if each['line']}
                self.assertLessEqual(sum(each['line'] is None for each in instructions), 1)
                section = html[html.index('<section id="source">'):].split('</section>')[0]
                rows = dict(re.findall(r'<th[^>]*>(\d+)</th><td><pre><code>([^<]*)</code>', section))
                for line in lines:
                    self.assertEqual(unescape(rows[str(line)]), source[line - 1])
                self.assertNotRegex(shown(html, ' '), r'%\d')
                self.assertNotRegex(text, r'%\d')

                # Each picture once, with all that it is of, and what it means.
                drawn = sum('example' in each for each in instructions)
                self.assertEqual(len(set(pictures(html))), len(pictures(html)))
                self.assertEqual(html.count('<li><span>'), drawn)
                folded = re.findall(r'<data value="(\d+)">\d+</data> accesses look like this', html)
                self.assertEqual(sum(map(int, folded)) + len(pictures(html)) - len(folded), drawn)
                self.assertIn('<section id="legend">', html)

                # The first finding is the headline; each has its advice in both.
                found = [each['message'].replace('`', '') for each in seen['findings']] or ['nothing to change was found']
                headline = unescape(re.sub('<[^>]*>', '', re.search(r'<h1>(.*?)</h1>', html)[1]))
                self.assertEqual(headline.lower(), found[0].lower())
                self.assertEqual(text.count('\nwarning['), len(seen['findings']))
                if not seen['findings']:
                    self.assertIn('nothing to change', text)
                for finding in seen['findings']:
                    codes.add(finding['code'])
                    self.assertTrue(finding['help'])
                    for help in finding['help']:
                        self.assertIn(f'  help: {help}\n', text)
                        self.assertIn(help.replace('`', ''), shown(html))
        self.assertEqual(codes, {'K0805', 'K0806', 'K0807', 'K0808', 'K0809'})

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
