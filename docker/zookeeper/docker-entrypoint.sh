#!/bin/sh
# Writes zoo.cfg and myid from the environment, then becomes the command given.
#
# Both files are kept where they exist: a second start in the same container is a reboot of the same host.
set -e

# As in the official image the server does not run as root, so that what works here works there.
if [ "$1" = zkServer.sh ] && [ "$(id -u)" = 0 ]; then
    chown -R zookeeper:zookeeper "$ZOO_DATA_DIR" "$ZOO_DATA_LOG_DIR" "$ZOO_LOG_DIR" "$ZOO_CONF_DIR"
    exec setpriv --reuid=zookeeper --regid=zookeeper --clear-groups "$0" "$@"
fi

# Words are split on purpose: both variables are lists separated by blanks. A whitelist of `*` is no file name.
set -f
lines() {
    for line in "$@"; do echo "$line"; done
}

if [ ! -f "$ZOO_CONF_DIR/zoo.cfg" ]; then
    # Written aside and moved: a start that is killed half-way must not leave half a configuration to keep.
    {
        echo "dataDir=$ZOO_DATA_DIR"
        echo "dataLogDir=$ZOO_DATA_LOG_DIR"
        echo "tickTime=$ZOO_TICK_TIME"
        echo "initLimit=$ZOO_INIT_LIMIT"
        echo "syncLimit=$ZOO_SYNC_LIMIT"
        echo "autopurge.snapRetainCount=$ZOO_AUTOPURGE_SNAPRETAINCOUNT"
        echo "autopurge.purgeInterval=$ZOO_AUTOPURGE_PURGEINTERVAL"
        echo "maxClientCnxns=$ZOO_MAX_CLIENT_CNXNS"
        echo "standaloneEnabled=$ZOO_STANDALONE_ENABLED"
        echo "admin.enableServer=$ZOO_ADMINSERVER_ENABLED"
        lines ${ZOO_SERVERS:-"server.1=localhost:2888:3888;2181"}
        if [ -n "$ZOO_4LW_COMMANDS_WHITELIST" ]; then
            echo "4lw.commands.whitelist=$ZOO_4LW_COMMANDS_WHITELIST"
        fi
        lines $ZOO_CFG_EXTRA
    } > "$ZOO_CONF_DIR/.zoo.cfg.new"
    mv "$ZOO_CONF_DIR/.zoo.cfg.new" "$ZOO_CONF_DIR/zoo.cfg"
fi

if [ ! -s "$ZOO_DATA_DIR/myid" ]; then
    echo "${ZOO_MY_ID:-1}" > "$ZOO_DATA_DIR/myid"
fi

exec "$@"
