# SPDX-License-Identifier: MIT
"""Programs under `kiln exec`, for the tests of the layer."""
import os
import pathlib
import re
import subprocess

KILN, RAW, KERNELS, CPU = (os.environ[name] for name in ('KILN', 'KILN_RAW', 'KILN_SPIRV', 'KILN_CPU_DRIVER'))
GOLDEN = pathlib.Path(os.environ['KILN_GOLDEN'])
INTEL = os.environ.get('KILN_INTEL_DRIVER') == 'yes'
TOPOLOGIES = {'tgllp': '1x6x16', 'dg2': '8x4x16', 'pvc': '8x8x8'}


def run(*words, timeout=120, **environment):
    clean = {name: value for name, value in os.environ.items() if name != 'LD_LIBRARY_PATH'}
    return subprocess.run(words, env={**clean, **environment}, capture_output=True, text=True, timeout=timeout)


def exec_(*words, **environment):
    return run(KILN, 'exec', *words, **environment)


def capture(product):
    """The variables that make Intel's driver answer without a GPU: CONTRIBUTING.md."""
    return {'NEOReadDebugKeys': '1', 'SetCommandStreamReceiver': '1', 'AUBDumpCaptureFileName': '/dev/null',
            'ProductFamilyOverride': product, 'HardwareInfoOverride': TOPOLOGIES[product], 'UseAubStream': '0',
            'UseBindlessMode': '0', 'UseExternalAllocatorForSshAndDsh': '0'}


def codes(text):
    return re.findall(r'(?m)^(?:error|warning)\[(K\d{4})\]', text)
