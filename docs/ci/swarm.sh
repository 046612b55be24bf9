#!/bin/sh
# A night as a service of Docker Swarm whose tasks are jobs, one for each part. Copy it beside your campaign file (docs/nightly.md) in a
# folder that all nodes have at the same path, and run it there on a manager. Each task drives the engine of the node it is on.
#
#   ZOOQUAKE_URL=https://… sh swarm.sh            four parts of nightly.toml
#   ZOOQUAKE_URL=https://… PARTS=16 CAMPAIGN=other.toml sh swarm.sh
#
# ZOOQUAKE_URL is where zooquake comes from: the archive of a release, with the program `zooquake` in it; beside it lies its .sha256 (docs/ci/release.yml). The program needs of the image
# that it runs in nothing but a shell; all nodes must have it, or be able to pull it.
set -eu
PARTS=${PARTS:-4}
CAMPAIGN=${CAMPAIGN:-nightly.toml}
IMAGE=${IMAGE:-busybox}
SOCKET=${SOCKET:-/var/run/docker.sock}
# One date for all parts, also for those that begin after midnight: new seeds are drawn from it.
DATE=$(date -u +%F)
NIGHT=$DATE-$(date -u +%H%M%S)
url=${ZOOQUAKE_URL:?give the URL of the archive of a release}
curl -fsSL -O "$url"
curl -fsSL "${url%.tar.gz}.sha256" | sha256sum -c --ignore-missing
tar -xzf "${url##*/}" zooquake
mkdir -p nights

# Slots of such a service begin at 0, parts at 1; in place of slot 0 the engine names the node.
part='case $SLOT in *[!0-9]*) SLOT=0 ;; esac
  part=$((SLOT + 1))
  ./zooquake clean
  ZOOQUAKE_SHARD=$part/$PARTS exec ./zooquake nightly "$CAMPAIGN" --shard auto --date "$DATE" --budget 100m \
    --out "nights/$NIGHT-part-$part"'
docker service create --detach --name "zooquake-$NIGHT" --mode replicated-job --replicas "$PARTS" \
  --restart-condition none --no-resolve-image \
  --env "SLOT={{.Task.Slot}}" --env "PARTS=$PARTS" --env "TMPDIR=$PWD/nights" \
  --env "CAMPAIGN=$CAMPAIGN" --env "DATE=$DATE" --env "NIGHT=$NIGHT" \
  --mount "type=bind,source=$PWD,target=$PWD" \
  --mount "type=bind,source=$SOCKET,target=/var/run/docker.sock" \
  --workdir "$PWD" \
  --entrypoint sh "$IMAGE" -c "$part"

# Until no task is left that has not ended.
while docker service ps --format '{{.CurrentState}}' "zooquake-$NIGHT" | grep -qvE '^(Complete|Failed|Rejected|Shutdown|Orphaned|Remove)'; do
  sleep 5
done
docker service logs "zooquake-$NIGHT" >"nights/$NIGHT.log" 2>&1
docker service rm "zooquake-$NIGHT" >/dev/null

# The exit code is that of the night; a part that is missing or was cut off is stated.
code=0
./zooquake merge "nights/$NIGHT"-part-*/ --out "nights/$NIGHT" --require 0.5 --junit junit.xml || code=$?
./zooquake report nights
exit "$code"
