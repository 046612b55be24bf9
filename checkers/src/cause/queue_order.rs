//! The order in which clients are let in, by the names of their znodes.
//!
//! ZooKeeper appends ten digits to the name of a sequential znode, which count up within its parent. Whether a recipe
//! lets in by them is not assumed: the grants of the run have to show it.

use crate::analysis::Analysis;
use std::collections::HashMap;
use zooquake_history::operation::Mode;

/// How long after another an answer may be read that was given first, in nanoseconds: three times the longest that was
/// seen under load (DESIGN.md).
const READ_APART: u64 = 100_000_000;

/// A znode's place in a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueuePlace<'a> {
    /// The path of the parent.
    pub parent: &'a str,
    /// The number that ZooKeeper appended.
    pub number: i64,
}

/// The place of a znode by its path, and what stands before its number; `None` if it is not sequential.
fn parts(path: &str) -> Option<(QueuePlace<'_>, &str)> {
    let (parent, name) = path.rsplit_once('/')?;
    let (prefix, digits) = name.split_at_checked(name.len().checked_sub(10)?)?;
    let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| is_number)?;
    Some((QueuePlace { parent, number }, prefix))
}

/// The place of a znode by its path; `None` if it is not sequential.
pub fn place(path: &str) -> Option<QueuePlace<'_>> {
    Some(parts(path)?.0)
}

/// What a name begins with, without what makes it unique: `read` of `read-0000000007` and of
/// `_c_3f0e…-read-0000000007`.
fn stem(path: &str) -> Option<&str> {
    let prefix = parts(path)?.1.trim_end_matches('-');
    Some(prefix.rsplit_once('-').map_or(prefix, |(_, stem)| stem))
}

/// Modes by the beginnings of names, as the grants of a run have them.
pub struct QueueModes<'a> {
    /// `None` where two grants differ.
    by_stem: HashMap<&'a str, Option<Mode>>,
    /// The mode of every znode of a run whose grants are all exclusive.
    plain: Option<Mode>,
}

impl<'a> QueueModes<'a> {
    /// Reads the modes out of a run.
    pub fn new(run: &Analysis<'a>) -> Self {
        let mut by_stem = HashMap::new();
        for grant in run.grants.all.iter().filter(|grant| grant.read.is_some()) {
            if let Some(stem) = grant.path.and_then(stem) {
                let known = by_stem.entry(stem).or_insert(grant.mode);
                *known = known.filter(|_| *known == grant.mode);
            }
        }
        Self {
            by_stem,
            plain: (!run.grants.moded).then_some(Mode::Exclusive),
        }
    }

    /// How the znode at a path is held or waited for; `None` if the grants do not show it.
    pub fn mode(&self, path: &str) -> Option<Mode> {
        self.plain.or_else(|| *self.by_stem.get(stem(path)?)?)
    }
}

/// Whether clients are let in by the numbers of their znodes, as the grants of a run show it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueDiscipline {
    exclusive: bool,
    shared: bool,
}

impl QueueDiscipline {
    /// Reads the discipline out of a run. It is shown of a mode if a grant of that mode was read when one with a lower
    /// number that excludes it had ended, and none was read before one with a lower number by more than answers are
    /// read apart.
    pub fn new(run: &Analysis<'_>) -> Self {
        let numbered = run.grants.read().into_iter().filter_map(|at| {
            let grant = &run.grants.all[at];
            Some((grant.read?, place(grant.path?)?, grant.mode?, grant.end))
        });
        let mut numbered: Vec<_> = numbered.collect();
        numbered.sort_by_key(|&(read, ..)| read);
        let (mut kept, mut broken) = (Self::default(), Self::default());
        for pair in numbered.windows(2) {
            let &[(first, former, ahead, ended), (second, latter, behind, _)] = pair else {
                continue;
            };
            if former.parent != latter.parent || (ahead, behind) == (Mode::Shared, Mode::Shared) {
                continue;
            }
            let in_order = former.number < latter.number;
            if in_order && ended.is_some_and(|ended| ended < second) {
                kept.mark(behind);
            } else if !in_order && run.time(second) - run.time(first) > READ_APART {
                broken.mark(ahead);
            }
        }
        Self {
            exclusive: kept.exclusive && !broken.exclusive,
            shared: kept.shared && !broken.shared,
        }
    }

    fn mark(&mut self, mode: Mode) {
        match mode {
            Mode::Exclusive => self.exclusive = true,
            Mode::Shared => self.shared = true,
        }
    }

    /// Whether it is shown of the clients that want to hold in a mode.
    pub fn is_shown(self, mode: Mode) -> bool {
        match mode {
            Mode::Exclusive => self.exclusive,
            Mode::Shared => self.shared,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{QueuePlace, place, stem};

    #[test]
    fn names_of_sequential_znodes_have_a_place_and_a_stem() {
        let at = |parent, number| Some(QueuePlace { parent, number });
        assert_eq!(place("/rwlock/read-0000000070"), at("/rwlock", 70));
        assert_eq!(place("/batch/locks/_c_3f-0e-lock-0000000003"), at("/batch/locks", 3));
        assert_eq!(place("/election/leader"), None);
        assert_eq!(place("/lock/x-00000000é7"), None);
        assert_eq!(stem("/rwlock/read-0000000070"), Some("read"));
        assert_eq!(stem("/rwlock/_c_3f-0e-write-0000000070"), Some("write"));
        assert_eq!(stem("/rwlock/_c_3f-0e-__READ__0000000002"), Some("__READ__"));
    }
}
