//! Each clause of a text is true of the history that it is printed for: the histories are those in which another wording
//! of it was not.

mod commits;
mod counters;
mod grants;
mod queues;
mod registers;

use zooquake_checkers::{Record, check};

/// Wants a record to have one anomaly of this kind, whose text has all of `said` and none of `unsaid`.
#[track_caller]
fn told(record: &Record, kind: &str, said: &[&str], unsaid: &[&str]) {
    let results = check(record);
    let found: Vec<_> = results.anomalies.iter().filter(|found| found.kind == kind).collect();
    let [found] = found.as_slice() else {
        panic!("{kind}: {results:#?}")
    };
    for words in said {
        assert!(found.why.contains(words), "{words:?} is not in {}", found.why);
    }
    for words in unsaid {
        assert!(!found.why.contains(words), "{words:?} is in {}", found.why);
    }
}

/// Wants a reason of a record to have these words.
#[track_caller]
fn reason(record: &Record, said: &str) {
    let reasons = check(record).reasons;
    assert!(
        reasons.iter().any(|reason| reason.contains(said)),
        "{said:?}: {reasons:#?}"
    );
}
