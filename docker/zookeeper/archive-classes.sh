#!/bin/bash
# Writes the archive of classes that a server maps at its start instead of parsing jars (AppCDS).
#
# A class list of one server would miss half: leader and follower load different classes. So an ensemble of three runs
# for a moment, here in the build, together with the tools that are started often.
set -eu
archive=$1
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir -p "$(dirname "$archive")"
# Naming an archive that is not there yet would make the JVM refuse to list classes.
export ZOO_CLASS_ARCHIVE=""

java_listing() {
    zk-java.sh -XX:DumpLoadedClassList="$work/$1.classes" "${@:2}"
}

four_letters() {
    { exec 3<>"/dev/tcp/127.0.0.1/$1" && echo "$2" >&3 && cat <&3; } 2>/dev/null
}

for id in 1 2 3; do
    mkdir -p "$work/$id"
    echo "$id" > "$work/$id/myid"
    {
        printf '%s\n' "dataDir=$work/$id" tickTime=250 initLimit=40 syncLimit=8 \
            admin.enableServer=false '4lw.commands.whitelist=*'
        for peer in 1 2 3; do
            echo "server.$peer=127.0.0.1:${peer}2888:${peer}3888;127.0.0.1:${peer}2181"
        done
    } > "$work/$id.cfg"
    java_listing "$id" -Xmx256m org.apache.zookeeper.server.quorum.QuorumPeerMain "$work/$id.cfg" \
        > "$work/$id.log" 2>&1 &
done

serving=
for _ in $(seq 240); do
    serving=$(for id in 1 2 3; do four_letters "${id}2181" srvr | grep '^Mode' || true; done)
    [ "$(echo "$serving" | grep -c Mode)" = 3 ] && break
    sleep 0.25
done
if [ "$(echo "$serving" | grep -c Mode)" != 3 ]; then
    echo "the three servers of the build did not form an ensemble:" >&2
    tail -n 20 "$work"/?.log >&2
    exit 1
fi

java_listing cli -Xmx128m org.apache.zookeeper.ZooKeeperMain -server 127.0.0.1:12181 create -e -s /warm up \
    > /dev/null 2>&1 || true
for word in stat mntr cons dump wchs; do four_letters 12181 "$word" > /dev/null || true; done
kill $(jobs -p) 2>/dev/null || true
wait || true

# Newer JVMs number the classes of each list, and numbers of several lists clash.
sed -e '/ source: /d' -e 's/ id: [0-9]*$//' "$work"/*.classes | sort -u > "$work/all"
java -Xshare:dump -XX:SharedClassListFile="$work/all" -XX:SharedArchiveFile="$archive" \
    -Xmx256m -Xlog:cds=error -Xlog:cds+heap=error \
    -cp /usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar \
    > "$work/dump.log" 2>&1 || { tail -n 20 "$work/dump.log" >&2; exit 1; }
ls -l "$archive" >&2
