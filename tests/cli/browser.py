# SPDX-License-Identifier: MIT
# One headless Chromium for all pages of a test, told what to do by the DevTools protocol on two pipes.
import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import time

CHROMIUM = shutil.which('chromium') or shutil.which('chromium-browser') or shutil.which('google-chrome')
LONGEST = 120  # seconds for one answer

# What is in a picture: its size, how many colours every fourth row has, the ground, and the clearly coloured dots.
PICTURE = """async png => {
  const bytes = Uint8Array.from(atob(png), each => each.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], {type: 'image/png'}));
  const area = new OffscreenCanvas(image.width, image.height).getContext('2d');
  area.drawImage(image, 0, 0);
  const dots = area.getImageData(0, 0, image.width, image.height).data, colours = new Set();
  let coloured = 0;
  for (let i = 0; i < dots.length; i += 4) {
    if (Math.floor(i / 4 / image.width) % 4 == 0) colours.add(dots[i] << 16 | dots[i + 1] << 8 | dots[i + 2]);
    coloured += Math.abs(dots[i + 2] - dots[i]) > 100;
  }
  const ground = (2 * image.width + 2) * 4;
  return {size: [image.width, image.height], colours: colours.size, coloured,
          ground: dots[ground] + dots[ground + 1] + dots[ground + 2]};
}"""


class Browser:
    """Nothing is reached: no name is found, not even by accident. The folder is its home."""

    def __init__(self, folder):
        (read, self._to), (self._from, write) = os.pipe(), os.pipe()
        self._log = open(f'{folder}/chromium.log', 'wb')
        self._process = subprocess.Popen(
            ['sh', '-c', f'exec "$0" "$@" 3<&{read} 4>&{write}', CHROMIUM, '--headless', '--no-sandbox', '--disable-gpu',
             '--hide-scrollbars', '--no-first-run', '--disable-background-networking', '--remote-debugging-pipe',
             f'--user-data-dir={folder}/profile', '--host-resolver-rules=MAP * ~NOTFOUND'],
            pass_fds=(read, write), stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
            env={**os.environ, 'HOME': str(folder)})
        os.close(read)
        os.close(write)
        self._numbers, self._received, self._events = itertools.count(1), b'', []
        self.complaints, self.requests = [], []  # of the page that was opened last
        target = self._ask('Target.createTarget', url='about:blank')['targetId']
        self._blank = self._attach(target)
        self._page = self._attach(self._ask('Target.createTarget', url='about:blank')['targetId'])
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self._ask(f'{domain}.enable', self._page)

    def close(self):
        try:
            self._ask('Browser.close')
            self._process.wait(LONGEST)
        finally:
            self._process.kill()
            self._process.wait()
            self._log.close()
            os.close(self._to)
            os.close(self._from)

    def open(self, path, width, height=1200, scheme='light'):
        """Until it is loaded: with what it complains of, and what it asks for beside itself."""
        self._ask('Emulation.setDeviceMetricsOverride', self._page, width=width, height=height, deviceScaleFactor=1, mobile=False)
        self._ask('Emulation.setEmulatedMedia', self._page, features=[{'name': 'prefers-color-scheme', 'value': scheme}])
        self._events.clear()
        self._ask('Page.navigate', self._page, url=path.as_uri())
        self._until(lambda: any(each['method'] == 'Page.loadEventFired' for each in self._events))
        self.evaluate('document.readyState')  # what the page has said until then was read before the answer
        self.complaints = [each['params']['entry']['text'] for each in self._events if each['method'] == 'Log.entryAdded']
        self.complaints += [each['params']['type'] for each in self._events if each['method'] == 'Runtime.consoleAPICalled']
        self.requests = [each['params']['request']['url'] for each in self._events
                         if each['method'] == 'Network.requestWillBeSent' and each['params']['request']['url'] != path.as_uri()]

    def evaluate(self, script):
        """What `script` computes in the page; its policy is about scripts of its own."""
        return self._evaluate(self._page, script)

    def picture(self):
        png = self._ask('Page.captureScreenshot', self._page, format='png')['data']
        return self._evaluate(self._blank, f'({PICTURE})("{png}")')

    def printed(self):
        return base64.b64decode(self._ask('Page.printToPDF', self._page)['data'])

    def _attach(self, target):
        return self._ask('Target.attachToTarget', targetId=target, flatten=True)['sessionId']

    def _evaluate(self, session, script):
        answer = self._ask('Runtime.evaluate', session, expression=script, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in answer:
            raise AssertionError(answer['exceptionDetails'])
        return answer['result'].get('value')

    def _ask(self, method, session=None, **parameters):
        number = next(self._numbers)
        message = {'id': number, 'method': method, 'params': parameters} | ({'sessionId': session} if session else {})
        rest = json.dumps(message).encode() + b'\0'
        while rest:
            rest = rest[os.write(self._to, rest):]
        answer = self._until(lambda: next((each for each in self._events if each.get('id') == number), None))
        self._events.remove(answer)
        if 'error' in answer:
            raise AssertionError(f'{method}: {answer["error"]}')
        return answer['result']

    def _until(self, found):
        """Reads until there is what is waited for."""
        end = time.monotonic() + LONGEST
        while not (result := found()):
            if not select.select([self._from], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError('Chromium does not answer')
            block = os.read(self._from, 1 << 20)
            if not block:
                raise AssertionError(f'Chromium has ended: {self._process.wait()}')
            *whole, self._received = (self._received + block).split(b'\0')
            self._events += [{'method': '', **json.loads(each)} for each in whole]
        return result
