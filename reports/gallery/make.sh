#!/usr/bin/env bash
# Makes the gallery anew, on real ensembles: a run of each family, a comparison, a night. About 20 minutes on two cores.
# Runs stay in target/gallery. It needs a Docker engine, and target/release/zooquake.
set -euo pipefail
cd "$(dirname "$0")/../.."
# Pages show the command lines to run again by the program's name.
PATH="$PWD/target/release:$PATH"
gallery=reports/gallery made=target/gallery
rm -rf "$made"
mkdir -p "$made"

# What is invalid ends with 1, and that is what it is here for: only wrong usage and a failure of the harness end the script.
judged() {
  local code=0
  zooquake "$@" || code=$?
  [ "$code" -lt 254 ]
}

run() {
  local name=$1
  shift
  judged run "$@" --on docker --out "$made/$name"
  cp "$made/$name/latest/report.html" "$gallery/$name.html"
}

run lock lock/predecessor --faults pause,drop-reply --time 30s --seed 3
run rwlock rwlock/neighbour --faults none --time 15s --seed 7
run semaphore semaphore/counted --faults drop-reply --time 20s --seed 7
run election election/ticket --faults pause,drop-reply --time 30s --seed 4
run queue planted/Q1 --faults drop-reply --time 8s --seed 1
run barrier planted/B1 --faults none --time 15s --seed 1
run commit commit/coordinated --faults kill,disconnect --time 25s --seed 3
run counter counter/unconditional --faults drop-reply --time 25s --seed 1
# ZooKeeper itself: a follower that lags (advisory), and its own elections.
run register register/read --faults pause,partition --time 30s --seed 2
run ensemble ensemble/textbook

judged compare lock --variants predecessor,protected,fenced --faults pause,drop-reply --times 2 --time 20s --out "$made/compare"
cp "$made/compare/compare.html" "$gallery/compare.html"

judged nightly "$gallery/campaign.toml" --out "$made/night"
cp "$made/night/index.html" "$gallery/night.html"

# Paths as seen from here: those of this machine are nobody else's.
sed -i "s#$PWD/##g" "$gallery"/*.html

image=$(zooquake images --chromium --json | sed -n 's/.*"\(zooquake-chromium:[^"]*\)".*/\1/p' | head -n 1)
chmod 777 "$made"
for page in "$gallery"/*.html; do
  cp "$page" "$made/page.html"
  docker run --rm --network none -v "$PWD/$made:/shot" --entrypoint chromium "$image" --headless --no-sandbox --disable-gpu --hide-scrollbars \
    --force-device-scale-factor=0.4 --window-size=1280,900 --screenshot=/shot/page.png file:///shot/page.html
  cp "$made/page.png" "${page%.html}.png"
done

# The README's picture: the first screen of the run that it begins with.
judged run lock/predecessor --on sim --seed 5 --out "$made/predecessor"
sed "s#$PWD/$made/predecessor/#runs/#g" "$made/predecessor/latest/report.html" > "$made/page.html"
docker run --rm --network none -v "$PWD/$made:/shot" --entrypoint chromium "$image" --headless --no-sandbox --disable-gpu --hide-scrollbars \
  --window-size=1400,770 --screenshot=/shot/page.png file:///shot/page.html
cp "$made/page.png" "$gallery/predecessor.png"

for page in "$gallery"/*.html; do
  [ "$(stat -c %s "$page")" -lt 1000000 ] || { echo "$page is too large"; exit 1; }
done
