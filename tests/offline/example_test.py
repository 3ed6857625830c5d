# SPDX-License-Identifier: MIT
"""examples/offline.cpp bakes, and clears the kernel cache only where it is told to: example_test.py PROGRAM SOURCE"""
import os
import pathlib
import subprocess
import sys
import tempfile

program, source = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    entry = pathlib.Path(folder, 'cache', 'v1', 'ab', 'cd' * 31)

    def run(*words):
        """The exit status, and whether the entry is still there."""
        entry.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        entry.touch(mode=0o600)
        for each in (entry.parent, *entry.parents[1:3]):
            each.chmod(0o700)
        done = subprocess.run([program, *words], env={**os.environ, 'KILN_CACHE_DIR': str(entry.parents[2])}, capture_output=True,
                              text=True)
        print(words[2:], done.returncode, done.stdout, done.stderr)
        return done.returncode, entry.exists()

    bundle = os.path.join(folder, 'saxpy.ar')
    assert run(source, bundle) == (0, True)
    assert run(source, bundle, 'clear-cache') == (0, False)
    assert run(os.path.join(folder, 'nothing.spv'), bundle, 'clear-cache') == (1, True)
    assert run(source, bundle, 'clear') == (2, True)
