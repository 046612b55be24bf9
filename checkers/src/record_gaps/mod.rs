//! What the record of a run lacks of what its plan promises: files, samples of the servers' states, servers; and
//! clients that the plan does not have.
//!
//! Absence proves nothing, so none of it convicts. It is a reason against `valid` where a checker that convicts has no
//! other source for what is missing, and a remark elsewhere. A run that was cut off never wrote some of its files: of a
//! history without the phase `done` files and samples are not missed, since that it lacks its end is a reason already.

mod missing_files;
mod planned_nodes;
mod sampled_time;

use crate::analysis::RecordView;

/// What the families' checkers need of the files that are missing.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileNeeds<'a> {
    /// What is left undone without the znode tree.
    pub tree: &'a str,
    /// The checkers that convict by the transaction logs, and by nothing else.
    pub logged: &'a [&'a str],
}

/// The checkers that convict by the samples of the servers' states what nothing else shows.
const SAMPLED: &[&str] = &["two-ensemble-leaders", "ensemble-epoch-regression"];

/// What the record of a run with an ensemble lacks, as reasons against `valid` and remarks.
pub fn reasons(record: &RecordView<'_>, needs: FileNeeds<'_>) -> Vec<String> {
    let mut reasons = file_reasons(record, needs);
    if record.whole {
        reasons.extend(sampled_time::reasons(record));
    }
    reasons.extend(planned_nodes::reasons(record));
    reasons
}

/// The files that a record lacks, as reasons against `valid` and remarks.
pub fn file_reasons(record: &RecordView<'_>, needs: FileNeeds<'_>) -> Vec<String> {
    match record.whole {
        true => missing_files::reasons(record, needs),
        false => Vec::new(),
    }
}

/// `foreign-znode needs it`; of several files `them`.
fn needed_by(checkers: &[&str], files: usize) -> String {
    let need = ["need", "needs"][usize::from(checkers.len() == 1)];
    let them = ["them", "it"][usize::from(files == 1)];
    let all = match checkers {
        [first @ .., last] if first.len() > 1 => format!("{} and {last}", first.join(", ")),
        few => few.join(" and "),
    };
    format!("{all} {need} {them}")
}
