"""Two-phase commit. The decision is a znode; a site logs its vote and the decision before it reports them."""

import json
import os
import threading
import time

import zooquake

PARENT = "@PARENT@"


class Commit(zooquake.Recipe):
    def begin(self, tx: str, sites: list):
        made = self.zk.transaction()
        made.create(f"{PARENT}/{tx}", json.dumps({"tx": tx, "sites": sites}).encode())
        for site in sites:
            made.create(f"{PARENT}/{tx}/{site}")
        for result in made.commit():
            if isinstance(result, Exception):
                raise result
        return {"tx": tx}

    def decide(self, tx: str, sites: list, deadline):
        while True:
            voted = threading.Event()
            votes = [self.zk.retry(self.zk.get, f"{PARENT}/{tx}/{site}", lambda _: voted.set())[0] for site in sites]
            if b"abort" in votes or all(votes):
                self.make(f"{PARENT}/{tx}/decision", b"abort" if b"abort" in votes else b"commit")
                return {"tx": tx, "decision": self.decision(tx)}
            deadline.wait(voted)

    def vote(self, tx: str, vote: str, deadline, work_ms: int = 0):
        self.wait_there(f"{PARENT}/{tx}/{self.client}", deadline)
        time.sleep(work_ms / 1000)
        voted = self.logged(tx, "vote", vote)
        self.zk.retry(self.zk.set, f"{PARENT}/{tx}/{self.client}", b"commit" if voted == "yes" else b"abort")
        return {"tx": tx, "voted": voted}

    def decided(self, tx: str, deadline):
        known = self.logged(tx, "decision")
        if known is None:
            self.wait_there(f"{PARENT}/{tx}/decision", deadline)
            known = self.logged(tx, "decision", self.decision(tx))
        return {"tx": tx, "decision": known}

    def decision(self, tx):
        return self.zk.retry(self.zk.get, f"{PARENT}/{tx}/decision")[0].decode()

    def logged(self, tx, key, value=None):
        """What the log has of a transaction; a value that it does not have yet is on the disk when this returns."""
        with open(os.environ.get("ZOOQUAKE_LOG", f"/var/tmp/zooquake-{self.client}.log"), "a+b") as log:
            log.seek(0)
            whole = [line for line in log if line.endswith(b"\n")]
            log.truncate(sum(map(len, whole)))  # A last line that was cut off counts as never written.
            for entry in map(json.loads, whole):
                if entry["tx"] == tx and key in entry:
                    return entry[key]
            if value is not None:
                log.write(json.dumps({"tx": tx, key: value}).encode() + b"\n")
                log.flush()
                os.fsync(log.fileno())
            return value


zooquake.run(Commit)
