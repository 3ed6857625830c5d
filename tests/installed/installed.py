# SPDX-License-Identifier: MIT
"""Installs Kiln, moves what was installed, and there builds and runs an engine that bakes its own kernels:
installed.py make|cmake|meson DOCUMENT BUILD_ROOT|TREE PREFIX LIBDIR COMPILER..."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'support'))
import opencl_c

way, document, build_root, prefix, libdir, *compiler = sys.argv[1:]
ENGINE = pathlib.Path(__file__).parent / 'engine'
RULES = {'make': 'Makefile', 'cmake': 'CMakeLists.txt', 'meson': 'kernels/meson.build'}
FACTOR = 3
SKIPPED = 77
TOOLS = {'make': ['make', 'pkg-config'], 'cmake': ['cmake', 'make', 'ninja'], 'meson': ['meson', 'ninja', 'pkg-config']}
COMMANDS = {
    'make': [['make', '-f', '{source}/Makefile']],
    'cmake': [['cmake', '-G', 'Ninja', '-S', '{source}', '-B', '.'], ['cmake', '--build', '.']],
    'cmake by make': [['cmake', '-G', 'Unix Makefiles', '-S', '{source}', '-B', '.'], ['cmake', '--build', '.']],
    'meson': [['meson', 'setup', '{source}', '.'], ['ninja']],
}


def output_of(command, **more):
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200, **more)
    if result.returncode != 0:
        sys.exit(f'{" ".join(map(str, command))}\n{result.stdout}{result.stderr}')
    return result


def expect(seen, wanted, what):
    if seen != wanted:
        sys.exit(f'{what}: {seen!r} instead of {wanted!r}')


def skip(reason):
    print(f'skipped: {reason}')
    sys.exit(SKIPPED)


def check_package(env):
    """What kiln.pc says is enough, not too much, and of the moved tree."""
    def ask(*what):
        return output_of(['pkg-config', *what, 'kiln'], env=env).stdout.strip()
    expect(ask('--print-requires', '--print-requires-private'), '', 'other development packages that kiln.pc asks for')
    if 'ze_loader' in ask('--libs', '--static'):
        sys.exit('kiln.pc links the loader, which is opened at run time where there is one')
    for name in ('kernels', 'cpu_driver', 'compiler', 'bindir'):
        place = pathlib.Path(ask(f'--variable={name}')).resolve()
        if not place.exists() or moved not in place.parents:
            sys.exit(f'{name} of kiln.pc is no place in the moved tree: {place}')


def check_requests(folder, env):
    """What CMake's package takes and what it refuses, with the words that say why."""
    major, minor, patch = parts = re.search(r'PACKAGE_VERSION "(\d+)\.(\d+)\.(\d+)"', next(
        moved.rglob('kiln-config-version.cmake')).read_text()).groups()
    version, later = '.'.join(parts), f'{major}.{int(minor) + 1}'
    for request, refusal in ((f'kiln {version} EXACT', ''), (f'kiln {major}.{minor}...<{later}', ''), (f'kiln {later}', 'compatible'),
                             (f'kiln {later}...{later}.1', 'compatible'), (f'kiln {major}.{minor}.{int(patch) + 1}', 'compatible')):
        check_configuration(folder, env, f'find_package({request} REQUIRED)', refusal)
    check_configuration(folder, env, 'find_package(kiln REQUIRED)\nkiln_bundle(x SOURCE a.cl)', 'kiln_bundle(x): use kiln_bundle(NAME')


def check_configuration(folder, env, text, refusal):
    (folder / 'CMakeLists.txt').write_text('cmake_minimum_required(VERSION 3.20)\nproject(asks CXX)\n' + text)
    done = subprocess.run(['cmake', '-G', 'Ninja', '-S', folder, '-B', folder / 'build'], env=env, capture_output=True, text=True)
    shutil.rmtree(folder / 'build', ignore_errors=True)
    if (done.returncode != 0) != bool(refusal) or refusal not in done.stderr:
        sys.exit(f'{text}\n{done.stderr}')


def install(folder):
    """What Meson installs, or what is in a tree already."""
    if os.path.exists(os.path.join(build_root, 'build.ninja')):
        output_of(['meson', 'install', '-C', build_root, '--no-rebuild', '--quiet', '--tags', 'runtime,devel', '--destdir', folder])
    else:
        shutil.copytree(build_root, folder, symlinks=True)


def build_and_run(name, folder, env):
    source = folder / 'source'
    shutil.copytree(ENGINE, source)
    build = folder / 'build'
    build.mkdir()
    commands = [[word.format(source=source) for word in command] for command in COMMANDS[name]]

    def answer():
        for command in commands:
            output_of(command, cwd=build, env=env)
        commands[:] = commands[-1:]
        run = output_of([build / 'engine'], cwd=folder, env={'PATH': os.environ['PATH'], 'KILN_DEVICE': 'cpu', 'KILN_CACHE': 'off'})
        expect(run.stderr, '', f'{name}: what the engine complains of')
        return int(run.stdout)

    bundle = build / 'kernels' / 'numbers.ar'
    expect(answer(), 14 * FACTOR, f'{name}: the answer')
    made = bundle.stat().st_ino
    expect(answer(), 14 * FACTOR, f'{name}: the answer, with nothing to build')
    expect(bundle.stat().st_ino, made, f'{name}: the bundle, with nothing to build')
    baked = folder / 'baked.ar'
    output_of([build / 'baker', source / 'kernels' / 'numbers.cl', baked], cwd=folder, env={'PATH': os.environ['PATH']})
    expect(baked.read_bytes(), bundle.read_bytes(), f'{name}: what the library baked beside what the command did')
    header = source / 'kernels' / 'factor.h'
    header.write_text('#define FACTOR 5\n')
    later = bundle.stat().st_mtime + 10  # whatever the clock of the file system counts in
    os.utime(header, (later, later))
    expect(answer(), 14 * 5, f'{name}: the answer with another header')
    print(f'{name}: built, run, and built anew for a header')


rule, = re.findall(f'```{way}\n(.*?)```', pathlib.Path(document).read_text(), re.S)
if rule not in (ENGINE / RULES[way]).read_text():
    sys.exit(f'{document} shows another rule than {RULES[way]}')
if reason := opencl_c.missing():
    skip(reason)
for tool in TOOLS[way]:
    if not shutil.which(tool):
        skip(f'{tool} is not installed')
with tempfile.TemporaryDirectory() as top:
    top = pathlib.Path(top).resolve()
    install(top / 'first')
    moved = top / 'moved'
    os.rename(top / 'first' / prefix.lstrip('/'), moved)
    shutil.rmtree(top / 'first')
    env = {'PATH': os.environ['PATH'], 'HOME': str(top), 'CXX': ' '.join(compiler), 'PKG_CONFIG_PATH': str(moved / libdir / 'pkgconfig'),
           'CMAKE_PREFIX_PATH': str(moved)}
    if way == 'make':
        check_package(env)
    if way == 'cmake':
        (top / 'asks').mkdir()
        check_requests(top / 'asks', env)
    for name in COMMANDS:
        if name.startswith(way):
            (top / name).mkdir()
            build_and_run(name, top / name, env)
