# SPDX-License-Identifier: MIT
# The page of `kiln run --report` in a headless Chromium: it fits a phone, paints in light and dark, prints, and neither
# complains nor asks for anything.
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

from front_end import compiles_opencl_c

# The test runner's own, with a driver made for another test that has the name of Intel's.
os.environ.pop('LD_LIBRARY_PATH', None)
KILN = os.environ['KILN']
CHROMIUM = shutil.which('chromium') or shutil.which('chromium-browser') or shutil.which('google-chrome')
SAMPLES = ('coalescing.indirect', 'bank_conflict.stride_16', 'access.index_function_5', 'matmul')
# Little work: what is drawn is one access.
SIZES = {'matmul': '50'}
SOURCE = '''kernel void scale(global const float* in, global float* out, float by) {
  size_t i = get_global_id(0);
  for (int k = 0; k < 40; ++k) out[i] = out[i] + in[i * 4 & 1023] * by;  // a line that is long enough to be wider than a phone
}
kernel void other(global const float* in, global float* out, float by) { out[get_global_id(0)] = in[0] * by; }
'''
ARGUMENTS = ['--arg', 'in=iota:1024', '--arg', 'out=out:1024', '--arg', 'by=2']


def other_pages(folder):
    """The pages that are not of one run: name and command, without --report."""
    pages = {'sweep': ['run', 'saxpy', '--size', '4096', '--sweep', 'group=16..1024', '--device', 'cpu:pvc'],
             'against': ['run', 'bank_conflict.stride_16', '--size', '4096', '--against', 'bank_conflict.stride_1',
                         '--counters', '--device', 'cpu'],
             'advice': ['run', 'bank_conflict.stride_16', '--size', '4096', '--advise', '--device', 'cpu:pvc']}
    if compiles_opencl_c:
        source = folder / 'mine.cl'
        source.write_text(SOURCE)
        mine = f'{source}:scale'
        pages |= {'file': ['run', mine, *ARGUMENTS, '--device', 'cpu'],
                  'file-sweep': ['run', mine, *ARGUMENTS, '--sweep', 'group=16,32,64,2000', '--device', 'cpu'],
                  'file-against': ['run', mine, *ARGUMENTS, '--against', ':other', '--device', 'cpu'],
                  'file-advice': ['run', mine, *ARGUMENTS, '--advise', '--device', 'cpu:pvc'],
                  'native': ['analyze', str(source), '--target', 'pvc', '--options=-g'],
                  'native-two': ['analyze', str(source), '--target', 'pvc', '--options', '', '--options=-cl-opt-disable']}
    return pages


def chromium(folder, *arguments):
    """What a page writes on stdout and on the console. Nothing is reached: no name is found, not even by accident."""
    done = subprocess.run(
        [CHROMIUM, '--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--no-first-run',
         '--disable-background-networking', f'--user-data-dir={folder}/profile', '--enable-logging=stderr', '--v=0',
         '--host-resolver-rules=MAP * ~NOTFOUND', *arguments],
        capture_output=True, text=True, timeout=120, env={**os.environ, 'HOME': folder})
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout, [line for line in done.stderr.splitlines() if 'CONSOLE' in line]


def pixels(png):
    """Rows of (red, green, blue) of an 8-bit PNG without interlacing, which is what Chromium writes."""
    data, at, packed = png.read_bytes(), 8, b''
    while at < len(data):
        length, kind = struct.unpack('>I4s', data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b'IHDR':
            width, height, depth, colour = struct.unpack('>IIBB', body[:10])
        elif kind == b'IDAT':
            packed += body
        at += 12 + length
    assert depth == 8 and colour in (2, 6), (depth, colour)
    size, raw = (3 if colour == 2 else 4), zlib.decompress(packed)
    stride, before, rows = width * size, bytes(width * size), []
    for y in range(height):
        kind, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for x in range(stride):
            left = row[x - size] if x >= size else 0
            up, corner = before[x], before[x - size] if x >= size else 0
            if kind == 1:
                row[x] = (row[x] + left) & 255
            elif kind == 2:
                row[x] = (row[x] + up) & 255
            elif kind == 3:
                row[x] = (row[x] + (left + up) // 2) & 255
            elif kind == 4:
                guess = left + up - corner
                row[x] = (row[x] + min((left, up, corner), key=lambda value: abs(guess - value))) & 255
        rows.append([tuple(row[x:x + 3]) for x in range(0, stride, size)])
        before = bytes(row)
    return rows


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keep = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.keep.name)
        for name in SAMPLES:
            size = ['--size', SIZES[name]] if name in SIZES else []
            done = subprocess.run([KILN, 'run', name, '--device', 'cpu', *size, '--json', '--report',
                                   str(cls.folder / f'{name}.html')], capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, done.stderr
            (cls.folder / f'{name}.json').write_text(done.stdout)
        cls.others = {}
        for name, command in other_pages(cls.folder).items():
            done = subprocess.run([KILN, *command, '--json', '--report', str(cls.folder / f'{name}.html')],
                                  capture_output=True, text=True, timeout=240)
            assert done.returncode in (0, 1) and (cls.folder / f'{name}.html').exists(), (name, done.stderr)
            cls.others[name] = json.loads(done.stdout)

    @classmethod
    def tearDownClass(cls):
        cls.keep.cleanup()

    def measured(self, name, script, width):
        """What `script` computes in the page. It runs in a copy whose policy lets this one script run."""
        html = (self.folder / f'{name}.html').read_text()
        self.assertEqual(html.count("default-src 'none';"), 1)
        copy = self.folder / 'measured.html'
        copy.write_text(html.replace("default-src 'none';", "default-src 'none'; script-src 'unsafe-inline';").replace(
            '</body>', f'<script>document.documentElement.dataset.found = JSON.stringify({script})</script></body>'))
        # Chromium's windows are at least 500 wide: a frame is as wide as is asked for.
        frame = self.folder / 'frame.html'
        frame.write_text(f'<iframe src="measured.html" style="width: {width}px; height: 4000px; border: 0"></iframe>'
                         '<script>onload = () => document.body.dataset.found = '
                         'document.querySelector("iframe").contentDocument.documentElement.dataset.found</script>')
        out, _ = chromium(str(self.folder), '--allow-file-access-from-files', '--dump-dom', frame.as_uri())
        found = re.search(r'<body data-found="([^"]*)"', out)
        self.assertIsNotNone(found, out[-500:])
        return json.loads(found.group(1).replace('&quot;', '"'))

    def test_nothing_is_wider_than_a_phone(self):
        for name in SAMPLES:
            inner, scroll, text = self.measured(
                name, '[innerWidth, document.documentElement.scrollWidth, '
                      'document.querySelector("svg.lanes text").getBoundingClientRect().height]', 400)
            self.assertEqual(inner, 400)
            self.assertLessEqual(scroll, 400, name)
            self.assertGreater(text, 8, name)

    def test_no_other_page_is_wider_than_a_phone_and_nothing_is_cut_off(self):
        # What is wider than the page scrolls by itself; nothing else reaches beyond its box.
        script = """[innerWidth, document.documentElement.scrollWidth,
            [...document.querySelectorAll("h1, h2, h3, p, dd, dt, .tag, summary, figcaption")].filter(each => {
              const box = each.getBoundingClientRect(), scroll = each.closest(".scroll");
              return !scroll && box.width > 0 && (box.left < 0 || box.right > innerWidth + 1);
            }).map(each => each.textContent.slice(0, 40)),
            [...document.querySelectorAll(".scroll")].filter(each => getComputedStyle(each).overflowX != "auto").length]"""
        for name in self.others:
            for width in (400, 1400):
                inner, scroll, cut, fixed = self.measured(name, script, width)
                self.assertEqual(inner, width)
                self.assertLessEqual(scroll, width, name)
                self.assertEqual((cut, fixed), ([], 0), name)

    def test_the_other_pages_are_painted_in_light_and_dark(self):
        for name in self.others:
            grounds = []
            for scheme in (0, 1):  # dark, light
                png = self.folder / 'other.png'
                png.unlink(missing_ok=True)
                _, console = chromium(str(self.folder), f'--screenshot={png}', '--window-size=900,1200',
                                      f'--blink-settings=preferredColorScheme={scheme}',
                                      (self.folder / f'{name}.html').as_uri())
                self.assertEqual(console, [], name)
                rows = pixels(png)
                self.assertGreater(len({colour for row in rows[::4] for colour in row}), 20, name)
                grounds.append(sum(rows[2][2]))
            self.assertLess(grounds[0], 150, name)
            self.assertGreater(grounds[1], 650, name)

    def test_the_other_pages_show_the_numbers_of_the_json(self):
        def values(name, where):
            return self.measured(name, f'[...document.querySelectorAll("{where} data")].map(each => each.value)', 900)

        shown = values('sweep', '#sweep')
        for each in self.others['sweep']['sweep']:
            self.assertIn(str(each['group']), shown)
            self.assertIn(json.dumps(each['device_ms']), shown)
        shown = values('against', '#counted')
        for side in ('this', 'other'):
            for sums in self.others['against'][side]['counters']['totals'].values():
                self.assertIn(str(sums['accesses'] if isinstance(sums, dict) else sums), shown)
        for name in {'advice', 'file-advice'} & self.others.keys():
            shown = values(name, '#advice')
            for each in self.others[name]['advice']['tried']:
                if each['refused'] is None:
                    self.assertIn(str(each['cost']), shown)
        if 'native' in self.others:
            shown = values('native', '#kernels')
            for kernel in self.others['native']['kernels']:
                self.assertIn(str(kernel['instructions']), shown)
            shown = values('native-two', '#changes')
            for change in self.others['native-two']['changes']:
                self.assertIn(str(change['now']), shown)

    def test_it_is_painted_in_light_and_dark_and_nobody_complains(self):
        for name in SAMPLES:
            grounds = []
            for scheme in (0, 1):  # dark, light
                png = self.folder / 'page.png'
                png.unlink(missing_ok=True)
                _, console = chromium(str(self.folder), f'--screenshot={png}', '--window-size=800,1200',
                                      f'--blink-settings=preferredColorScheme={scheme}',
                                      (self.folder / f'{name}.html').as_uri())
                self.assertEqual(console, [])
                rows = pixels(png)
                self.assertEqual((len(rows[0]), len(rows)), (800, 1200))
                colours = {colour for row in rows[::4] for colour in row}
                self.assertGreater(len(colours), 20, 'text is smooth, so it has many colours')
                grounds.append(sum(rows[2][2]))
                # The boxes of lanes are the only large areas that are clearly blue or orange.
                boxes = sum(abs(colour[2] - colour[0]) > 100 for row in rows for colour in row)
                self.assertGreater(boxes, 1500, f'{name}: lanes are not painted')
            self.assertLess(grounds[0], 150)
            self.assertGreater(grounds[1], 650)

    def test_it_prints(self):
        pdf = self.folder / 'page.pdf'
        chromium(str(self.folder), f'--print-to-pdf={pdf}', (self.folder / 'bank_conflict.stride_16.html').as_uri())
        self.assertTrue(pdf.read_bytes().startswith(b'%PDF-'))

    def test_it_asks_for_nothing_and_its_policy_would_not_let_it(self):
        for name in SAMPLES:
            self.assertEqual(self.measured(name, 'performance.getEntriesByType("resource").map(each => each.name)', 900), [])
        html = (self.folder / 'matmul.html').read_text()
        for asking in ('<img src="https://kiln.invalid/x.png">', '<script>1</script>', '<link rel=stylesheet href="x.css">'):
            copy = self.folder / 'asking.html'
            copy.write_text(html.replace('</main>', f'{asking}</main>'))
            _, console = chromium(str(self.folder), '--dump-dom', copy.as_uri())
            self.assertEqual(len(console), 1, asking)
            self.assertIn('Content Security Policy', console[0])

    def test_the_page_shows_the_numbers_of_the_json(self):
        for name in SAMPLES:
            run = json.loads((self.folder / f'{name}.json').read_text())
            values = self.measured(name, '[...document.querySelectorAll("#counts data")].map(each => each.value)', 900)
            for instruction in run['counters']['instructions']:
                self.assertIn(str(instruction['accesses']), values)
            for sums in run['counters']['totals'].values():
                for value in sums.values() if isinstance(sums, dict) else [sums]:
                    self.assertIn(str(value), values)


if __name__ == '__main__':
    if not CHROMIUM:
        print('skipped: chromium is not installed')
        sys.exit(77)
    unittest.main()
