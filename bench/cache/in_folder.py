# SPDX-License-Identifier: MIT
"""Runs a program with a fresh folder of its own as the last argument: in_folder.py PROGRAM [ARGUMENT...]"""
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory() as folder:
    sys.exit(subprocess.run([*sys.argv[1:], folder], check=False).returncode)
