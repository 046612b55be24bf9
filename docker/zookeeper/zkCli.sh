#!/bin/sh
# ZooKeeper's own command line client.
exec zk-java.sh -Xmx"${ZK_CLIENT_HEAP:-128}"m -Dorg.slf4j.simpleLogger.defaultLogLevel=warn $CLIENT_JVMFLAGS $JVMFLAGS \
    org.apache.zookeeper.ZooKeeperMain "$@"
