#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the set-up says and asks apt for, with an apt that is made up: packages.py SOURCE_ROOT"""
import os
import pathlib
import pty
import subprocess
import sys
import tempfile

root = pathlib.Path(sys.argv[1]).resolve()
script = root / 'tests' / 'setup' / 'packages.sh'

# A machine with nothing installed, until apt-get install was called; $NOT_OFFERED are names that its apt does not know.
TOOLS = {
    'dpkg-query': '[ ! -f installed ] || sed "s/.*/ii  & 1/" installed',
    'apt-cache': '''shift 2
for name; do case " $NOT_OFFERED " in *" $name "*) ;; *) echo "Package: $name" ;; esac; done''',
    'apt-get': '''echo "$*" >>calls
case "$*" in
  *--assume-no*) echo "0 upgraded, 149 newly installed, 0 to remove and 0 not upgraded."
    echo "Need to get 100 MB of archives."
    echo "After this operation, 1,000 MB of additional disk space will be used."; exit 1 ;;
  *update*) echo "Fetched 9980 kB in 10s (1,000 kB/s)" ;;
  *Status-Fd=1*install*) echo "dlstatus:1:25.0000:Retrieving file 1 of 4 (3s remaining)"
    echo "Get:1 a line of apt"; echo "pmstatus:g++:50.0000:Unpacking g++ (amd64)" ;;
esac
case "$*" in *install*) [ -z "$FAILS" ] || case "$*" in *"$FAILS"*) echo "E: no $FAILS"; exit 100 ;; esac
  for word; do case $word in -*|install) ;; *) echo "$word" >>installed ;; esac; done ;; esac''',
    'id': 'echo 0',
}
NOT_IN_13 = 'libze-intel-gpu1 intel-opencl-icd intel-ocloc spirv-tools-dev llvm-21-dev llvm-20-dev'
failed = []


def expect(told, what):
    if not told:
        failed.append(what)


def shell(folder, commands, terminal=False, **environment):
    tools = folder / 'tools'
    tools.mkdir(exist_ok=True)
    for name, text in TOOLS.items():
        (tools / name).write_text(f'#!/bin/sh\n{text}\n')
        (tools / name).chmod(0o755)
    (folder / 'os-release').write_text(environment.pop('release', 'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nID=debian\n'))
    text = f'''set -euo pipefail
say() {{ printf '%s\\n' "$*"; }}
fail() {{ printf 'run: %s\\n' "$*" >&2; exit 1; }}
work=. build=build os_release_file=os-release
source {script}
{commands}'''
    environment = {'PATH': f'{tools}:{os.environ["PATH"]}', 'NOT_OFFERED': '', 'FAILS': '', **environment}
    if not terminal:
        done = subprocess.run(['bash', '-c', text], cwd=folder, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr
    ours, theirs = pty.openpty()
    with subprocess.Popen(['bash', '-c', text], cwd=folder, env=environment, stdout=theirs, stderr=theirs) as child:
        os.close(theirs)
        shown = b''
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:  # what a terminal gives at its end
            pass
        return child.wait(), shown.decode()


def in_folder(test):
    with tempfile.TemporaryDirectory() as name:
        test(pathlib.Path(name))


def speaks_once(folder):
    status, said = shell(folder, 'install_packages build', NOT_OFFERED=NOT_IN_13)
    expect(status == 0, f'status {status}: {said}')
    # 100 MB at 1 MB a second, and 1,000 MB at 20.
    expect(said.startswith('installing 149 packages, 100 MB to download, 1,000 MB on disk, about 3 minutes:\n'), said)
    expect(said.count('installing') == 1 and said.count('installed in') == 1, f'once: {said}')
    expect('llvm-19-dev libllvmspirvlib-19-dev' in said, f'LLVM 19: {said}')
    expect('Debian GNU/Linux 13 (trixie) has no package for what follows' in said and
           '  intel-ocloc or intel-opencl-icd: ' in said and 'CPU device' in said, f'what 13 has not: {said}')
    expect('\r' not in said and '%' not in said, f'progress without a terminal: {said}')
    calls = (folder / 'calls').read_text().splitlines()
    expect(len([call for call in calls if 'install -y' in call]) == 1, f'one installation: {calls}')
    status, said = shell(folder, 'install_packages build', NOT_OFFERED=NOT_IN_13)
    expect((status, said) == (0, ''), f'again: {said}')


def shows_progress(folder):
    status, said = shell(folder, 'install_packages build', terminal=True)
    expect(status == 0, f'status {status}: {said}')
    expect('  25 %  Retrieving file 1 of 4' in said and '  50 %  Unpacking g++' in said, f'progress: {said!r}')
    expect('a line of apt' not in said and 'a line of apt' in (folder / 'apt.log').read_text(), f'the log: {said!r}')
    expect('no package' not in said, f'all is offered: {said!r}')


def goes_without(folder):
    status, said = shell(folder, 'install_packages build', FAILS='libze-intel-gpu1')
    expect(status == 0 and 'Kiln goes on without: libze-intel-gpu1' in said, f'{status}: {said}')
    expect('g++\n' in (folder / 'installed').read_text(), 'the rest is installed')


def stops(folder):
    status, said = shell(folder, 'install_packages build', FAILS='meson')
    expect(status == 1 and 'could not install' in said and 'E: no meson' in said, f'{status}: {said}')
    status, said = shell(folder, 'install_packages build', NOT_OFFERED='meson')
    expect(status == 1 and 'apt knows no package for: meson' in said, f'{status}: {said}')


def names_lines_of_others(folder):
    page = (root / 'docs' / 'install.md').read_text()
    for release, family, tool in [('ID=fedora\n', 'fedora', 'dnf'), ('ID=manjaro\nID_LIKE=arch\n', 'arch', 'pacman'),
                                  ('ID="opensuse-tumbleweed"\nID_LIKE="opensuse suse"\n', 'opensuse', 'zypper')]:
        status, said = shell(folder, 'on_debian() { false; }; command() { false; }; install_packages build', release=release)
        line = said.splitlines()[-1].strip()
        expect(status == 1 and line.startswith(f'sudo {tool} '), f'{family}: {said}')
        expect(f'    {line}\n' in page, f'docs/install.md has another line for {family} than: {line}')
    status, said = shell(folder, 'on_debian() { false; }; command() { false; }; install_packages build', release='ID=gentoo\n')
    expect(status == 1 and 'meson' in said and 'sudo' not in said, f'an unknown system: {said}')


for test in (speaks_once, shows_progress, goes_without, stops, names_lines_of_others):
    try:
        in_folder(test)
    except OSError as error:  # a file that was not made
        failed.append(f'{test.__name__}: {error}')
print('\n'.join(failed) or 'the set-up says what it should')
sys.exit(bool(failed))
