#!/usr/bin/env bash
# Curator 2.13.0 (Apache's jars, with a server 3.6.3), 5.4.0 (Debian 12, 3.8.0) and 5.9.0 (Apache's jars, 3.9.5), GroupMember:
# `getCurrentMembers` adds the member itself whatever ZooKeeper has. A member that was never started lists itself, and one that is cut off
# goes on doing so when its session is over and nobody else lists it. So a member cannot learn from it that it is out.
# Seen: Curator 2.13.0: never started: lists itself; cut off until its session is over: lists itself; listed by the other: no
#       Curator 5.4.0: never started: lists itself; cut off until its session is over: lists itself; listed by the other: no
#       Curator 5.9.0: never started: lists itself; cut off until its session is over: lists itself; listed by the other: no
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.5
python3 - <<'P'
from zk import *

PROGRAM = """
import org.apache.curator.framework.*;
import org.apache.curator.framework.recipes.nodes.*;
import org.apache.curator.retry.*;

class Program {
    static GroupMember member(int port, String name) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient("127.0.0.1:" + port, 3000, 2000, new RetryNTimes(50, 100));
        client.start();
        client.blockUntilConnected();
        return new GroupMember(client, "/group", name, new byte[0]);
    }

    static void until(GroupMember member, String name, boolean listed) throws Exception {
        while (member.getCurrentMembers().containsKey(name) != listed) {
            Thread.sleep(20);
        }
    }

    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[0]);
        Proxy proxy = new Proxy(port);
        GroupMember one = member(proxy.port, "one"), other = member(port, "other");
        boolean before = one.getCurrentMembers().containsKey("one");
        one.start();
        other.start();
        until(other, "one", true);
        until(one, "other", true);
        proxy.cut();
        until(other, "one", false);
        // Long enough for the client to know it, too.
        Thread.sleep(4000);
        System.out.printf("%s %s %s%n", before, one.getCurrentMembers().containsKey("one"), other.getCurrentMembers().containsKey("one"));
        System.exit(0);
    }
}
"""
for version in "3.6.3", "3.8.0", "3.9.5":
    server = Server(version)
    [seen] = program(version, PROGRAM, server.port)
    assert seen == "true true false", seen
    print(f"Curator {CURATOR[version]}: never started: lists itself; cut off until its session is over: lists itself; listed by the other: no")
    server.kill()
P
