"""kazoo's Election, a new object for each candidacy: `run` in a thread of its own, whose function lasts as long as the term."""

import threading

import zooquake


class Term:
    """One candidacy."""

    def __init__(self, election):
        self.election, self.error = election, None
        self.decided, self.resigned = threading.Event(), threading.Event()
        self.leads = False
        self.thread = threading.Thread(target=self.stand, daemon=True)
        self.thread.start()

    def stand(self):
        try:
            self.election.run(self.lead)
        except Exception as error:
            self.error = error
        self.decided.set()

    def lead(self):
        self.leads = True
        self.decided.set()
        self.resigned.wait()

    def end(self, deadline):
        self.resigned.set()
        self.thread.join(deadline.left())
        if self.error is not None:
            raise self.error
        if self.thread.is_alive():
            raise zooquake.TimedOut("`run` has not returned")


class Election(zooquake.Grants):
    term = None

    def acquire(self, deadline):
        self.term = Term(self.zk.Election("/election", self.client))
        try:
            deadline.wait(self.term.decided)
        except zooquake.TimedOut:
            self.term.election.cancel()
            raise
        if not self.term.leads:
            raise self.term.error or RuntimeError("`run` returned without a term")
        path = self.path()
        self.created(path)
        return {"path": path}

    def release(self, held, deadline):
        self.term.end(deadline)
        czxid, _ = self.own.pop(held["path"], (None, None))
        return {"path": held["path"], "czxid": czxid}

    def path(self):
        return f"/election/{self.term.election.lock.node}"

    def znodes(self):
        """Also the one that it waits with."""
        waits = self.term is not None and self.term.thread.is_alive() and self.term.election.lock.node is not None
        return {**({self.path(): (None, None)} if waits else {}), **self.own}


zooquake.run(Election)
