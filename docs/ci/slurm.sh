#!/bin/sh
# A night as a job array of Slurm, and a job behind it that makes one night of the parts. Copy it beside your campaign file
# (docs/nightly.md) in a folder that all nodes share; each node needs a Docker engine that jobs can reach.
#
#   ZOOQUAKE_URL=https://… sh slurm.sh            four parts of nightly.toml
#   ZOOQUAKE_URL=https://… PARTS=16 CAMPAIGN=other.toml sh slurm.sh
#
# ZOOQUAKE_URL is where zooquake comes from: the archive of a release, with the program `zooquake` in it; beside it lies its .sha256 (docs/ci/release.yml). More options of sbatch, such as
# --partition or --time, go into SBATCH_* variables.
set -eu
PARTS=${PARTS:-4}
export CAMPAIGN="${CAMPAIGN:-nightly.toml}"
# One date for all parts, also for those that begin after midnight: new seeds are drawn from it.
DATE=$(date -u +%F)
export DATE
url=${ZOOQUAKE_URL:?give the URL of the archive of a release}
curl -fsSL -O "$url"
curl -fsSL "${url%.tar.gz}.sha256" | sha256sum -c --ignore-missing
tar -xzf "${url##*/}" zooquake
mkdir -p nights

# zooquake reads which part this is from Slurm's own variables. What is new or unknown is decided by the whole.
array=$(sbatch --parsable --array="1-$PARTS" --job-name=zooquake --output="nights/%A-part-%a.log" <<'PART'
#!/bin/sh
code=0
# What an earlier job left that was killed; of jobs that go on nothing.
./zooquake clean
./zooquake nightly "$CAMPAIGN" --shard auto --date "$DATE" --budget 100m \
  --out "nights/$SLURM_ARRAY_JOB_ID-part-$SLURM_ARRAY_TASK_ID" || code=$?
[ "$code" -le 2 ] || exit "$code"
PART
)
array=${array%%;*}

# Whatever became of the parts: one that is missing or was cut off is stated. The job's exit code is that of the night.
ARRAY=$array sbatch --parsable --dependency="afterany:$array" --job-name=zooquake-night --output="nights/$array.log" <<'NIGHT'
#!/bin/sh
code=0
./zooquake merge "nights/$ARRAY"-part-*/ --out "nights/$DATE-$ARRAY" --require 0.5 --junit junit.xml || code=$?
./zooquake report nights
exit "$code"
NIGHT
