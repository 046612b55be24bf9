//! Each clause of a text is true of the history that it is printed for: the histories are those in which another
//! wording of it was not.

mod commits;
mod counters;
mod grants;
mod queues;
mod registers;

use crate::expect::{explains, of_kind};
use zooquake_checkers::check;
use zooquake_history::Record;

/// Asserts that a record has one anomaly of this kind, whose text has all of `said` and none of `unsaid`.
#[track_caller]
fn told(record: &Record, kind: &str, said: &[&str], unsaid: &[&str]) {
    let results = check(record);
    let [found] = of_kind(&results, kind)[..] else {
        panic!("{kind}: {results:#?}")
    };
    said.iter().for_each(|words| explains(found, words));
    for words in unsaid {
        assert!(!found.why.contains(words), "{words:?} is in {}", found.why);
    }
}
