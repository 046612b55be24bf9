#!/bin/sh
# ZooKeeper's reader of transaction logs: `zkTxnLogToolkit.sh -d /datalog/version-2/log.1` prints a transaction a line.
# Its messages go to stderr, which leaves stdout to the transactions.
exec zk-java.sh -Xmx"${ZK_CLIENT_HEAP:-128}"m -Dorg.slf4j.simpleLogger.defaultLogLevel=warn \
    -Dorg.slf4j.simpleLogger.logFile=System.err $JVMFLAGS \
    org.apache.zookeeper.server.persistence.TxnLogToolkit "$@"
