# Sourced by the findings about the Docker engine: an image $image of Debian 12's busybox, `run ARGUMENT…`, which starts a container and
# prints its id, and the network $network. All of them are removed when the script ends. Needs an engine, the docker client and apt.
. "$(dirname "${BASH_SOURCE[0]}")/zookeeper.sh"
name=zooquake-finding-$$-$RANDOM
image=$name:busybox network=$name
cleanup() {
  # One after the other: an engine of this age loses count of a network that several containers leave at once.
  for container in $(docker ps -aq --filter "label=$name"); do docker rm -fv "$container" >/dev/null 2>&1 || true; done
  docker network rm "$network" >/dev/null 2>&1 || true
  docker image rm -f "$image" >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap cleanup EXIT
unpack busybox-static=1:1.35.0-4+deb12u1+b1
mkdir -p "$work/image/bin"
cp "$work/root/bin/busybox" "$work/image/bin"
for applet in sh sleep nc ip cat touch echo ls wc; do ln -s busybox "$work/image/bin/$applet"; done
tar -C "$work/image" -c . | docker import - "$image" >/dev/null
docker network create --label "$name" "$network" >/dev/null

run() { docker run -d --label "$name" "$@"; }
inspect() { docker inspect -f "$2" "$1"; }

# is WHAT SEEN EXPECTED: prints what is seen, and ends the script if it is something else.
is() {
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "expected: $3"; exit 1; }
}

# soon COMMAND…: waits until it succeeds, for 20 s at most.
soon() {
  for _ in $(seq 200); do ! "$@" >/dev/null 2>&1 || return 0; sleep 0.1; done
  echo "not within 20 s: $*"; exit 1
}
