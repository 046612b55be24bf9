#!/usr/bin/env bash
# Docker Engine 20.10.24 (Debian 12): a container that joins another one's network (`--network container:NAME`) joins the namespace of the
# moment. When the other one is restarted it gets a new namespace, and the sidecar stays in the old one, which has nothing but a loopback:
# it runs, its configuration names the other container as before, and rules or proxies in it bear on nobody. A restart of the sidecar helps.
# Seen: before: eth0 in the server, eth0 in the sidecar, same addresses
#       after a restart of the server: eth0 in the server, none in the sidecar, which is running
#       after a restart of the sidecar: eth0 in both
. "$(dirname "$0")/lib/docker.sh"
server=$(run --network "$network" "$image" sleep 600)
sidecar=$(run --network "container:$server" "$image" sleep 600)
address() { docker exec "$1" ip -4 -o addr show eth0 2>/dev/null | tr -s ' ' | cut -d' ' -f4; }
first=$(address "$server")
[ -n "$first" ] && [ "$first" = "$(address "$sidecar")" ]
echo "before: eth0 in the server, eth0 in the sidecar, same addresses"
docker restart -t 0 "$server" >/dev/null
[ -n "$(address "$server")" ] && [ -z "$(address "$sidecar")" ]
[ "$(inspect "$sidecar" '{{.State.Status}} {{.HostConfig.NetworkMode}}')" = "running container:$server" ]
echo "after a restart of the server: eth0 in the server, none in the sidecar, which is running"
docker restart -t 0 "$sidecar" >/dev/null
[ -n "$(address "$server")" ] && [ "$(address "$server")" = "$(address "$sidecar")" ]
echo "after a restart of the sidecar: eth0 in both"
