#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What building costs, in CPU seconds, which other work on the machine changes little: build_times.py [SOURCE_ROOT]

Builds in folders of its own below TMPDIR, without a compiler cache; takes fifteen to thirty minutes. What is measured:
  demo      what `./run demo` builds
  texts     the same without precompiled headers
  tests     what `./run test` builds after that
  command   one file of the command changed, command built again (wall clock seconds too)
  library   the library alone with the program that compiles for it, from nothing
  objects   files that an engine compiles that has Kiln as a subproject
"""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

if len(sys.argv) > 2 or '--help' in sys.argv or '-h' in sys.argv:
    print(__doc__.strip())
    sys.exit(0 if len(sys.argv) == 2 else 2)
source = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
environment = {**os.environ, 'CCACHE_DISABLE': '1'}
results = {}


def run(*command):
    """CPU and wall clock seconds of a command and its children."""
    print('  ' + ' '.join(map(str, command)), file=sys.stderr)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f'{done.stdout[-3000:]}{done.stderr}build_times: this failed: {" ".join(map(str, command))}')
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - start)


def seconds(name, cpu, wall=None):
    results[name] = round(cpu, 1)
    print(f'{name:10} {cpu:7.1f} CPU s' + (f', {wall:.1f} s by the clock' if wall else ''))


with tempfile.TemporaryDirectory() as top:
    build = pathlib.Path(top) / 'build'
    configured, _ = run('meson', 'setup', build, source, '-Dcli=enabled', '-Dcpu_driver=enabled', '-Dwerror=false',
                        '-Dtests=auto')
    built, _ = run('ninja', '-C', build, 'demo')
    seconds('demo', configured + built)
    texts = pathlib.Path(top) / 'texts'
    configured, _ = run('meson', 'setup', texts, source, '-Dcli=enabled', '-Dcpu_driver=enabled', '-Dwerror=false',
                        '-Dtests=auto', '-Dprecompiled=disabled')
    built, _ = run('ninja', '-C', texts, 'demo')
    seconds('texts', configured + built)
    configured, _ = run('meson', 'setup', '--reconfigure', build, source, '-Dtests=enabled')
    built, _ = run('ninja', '-C', build)
    seconds('tests', configured + built)
    # A file's time alone decides for Ninja, and the sources stay as they are.
    changed = source / 'src' / 'tool' / 'cache' / 'list.cpp'
    status = changed.stat()
    os.utime(changed)
    try:
        built, wall = run('ninja', '-C', build, 'src/tool/kiln')
    finally:
        os.utime(changed, ns=(status.st_atime_ns, status.st_mtime_ns))
    seconds('command', built, wall)
    library = pathlib.Path(top) / 'library'
    configured, _ = run('meson', 'setup', library, source, '-Dcli=disabled', '-Dcpu_driver=disabled', '-Dtests=disabled',
                        '-Dbenchmarks=disabled', '-Docloc=disabled')
    built, _ = run('meson', 'compile', '-C', library, 'kiln:shared_library', 'kiln-compile')
    seconds('library', configured + built)
    engine = pathlib.Path(top) / 'engine'
    (engine / 'subprojects').mkdir(parents=True)
    (engine / 'meson.build').write_text("project('engine', 'cpp')\ndependency('kiln', fallback: ['kiln', 'kiln_dep'])\n")
    (engine / 'subprojects' / 'kiln').symlink_to(source)
    run('meson', 'setup', engine / 'build', engine, '--force-fallback-for=kiln')
    commands = json.loads(subprocess.run(['ninja', '-C', engine / 'build', '-t', 'compdb'], capture_output=True, text=True,
                                         check=True).stdout)
    results['objects'] = len({entry['output'] for entry in commands if entry['output'].endswith('.o')})
    print(f'objects    {results["objects"]:7}')
print(json.dumps(results))
