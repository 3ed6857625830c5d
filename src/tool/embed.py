# SPDX-License-Identifier: MIT
# Writes the tables of codes in docs/diagnostics.md as a C++ source, so that `kiln explain` and the page say the same,
# each code with one of its golden texts as the example.
#
#   embed.py PAGE EXAMPLES OUTPUT DEPFILE
import json
import pathlib
import re
import sys


def cells(line):
    return [cell.strip() for cell in re.split(r'(?<!\\)\|', line.strip().strip('|'))]


def rows(page):
    titles = []
    for line in page.splitlines():
        if line.startswith('| code '):
            titles = cells(line)
        elif re.match(r'\| K\d{4} ', line):
            yield dict(zip(titles, cells(line), strict=True))


def example(folder, code):
    texts = sorted(folder.glob(f'{code}*.txt'), key=lambda path: (len(path.stem), path.stem))
    if not texts:
        sys.exit(f'{folder}: no example of {code}')
    return texts[0]


def main(page, examples, output, depfile):
    entries = list(rows(pathlib.Path(page).read_text(encoding='utf-8')))
    if not entries:
        sys.exit(f'{page}: no codes found')
    files = [example(pathlib.Path(examples), entry['code']) for entry in entries]
    pathlib.Path(depfile).write_text(f'{output}: {" ".join(map(str, files))}\n', encoding='utf-8')
    for entry, file in zip(entries, files, strict=True):
        entry['example'] = file.read_text(encoding='utf-8')
    quote = lambda text: json.dumps(text, ensure_ascii=False)
    lines = [f'    {{{", ".join(quote(entry.get(key, "")) for key in ("code", "cause", "result code", "cure", "example"))}}},'
             for entry in entries]
    pathlib.Path(output).write_text('\n'.join([
        '// Made from docs/diagnostics.md.', '#include "tool/code_pages.hpp"', '', 'namespace kiln::tool {', '',
        'const std::vector<CodePage>& code_pages() {', '  static const std::vector<CodePage> pages = {', *lines,
        '  };', '  return pages;', '}', '', '}  // namespace kiln::tool', '']), encoding='utf-8')


if __name__ == '__main__':
    main(*sys.argv[1:])
