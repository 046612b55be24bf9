#!/usr/bin/env bash
# Docker Engine 20.10.24 (Debian 12): `docker network disconnect` ends no TCP connection. Its interface is taken away, nothing is reset, and
# after `docker network connect` with the same address the same connection goes on and delivers what was sent meanwhile: a fault like a
# partition, not like a reset. What is not put back is what `docker run` asked for: the network alias is gone, so whoever looks that name
# up finds nobody.
# Seen: connection: receives; disconnected: stands still, open on both sides; connected again: receives everything that was sent
#       alias: there before, gone afterwards
. "$(dirname "$0")/lib/docker.sh"
server=$(run --network "$network" --network-alias "$name-alias" "$image" sh -c 'sleep 600 | nc -l -p 9 >/got; touch /ended; sleep 600')
address=$(inspect "$server" '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}')
client=$(run --network "$network" "$image" sh -c "n=0; while sleep 0.1; do n=\$((n+1)); echo \$n; echo \$n >/sent; done | nc $address 9; touch /ended; sleep 600")
got() { docker exec "$server" wc -l /got | cut -d' ' -f1; }
more_than() { [ "$(got)" -gt "$1" ]; }
aliases() { inspect "$server" '{{range .NetworkSettings.Networks}}{{.Aliases}}{{end}}' | grep -c "$name-alias" || true; }
soon more_than 3
before=$(aliases)
docker network disconnect "$network" "$server"
first=$(got)
sleep 2
second=$(got) sent=$(docker exec "$client" cat /sent)
[ "$first" = "$second" ] && [ "$sent" -gt "$second" ] || { echo "first $first second $second sent $sent"; exit 1; }
docker network connect "$network" "$server"
# Nobody has taken the address meanwhile.
[ "$(inspect "$server" '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}')" = "$address" ]
soon more_than "$sent"
! docker exec "$server" ls /ended >/dev/null 2>&1 && ! docker exec "$client" ls /ended >/dev/null 2>&1
docker exec "$server" cat /got >"$work/got"
seq "$(wc -l <"$work/got")" | cmp - "$work/got"
echo "connection: receives; disconnected: stands still, open on both sides; connected again: receives everything that was sent"
[ "$before $(aliases)" = "1 0" ]
echo "alias: there before, gone afterwards"
