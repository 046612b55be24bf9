#!/usr/bin/env bash
# Fills fuzz/corpus with small inputs: runs in memory, and generated histories in every format.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -x target/debug/zooquake ] || cargo build --quiet
zooquake=target/debug/zooquake
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for target in edn_value history_edn history_json history_jsonl history_log history_txt record server_log txnlog; do mkdir -p "fuzz/corpus/$target"; done

for variant in lock/fenced rwlock/fenced semaphore/leases election/epoch queue/fifo barrier/double commit/atomic register/read counter/versioned; do
  "$zooquake" run "$variant" --on sim --clients 4 --servers 1 --faults none --time 6s --seed 1 --out "$work/${variant/\//-}" >/dev/null
  run=$work/${variant/\//-}/latest
  (cat "$run/history.jsonl"; for file in plan.json tree.json txnlog.jsonl servers.jsonl txnlogs.json provenance.json; do echo "--"; cat "$run/$file"; done) >"fuzz/corpus/record/${variant/\//-}"
  cp "$run/history.jsonl" "fuzz/corpus/history_jsonl/${variant/\//-}"
done
models=$("$zooquake" list --models | awk '$2 == "generated" { print $1 }')
for model in $models; do
  for violation in "" --violation; do
    name=${model/:/-}$violation
    "$zooquake" generate --model "$model" --ops 20 --clients 5 --unknown 0.1 $violation --out "$work/$name.jsonl" >/dev/null
    cp "$work/$name.jsonl" fuzz/corpus/history_jsonl/
    for format in edn json log; do
      "$zooquake" convert "$work/$name.jsonl" "fuzz/corpus/history_$format/$name.$format" >/dev/null
    done
    sed 's/^.*jepsen.util - //' "fuzz/corpus/history_log/$name.log" >"fuzz/corpus/history_txt/$name.txt"
    head -n 1 "fuzz/corpus/history_edn/$name.edn" | sed 's/^\[//' >"fuzz/corpus/edn_value/$name"
  done
done
# What is not generated: a key beside a value, and a completion without its invocation.
echo '{"index":0,"time":0,"process":0,"type":"invoke","f":"put","key":"x","value":"a"}' >fuzz/corpus/history_jsonl/key
echo '{"process":0,"type":"invoke","f":"read"}' >fuzz/corpus/history_json/bare
echo '^{:line 1} {:process 0, :type :fail, :f :read, :error #:zk{:code -4, :_/msg "x"}}' >fuzz/corpus/history_edn/printed
printf '0\t:invoke\t:cas\t[1 2]\n:nemesis\t:info\t:start\tnil\n0\t:info\t:cas\t[1 2]\tRead timed out\n\tat Foo\n' >fuzz/corpus/history_txt/error
printf '2019-06-10 10:31:00,100{GMT}\tINFO\t[jepsen worker 0] jepsen.util: 0\t:info\t:cas\t[0 2]\tRead timed out\n\tat Foo\n' >fuzz/corpus/history_log/traced
echo '{:process 1, :type :info, :f :enqueue, :value 3} {:process 0, :type :invoke, :f :drain, :value nil}' >fuzz/corpus/history_edn/unsent
printf 'INFO  jepsen.util - 0\t:invoke\t:cas\t[0 2]\nINFO  jepsen.util - 0\t:fail\t:cas\t[0 2]\n' >fuzz/corpus/history_log/mismatch
for log in checkers/tests/fixtures/*/*.log; do
  head -n 40 "$log" >"fuzz/corpus/server_log/$(basename "$(dirname "$log")")-$(basename "$log")"
done
# A header, and a transaction of each of four types without a digest: none of them is a sound entry, as the checksums are left to the fuzzer.
printf 'ZKLG\0\0\0\2\0\0\0\0\0\0\0\0' >fuzz/corpus/txnlog/header
for record in '\0\0\0\1\0\0\0\2/a\0\0\0\0\0\0\0\0\1\0\0\0\1' '\377\377\377\365\0\0\0\1\0\0\0\2/a' '\0\0\0\2\0\0\0\2/a' \
  '\0\0\0\016\0\0\0\1\0\0\0\2\0\0\0\6\0\0\0\2/a'; do
  printf "\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\0$record" >"fuzz/corpus/txnlog/$(printf %s "$record" | md5sum | cut -c1-8)"
done
for target in fuzz/corpus/*; do echo "$target: $(find "$target" -type f | wc -l) inputs"; done
