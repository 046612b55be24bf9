"""kazoo's MultiNonBlockingLease, a new object for each acquire, and never renewed. It has no way to give a lease back: who releases
it works no more under it, and others wait for its end."""

import datetime
import time

import zooquake

LEASES = 2  # As `capacity` in zooquake.toml.
LASTS = datetime.timedelta(seconds=3)  # As `lease_ms` in zooquake.toml.


class Lease(zooquake.Grants):
    cannot = ("czxid", "session", "removed")
    policy = "none"

    def acquire(self, grant):
        until = time.monotonic() + LASTS.total_seconds()
        holder = f"{self.client} {grant}"
        if not self.zk.MultiNonBlockingLease(LEASES, "/lease", LASTS, identifier=holder):
            raise zooquake.Failed("it was not obtained")
        return {"path": None, "session": None, "until": until}

    def release(self, held):
        return None


zooquake.run(Lease)
