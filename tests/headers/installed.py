# SPDX-License-Identifier: MIT
"""Builds the example against an installed tree by pkg-config, as a user does:
installed.py BUILD_ROOT PREFIX LIBDIR EXAMPLE COMPILER..."""
import os
import subprocess
import sys
import tempfile

build_root, prefix, libdir, example, *compiler = sys.argv[1:]


def output_of(command, **more):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    if result.returncode != 0:
        sys.exit(f'{" ".join(command)}\n{result.stdout}{result.stderr}')
    return result.stdout


with tempfile.TemporaryDirectory() as top:
    output_of(['meson', 'install', '-C', build_root, '--no-rebuild', '--quiet', '--destdir', top])
    root = top + prefix
    env = {**os.environ, 'PKG_CONFIG_PATH': os.path.join(root, libdir, 'pkgconfig')}
    flags = output_of(['pkg-config', f'--define-variable=prefix={root}', '--cflags', '--libs', 'kiln'], env=env).split()
    if '-lze_loader' in flags:
        sys.exit(f'kiln.pc links the loader, which is opened at run time where there is one: {flags}')
    needed = output_of(['pkg-config', '--print-requires', '--print-requires-private', 'kiln'], env=env).split()
    if needed:
        sys.exit(f'kiln.pc asks for other development packages: {needed}')
    program = os.path.join(top, 'example')
    output_of(compiler + ['-std=c++20', '-Wall', '-Wextra', '-Werror', example, '-o', program] + flags)
    print(f'built with {" ".join(flags)}')
