#!/usr/bin/env bash
# Docker Engine 20.10.24 (Debian 12): `docker pause` makes a healthy container unhealthy in the same moment. No probe has failed: the
# failing streak is 0, the last result is a success, and the retries that were asked for are not waited for. After `docker unpause` it
# stays unhealthy until the next probe is due, by default for 30 s. So who asks for health is told of a pause at once, of its end late.
# Seen: before: running healthy, failing streak 0
#       paused: paused unhealthy, failing streak 0, last probe 0
#       resumed: running unhealthy, failing streak 0
#       after the next probe: running healthy
. "$(dirname "$0")/lib/docker.sh"
container=$(run --health-cmd true --health-interval 3s --health-retries 5 --health-timeout 3s "$image" sleep 600)
state='{{.State.Status}} {{.State.Health.Status}}'
healthy() { [ "$(inspect "$container" '{{.State.Health.Status}}')" = healthy ]; }
soon healthy
is before "$(inspect "$container" "$state, failing streak {{.State.Health.FailingStreak}}")" "running healthy, failing streak 0"
docker pause "$container" >/dev/null
is paused "$(inspect "$container" "$state, failing streak {{.State.Health.FailingStreak}}, last probe {{(index .State.Health.Log 0).ExitCode}}")" \
  "paused unhealthy, failing streak 0, last probe 0"
docker unpause "$container" >/dev/null
is resumed "$(inspect "$container" "$state, failing streak {{.State.Health.FailingStreak}}")" "running unhealthy, failing streak 0"
soon healthy
is "after the next probe" "$(inspect "$container" "$state")" "running healthy"
