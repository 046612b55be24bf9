# Sourced by the findings: a temporary folder `$work`, and a ZooKeeper 3.8.0 of Debian 12 in it that listens on 127.0.0.1:$port.
# All of it is gone when the script ends. Needs Debian's apt, dpkg and python3.
set -euo pipefail
lib=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT

# unpack PACKAGE=VERSION…: Debian packages into $work/root; nothing is installed on the host.
unpack() {
  mkdir -p "$work/debs" "$work/root"
  (cd "$work/debs" && apt-get download -q "$@" >"$work/apt.log" 2>&1 || { cat "$work/apt.log"; exit 1; })
  for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$work/root"; rm "$deb"; done
}

# pip_install REQUIREMENT…: pinned packages of PyPI into $work/site, which PYTHONPATH names then, and beside it this folder, for proxy.py.
pip_install() {
  python3 -m pip install -q --disable-pip-version-check --no-deps --target "$work/site" "$@" >"$work/pip.log" 2>&1 || { cat "$work/pip.log"; exit 1; }
  export PYTHONPATH="$work/site:$lib" PYTHONDONTWRITEBYTECODE=1
}

# build_go: the Go program on stdin, with the Go client of Debian 12, as $work/client.
build_go() {
  unpack golang-1.19-go=1.19.8-2 golang-1.19-src=1.19.8-2 golang-github-samuel-go-zookeeper-dev=0.0~git20180130.c4fab1a-1
  cat >"$work/client.go"
  GOROOT="$work/root/usr/lib/go-1.19" GOPATH="$work/root/usr/share/gocode" GO111MODULE=off GOCACHE="$work/cache" CGO_ENABLED=0 \
    "$work/root/usr/lib/go-1.19/bin/go" build -o "$work/client" "$work/client.go"
}

# build_rust DEPENDENCY…: the Rust program on stdin, with these lines of `[dependencies]`, as $work/client. Needs cargo on the host.
build_rust() {
  mkdir -p "$work/rust"
  cat >"$work/rust/main.rs"
  printf '[package]\nname = "client"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n[[bin]]\nname = "client"\npath = "main.rs"\n[dependencies]\n' >"$work/rust/Cargo.toml"
  printf '%s\n' "$@" >>"$work/rust/Cargo.toml"
  cargo build -q --manifest-path "$work/rust/Cargo.toml" --target-dir "$work/rust/target" >"$work/cargo.log" 2>&1 || { cat "$work/cargo.log"; exit 1; }
  mv "$work/rust/target/debug/client" "$work/client"
}

start_zookeeper() {
  unpack openjdk-17-jre-headless libzookeeper-java=3.8.0-11+deb12u2 libslf4j-java=1.7.32-1 libnetty-java libdropwizard-metrics-java libsnappy-java
  java="$work/root/usr/lib/jvm/java-17-openjdk-$(dpkg --print-architecture)"
  # The runtime's settings are links into /etc.
  find "$java" -lname '/etc/java-17-openjdk/*' | while read -r link; do ln -sf "$work/root$(readlink "$link")" "$link"; done
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  printf 'tickTime=200\nminSessionTimeout=400\nmaxSessionTimeout=40000\nclientPort=%s\nclientPortAddress=127.0.0.1\ndataDir=%s\nadmin.enableServer=false\n' "$port" "$work/data" >"$work/zoo.cfg"
  jars=$(printf '%s:' "$work"/root/usr/share/java/{zookeeper,zookeeper-jute,slf4j-api,slf4j-nop}.jar "$work"/root/usr/share/java/{netty,metrics,snappy}*.jar)
  "$java/bin/java" -XX:+UseSerialGC -cp "$jars" -Dzookeeper.extendedTypesEnabled=true org.apache.zookeeper.server.quorum.QuorumPeerMain "$work/zoo.cfg" >"$work/server.log" 2>&1 &
  server=$!
  for _ in $(seq 100); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && return
    kill -0 "$server" 2>/dev/null || { cat "$work/server.log"; exit 1; }
    sleep 0.1
  done
  cat "$work/server.log"; exit 1
}
