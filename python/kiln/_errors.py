# SPDX-License-Identifier: MIT
"""What is raised where C gives a result."""
import json
from typing import Any


class Error(Exception):
    """A call that failed, with all that Kiln knows of it."""

    #: Level Zero's number, such as 0x70000003.
    result: int
    #: Its name, such as "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY".
    name: str
    #: The function of Level Zero, or of Kiln, that failed.
    call: str
    #: Kiln's code, such as "K0101"; "" where the result is all that is known.
    code: str
    #: Lines for people: what was asked, what there is, what to change.
    text: str
    #: The same as JSON text.
    json_text: str

    def __init__(self, result: int, name: str, call: str, code: str, text: str, json_text: str) -> None:
        super().__init__(text.rstrip('\n') or f'{call}: {name}')
        self.result, self.name, self.call, self.code, self.text, self.json_text = result, name, call, code, text, json_text

    @property
    def json(self) -> Any:
        """The diagnostic as an object: code, severity, message, rows, help, call, result, result_value, answered_by."""
        return json.loads(self.json_text or '{}')

    def __reduce__(self) -> Any:
        return (Error, (self.result, self.name, self.call, self.code, self.text, self.json_text))
