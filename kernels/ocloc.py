# SPDX-License-Identifier: MIT
# Runs ocloc, Intel's offline compiler, one compilation at a time in a private folder, for Meson and spirv/build.py.
#
#   ocloc.py version OCLOC                       prints the driver version that ocloc belongs to
#   ocloc.py targets OCLOC NAME...               prints the names that this ocloc knows, one a line
#   ocloc.py native OCLOC SPIRV TARGET OUTPUT    writes a native binary (zebin) for one target
import pathlib
import subprocess
import sys
import tempfile


class OclocError(Exception):
    """What ocloc had to say about a failed compilation."""


def _run(ocloc, arguments, folder):
    return subprocess.run([ocloc, *arguments], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors='replace')


def version(ocloc):
    # `ocloc query` answers with a file in the current folder, closed by a zero byte in some releases.
    with tempfile.TemporaryDirectory() as folder:
        _run(ocloc, ['query', 'OCL_DRIVER_VERSION'], folder)
        answer = pathlib.Path(folder, 'OCL_DRIVER_VERSION')
        return answer.read_text().strip('\0\n ') if answer.exists() else ''


def knows(ocloc, target):
    with tempfile.TemporaryDirectory() as folder:
        return 'Matched ids' in _run(ocloc, ['ids', target], folder).stdout


def _compile(ocloc, source, arguments, suffix):
    # ocloc takes options from files that lie beside its input, and drops files in the current folder: hence a
    # folder that holds nothing else. It can also end with status 0 and no output, on a damaged SPIR-V for one.
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, source.name).write_bytes(source.read_bytes())
        command = ['compile', '-file', source.name, *arguments, '-output', 'result', '-output_no_suffix']
        done = _run(ocloc, command, folder)
        # The native binary is `result` in old releases (22.43) and `result.bin` in new ones (26.27).
        results = [path for name in ('result' + suffix, 'result') if (path := pathlib.Path(folder, name)).is_file()]
        if done.returncode != 0 or not results or results[0].stat().st_size == 0:
            raise OclocError(f'ocloc {" ".join(command)}: exit status {done.returncode}\n{done.stdout}')
        return results[0].read_bytes()


def spirv(ocloc, source, options):
    # The target does not show in the SPIR-V; any that all releases know will do.
    arguments = ['-device', 'tgllp', '-spv_only'] + (['-options', options] if options else [])
    return _compile(ocloc, source, arguments, '.spv')


def native(ocloc, source, target):
    # 22.43 writes its older format without the internal option; newer releases take it and need it not.
    # Without the IR inside: a driver for another device would compile that in silence instead of refusing the binary.
    arguments = ['-spirv_input', '-device', target, '-exclude_ir', '-internal_options', '-cl-intel-allow-zebin']
    return _compile(ocloc, source, arguments, '.bin')


def main(arguments):
    command, ocloc, rest = arguments[0], arguments[1], arguments[2:]
    if command == 'version':
        print(version(ocloc))
    elif command == 'targets':
        print('\n'.join(name for name in rest if knows(ocloc, name)))
    elif command == 'native':
        pathlib.Path(rest[2]).write_bytes(native(ocloc, pathlib.Path(rest[0]), rest[1]))
    else:
        sys.exit(f'ocloc.py: unknown command {command}')


if __name__ == '__main__':
    try:
        main(sys.argv[1:])
    except OclocError as error:
        sys.exit(str(error))
