# Sourced by the findings that compare versions: beside $work (lib/zookeeper.sh) it has `get VERSION…`, and puts lib/zk.py within reach of
# `python3 -`. ZooKeeper 3.8.0 with Curator 5.4.0 are Debian 12's packages. 3.6.3 (Curator 2.13.0), 3.9.3 (5.7.1) and 3.9.5 (5.9.0) are
# Apache's own jars, which the source packages of pyspark 3.5.5, 4.0.0 and 4.3.0 on PyPI carry unchanged: 300 to 450 MB to download. With
# ZOOQUAKE_FINDINGS_CACHE=FOLDER what was unpacked stays in that folder for the next script.
. "$(dirname "${BASH_SOURCE[0]}")/zookeeper.sh"
PYTHONPATH=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${ZOOQUAKE_FINDINGS_CACHE:-$work/cache}
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1 work cache
mkdir -p "$cache" "$work/pids"
trap 'for pid in "$work"/pids/*; do kill -KILL "${pid##*/}" 2>/dev/null || true; done; rm -rf "$work"' EXIT

# get VERSION…: a Java runtime with its compiler in $cache/java, the jars of each version of ZooKeeper and its Curator in $cache/VERSION.
get() {
  local version spark root
  if [ ! -e "$cache/java" ] || [ ! -e "$cache/3.8.0" ]; then
    unpack openjdk-17-jre-headless libzookeeper-java=3.8.0-11+deb12u2 libslf4j-java=1.7.32-1 libnetty-java libdropwizard-metrics-java \
      libsnappy-java libcurator-client-java=5.4.0-3 libcurator-framework-java=5.4.0-3 libcurator-recipes-java=5.4.0-3 libguava-java
    root="$work/root/usr/lib/jvm/java-17-openjdk-$(dpkg --print-architecture)"
    # The runtime's settings are links into /etc.
    find "$root" -lname '/etc/java-17-openjdk/*' | while read -r link; do cp --remove-destination -rL "$work/root$(readlink "$link")" "$link"; done
    rm -rf "$cache/java" "$cache/3.8.0"; mkdir -p "$cache/3.8.0"
    cp -L "$work"/root/usr/share/java/{zookeeper,zookeeper-jute,slf4j-api,slf4j-nop,curator-client,curator-framework,curator-recipes,guava}.jar \
      "$work"/root/usr/share/java/{netty,metrics-core,snappy}*.jar "$cache/3.8.0"
    mv "$root" "$cache/java"
    "$cache/java/bin/java" -version 2>/dev/null
  fi
  for version; do
    [ ! -e "$cache/$version" ] || continue
    case $version in 3.6.3) spark=3.5.5 ;; 3.9.3) spark=4.0.0 ;; 3.9.5) spark=4.3.0 ;; *) echo "no such version: $version"; exit 1 ;; esac
    # pip asks the package's set-up for its metadata, which may fail; only the archive is wanted.
    mkdir -p "$work/sdist" "$work/jars"
    python3 -m pip download -q --disable-pip-version-check --no-deps --no-binary :all: -d "$work/sdist" "pyspark==$spark" >"$work/pip.log" 2>&1 || true
    [ -e "$work/sdist/pyspark-$spark.tar.gz" ] || { cat "$work/pip.log"; exit 1; }
    tar -xzf "$work/sdist/pyspark-$spark.tar.gz" -C "$work/jars" --strip-components=3 --wildcards '*/deps/jars/zookeeper-*.jar' '*/deps/jars/curator-*.jar' \
      '*/deps/jars/audience-annotations-*.jar' '*/deps/jars/netty-*.jar' '*/deps/jars/slf4j-api-*.jar' '*/deps/jars/metrics-core-*.jar' \
      '*/deps/jars/snappy-java-*.jar' '*/deps/jars/guava-*.jar' '*/deps/jars/commons-*.jar'
    rm -f "$work/sdist/pyspark-$spark.tar.gz" "$work"/jars/netty-tcnative-*.jar
    mv "$work/jars" "$cache/$version"
  done
}
