//! The checkers agree with the brute force on random histories of locks, of elections, of locks that clients
//! share or that several may hold, of read-write locks and of semaphores.

use crate::anomaly_tally::{AnomalyCounts, count, drawn, spread};
use crate::election::{self, Words};
use crate::expect;
use crate::{
    brute_force, deletions, doubtful_evidence, foreign_znode, overlaps, plain_definitions, semaphore, simulated_locks,
    stolen_znode,
};
use std::collections::BTreeSet;
use zooquake_checkers::{Anomaly, Verdict, check};
use zooquake_history::Record;

/// Of how many confirmed grants all orders are tried.
const MOST_CONFIRMED: usize = 7;

/// The events of acquires in the witness of an anomaly.
fn acquires(record: &Record, anomaly: &Anomaly) -> Vec<usize> {
    let acquire = |at: &usize| record.history.events[*at].f == "acquire";
    anomaly.witness.iter().copied().filter(acquire).collect()
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
    /// Each anomaly is in more than one of so many histories.
    one_of: u64,
}

const LOCKS: Source = Source {
    make: simulated_locks::record,
    words: election::LOCK,
    moded: false,
    more: None,
    one_of: 50,
};

const MODED: Source = Source {
    make: simulated_locks::moded,
    words: election::LOCK,
    moded: true,
    more: Some("over-capacity"),
    one_of: 200,
};

const RWLOCKS: Source = Source {
    make: simulated_locks::rwlock,
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
    one_of: 50,
};

/// A history of a lock is judged as that, or retold as one of an election or a semaphore; what is true of it is the
/// same.
fn agree(seed: u64, source: Source, counts: &mut AnomalyCounts) {
    let words = source.words;
    let record = (source.make)(seed);
    let results = check(&words.retold(record.clone()));
    if words.elects {
        let (told, naive) = (election::told(&record, &results), election::unacknowledged(&record));
        assert_eq!(told, naive, "seed {seed}");
    }
    let found = |kind: &str| expect::of_kind(&results, kind);
    let last = |found: &&Anomaly| *acquires(&record, found).last().expect("a grant");
    let first = |found: &&Anomaly| acquires(&record, found)[0];

    let exclusive = found(words.double).is_empty() && found(OVER).is_empty();
    if brute_force::confirmed(&record) <= MOST_CONFIRMED {
        assert_eq!(exclusive, brute_force::exclusive(&record), "seed {seed}");
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
        assert_eq!(
            found("stale-write").is_empty(),
            brute_force::unmixed(&record),
            "seed {seed}"
        );
        all.push((words.regression, plain_definitions::regressions(&record)));
    }
    for (kind, naive) in all {
        let known = found(kind).iter().map(last).collect::<BTreeSet<_>>();
        assert_eq!(known, naive, "{kind}, seed {seed}");
    }
    if !source.moded {
        assert_eq!(
            found("stale-write").is_empty(),
            brute_force::ordered(&record),
            "seed {seed}"
        );
    }
    let lost = plain_definitions::lost(&record);
    let known = found(words.pending).iter().map(first).collect::<BTreeSet<_>>();
    assert_eq!(known, lost, "seed {seed}");
    let (orphans, told) = (plain_definitions::orphans(&record), found("orphan-node"));
    assert_eq!(told.len(), orphans.len(), "seed {seed}: {told:?}");
    let tells = |path: &&str| told.iter().any(|one| one.why.contains(&format!("{path} ")));
    assert!(orphans.iter().all(tells), "seed {seed}");
    unowned(&record, &found("unowned-release"), seed);
    let by_other = |found: &&Anomaly| (*found.witness.last().expect("a grant"), !found.advisory);
    let by_others: BTreeSet<_> = found("foreign-znode").iter().map(by_other).collect();
    assert_eq!(by_others, foreign_znode::naive(&record), "seed {seed}");
    stolen(&record, &found("stolen-znode"), &found("unowned-release"), seed);
    let persistent: Vec<usize> = found("persistent-contender").iter().map(first).collect();
    assert_eq!(
        persistent,
        Vec::from_iter(deletions::persistent(&record)),
        "seed {seed}"
    );

    let wrong = results.anomalies.iter().any(|anomaly| !anomaly.advisory);
    assert_eq!(results.verdict == Verdict::Invalid, wrong, "seed {seed}");
    count(counts, "any violation", wrong);
    let written = ["stale-write", words.regression].into_iter().filter(|_| words.writes);
    let holds = [words.double, words.stale_holder, words.pending];
    let others = [
        "unowned-release",
        "foreign-znode",
        "stolen-znode",
        "persistent-contender",
        "orphan-node",
    ];
    let all = holds.into_iter().chain(others).chain(written).chain(source.more);
    for kind in all.collect::<BTreeSet<_>>() {
        count(counts, kind, !found(kind).is_empty());
    }
}

fn unowned(record: &Record, found: &[&Anomaly], seed: u64) {
    let grant = |anomaly: &&Anomaly| &record.history.events[acquires(record, anomaly)[0]];
    let nodes = |found: &[&Anomaly]| -> BTreeSet<String> {
        let nodes = found.iter().filter_map(|anomaly| grant(anomaly).node.as_ref());
        nodes.map(ToString::to_string).collect()
    };
    let (told, logged): (Vec<&Anomaly>, Vec<&Anomaly>) = found
        .iter()
        .partition(|anomaly| !anomaly.why.contains("transaction log"));
    let names = told.iter().filter_map(|anomaly| grant(anomaly).grant());
    let names: BTreeSet<String> = names.map(str::to_owned).collect();
    assert_eq!(names, plain_definitions::unowned(record), "seed {seed}");
    // An anomaly that the release itself proves is not reported again from the log.
    let (clients, told, by_log) = (nodes(&logged), nodes(&told), deletions::unowned_by_log(record));
    assert!(clients.is_subset(&by_log), "seed {seed}: {clients:?} {by_log:?}");
    assert!(
        by_log.is_subset(&(&clients | &told)),
        "seed {seed}: {clients:?} {told:?} {by_log:?}"
    );
}

/// A deletion that is an unowned release is no theft.
fn stolen(record: &Record, found: &[&Anomaly], unowned: &[&Anomaly], seed: u64) {
    let place = |anomaly: &&Anomaly| {
        let name = anomaly.why.split(' ').nth(1);
        let rests = |at: &usize| record.history.events[*at].grant() == name;
        let read = acquires(record, anomaly).into_iter().find(rests);
        (read.expect("its grant"), !anomaly.advisory)
    };
    let (found, naive): (BTreeSet<_>, BTreeSet<_>) = (
        found.iter().map(place).collect(),
        stolen_znode::every_execution::naive(record),
    );
    let fits = found.is_subset(&naive) && (found == naive || !unowned.is_empty());
    assert!(
        fits,
        "seed {seed}: {found:?} {naive:?}\n{}",
        doubtful_evidence::lines(record)
    );
}

fn random_histories(source: Source) {
    spread(source.one_of, drawn(|seed, counts| agree(seed, source, counts)));
}

#[test]
fn locks() {
    random_histories(LOCKS);
}

#[test]
fn elections() {
    random_histories(ELECTIONS);
}

#[test]
fn shared_and_counted() {
    random_histories(MODED);
}

#[test]
fn read_write_locks() {
    random_histories(RWLOCKS);
}

#[test]
fn semaphores() {
    random_histories(SEMAPHORES);
}
