# SPDX-License-Identifier: MIT
"""What the library finds at run time is its own, wherever the program is started and whatever it is called."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SHARED, STATIC = os.environ['KILN_PLACES'], os.environ['KILN_PLACES_STATIC']
LIBRARY = pathlib.Path(os.environ['KILN_LIBRARY'])
BUILT, FIXED = (os.environ[name].split(':') for name in ('KILN_BUILT', 'KILN_FIXED'))


def places(program, *arguments, **options):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=True, **options)
    return done.stdout.splitlines()


class Places(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ('kiln-compile', 'libze_kiln_cpu.so'):
            (self.folder / name).write_text('not this one\n')
        (self.folder / 'kernels').mkdir()

    def test_a_build_tree_has_them_where_meson_puts_them(self):
        # Those that this build makes: without LLVM there is no CPU driver, without a command there are no kernels.
        for found, built in zip(places(SHARED, cwd=self.folder), BUILT):
            if built:
                self.assertEqual(found, built)

    def test_a_relative_library_stays_where_it_was_loaded(self):
        found = places(SHARED, str(self.folder), cwd=LIBRARY.parent, env={'LD_LIBRARY_PATH': '.'})
        self.assertEqual(found[0], BUILT[0])

    def test_as_part_of_a_program_it_looks_beside_that_and_not_at_its_name(self):
        mine = self.folder / 'engine'
        (mine / 'kernels').mkdir(parents=True)
        for name in ('kiln-compile', 'libze_kiln_cpu.so'):
            (mine / name).touch()
        program = shutil.copy(STATIC, mine / 'engine')
        wanted = [str(mine / name) for name in ('kiln-compile', 'libze_kiln_cpu.so', 'kernels')]
        for name in ('engine', './engine', str(self.folder / 'engine')):
            self.assertEqual(places(name, cwd=self.folder, executable=program), wanted)

    def test_a_program_with_more_rights_than_its_user_takes_none_from_beside_it(self):
        if os.geteuid() != 0:
            self.skipTest('only root can make a setuid program of another user')
        program = pathlib.Path(shutil.copy(STATIC, self.folder / 'engine'))
        self.folder.chmod(0o755)
        os.chown(program, 65534, 65534)
        program.chmod(0o4755)
        try:
            found = places(program, cwd=self.folder)
        except subprocess.CalledProcessError as error:
            if 'LeakSanitizer' not in error.stderr:
                raise
            self.skipTest('LeakSanitizer may not look at a setuid program')
        self.assertEqual(found, FIXED)


if __name__ == '__main__':
    unittest.main()
