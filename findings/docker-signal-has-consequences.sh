#!/usr/bin/env bash
# Docker Engine 20.10.24 (Debian 12): `docker kill --signal` of a signal that ends nothing does more than send it. A paused container is
# resumed by it, so a signal to a node that is to stay frozen heals the fault. And a container that was once sent a signal, here a HUP that
# it handles, counts as stopped by hand: `--restart always` does not start it again when it ends by itself later. With no signal it does.
# Seen: paused, then docker kill --signal USR1: running
#       --restart always, exits with 3, no signal before: started again
#       --restart always, exits with 3, a HUP long before: stays exited
. "$(dirname "$0")/lib/docker.sh"
paused=$(run "$image" sleep 600)
docker pause "$paused" >/dev/null
docker kill --signal USR1 "$paused" >/dev/null
is "paused, then docker kill --signal USR1" "$(inspect "$paused" '{{.State.Status}}')" running

loop='trap "touch /heard" HUP; while [ ! -e /end ]; do sleep 0.1; done; [ -e /ended ] && sleep 600; touch /ended; exit 3'
restarted() { [ "$(inspect "$1" '{{.RestartCount}} {{.State.Status}}')" = "1 running" ]; }
exited() { [ "$(inspect "$1" '{{.State.Status}} {{.State.ExitCode}}')" = "exited 3" ]; }
plain=$(run --restart always "$image" sh -c "$loop")
signalled=$(run --restart always "$image" sh -c "$loop")
# A policy applies to containers that have been up for a while.
sleep 1
docker kill --signal HUP "$signalled" >/dev/null
soon docker exec "$signalled" ls /heard
for container in "$plain" "$signalled"; do docker exec "$container" touch /end; done
soon restarted "$plain"
echo "--restart always, exits with 3, no signal before: started again"
soon exited "$signalled"
sleep 3
is "--restart always, exits with 3, a HUP long before" "$(restarted "$signalled" && echo started again || echo stays exited)" "stays exited"
