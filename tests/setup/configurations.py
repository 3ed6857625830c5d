# SPDX-License-Identifier: MIT
"""Configures Kiln as engines do, without building: each optional part left out alone, and as a subproject, which must
build the library and what it starts, and nothing else: configurations.py SOURCE_ROOT MESON..."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

source, *meson = sys.argv[1:]

ENGINE = """project('engine', 'cpp', default_options: ['cpp_std=c++20'])
executable('engine', 'engine.cpp', dependencies: dependency('kiln', fallback: ['kiln', 'kiln_dep']))
"""
PIPELINE = """executable('pipeline', 'engine.cpp', dependencies: dependency('kiln-offline'))
"""
# One that bakes its kernels with the command of the subproject.
BAKING = """kiln = dependency('kiln')
custom_target('kernels.ar', output: 'kernels.ar', build_by_default: true,
  command: [find_program('kiln', dirs: kiln.get_variable('bindir')), 'bake', '-o', '@OUTPUT@'])
"""


def output_of(command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f'{" ".join(map(str, command))}\n{result.stdout[-2000:]}{result.stderr}')
    return result.stdout


def told(build, what):
    """What `meson introspect` prints, without its start."""
    return json.loads((build / 'meson-info' / f'intro-{what}.json').read_text())


def configure(folder, root, *options):
    """What the build would make, test and time by itself: names of targets, number of tests and benchmarks."""
    build = pathlib.Path(folder) / 'build'
    output_of([*meson, 'setup', build, root, '-Dbuildtype=plain', *options])
    return ({target['name'] for target in told(build, 'targets') if target['build_by_default']},
            len(told(build, 'tests')), len(told(build, 'benchmarks')))


def expect(condition, text):
    if not condition:
        sys.exit(text)


def library_of(folder, *options):
    """All that the compiler and linker are told of the library and of what is in it."""
    configure(folder, source, *options)
    build = pathlib.Path(folder) / 'build'
    made = {target['name']: [(each.get('sources', []), each.get('parameters', []), each.get('linker', [])) for each in target['target_sources']]
            for target in told(build, 'targets') if 'library' in target['type'] and target['name'].startswith('kiln')}
    # Its rule of linking: objects, libraries and all, without the folder's name.
    rules = [rule for rule in (build / 'build.ninja').read_text().split('\n\n') if re.match(r'build src/libkiln\.so\S*: cpp_LINKER ', rule)]
    expect(len(rules) == 1, 'there is no rule, or several, that link the library')
    return json.dumps([made['kiln'], made['kiln_remote'], made['kiln_cache'], rules]).replace(folder, '')


# Whether kiln-store is built, and what it needs, changes nothing in the library.
said = []
for store in ('auto', 'disabled'):
    with tempfile.TemporaryDirectory() as folder:
        said.append(library_of(folder, f'-Dremote_cache={store}', '-Dcli=disabled', '-Dtests=disabled', '-Dbenchmarks=disabled'))
expect(said[0] == said[1], f'without kiln-store the library is another:\n{said[0]}\n{said[1]}')

for part in ('cli', 'cpu_driver', 'remote_cache', 'remote_redis', 'tests', 'benchmarks'):
    with tempfile.TemporaryDirectory() as folder:
        built, tests, benchmarks = configure(folder, source, f'-D{part}=disabled')
        expect('kiln' in built, f'without {part} there is no library')
        expect(part != 'tests' or tests == 0, f'{tests} tests without tests')
        expect(part != 'benchmarks' or benchmarks == 0, f'{benchmarks} benchmarks without benchmarks')

with tempfile.TemporaryDirectory() as folder:
    engine = pathlib.Path(folder) / 'engine'
    (engine / 'subprojects').mkdir(parents=True)
    (engine / 'meson.build').write_text(ENGINE)
    (engine / 'engine.cpp').write_text('int main() {}\n')
    (engine / 'subprojects' / 'kiln').symlink_to(source)
    # The engine may have Kiln installed, too.
    built, tests, benchmarks = configure(folder, engine, '--force-fallback-for=kiln')
    wanted = {'engine', 'kiln', 'kiln-compile'}
    expect(wanted <= built, f'the engine lacks {wanted - built}')
    more = {name for name in built - wanted if not name.startswith('kiln_')}
    expect(not more, f'an engine with the subproject also builds {sorted(more)}')
    expect(tests == 0 and benchmarks == 0, f'an engine with the subproject has {tests} tests, {benchmarks} benchmarks')
    # An asset pipeline builds what bakes by using it.
    (engine / 'meson.build').write_text(ENGINE + PIPELINE)
    shutil.rmtree(pathlib.Path(folder) / 'build')
    built, *_ = configure(folder, engine, '--force-fallback-for=kiln')
    expect('pipeline' in built, 'an engine with the subproject has no library that bakes')
    (engine / 'meson.build').write_text(ENGINE + BAKING)
    shutil.rmtree(pathlib.Path(folder) / 'build')
    built, *_ = configure(folder, engine, '--force-fallback-for=kiln', '-Dkiln:cli=enabled')
    expect('kernels.ar' in built, 'an engine with the subproject cannot bake its kernels')
