"""A znode that is read, written and compared-and-set. A read writes first, so that its server has all that was acknowledged."""

import zooquake
from kazoo.exceptions import BadVersionError

REGISTER = "@PARENT@"


class Register(zooquake.Recipe):
    def read(self):
        with self.one_session() as where:
            self.quorum_write()
            data, version = self.zk.get(REGISTER)
            return {"value": int(data) if data else None, "mzxid": version.mzxid, **where}

    def write(self, value: int):
        with self.one_session() as where:
            written = self.zk.set(REGISTER, str(value).encode())
            return {"value": value, "mzxid": written.mzxid, **where}

    def cas(self, from_: int, to: int):
        with self.one_session() as where:
            data, version = self.zk.get(REGISTER)
            if not data or int(data) != from_:
                raise zooquake.Failed("mismatch")
            try:
                written = self.zk.set(REGISTER, str(to).encode(), version=version.version)
            except BadVersionError:
                raise zooquake.Failed("bad-version")
            return {"from": from_, "to": to, "mzxid": written.mzxid, **where}


zooquake.run(Register)
