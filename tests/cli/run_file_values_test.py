# SPDX-License-Identifier: MIT
# `kiln run FILE` and `kiln test`: nothing that is given is dropped, counted wrong or called right unseen.
import json
import os
import pathlib
import tempfile
import unittest
import xml.etree.ElementTree as xml_tree

from command import KERNELS, kiln

SAXPY = str(KERNELS / 'saxpy.spv')


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def case(self, text, name='case.yaml', folder='.'):
        path = self.folder / folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path


class Suite(Case):
    def setUp(self):
        super().setUp()
        self.case(f'kernel: {SAXPY}\narguments: {{a: 2, x: "iota:10", y: "ones:10", n: 10}}\n')

    def test_a_file_for_the_results_is_asked_for_before(self):
        started = self.folder / 'started.npy'
        self.case(self.folder.joinpath('case.yaml').read_text() + f'save: {{y: {started}}}\n')
        for junit in (self.folder / 'none' / 'x.xml', self.folder):
            done = kiln('test', str(self.folder), '--device', 'cpu', '--junit', str(junit))
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertIn('K0436', done.stderr)
        self.assertFalse(started.exists())

    @unittest.skipUnless(os.path.exists('/dev/full'), 'there is no /dev/full')
    def test_results_are_printed_even_where_they_cannot_be_written(self):
        done = kiln('test', str(self.folder), '--device', 'cpu', '--json', '--junit', '/dev/full')
        self.assertEqual(done.returncode, 5, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual((answer['cases'][0]['answer'], answer['error']['code']), ('not compared', 'K0436'))

    def test_only_descriptions_are_cases(self):
        for wrong in ('saxpy', SAXPY):
            done = kiln('test', wrong, '--device', 'cpu')
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn('K0400', done.stderr)

    def test_names_that_xml_has_no_place_for(self):
        self.folder.joinpath('case.yaml').rename(self.folder / 'a\uffff\ufffeb.yaml')
        xml = self.folder / 'x.xml'
        self.assertEqual(kiln('test', str(self.folder), '--device', 'cpu', '--junit', str(xml)).returncode, 0)
        self.assertEqual(xml_tree.parse(xml).getroot()[0].get('name'), 'a\ufffd\ufffdb')


if __name__ == '__main__':
    unittest.main()
