#!/usr/bin/env bash
# lockex 0.3 with kazoo 2.11.0 (PyPI), a command that runs another one under a lock of ZooKeeper: without `--lockid` the lock's name is the
# hash of the command, and Python's hash of a string is another one in each process since 3.3. So each process has a lock of its own, and
# the command that one host is to run runs on all of them at once. "The lock id is generated automatically based on user supplied command",
# as the documentation has it. With `--lockid` it excludes.
# Seen: lockex --no-blocking twice, no lockid: both ran at once True, locks made 2
#       the same with --lockid: both ran at once False, locks made 1
. "$(dirname "$0")/lib/zookeeper.sh"
start_zookeeper
pip_install lockex==0.3 click==8.1.8 psutil==7.0.0 python-gflags==3.1.2 future==1.0.0 six==1.17.0 kazoo==2.11.0
unset PYTHONHASHSEED
python3 -W ignore - "$port" "$work" <<'P'
import logging, os, subprocess, sys, time
from kazoo.client import KazooClient

def twice(folder, *options):
    """Whether two processes, the second begun while the command of the first runs, have it run at once; the locks there are."""
    os.mkdir(folder)
    # The command leaves a file for as long as it runs; it ends when both have, or after 4 s.
    command = f"touch {folder}/$$; for _ in $(seq 40); do sleep 0.1; [ $(ls {folder} | wc -l) -lt 2 ] || exit 0; done"
    begin = lambda: subprocess.Popen([sys.executable, "-W", "ignore", "-m", "lockex.execute", "-z", f"127.0.0.1:{sys.argv[1]}", "--no-blocking",
                                      "-p", os.path.basename(folder), *options, "--", command],
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    one = begin()
    while not os.listdir(folder):
        time.sleep(0.05)
        assert one.poll() is None
    other = begin()
    one.wait(30), other.wait(30)
    return len(os.listdir(folder)) == 2, len(zk.get_children("/" + os.path.basename(folder)))

logging.disable()
zk = KazooClient(f"127.0.0.1:{sys.argv[1]}")
zk.start()
seen = twice(sys.argv[2] + "/generated")
print("lockex --no-blocking twice, no lockid: both ran at once {}, locks made {}".format(*seen))
assert seen == (True, 2), seen
seen = twice(sys.argv[2] + "/given", "--lockid", "job")
print("the same with --lockid: both ran at once {}, locks made {}".format(*seen))
assert seen == (False, 1), seen
zk.stop()
P
