"""gRPC client of C-core, driven by lines on standard input; see ../../lib/grpc_client.ts.

It knows nothing but what GRPC_XDS_BOOTSTRAP says and the targets that it is told.
"""

import json
import sys
import threading
import time

import grpc

METHOD = "/pinnace.interop.Echo/Say"
DEADLINE = 30.0


def say(event):
    print(json.dumps(event), flush=True)


class Tally:
    """What became of calls since it was last taken."""

    def __init__(self):
        self._changed = threading.Condition()
        self._answers = {}
        self._failures = []
        self._unfinished = 0

    def started(self):
        with self._changed:
            self._unfinished += 1

    def finished(self, call):
        with self._changed:
            self._unfinished -= 1
            if call.code() == grpc.StatusCode.OK:
                name = call.result().decode()
                self._answers[name] = self._answers.get(name, 0) + 1
            else:
                self._failures.append(f"{call.code().name}: {call.details()}")
            self._changed.notify_all()

    def settled(self):
        with self._changed:
            self._changed.wait_for(lambda: self._unfinished == 0)

    def take(self, event):
        with self._changed:
            taken = {
                "event": event,
                "answers": self._answers,
                "failures": self._failures,
                "unfinished": self._unfinished,
            }
            self._answers, self._failures = {}, []
            return taken


class Client:
    def __init__(self):
        self._methods = {}
        self._tally = Tally()
        self._stop = threading.Event()
        self._loop = None

    def call(self, target, count, hold):
        tally = Tally()
        for _ in range(count):
            self._begin(target, hold, tally)
            tally.settled()
        say(tally.take("called"))

    def start(self, target, every, hold):
        self._stop.clear()
        self._loop = threading.Thread(target=self._run, args=(target, every / 1000, hold))
        self._loop.start()
        say({"event": "started"})

    def report(self):
        say(self._tally.take("report"))

    def stop(self):
        self._stop.set()
        if self._loop is not None:
            self._loop.join()
        self._tally.settled()
        say(self._tally.take("stopped"))

    def _run(self, target, every, hold):
        due = time.monotonic()
        while not self._stop.wait(max(0, due - time.monotonic())):
            due += every
            self._begin(target, hold, self._tally)

    def _begin(self, target, hold, tally):
        method = self._methods.get(target)
        if method is None:
            method = self._methods[target] = grpc.insecure_channel(target).unary_unary(METHOD)
        tally.started()
        call = method.future(str(hold).encode(), timeout=DEADLINE)
        call.add_done_callback(tally.finished)


def main():
    client = Client()
    say({"event": "ready"})
    for line in sys.stdin:
        name, *words = line.split()
        if name == "call":
            client.call(words[0], int(words[1]), int(words[2]))
        elif name == "start":
            client.start(words[0], int(words[1]), int(words[2]))
        elif name == "report":
            client.report()
        elif name == "stop":
            client.stop()
        else:
            raise ValueError(f"no such command: {line!r}")


main()
