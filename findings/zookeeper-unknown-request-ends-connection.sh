#!/usr/bin/env bash
# ZooKeeper 3.6.3 (Apache's jar) and 3.8.0 (Debian 12): a server that is too old for a request, here 3.6.3 for the `whoAmI` of 3.7, answers
# Unimplemented and then ends the connection. What was sent behind it is lost, a write of unknown outcome among it, and the client reports
# a disconnect; the session lives on. So a harmless question makes recipes give up what they hold. Unimplemented alone does not do that:
# a TTL znode, refused with the same error because extended types are off, leaves the connection as it is.
# Seen: 3.6.3: whoAmI: Unimplemented, the connection ends, the session lives; the write sent behind it: no reply
#       3.8.0: whoAmI: 0, the write sent behind it: 0
#       3.6.3, 3.8.0: TTL znode: Unimplemented, the write sent behind it: 0
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3
python3 - <<'P'
from zk import *

def both(server, first):
    """The errors of a request and of a write behind it, and whether the connection has ended."""
    one = Client(server)
    asked, wrote = one.request(*first), one.request(CREATE, create("/behind-", flags=2))
    errors, ended = {}, False
    try:
        while len(errors) < 2:
            xid, _, error, _ = one.next()
            errors[xid] = error
    except Lost:
        ended = True
        again = Client(server, session=one.session, password=one.password)
        assert again.session == one.session
    return errors.get(asked), errors.get(wrote), ended

for version in "3.6.3", "3.8.0":
    server = Server(version)
    seen = both(server, (WHO_AM_I,))
    if version == "3.6.3":
        print("3.6.3: whoAmI: Unimplemented, the connection ends, the session lives; the write sent behind it: no reply")
        assert seen == (UNIMPLEMENTED, None, True), seen
    else:
        print(f"{version}: whoAmI: {seen[0]}, the write sent behind it: {seen[1]}")
        assert seen == (OK, OK, False), seen
    seen = both(server, (CREATE_TTL, create("/ttl", flags=5, ttl=1000)))
    assert seen == (UNIMPLEMENTED, OK, False), seen
    server.kill()
print("3.6.3, 3.8.0: TTL znode: Unimplemented, the write sent behind it: 0")
P
