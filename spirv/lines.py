# SPDX-License-Identifier: MIT
# Of the debug information that `ocloc -g` writes, keeps the lines and the name of the source, and says which source it was.
#
# The rest (types, variables, scopes) goes: it has the folder of the compilation in it, and nothing here reads it.
import hashlib
import struct

OP_NAME, OP_STRING, OP_LINE, OP_EXT_INST_IMPORT, OP_EXT_INST, OP_DECORATE = 5, 7, 8, 11, 12, 71
OP_NO_LINE, OP_MODULE_PROCESSED = 317, 330
BLOCK_ENDS = range(249, 256)  # OpBranch to OpUnreachable: lines reach that far
DEBUG_SETS = ('OpenCL.DebugInfo', 'NonSemantic.Shader.DebugInfo')


def _instructions(spirv):
    words, at = struct.unpack(f'<{len(spirv) // 4}I', spirv), 5
    while at < len(words):
        size = words[at] >> 16
        yield words[at] & 0xffff, list(words[at + 1:at + size])
        at += size


def _words(text):
    data = text.encode() + b'\0'
    data += bytes(-len(data) % 4)
    return list(struct.unpack(f'<{len(data) // 4}I', data))


def _text(words):
    return struct.pack(f'<{len(words)}I', *words).split(b'\0')[0].decode()


def _base_name(path):
    return path.replace('\\', '/').rsplit('/', 1)[-1]


def named(name, source):
    """What names the source in the SPIR-V, as OpModuleProcessed; src/tool/report reads it."""
    return f'source {name} sha256 {hashlib.sha256(source).hexdigest()}'


def named_source(spirv):
    return next((_text(operands) for opcode, operands in _instructions(spirv) if opcode == OP_MODULE_PROCESSED), None)


def texts_of(spirv):
    """Names, strings and what tools wrote: where a path could be."""
    return [_text(operands[0 if opcode == OP_MODULE_PROCESSED else 1:]) for opcode, operands in _instructions(spirv)
            if opcode in (OP_NAME, OP_STRING, OP_MODULE_PROCESSED)]


def lines_of(spirv):
    """Lines by file."""
    files, lines = {}, {}
    for opcode, operands in _instructions(spirv):
        if opcode == OP_STRING:
            files[operands[0]] = _text(operands[1:])
        if opcode == OP_LINE:
            lines.setdefault(files[operands[0]], set()).add(operands[1])
    return lines


def lines_only(spirv, name, source):
    """The SPIR-V, compiled with -g from `source`, the bytes of the file `name`, without all that is no line."""
    instructions = list(_instructions(spirv))
    sets = {operands[0] for opcode, operands in instructions
            if opcode == OP_EXT_INST_IMPORT and _text(operands[1:]).startswith(DEBUG_SETS)}
    files = {operands[0] for opcode, operands in instructions if opcode == OP_LINE}
    is_debug = lambda opcode, operands: opcode == OP_EXT_INST and operands[2] in sets  # noqa: E731
    # Any word of theirs may be the id of a string; a number that looks like one would be that of an unused string.
    theirs = {word for opcode, operands in instructions if is_debug(opcode, operands) for word in operands[4:]}
    made, told, line = list(struct.unpack('<5I', spirv[:20])), False, None
    for opcode, operands in instructions:
        if (opcode == OP_EXT_INST_IMPORT and operands[0] in sets or is_debug(opcode, operands)
                or opcode in (OP_MODULE_PROCESSED, OP_NO_LINE)):
            continue
        if opcode == OP_STRING and operands[0] in files:
            file = _base_name(_text(operands[1:]))
            if file != name:
                raise ValueError(f'{name}: has lines of {file}, which would be taken for its own')
            operands = [operands[0], *_words(file)]
        elif opcode == OP_STRING and operands[0] in theirs:
            continue
        if opcode == OP_LINE:
            # Line 0 is code of the compiler's own: it counts as the line before.
            if operands[1] == 0 or operands == line:
                continue
            line = operands
        elif opcode in BLOCK_ENDS:
            line = None
        if opcode == OP_DECORATE and not told:  # the first thing that has to stand behind it, and every kernel has one
            text = _words(named(name, source))
            made += [(len(text) + 1) << 16 | OP_MODULE_PROCESSED, *text]
            told = True
        made += [(len(operands) + 1) << 16 | opcode, *operands]
    if not told:
        raise ValueError(f'{name}: nothing in the SPIR-V is decorated')
    return struct.pack(f'<{len(made)}I', *made)
