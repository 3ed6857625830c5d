# SPDX-License-Identifier: MIT
# The page of `kiln run --report` in a headless Chromium: it fits a phone, paints in light and dark, prints, and neither
# complains nor asks for anything.
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from browser import CHROMIUM, Browser
from front_end import compiles_opencl_c

# The test runner's own, with a driver made for another test that has the name of Intel's.
os.environ.pop('LD_LIBRARY_PATH', None)
KILN = os.environ['KILN']
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


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        keep = tempfile.TemporaryDirectory()
        cls.addClassCleanup(keep.cleanup)
        cls.folder = pathlib.Path(keep.name)
        cache = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cache.cleanup)
        cached = {**os.environ, 'KILN_CACHE': 'on', 'KILN_CACHE_DIR': cache.name}
        for name in SAMPLES:
            size = ['--size', SIZES[name]] if name in SIZES else []
            done = subprocess.run([KILN, 'run', name, '--device', 'cpu', *size, '--json', '--report',
                                   str(cls.folder / f'{name}.html')], capture_output=True, text=True, timeout=120, env=cached)
            assert done.returncode == 0, done.stderr
            (cls.folder / f'{name}.json').write_text(done.stdout)
        cls.others = {}
        for name, command in other_pages(cls.folder).items():
            done = subprocess.run([KILN, *command, '--json', '--report', str(cls.folder / f'{name}.html')],
                                  capture_output=True, text=True, timeout=240, env=cached)
            assert done.returncode in (0, 1) and (cls.folder / f'{name}.html').exists(), (name, done.stderr)
            cls.others[name] = json.loads(done.stdout)
        cls.browser = Browser(cls.folder)
        cls.addClassCleanup(cls.browser.close)

    def measured(self, name, script, width):
        """What `script` computes in the page, at that width."""
        self.browser.open(self.folder / f'{name}.html', width, height=4000)
        return self.browser.evaluate(script)

    def painted(self, name, width):
        """Its pictures in dark and in light, which nobody complains of."""
        pictures = []
        for scheme in ('dark', 'light'):
            self.browser.open(self.folder / f'{name}.html', width, scheme=scheme)
            self.assertEqual(self.browser.complaints, [], name)
            pictures.append(self.browser.picture())
            self.assertEqual(pictures[-1]['size'], [width, 1200])
            self.assertGreater(pictures[-1]['colours'], 20, f'{name}: text is smooth, so it has many colours')
        self.assertLess(pictures[0]['ground'], 150, name)
        self.assertGreater(pictures[1]['ground'], 650, name)
        return pictures

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
            self.painted(name, 900)

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
            for picture in self.painted(name, 800):
                # The boxes of lanes are the only large areas that are clearly blue or orange.
                self.assertGreater(picture['coloured'], 1500, f'{name}: lanes are not painted')

    def test_it_prints(self):
        self.browser.open(self.folder / 'bank_conflict.stride_16.html', 800)
        self.assertTrue(self.browser.printed().startswith(b'%PDF-'))

    def test_it_asks_for_nothing_and_its_policy_would_not_let_it(self):
        for name in SAMPLES:
            self.browser.open(self.folder / f'{name}.html', 900)
            self.assertEqual(self.browser.requests, [])
        html = (self.folder / 'matmul.html').read_text()
        for asking in ('<img src="https://kiln.invalid/x.png">', '<script>1</script>', '<link rel=stylesheet href="x.css">'):
            copy = self.folder / 'asking.html'
            copy.write_text(html.replace('</main>', f'{asking}</main>'))
            self.browser.open(copy, 900)
            self.assertEqual(len(self.browser.complaints), 1, asking)
            self.assertIn('Content Security Policy', self.browser.complaints[0])

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
