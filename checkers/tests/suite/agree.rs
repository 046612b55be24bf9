//! The checkers agree with the brute force on a hundred thousand random histories of locks and as many of elections, and on forty
//! thousand each of locks that clients share or that several may hold, of read-write locks and of semaphores.

use crate::election::{self, Words};
use crate::{brute, foreign, naive, overlaps, semaphore, world};
use std::collections::{BTreeMap, BTreeSet};
use zooquake_checkers::{Anomaly, Record, Results, Verdict, check};

/// Histories in each of the tests below, which share the work so that they can run side by side.
fn each(source: Source) -> u64 {
    crate::histories(source.usual).div_ceil(4)
}

/// Of how many confirmed grants all orders are tried.
const MOST_CONFIRMED: usize = 7;

/// How many histories had each anomaly.
type Counts = BTreeMap<String, u64>;

fn of<'a>(results: &'a Results, kind: &str) -> Vec<&'a Anomaly> {
    results
        .anomalies
        .iter()
        .filter(|anomaly| anomaly.kind == kind)
        .collect()
}

/// The events of a kind of operation's ok that come last in the witnesses.
fn last_reads(record: &Record, found: &[&Anomaly]) -> BTreeSet<usize> {
    let last = |anomaly: &&Anomaly| {
        let read = |at: &&usize| record.history.events[**at].f == "acquire";
        anomaly.witness.iter().rev().find(read).copied().expect("a grant")
    };
    found.iter().map(last).collect()
}

/// Random histories, and what their family calls its anomalies.
#[derive(Clone, Copy)]
struct Source {
    make: fn(u64) -> Record,
    words: Words,
    /// Whether several clients may hold.
    moded: bool,
    /// An anomaly beside those of all.
    more: Option<&'static str>,
    /// How many histories there are of the sort, if nothing else is said.
    usual: u64,
    /// Each anomaly is in more than one of so many histories.
    one_of: u64,
}

const LOCKS: Source = Source {
    make: world::record,
    words: election::LOCK,
    moded: false,
    more: None,
    usual: 100_000,
    one_of: 50,
};

const MODED: Source = Source {
    make: world::moded,
    words: election::LOCK,
    moded: true,
    more: Some("over-capacity"),
    usual: 40_000,
    one_of: 200,
};

const RWLOCKS: Source = Source {
    make: world::rwlock,
    more: None,
    ..MODED
};

const SEMAPHORES: Source = Source {
    make: semaphore::random,
    words: semaphore::WORDS,
    ..MODED
};

/// The anomaly of more clients than may hold.
const OVER: &str = "over-capacity";

const ELECTIONS: Source = Source {
    make: election::acknowledged,
    words: election::ELECTION,
    moded: false,
    more: Some("unacknowledged-leader"),
    usual: 100_000,
    one_of: 50,
};

/// A history of a lock is judged as that, or retold as one of an election or a semaphore; what is true of it is the same.
fn agree(seed: u64, source: Source, counts: &mut Counts) {
    let words = source.words;
    let record = (source.make)(seed);
    let results = check(&match words {
        Words { elects: true, .. } => election::retold(&record),
        Words { writes: false, .. } => semaphore::retold(&record),
        _ => record.clone(),
    });
    if words.elects {
        let (told, naive) = (election::told(&record, &results), election::unacknowledged(&record));
        assert_eq!(told, naive, "seed {seed}");
    }
    let events = &record.history.events;
    let found = |kind: &str| of(&results, kind);

    let exclusive = found(words.double).is_empty() && found(OVER).is_empty();
    if brute::confirmed(&record) <= MOST_CONFIRMED {
        assert_eq!(exclusive, brute::exclusive(&record), "seed {seed}");
    }
    let mut overlaps = overlaps::overlaps(&record);
    if words.double == OVER {
        overlaps.over.append(&mut overlaps.doubles);
    }
    let mut all = vec![(OVER, overlaps.over), (words.stale_holder, overlaps.stale)];
    if words.double != OVER {
        all.push((words.double, overlaps.doubles));
    }
    if words.writes {
        assert_eq!(found("stale-write").is_empty(), brute::unmixed(&record), "seed {seed}");
        all.push((words.regression, naive::regressions(&record)));
    }
    for (kind, naive) in all {
        assert_eq!(last_reads(&record, &found(kind)), naive, "{kind}, seed {seed}");
    }
    if !source.moded {
        assert_eq!(found("stale-write").is_empty(), brute::ordered(&record), "seed {seed}");
    }
    let lost = naive::lost(&record);
    let asked = |anomaly: &&Anomaly| {
        anomaly
            .witness
            .iter()
            .copied()
            .find(|&at| events[at].f == "acquire")
            .expect("an acquire")
    };
    assert_eq!(
        found(words.pending).iter().map(asked).collect::<BTreeSet<usize>>(),
        lost,
        "seed {seed}"
    );
    let orphans = naive::orphans(&record);
    let whys: Vec<&str> = found("orphan-node")
        .iter()
        .map(|anomaly| anomaly.why.as_str())
        .collect();
    assert_eq!(whys.len(), orphans.len(), "seed {seed}: {whys:?}");
    assert!(
        orphans
            .iter()
            .all(|path| whys.iter().any(|why| why.contains(&format!("{path} ")))),
        "seed {seed}"
    );
    unowned(&record, &found("unowned-release"), seed);
    let by_others = found("foreign-znode").into_iter();
    let by_others: BTreeSet<(usize, bool)> = by_others
        .map(|anomaly| (*anomaly.witness.last().expect("a grant"), !anomaly.advisory))
        .collect();
    assert_eq!(by_others, foreign::naive(&record), "seed {seed}");

    let wrong = results.anomalies.iter().any(|anomaly| !anomaly.advisory);
    assert_eq!(results.verdict == Verdict::Invalid, wrong, "seed {seed}");
    let kinds: BTreeSet<&str> = results.anomalies.iter().map(|anomaly| anomaly.kind.as_str()).collect();
    for kind in kinds.into_iter().chain(wrong.then_some("any violation")) {
        *counts.entry(kind.to_owned()).or_default() += 1;
    }
}

fn unowned(record: &Record, found: &[&Anomaly], seed: u64) {
    let (told, logged): (Vec<&Anomaly>, Vec<&Anomaly>) = found
        .iter()
        .partition(|anomaly| !anomaly.why.contains("transaction log"));
    let name = |anomaly: &&Anomaly| {
        let read = |at: &usize| record.history.events[*at].f == "acquire";
        anomaly
            .witness
            .iter()
            .copied()
            .find(read)
            .map(|at| &record.history.events[at])
            .expect("a grant")
    };
    let names: BTreeSet<String> = told
        .iter()
        .filter_map(|anomaly| name(anomaly).grant())
        .map(str::to_owned)
        .collect();
    let naive = naive::unowned(record);
    assert_eq!(names, naive, "seed {seed}");
    // One that the release itself told is not told again from the log.
    let clients: BTreeSet<String> = logged
        .iter()
        .filter_map(|anomaly| Some(name(anomaly).node.as_ref()?.to_string()))
        .collect();
    let by_log = naive::unowned_by_log(record);
    assert!(clients.is_subset(&by_log), "seed {seed}: {clients:?} {by_log:?}");
    let told: BTreeSet<String> = told
        .iter()
        .filter_map(|anomaly| Some(name(anomaly).node.as_ref()?.to_string()))
        .collect();
    assert!(
        by_log.is_subset(&(&clients | &told)),
        "seed {seed}: {clients:?} {told:?} {by_log:?}"
    );
}

fn share(number: u64, source: Source) {
    let (each, words) = (each(source), source.words);
    let mut counts = Counts::new();
    for seed in number * each..(number + 1) * each {
        agree(seed, source, &mut counts);
    }
    let kinds = [
        "any violation",
        words.double,
        words.stale_holder,
        "unowned-release",
        "foreign-znode",
        words.pending,
        "orphan-node",
    ];
    let written = ["stale-write", words.regression].into_iter().filter(|_| words.writes);
    for kind in kinds.into_iter().chain(written).chain(source.more) {
        let with = counts.get(kind).copied().unwrap_or(0);
        assert!(
            each / source.one_of < with && with < each - each / 5,
            "{kind} in {with} of {each}: {counts:?}"
        );
    }
}

/// Four tests of a source, whose histories are those of these seeds and the next.
macro_rules! source {
    ($name:ident, $source:expr, $first:expr) => {
        mod $name {
            fn share(number: u64) {
                super::share($first + number, $source);
            }

            quarters!();
        }
    };
}

source!(locks, super::LOCKS, 0);
source!(elections, super::ELECTIONS, 4);
source!(shared_and_counted, super::MODED, 8);
source!(read_write_locks, super::RWLOCKS, 12);
source!(semaphores, super::SEMAPHORES, 16);
