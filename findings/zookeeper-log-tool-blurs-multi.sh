#!/usr/bin/env bash
# ZooKeeper 3.6.3, 3.9.3 and 3.9.5 (Apache's jars), TxnLogToolkit, which zkTxnLogToolkit.sh runs to dump a transaction log as text: the parts of a multi are
# printed as the bytes that the log has, NUL bytes and all, where the same operations alone are printed as fields (TxnLogToolkit, the case
# of `multi` makes a string of each part's bytes). Versions, flags of ephemeral znodes and the errors of a refused multi cannot be read. One multi makes
# the whole dump a binary file for grep: it prints no line, not those of plain transactions either, only a remark that something matches. With
# `grep -a` the lines are there.
# Seen: 3.6.3: alone: 'setData /plain,x,1', 'error -101'; in a multi: no version, no code, bytes 00 in the dump; grep setData: no line; grep -a setData: 2 lines
#       3.9.3: alone: 'setData /plain,x,1', 'error -101'; in a multi: no version, no code, bytes 00 in the dump; grep setData: no line; grep -a setData: 2 lines
#       3.9.5: alone: 'setData /plain,x,1', 'error -101'; in a multi: no version, no code, bytes 00 in the dump; grep setData: no line; grep -a setData: 2 lines
. "$(dirname "$0")/lib/versions.sh"
get 3.6.3 3.9.3 3.9.5
python3 - <<'P'
import glob
from zk import *

ANY = struct.pack(">i", -1)


def grep(dump, *arguments):
    return subprocess.run(["grep", *arguments], input=dump, capture_output=True, env={**os.environ, "LC_ALL": "C.UTF-8"}).stdout


for version in "3.6.3", "3.9.3", "3.9.5":
    server = Server(version)
    client = Client(server)
    client.create("/plain")
    client.set("/plain", b"x")
    client.call(DELETE, text("/missing") + ANY)
    client.ok(MULTI, multi((SET, text("/plain") + data(b"y") + ANY), (CREATE, create("/short-lived", flags=1))))
    client.call(MULTI, multi((CHECK, text("/missing") + ANY), (CREATE, create("/never"))))
    client.close()
    server.process.terminate()
    server.process.wait()
    [log] = glob.glob(f"{server.data}/version-2/log.*")
    tool = java(version, "org.apache.zookeeper.server.persistence.TxnLogToolkit", "-d", log, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    dump = tool.communicate()[0]
    alone = [line for line in ("setData /plain,x,1", "error -101") if f"{line}\n".encode() in dump]
    done, refused = [line for line in dump.split(b"\n") if b" multi " in line]
    together = b"setData:" in done and b"\0" in done and b"error:" in refused and b"-101" not in refused and b"true" not in done
    plain, asked = grep(dump, "setData").count(b"\n"), grep(dump, "-a", "setData").count(b"\n")
    print(f"{version}: alone: {', '.join(map('{0!r}'.format, alone))}; in a multi: {'no version, no code, bytes 00 in the dump' if together else (done, refused)}; "
          f"grep setData: {plain or 'no'} line; grep -a setData: {asked} lines")
    assert len(alone) == 2 and together and (plain, asked) == (0, 2), dump
P
