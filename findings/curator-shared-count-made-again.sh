#!/usr/bin/env bash
# Curator 2.13.0 (Apache's jars, with a server 3.6.3), 5.4.0 (Debian 12, 3.8.0) and 5.9.0 (Apache's jars, 3.9.5), SharedCount, which is
# a SharedValue, whose znode is deleted and made again: the object goes on showing the old number, since its watch ended with the znode.
# Once others have written as often as it had, its `trySetCount` is applied to what it shows by a version of the znode before, and
# overwrites their number. 5.9.0 takes the new number after a `trySetCount` that was refused, as it compares zxids; the others compare
# versions and never do.
# Seen: Curator 2.13.0: count 3, made again as 100, shown: 3; others set 103, shown: 3, trySetCount: true, stored: 4; with a trySetCount between: shown 3 after it; others set 103, shown: 3, trySetCount: true, stored: 4
#       Curator 5.4.0: count 3, made again as 100, shown: 3; others set 103, shown: 3, trySetCount: true, stored: 4; with a trySetCount between: shown 3 after it; others set 103, shown: 3, trySetCount: true, stored: 4
#       Curator 5.9.0: count 3, made again as 100, shown: 3; others set 103, shown: 3, trySetCount: true, stored: 4; with a trySetCount between: shown 100 after it; others set 103, shown: 103, trySetCount: true, stored: 104
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.5
python3 - <<'P'
from zk import *

PROGRAM = """
import java.nio.ByteBuffer;
import org.apache.curator.framework.*;
import org.apache.curator.framework.recipes.shared.*;
import org.apache.curator.retry.*;

class Program {
    static CuratorFramework client(String port) {
        CuratorFramework client = CuratorFrameworkFactory.newClient("127.0.0.1:" + port, new RetryNTimes(5, 100));
        client.start();
        return client;
    }

    static byte[] bytes(int number) {
        return ByteBuffer.allocate(4).putInt(number).array();
    }

    public static void main(String[] arguments) throws Exception {
        CuratorFramework client = client(arguments[0]), others = client(arguments[0]);
        for (boolean triesBetween : new boolean[] {false, true}) {
            String path = "/" + triesBetween;
            SharedCount count = new SharedCount(client, path, 0);
            count.start();
            for (int n = 1; n <= 3; n++) count.setCount(n);
            others.delete().forPath(path);
            Thread.sleep(1000);
            others.create().forPath(path, bytes(100));
            Thread.sleep(2000);
            int shown = count.getCount();
            boolean between = triesBetween && count.trySetCount(count.getVersionedValue(), shown + 1);
            int then = count.getCount();
            for (int n = 101; n <= 103; n++) others.setData().forPath(path, bytes(n));
            Thread.sleep(2000);
            VersionedValue<Integer> read = count.getVersionedValue();
            boolean set = count.trySetCount(read, read.getValue() + 1);
            int stored = ByteBuffer.wrap(others.getData().forPath(path)).getInt();
            System.out.printf("%d %s %d %d %s %d%n", shown, between, then, read.getValue(), set, stored);
        }
        System.exit(0);
    }
}
"""
for version in "3.6.3", "3.8.0", "3.9.5":
    server = Server(version)
    seen = program(version, PROGRAM, server.port)
    stale, tried = (line.split() for line in seen)
    print(f"Curator {CURATOR[version]}: count 3, made again as 100, shown: {stale[0]}; others set 103, shown: {stale[3]}, trySetCount: {stale[4]}, "
          f"stored: {stale[5]}; with a trySetCount between: shown {tried[2]} after it; others set 103, shown: {tried[3]}, "
          f"trySetCount: {tried[4]}, stored: {tried[5]}")
    assert stale == ["3", "false", "3", "3", "true", "4"], seen
    assert tried == (["3", "false", "100", "103", "true", "104"] if version == "3.9.5" else ["3", "false", "3", "3", "true", "4"]), seen
    server.kill()
P
