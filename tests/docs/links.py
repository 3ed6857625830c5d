# SPDX-License-Identifier: MIT
"""Links between the documents lead somewhere, headings included, and each page is in a list: links.py SOURCE_ROOT"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
pages = sorted([*root.glob('*.md'), *root.glob('docs/*.md')])
FENCED = re.compile(r'^```.*?^```$', re.M | re.S)
LINK = re.compile(r'\[[^\]]+\]\(([^)\s]+)\)')


def headings(page):
    """As GitHub makes anchors of them."""
    text = FENCED.sub('', page.read_text(encoding='utf-8'))
    return {re.sub(r'[^\w\- ]', '', line.lower()).replace(' ', '-') for line in re.findall(r'^#+ (.*)$', text, re.M)}


wrong, linked = [], set()
for page in pages:
    for target in LINK.findall(FENCED.sub('', page.read_text(encoding='utf-8'))):
        if '://' in target:
            continue
        name, _, anchor = target.partition('#')
        path = (page.parent / name).resolve() if name else page
        linked.add(path)
        if not path.exists():
            wrong.append(f'{page.relative_to(root)}: no such file: {target}')
        elif anchor and anchor not in headings(path):
            wrong.append(f'{page.relative_to(root)}: no such heading: {target}')
wrong += [f'no page leads to {page.relative_to(root)}' for page in pages if page.name != 'README.md' and page not in linked]
sys.exit('\n'.join(wrong) or 0)
