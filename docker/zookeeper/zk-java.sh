#!/bin/sh
# Becomes a JVM with ZooKeeper's classes: the process started is the JVM itself, so that a signal sent to it is a signal
# sent to the server.
#
# zookeeper.jar names the libraries it needs in its manifest. The serial collector and the first compiler alone make a
# server that starts fast and stays small; the archive of loaded classes saves half of what is left of the start.
# SLF4J's simple logger starts faster than any other and is told to look like the official image: time first, on stdout.
# Flags given later win, so JVMFLAGS can change each of these.
exec java \
    -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData \
    ${ZOO_CLASS_ARCHIVE:+"-XX:SharedArchiveFile=$ZOO_CLASS_ARCHIVE"} -Xlog:cds=off -Xlog:cds+dynamic=off \
    -XX:+HeapDumpOnOutOfMemoryError -XX:HeapDumpPath="$ZOO_LOG_DIR" "-XX:OnOutOfMemoryError=kill -9 %p" \
    -Dorg.slf4j.simpleLogger.logFile=System.out \
    -Dorg.slf4j.simpleLogger.showDateTime=true \
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss,SSS" \
    -cp "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar${CLASSPATH:+:$CLASSPATH}" \
    "$@"
