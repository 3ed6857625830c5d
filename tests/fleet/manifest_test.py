# SPDX-License-Identifier: MIT
"""The pod of docs/fleet.md: it is YAML, what it names is there, and kubectl, where it is installed, knows every member:
manifest_test.py DOCS."""
import json
import pathlib
import re
import shutil
import subprocess
import sys

try:
    import yaml
except ImportError:
    print('skipped: python3-yaml is not installed')
    sys.exit(77)

DOCS = pathlib.Path(sys.argv[1])
page = (DOCS / 'fleet.md').read_text()
block = re.search(r'\n((?:    .*\n|\n)*    kind: Pod\n(?:    .*\n|\n)*)', page)[1]
pod = yaml.safe_load(re.sub('^    ', '', block, flags=re.M))
spec = pod['spec']
assert (pod['apiVersion'], pod['kind']) == ('v1', 'Pod')
containers = spec['initContainers'] + spec['containers']
volumes = {each['name'] for each in spec['volumes']}
for container in containers:
    # What kiln pulls is where the program looks for it, by the same settings.
    assert container['env'] == containers[0]['env'] and container['volumeMounts'] == containers[0]['volumeMounts'], container['name']
    mounts = {each['name']: each['mountPath'] for each in container['volumeMounts']}
    assert set(mounts) == volumes, (mounts, volumes)
    for setting in container['env']:
        assert f"`{setting['name']}`" in (DOCS / 'cache.md').read_text(), setting['name']
        for path in re.findall(r'(?<![:/\w])/[\w/-]+', setting['value']):
            assert any(path.startswith(mount + '/') for mount in mounts.values()), path


def lost(given, kept, where):
    """What Kubernetes' own types have no member for."""
    if isinstance(given, dict):
        for name, member in given.items():
            assert name in kept, f'{where}.{name} is not known'
            lost(member, kept[name], f'{where}.{name}')
    elif isinstance(given, list):
        assert len(given) == len(kept), where
        for number, each in enumerate(given):
            lost(each, kept[number], f'{where}[{number}]')
    else:
        assert given == kept, (where, given, kept)


if kubectl := shutil.which('kubectl'):
    other = 'registry.example/solver:2'  # a change, without which it prints nothing
    read = subprocess.run([kubectl, 'set', 'image', '--local', '-f', '-', f"{containers[-1]['name']}={other}", '-o', 'json'], check=True,
                          input=yaml.dump(pod), text=True, capture_output=True)
    for container in containers:
        if container['name'] == containers[-1]['name']:
            container['image'] = other
    lost(pod, json.loads(read.stdout), 'pod')
    print('read by kubectl too')
