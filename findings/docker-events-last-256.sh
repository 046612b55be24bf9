#!/usr/bin/env bash
# Docker Engine 20.10.24 (Debian 12): `docker events --since` answers from the last 256 events of the whole engine, whatever time is asked
# for, and says nothing about those that it has no more; filters apply afterwards. What a container did is lost once others have done
# enough. A record of a run's events has to be read while it runs.
# Seen: container a: create, start; then 300 events of container b: events of a since the beginning: 0, of b: 256 or fewer
. "$(dirname "$0")/lib/docker.sh"
began=$(date +%s)
a=$(run "$image" sleep 600)
b=$(run "$image" sleep 600)
since() { docker events --since "$began" --until "$(($(date +%s) + 1))" --filter "container=$1" --format '{{.Action}}'; }
first=$(since "$a" | sort | tr '\n' ' ')
[ "$first" = "create start " ] || { echo "events of a: $first"; exit 1; }
for n in $(seq 300); do docker rename "$b" "$name-$((n % 2))"; done
of_a=$(since "$a" | wc -l) of_b=$(since "$b" | wc -l)
echo "container a: create, start; then 300 events of container b: events of a since the beginning: $of_a, of b: 256 or fewer"
[ "$of_a" = 0 ] && [ "$of_b" -gt 0 ] && [ "$of_b" -le 256 ] || { echo "of a $of_a, of b $of_b"; exit 1; }
