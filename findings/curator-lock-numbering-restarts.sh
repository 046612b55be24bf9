#!/usr/bin/env bash
# Curator 2.13.0 (Apache's jars, with a server 3.6.3), 5.4.0 (Debian 12, 3.8.0) and 5.9.0 (Apache's jars, 3.9.5), InterProcessMutex: the
# lock's parent is made as a container znode, which the server deletes some time after its last child has gone, a minute by default. The
# next acquire makes it anew, and the numbers of the lock's znodes begin at 0 again: a fencing token made of that number, or of the
# parent's cversion, goes back whenever the lock has been idle. A parent that is made beforehand as a persistent znode stays, and numbers
# go on. Here the server looks every 500 ms.
# Seen: Curator 2.13.0: number of a hold after the lock was idle: 0; on a parent made beforehand: 3
#       Curator 5.4.0: number of a hold after the lock was idle: 0; on a parent made beforehand: 3
#       Curator 5.9.0: number of a hold after the lock was idle: 0; on a parent made beforehand: 3
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.5
python3 - <<'P'
from zk import *

PROGRAM = """
import org.apache.curator.framework.*;
import org.apache.curator.framework.recipes.locks.*;
import org.apache.curator.retry.*;

class Program {
    static CuratorFramework client;

    static int hold(String path) throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        mutex.acquire();
        String name = client.getChildren().forPath(path).get(0);
        mutex.release();
        return Integer.parseInt(name.substring(name.length() - 10));
    }

    public static void main(String[] arguments) throws Exception {
        client = CuratorFrameworkFactory.newClient("127.0.0.1:" + arguments[0], 30000, 5000, new RetryNTimes(50, 100));
        client.start();
        client.create().forPath("/made");
        for (int n = 0; n < 3; n++) {
            hold("/made");
        }
        while (hold("/lock") < 1) {
            // Two holds between two looks of the server.
        }
        while (client.checkExists().forPath("/lock") != null) {
            Thread.sleep(20);
        }
        System.out.printf("number of a hold after the lock was idle: %d; on a parent made beforehand: %d%n", hold("/lock"), hold("/made"));
        System.exit(0);
    }
}
"""
for version in "3.6.3", "3.8.0", "3.9.5":
    server = Server(version, properties={"znode.container.checkIntervalMs": 500})
    [seen] = program(version, PROGRAM, server.port)
    print(f"Curator {CURATOR[version]}: {seen}")
    assert seen == "number of a hold after the lock was idle: 0; on a parent made beforehand: 3", seen
    server.kill()
P
