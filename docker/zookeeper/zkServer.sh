#!/bin/sh
# The two commands of ZooKeeper's zkServer.sh that make sense in a container.
config=${2:-$ZOO_CONF_DIR/zoo.cfg}
case "$1" in
    start-foreground)
        # Unquoted on purpose: flags are lists separated by blanks.
        exec zk-java.sh -Xmx"${ZK_SERVER_HEAP:-256}"m $SERVER_JVMFLAGS $JVMFLAGS \
            org.apache.zookeeper.server.quorum.QuorumPeerMain "$config"
        ;;
    status)
        exec zk-java.sh -Xmx64m -Dorg.slf4j.simpleLogger.defaultLogLevel=warn $CLIENT_JVMFLAGS \
            org.apache.zookeeper.client.FourLetterWordMain localhost "${ZOO_CLIENT_PORT:-2181}" srvr
        ;;
    *)
        echo "usage: zkServer.sh start-foreground|status [CONFIG]" >&2
        exit 64
        ;;
esac
