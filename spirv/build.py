# SPDX-License-Identifier: MIT
# Rebuilds the committed SPIR-V of kernels/ and of the example engine, and checks it against the manifest, the compiler
# and spirv-val.
#
#   build.py rebuild [OCLOC]    compiles kernels/*.cl to *.spv here, those of examples/engine beside them, and writes
#                               manifest.json
#   build.py manifest           do the sources and the SPIR-V have the hashes that the manifest names?
#   build.py compare [OCLOC]    does the manifest's ocloc make the same bytes again? Skips (77) without that release
#   build.py validate           does spirv-val accept each file? Skips (77) without spirv-val
#   build.py lines              does each file name its source and lines of it, and no folder?
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
KERNELS = ROOT / 'kernels'
ENGINE = ROOT / 'examples' / 'engine'
MANIFEST = HERE / 'manifest.json'
OPTIONS = '-cl-std=CL1.2 -g'

sys.dont_write_bytecode = True
sys.path.insert(0, str(KERNELS))
import lines as debug  # noqa: E402
import ocloc as compiler  # noqa: E402  (found through the path above)


def skip(reason):
    print(f'skipped: {reason}')
    sys.exit(77)


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def sources():
    return sorted(KERNELS.glob('*.cl')) + sorted(ENGINE.glob('*.cl'))


def spirv_files():
    return sorted(HERE.glob('*.spv')) + sorted(ENGINE.glob('*.spv'))


def spirv_of(source):
    return (HERE if source.parent == KERNELS else source.parent) / (source.stem + '.spv')


def compiled(ocloc, source, options):
    """SPIR-V with the lines of the source, and with its name and hash: a report shows them."""
    return debug.lines_only(compiler.spirv(ocloc, source, options), source.name, source.read_bytes())


def find_ocloc(arguments):
    return shutil.which(arguments[0] if arguments else 'ocloc')


def rebuild(arguments):
    ocloc = find_ocloc(arguments)
    if not ocloc:
        sys.exit('spirv: ocloc is not installed (Debian 12: intel-opencl-icd, newer: intel-ocloc)')
    files = []
    for source in sources():
        spirv = spirv_of(source)
        spirv.write_bytes(compiled(ocloc, source, OPTIONS))
        files.append({'source': str(source.relative_to(ROOT)), 'source_sha256': sha256(source),
                      'spirv': str(spirv.relative_to(ROOT)), 'spirv_sha256': sha256(spirv)})
        print(f'{spirv.name}: {spirv.stat().st_size} bytes')
    manifest = {'ocloc': compiler.version(ocloc), 'options': OPTIONS, 'files': files}
    MANIFEST.write_text(json.dumps(manifest, indent=2) + '\n')


def check_manifest(_):
    files = json.loads(MANIFEST.read_text())['files']
    errors = []
    for entry in files:
        for kind in ('source', 'spirv'):
            path = ROOT / entry[kind]
            if not path.is_file():
                errors.append(f'{entry[kind]}: named in the manifest, missing')
            elif sha256(path) != entry[kind + '_sha256']:
                errors.append(f'{entry[kind]}: changed since the SPIR-V was built')
    for kind, present in (('source', sources()), ('spirv', spirv_files())):
        named = {entry[kind] for entry in files}
        errors += [f'{name}: not in the manifest' for path in present
                   if (name := str(path.relative_to(ROOT))) not in named]
    if errors:
        sys.exit('\n'.join(errors + ['rebuild with: ninja -C BUILD spirv-rebuild']))
    print(f'{len(files)} SPIR-V files match their sources')


def compare(arguments):
    manifest = json.loads(MANIFEST.read_text())
    ocloc = find_ocloc(arguments)
    if not ocloc:
        skip('ocloc is not installed')
    release = compiler.version(ocloc)
    if release != manifest['ocloc']:
        skip(f'the SPIR-V was built by ocloc {manifest["ocloc"]}, this one is {release}')
    different = [entry['spirv'] for entry in manifest['files']
                 if compiled(ocloc, ROOT / entry['source'], manifest['options'])
                 != (ROOT / entry['spirv']).read_bytes()]
    if different:
        sys.exit(f'ocloc {release} makes other bytes of: {", ".join(different)}')
    print(f'ocloc {release} makes the same bytes')


def validate(_):
    validator = shutil.which('spirv-val')
    if not validator:
        skip('spirv-val is not installed')
    # Without a target environment: Intel's compiler marks modules with static local arrays as SPIR-V 1.4, which
    # spirv-val's OpenCL 1.2 environment rejects.
    failed = [path.name for path in spirv_files() if subprocess.run([validator, str(path)]).returncode]
    if failed:
        sys.exit(f'spirv-val rejects: {", ".join(failed)}')


def check_lines(_):
    errors = []
    for entry in json.loads(MANIFEST.read_text())['files']:
        source, spirv = (ROOT / entry[kind] for kind in ('source', 'spirv'))
        named, used = debug.named_source(spirv.read_bytes()), debug.lines_of(spirv.read_bytes())
        if named != debug.named(source.name, source.read_bytes()):
            errors.append(f'{spirv.name}: names another source: {named}')
        if not used or set(used) != {source.name} or max(used[source.name]) > len(source.read_bytes().splitlines()):
            errors.append(f'{spirv.name}: its lines are not those of {source.name}: {used}')
        errors += [f'{spirv.name}: has a folder in it: {text}' for text in debug.texts_of(spirv.read_bytes())
                   if '/' in text or '\\' in text]
    if errors:
        sys.exit('\n'.join(errors + ['rebuild with: ninja -C BUILD spirv-rebuild']))


if __name__ == '__main__':
    commands = {'rebuild': rebuild, 'manifest': check_manifest, 'compare': compare, 'validate': validate,
                'lines': check_lines}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        sys.exit(f'usage: build.py {"|".join(commands)} [OCLOC]')
    try:
        commands[sys.argv[1]](sys.argv[2:])
    except compiler.OclocError as error:
        sys.exit(str(error))
