# SPDX-License-Identifier: MIT
# Writes the tables of codes in docs/diagnostics.md as a C++ source, so that `kiln explain` and the page say the same.
#
#   embed.py PAGE OUTPUT
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


def main(page, output):
    entries = list(rows(pathlib.Path(page).read_text(encoding='utf-8')))
    if not entries:
        sys.exit(f'{page}: no codes found')
    quote = lambda text: json.dumps(text, ensure_ascii=False)
    lines = [f'    {{{", ".join(quote(entry.get(key, "")) for key in ("code", "cause", "result code", "cure"))}}},'
             for entry in entries]
    pathlib.Path(output).write_text('\n'.join([
        '// Made from docs/diagnostics.md.', '#include "cli/code_pages.hpp"', '', 'namespace kiln::cli {', '',
        'const std::vector<CodePage>& code_pages() {', '  static const std::vector<CodePage> pages = {', *lines,
        '  };', '  return pages;', '}', '', '}  // namespace kiln::cli', '']), encoding='utf-8')


if __name__ == '__main__':
    main(*sys.argv[1:])
