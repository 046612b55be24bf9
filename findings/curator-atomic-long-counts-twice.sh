#!/usr/bin/env bash
# Curator 2.13.0 (Apache's jars, with a server 3.6.3), 5.4.0 (Debian 12, 3.8.0) and 5.9.0 (Apache's jars, 3.9.5), DistributedAtomicLong: an
# increment whose write is applied and whose reply is lost counts twice. The client's retry policy sends the write again, the server says
# BadVersion, the recipe takes that for another client's change, reads its own increment and adds one more. The answer is `succeeded`,
# with a value before that no other client has made. A proxy on the loopback loses the one reply.
# Seen: Curator 2.13.0: one increment of 1, one reply lost: succeeded true, before 2, after 3; stored 3
#       Curator 5.4.0: one increment of 1, one reply lost: succeeded true, before 2, after 3; stored 3
#       Curator 5.9.0: one increment of 1, one reply lost: succeeded true, before 2, after 3; stored 3
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.5
python3 - <<'P'
from zk import *

PROGRAM = """
import org.apache.curator.framework.*;
import org.apache.curator.framework.recipes.atomic.*;
import org.apache.curator.retry.*;

class Program {
    public static void main(String[] arguments) throws Exception {
        Proxy proxy = new Proxy(Integer.parseInt(arguments[0]));
        CuratorFramework client = CuratorFrameworkFactory.newClient("127.0.0.1:" + proxy.port, 30000, 5000, new RetryNTimes(20, 100));
        client.start();
        DistributedAtomicLong number = new DistributedAtomicLong(client, "/number", new RetryNTimes(10, 10));
        number.increment();
        proxy.lose(Proxy.SET);
        AtomicValue<Long> value = number.increment();
        System.out.printf("succeeded %s, before %d, after %d; stored %d; lost %d%n", value.succeeded(), value.preValue(), value.postValue(),
            number.get().postValue(), proxy.lost);
        System.exit(0);
    }
}
"""
for version in "3.6.3", "3.8.0", "3.9.5":
    server = Server(version)
    [line] = program(version, PROGRAM, server.port)
    seen, lost = line.rsplit("; ", 1)
    print(f"Curator {CURATOR[version]}: one increment of 1, one reply lost: {seen}")
    assert (seen, lost) == ("succeeded true, before 2, after 3; stored 3", "lost 1"), line
    server.kill()
P
