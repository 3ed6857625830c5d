#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# counters.py KILN PRODUCT: what a simulated GPU counts of native code, held against what samples predict, what the
# CPU device counts of the SPIR-V, and what kernels do by construction; skipped where there is no Intel's driver
# (K0306), or a release without such a way in (K0311).
import json
import os
import pathlib
import subprocess
import sys
import tempfile

kiln, product = sys.argv[1:]
device = 'sim:' + product
KERNEL = '''kernel __attribute__((intel_reqd_sub_group_size(16)))
void odd(global float* x, uint n) {
  uint i = get_global_id(0);
  if (i & 1)
    x[i] += 1;
}
'''


def run(*arguments):
    return subprocess.run([kiln, 'run', *arguments, '--device', device], capture_output=True, text=True, timeout=300)


def counters(*arguments):
    ran = run(*arguments, '--counters', '--json')
    if 'K0306' in ran.stdout or 'K0311' in ran.stdout:
        print('skipped: Intel\'s driver 22.43 is not here')
        sys.exit(77)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return json.loads(ran.stdout)['native_counters']


def same(native, memory, *fields):
    """As the CPU device counts."""
    for field in fields:
        assert native['totals'][memory][field] == native['cpu_totals'][memory][field], (memory, field, native['totals'],
                                                                                     native['cpu_totals'])


# A bank serves one word at a time: of every second word half the banks are busy twice, of every sixteenth one is.
for stride, turns in ((1, 1), (2, 2), (16, 16)):
    native = counters(f'bank_conflict.stride_{stride}')
    for memory in ('slm_reads', 'slm_writes'):
        same(native, memory, 'bytes', 'turns', 'conflict_turns')
        of = native['totals'][memory]
        assert of['turns'] * 64 == of['bytes'] * turns, of  # 16 words of 4 bytes
        assert of['conflict_turns'] * turns == of['turns'] * (turns - 1), of
    for memory in ('global_reads', 'global_writes'):
        same(native, memory, 'bytes')
    assert sum(each['executed'] for each in native['code']) == native['instructions']
    assert sum(each['executed'] for each in native['kinds']) == native['instructions']
    assert 'no claim on time' in native['note']

# Its 64 counts a work-item are in no register.
native = counters('access.private_array')
assert native['scratch']['bytes'] > 0 or native['totals']['global_writes']['bytes'] > native['cpu_totals'][
    'global_writes']['bytes'], native['totals']

with tempfile.TemporaryDirectory() as folder:
    source = pathlib.Path(folder, 'odd.cl')
    source.write_text(KERNEL)
    page = pathlib.Path(folder, 'page.html')
    given = [str(source), '--arg', 'x=random:float:1024', '--arg', 'n=1024', '--groups', '16', '--group', '64', '--options=-g']
    native = counters(*given)
    # Sixteen neighbours are one cache line, and eight of them write.
    threads = 1024 // 16
    assert (native['launches'], native['groups'], native['threads']) == (1, 16, threads), native
    for memory in ('global_reads', 'global_writes'):
        of = native['totals'][memory]
        assert (of['messages'], of['bytes']) == (threads, 2048) and of['lanes'] == 512, of
        same(native, memory, 'bytes', 'lines')
    assert 0.5 < native['simd_efficiency'] < 1, native['simd_efficiency']
    lines = {each['line']: each for each in native['lines']}
    assert lines[5]['messages'] == 2 * threads and lines[5]['bytes'] == 4096, lines
    # Text and page have the same, and say what they do not.
    text = run(*given, '--counters')
    assert text.returncode == 0 and 'no claim on time' in text.stdout and str(native['instructions']) in text.stdout
    assert run(*given, '--report', str(page)).returncode == 0
    html = page.read_text()
    assert f'<data value="{native["instructions"]}">' in html and 'o claim on time' in html

    # `kiln analyze` puts the same counts beside what the code says, and refuses those of other code.
    target = {'tgllp': 'tgllp', 'dg2': 'dg2-g10', 'pvc': 'pvc'}[product]
    bundle, counted = pathlib.Path(folder, 'odd.ar'), pathlib.Path(folder, 'run.json')
    baked = subprocess.run([kiln, 'bake', str(source), '--target', target, '--options=-g', '-o', str(bundle)],
                           capture_output=True, text=True, timeout=300)
    assert baked.returncode == 0, baked.stderr
    ran = run(str(bundle) + ':odd', *given[1:-1], '--counters', '--json')
    assert ran.returncode == 0, ran.stdout + ran.stderr
    counted.write_text(ran.stdout)
    native = json.loads(ran.stdout)['native_counters']

    def analyze(*arguments):
        return subprocess.run([kiln, 'analyze', *map(str, arguments)], capture_output=True, text=True, timeout=300)

    page = pathlib.Path(folder, 'analysis.html')
    analyzed = analyze(bundle, '--executed', counted, '--json', '--report', page)
    assert analyzed.returncode == 0, analyzed.stdout + analyzed.stderr
    kernel = json.loads(analyzed.stdout)['kernels'][0]
    assert kernel['executed']['instructions'] == native['instructions'] == sum(
        each['executed'] for each in kernel['mix']), kernel
    assert kernel['executed']['threads'] == threads, kernel['executed']
    assert sum(each['executed']['messages'] for each in kernel['messages']) == sum(
        each['messages'] for each in native['messages']), kernel['messages']
    stores = [each for each in kernel['messages'] if (each['unit'], each['action']) == ('global', 'store')]
    assert sum(each['executed']['bytes'] for each in stores) == 2048, stores
    assert {each['line']: each['executed'] for each in kernel['lines'] if each['executed']} == {
        each['line']: each['executed'] for each in native['lines']}, kernel['lines']
    assert 'Walks' not in page.read_text() and 'Bytes moved' in page.read_text()
    assert analyze(bundle, '--executed', counted).stdout.count('no claim on time') == 1
    other = analyze(source, '--target', target, '--options=-cl-opt-disable', '--executed', counted)
    assert other.returncode == 5 and 'K0445' in other.stderr, other.stdout + other.stderr
    assert analyze(bundle, bundle, '--executed', counted).returncode == 2

# All samples in one table, with the same numbers as alone; one product is enough, of those that `./run test --full` adds.
if product == 'pvc':
    ran = run('--all', '--counters', '--json')
    assert ran.returncode == 0, ran.stdout + ran.stderr
    rows = {each['kernel']: each['native_counters'] for each in json.loads(ran.stdout)['samples']}
    alone = counters('bank_conflict.stride_16')
    for field in ('instructions', 'simd_efficiency', 'scratch', 'kinds', 'messages', 'totals'):
        assert rows['bank_conflict.stride_16'][field] == alone[field], (field, rows['bank_conflict.stride_16'], alone)
    assert all('code' not in each for each in rows.values())

# What only the CPU device finds stays its own.
refused = run('saxpy', '--check-memory')
assert refused.returncode != 0 and 'K0409' in refused.stderr, refused.stderr
print('counters of', device, 'agree')
