"""The client protocol of zooquake for recipes on kazoo: everything but the recipe. Needs Python 3.9 and kazoo 2.8 or later.

A recipe is a subclass of `Recipe` whose methods are named after the operations of its family, with `_` for `-`; of what is held
(locks, elections, semaphores), a subclass of `Grants` with `acquire` and `release`. `run(MyRecipe)` does the rest and never
returns. A method takes what it wants of the request's value by the names of its parameters, and, as `deadline`, the moment by
which it has to answer. Its result is the value of the reply. `Failed` means that the operation certainly did not happen and
that nothing of it is left; any other exception is an unknown outcome.
"""

import inspect
import json
import os
import queue
import sys
import threading
import time

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import NodeExistsError, NoNodeError
from kazoo.retry import KazooRetry

NOT_HELD = "not-held"
SCRATCH = "/zooquake/scratch"
CONFIRM_MS = 10_000
# A write has arrived this long after its reply.
ARRIVAL_S = 0.2
# How long after its deadline an operation is answered that did not answer by itself.
GRACE_S = 0.1


class Failed(Exception):
    """The operation certainly did not happen, and nothing of it is left."""


class TimedOut(Exception):
    """The deadline has passed."""


class Deadline:
    """The moment by which an operation has to answer; without a number of milliseconds there is none."""

    def __init__(self, milliseconds=None):
        self.at = None if milliseconds is None else time.monotonic() + milliseconds / 1000

    def left(self):
        """Seconds that are left, at least 0; None if there is no deadline."""
        return None if self.at is None else max(0.0, self.at - time.monotonic())

    def wait(self, event):
        """Waits for an event; raises TimedOut at the deadline."""
        if not event.wait(self.left()):
            raise TimedOut("timed out")


class Recipe:
    """What every recipe has: `zk`, a KazooClient that has connected; its name, `client`; and the znodes that are its own."""

    # What the client cannot tell, as docs/protocol.md names it.
    cannot = ()

    def __init__(self, zk, client, notify):
        self.zk, self.client, self.notify = zk, client, notify
        self.own, self.present = {}, None

    def created(self, path):
        """Names a contender's znode as this client's own; returns (czxid, session) of it. Raises NoNodeError if it is gone."""
        self.own[path] = (None, None)
        stat = self.zk.retry(self.zk.exists, path)
        if stat is None:
            self.own.pop(path)
            raise NoNodeError(path)
        self.own[path] = (stat.czxid, hex_id(stat.owner_session_id))
        return self.own[path]

    def remove(self, path):
        """Deletes a znode of this client's own, and again after an unknown outcome; returns what it removed, None if it was gone."""
        czxid, _ = self.own.get(path, (None, None))
        try:
            self.zk.retry(self.zk.delete, path)
        except NoNodeError:
            return None
        finally:
            # Any other error is the end of the session, which takes its ephemeral znodes with it.
            self.own.pop(path, None)
        return {"path": path, "czxid": czxid}

    def znodes(self):
        """The contenders' znodes that the client knows to be its own: (czxid, session) of each, by its path."""
        return dict(self.own)

    def taking(self, item):
        """Says which item is about to be taken: to be called before the request that takes it."""
        self.notify("taking", {"item": item})

    def session(self):
        """The present session as the protocol writes it; None if there is none."""
        return self.present

    def operation(self, f):
        """The method that answers an operation; None if there is none."""
        name = f.replace("-", "_")
        return None if name.startswith("_") or hasattr(Recipe, name) else getattr(self, name, None)

    def session_changed(self, state):
        """Is told that the session is `connected`, `disconnected` or `expired`. Must not wait."""

    def replied(self):
        """Is told that the reply of an operation was sent."""

    def came_late(self, value):
        """Is given the result of an operation that was answered as unknown at its deadline."""

    def holds(self):
        """The value of the grant that the client believes to hold; None if it holds nothing."""
        return None

    def settle(self, deadline):
        """Waits until nothing goes on in the background; raises TimedOut at the deadline."""


class Grants(Recipe):
    """What is held: locks, read-write locks, elections, semaphores.

    A subclass has `acquire`, which returns {"path": …} of a znode that it has named with `created`, and "token" in a fenced variant;
    and `release(held)`, which is given that value and returns what it removed, as `remove` does, or None. `release` also clears
    away what is left of a grant that was lost.
    """

    # The states of the session in which a grant counts as lost.
    lost_when = ("disconnected", "expired")

    def __init__(self, zk, client, notify):
        super().__init__(zk, client, notify)
        self.lock, self.held, self.state = threading.Lock(), None, "connected"
        self.idle, self.quiet = threading.Event(), threading.Event()
        self.idle.set()
        self.quiet.set()

    def operation(self, f):
        return {"acquire": self._acquire, "elect": self._acquire, "release": self._release, "resign": self._release,
                "write": self._write, "work": self._work, "read": self._work}.get(f)

    def _acquire(self, grant: str, deadline, mode: str = "exclusive"):
        deadline.wait(self.quiet)
        value = call(self.acquire, {"grant": grant, "mode": mode}, deadline)
        czxid, session = self.own.get(value.get("path"), (None, None))
        value = {"path": None, "czxid": czxid, "session": session or self.session(), **value, "grant": grant}
        with self.lock:
            self.held = value
        return value

    def _release(self, grant: str, deadline):
        with self.lock:
            held = self.held
            if held is not None and held["grant"] == grant:
                self.held = None
        if held is None or held["grant"] != grant:
            deadline.wait(self.quiet)
            raise Failed(NOT_HELD)
        return {"grant": grant, "removed": call(self.release, {"held": held}, deadline)}

    def _write(self, grant: str, value, work_ms: int = 0):
        held = self._work_under(grant, work_ms)
        return {"grant": grant, "value": value, "token": held.get("token")}

    def _work(self, grant: str, work_ms: int = 0):
        self._work_under(grant, work_ms)
        return {"grant": grant}

    def _work_under(self, grant, work_ms):
        held = self.holds()
        if held is None or held["grant"] != grant:
            raise Failed(NOT_HELD)
        self.idle.clear()
        time.sleep(work_ms / 1000)
        return held

    def holds(self):
        with self.lock:
            return self.held

    def session_changed(self, state):
        self.state = state
        if state in self.lost_when:
            self._lose(state)

    def replied(self):
        self.idle.set()
        held = self.holds()
        if held is not None and held["session"] != self.session():
            self._lose("expired")
        elif self.state in self.lost_when:
            self._lose(self.state)

    def came_late(self, value):
        if "session" in value:
            self._lose("answered too late")

    def settle(self, deadline):
        deadline.wait(self.quiet)

    def _lose(self, why):
        with self.lock:
            held, self.held = self.held, None
        if held is not None:
            self.notify("lost", {"grant": held["grant"], "why": why})
            self.quiet.clear()
            threading.Thread(target=self._clear_away, args=[held], daemon=True).start()

    def _clear_away(self, held):
        """Who works on under a lost grant keeps its znode, if the session lives, until the work has arrived."""
        self.idle.wait()
        time.sleep(ARRIVAL_S)
        try:
            call(self.release, {"held": held}, Deadline())
        except Exception as error:
            print(f"clearing away {held['path']}: {words(error)}", file=sys.stderr)
        finally:
            self.own.pop(held["path"], None)
            self.quiet.set()


class _Refused(Failed):
    """The value makes no sense."""


def hex_id(session):
    """A session's id as the protocol writes it; None for none."""
    return "0x%x" % (session & 0xFFFF_FFFF_FFFF_FFFF) if session else None


def words(error):
    """What went wrong, also where the exception has no text of its own, as kazoo's have not."""
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def call(method, value, deadline):
    """Calls a method with those parts of a value that it takes, and the deadline if it takes that."""
    arguments = {}
    for name, parameter in inspect.signature(method).parameters.items():
        if name == "deadline":
            arguments[name] = deadline
        elif name in value:
            wanted = parameter.annotation
            fits = wanted is parameter.empty or isinstance(value[name], wanted) and not isinstance(value[name], bool)
            if not fits:
                raise _Refused(f"`{name}` is {json.dumps(value[name])}, not of type {wanted.__name__}")
            arguments[name] = value[name]
        elif parameter.default is parameter.empty:
            raise _Refused(f"the value has no `{name}`")
    return method(**arguments)


class _Client:
    """The loop: one operation at a time, control requests beside it."""

    def __init__(self, recipe, output):
        environment = os.environ
        self.name = environment["ZOOQUAKE_CLIENT"]
        self.lines, self.operations = queue.SimpleQueue(), queue.SimpleQueue()
        self.guard, self.connected = threading.Lock(), threading.Event()
        self.pending, self.late = None, threading.Event()
        self.late.set()
        for task, argument in ((self._write_lines, output), (self._operate, None)):
            threading.Thread(target=task, args=[argument], daemon=True).start()
        self.send({"type": "hello", "protocol": 1, "pid": os.getpid(), "session": None, "cannot": list(recipe.cannot)})
        forever = {"max_tries": -1, "delay": 0.05, "max_delay": 0.5}
        self.zk = KazooClient(
            hosts=environment["ZOOQUAKE_CONNECT"],
            timeout=int(environment["ZOOQUAKE_SESSION_MS"]) / 1000,
            connection_retry=KazooRetry(**forever),
            command_retry=KazooRetry(ignore_expire=False, **forever),
        )
        self.recipe = recipe(self.zk, self.name, lambda notice, value: self.send({"type": "notice", "notice": notice, "value": value}))
        self.zk.add_listener(self._session_changed)
        self.zk.start_async()

    def serve(self, lines):
        """Takes requests until there are no more, and then ends the process at once."""
        for line in lines:
            if line.strip():
                self._take(line)
        done = threading.Event()
        self.lines.put(done)
        done.wait(0.2)
        os._exit(0)

    def send(self, message):
        self.lines.put(json.dumps(message))

    def _write_lines(self, output):
        while True:
            line = self.lines.get()
            if isinstance(line, threading.Event):
                line.set()
            else:
                output.write(line.encode() + b"\n")
                output.flush()

    def _session_changed(self, state):
        told = {KazooState.CONNECTED: "connected", KazooState.SUSPENDED: "disconnected", KazooState.LOST: "expired"}[state]
        if told == "connected":
            # kazoo knows its session only while it is connected.
            self.recipe.present = hex_id(self.zk.client_id[0])
        self.send({"type": "notice", "notice": "session", "value": {"session": self.recipe.present, "state": told}})
        if told == "expired":
            self.recipe.present = None
        self.recipe.session_changed(told)
        if told == "connected":
            self.connected.set()

    def _take(self, line):
        number = None
        try:
            request = json.loads(line)
            number = request["id"] if isinstance(request["id"], int) else None
            f, value, timeout = request["f"], request.get("value") or {}, request.get("timeout_ms")
            if number is None or not isinstance(f, str) or not isinstance(timeout, (int, type(None))):
                raise ValueError("id, f or timeout_ms is of another type")
        except Exception as error:
            print(f"not a request ({words(error)}): {line.rstrip()}", file=sys.stderr)
            if number is not None:
                self._reply(number, "fail", error=f"not a request: {words(error)}")
            return
        control = {"ping": lambda _: {}, "confirm": self._confirm, "quiesce": self._quiesce}.get(f)
        if control is not None:
            arguments = [number, lambda: control(Deadline(timeout or (CONFIRM_MS if f == "confirm" else None)))]
            threading.Thread(target=lambda: self._reply(number, *self._outcome(arguments[1])), daemon=True).start()
        elif not isinstance(value, dict):
            self._reply(number, "fail", error=f"the value {json.dumps(value)} makes no sense")
        elif self.recipe.operation(f) is None:
            self._reply(number, "fail", error=f"no operation `{f}`")
        else:
            self._begin(number, f, value, Deadline(timeout))

    def _begin(self, number, f, value, deadline):
        with self.guard:
            busy = self.pending is not None
            if not busy:
                self.pending = number
        if busy:
            return self._reply(number, "fail", error=f"busy: `{f}` was asked for while another operation runs")
        if deadline.at is not None:
            timer = threading.Timer(deadline.left() + GRACE_S, self._end, [number, "info", None, "timed out"])
            timer.daemon = True
            timer.start()
        self.operations.put((number, f, value, deadline))

    def _operate(self, _):
        while True:
            number, f, value, deadline = self.operations.get()
            self.late.clear()
            outcome = self._outcome(lambda: (deadline.wait(self.connected), call(self.recipe.operation(f), value, deadline))[1])
            if not self._end(number, *outcome) and outcome[0] == "ok":
                self.recipe.came_late(outcome[1])
            self.recipe.replied()
            self.late.set()

    def _end(self, number, *outcome):
        """Answers the pending operation; False if it was answered already."""
        with self.guard:
            ours = self.pending == number
            if ours:
                self._reply(number, *outcome)
                self.pending = None
        return ours

    def _outcome(self, work):
        try:
            return "ok", work()
        except Failed as error:
            return "fail", None, str(error)
        except Exception as error:
            return "info", None, words(error)

    def _reply(self, number, outcome, value=None, error=None):
        reply = {"type": "reply", "id": number, "outcome": outcome, "value": value}
        self.send(reply if error is None else {**reply, "error": error})

    def _confirm(self, deadline):
        deadline.wait(self.connected)
        session, path = self.recipe.session(), f"{SCRATCH}/{self.name}"
        if session is None:
            raise RuntimeError("there is no session")
        try:
            stat = self.zk.set_async(path, b"").get(timeout=deadline.left())
        except NoNodeError:
            try:
                self.zk.create_async(path, b"").get(timeout=deadline.left())
            except NodeExistsError:
                pass
            stat = self.zk.set_async(path, b"").get(timeout=deadline.left())
        # Belief is looked at after the write, and not before.
        held = self.recipe.holds()
        if self.recipe.session() != session or held is not None and held["session"] != session:
            raise RuntimeError("the session changed meanwhile")
        if held is None:
            return {"holds": False, "zxid": stat.mzxid}
        return {"holds": True, "grant": held["grant"], "zxid": stat.mzxid}

    def _quiesce(self, deadline):
        with self.guard:
            late = self.pending is None
        if late:
            deadline.wait(self.late)
        self.recipe.settle(deadline)
        session = self.recipe.session()
        znodes = []
        for path, (czxid, _) in self.recipe.znodes().items():
            if czxid is None:
                stat = self.zk.exists_async(path).get(timeout=deadline.left())
                czxid = stat and stat.czxid
            # What is gone is nobody's.
            if czxid is not None:
                znodes.append({"path": path, "czxid": czxid})
        return {"sessions": [session] if session else [], "znodes": znodes}


def run(recipe):
    """Runs a client with a recipe, a subclass of Recipe, on stdin and stdout. Whatever else prints goes to stderr."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _Client(recipe, output).serve(sys.stdin)
