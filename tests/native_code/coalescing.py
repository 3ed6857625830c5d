# SPDX-License-Identifier: MIT
# How wide the memory accesses of kernels/coalescing.cl are in native code, as `ocloc disasm` shows it.
#
#   coalescing.py OCLOC BINARY TARGET      skips (77) where ocloc finds no disassembler
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# An access by a whole SIMD vector, not (W): one item's. Lengths in registers: `wr:ADDRESS+STORED, rd:LOADED`.
ACCESS = re.compile(r'^ +send\S* \((?:16|32)\|M\d+\).*wr:\d+h?\+(\d+), rd:(\d+)', re.MULTILINE)


def disassemble(ocloc, binary, target):
    """The text of each kernel, by name."""
    with tempfile.TemporaryDirectory() as folder:
        # ocloc 22.43 asks for the disassembler by the name that only its development package has.
        libraries = re.findall(r'libiga64\.so\S* .*=> (\S+)', subprocess.run(['ldconfig', '-p'], stdout=subprocess.PIPE,
                                                                             text=True).stdout)
        if libraries:
            os.symlink(libraries[0], pathlib.Path(folder, 'libiga64.so'))
        dump = pathlib.Path(folder, 'dump')
        dump.mkdir()
        path = os.pathsep.join(filter(None, (folder, os.environ.get('LD_LIBRARY_PATH'))))
        said = subprocess.run([ocloc, 'disasm', '-file', binary, '-device', target, '-dump', dump], cwd=folder, text=True,
                              env={**os.environ, 'LD_LIBRARY_PATH': path}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, errors='replace').stdout
        texts = {file.name[len('.text.'):-len('.asm')]: file.read_text() for file in dump.glob('.text.*.asm')}
    if not texts:
        print('skipped: ocloc gave no disassembly:', *said.strip().splitlines()[-1:])
        sys.exit(77)
    return texts


def widths(text):
    """Registers of the shortest and of the longest load, and of the stores."""
    sizes = [(int(stored), int(loaded)) for stored, loaded in ACCESS.findall(text)]
    return [(min(kind), max(kind)) for kind in ([size for size in column if size] for column in zip(*sizes))]


def main(ocloc, binary, target):
    texts = disassemble(ocloc, os.path.abspath(binary), target)
    # What is left over behind the last whole four goes float by float: the narrow accesses that all kernels have.
    for name, times in (('contiguous', 4), ('indirect', 1), ('vector', 4), ('vector_pointer', 4)):
        for kind, (least, most) in zip(('store', 'load'), widths(texts[name]), strict=True):
            print(f'{name}: {kind}s of {least} to {most} registers')
            if most != times * least:
                sys.exit(f'{name} on {target}: the widest {kind} should be {times} times the narrowest')


if __name__ == '__main__':
    main(*sys.argv[1:])
