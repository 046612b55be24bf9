//! Registers each of whose values is written once: an order exists or does not by the zones of the values, without a
//! search (Gibbons and Korach, "Testing shared memories", SIAM J. Comput. 26(4), 1997).
//!
//! [`clusters`] sorts accesses by the values that they find and leave, [`order`] holds real time against the blocks
//! that these make, and [`causes`] names all that contradicts an order. [`ambiguous`] leaves out what several writes
//! may have written. They work on any type that is a [`RegisterAccess`]; [`contradictions`] is the whole way for plain
//! ones.

pub mod causes;
pub mod clusters;
pub mod order;

pub use causes::{TimedAccess, UniqueJudgement, contradictions};

/// What the register holds; `None` is nil, what it holds before the first write.
pub type RegisterValue = Option<i64>;

/// A moment of a run, between or at its events.
pub type AccessMoment = u64;

/// When the register was made, before all else.
pub const BEGINNING: AccessMoment = 0;

/// The start of an operation whose invocation is unknown: some time after the register was made.
pub const UNKNOWN: AccessMoment = 1;

/// The finish of an operation of unknown outcome.
pub const NEVER: AccessMoment = AccessMoment::MAX;

/// The moment of an event.
pub fn at(event: usize) -> AccessMoment {
    2 * event as AccessMoment + 3
}

/// What an access does to the register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It is made, and holds nil.
    Begin,
    /// A read that is answered with this value.
    Read(RegisterValue),
    /// It is written.
    Write(i64),
    /// It is found to hold one value and made to hold another.
    Cas {
        /// What it held.
        from: RegisterValue,
        /// What it holds then.
        to: i64,
    },
}

impl Action {
    /// The value that it makes the register hold.
    pub fn written(self) -> Option<RegisterValue> {
        match self {
            Self::Begin => Some(None),
            Self::Read(_) => None,
            Self::Write(to) | Self::Cas { to, .. } => Some(Some(to)),
        }
    }

    /// The value that it finds in the register.
    pub fn observed(self) -> Option<RegisterValue> {
        match self {
            Self::Read(value) | Self::Cas { from: value, .. } => Some(value),
            Self::Begin | Self::Write(_) => None,
        }
    }
}

/// An access to the register that happened or may have.
pub trait RegisterAccess: Copy {
    /// What it does to the register.
    fn action(&self) -> Action;

    /// It took effect after this.
    fn start(&self) -> AccessMoment;

    /// It took effect before this; [`NEVER`] where its outcome is unknown.
    fn finish(&self) -> AccessMoment;

    /// The same access reduced to the part of its action that is unambiguous: a [`Action::Cas`] becomes a read of what
    /// it found, or a write.
    fn with_action(self, action: Action) -> Self;

    /// The same access, sent at another moment.
    fn with_start(self, start: AccessMoment) -> Self;

    /// Whether it certainly took effect, by what is known of itself.
    fn certain(&self) -> bool {
        self.finish() != NEVER
    }

    /// Whether other accesses prove more than this one that a value was made up.
    fn is_weak(&self) -> bool {
        false
    }
}

/// Values that were written more than once: which of the writes was read is unknown.
pub mod ambiguous {
    use super::{Action, RegisterAccess, RegisterValue};
    use std::collections::{BTreeMap, HashSet};

    /// Leaves out the accesses to values that more than one operation can have written; `known` holds further such
    /// values. Whatever order fits all operations fits these, too: nothing that is left found such a value, or left
    /// one.
    pub fn left_out<A: RegisterAccess>(all: Vec<A>, known: &HashSet<i64>) -> (Vec<A>, Vec<i64>) {
        let mut writers: BTreeMap<i64, usize> = BTreeMap::new();
        for value in all.iter().filter_map(|access| access.action().written().flatten()) {
            *writers.entry(value).or_default() += 1;
        }
        writers.retain(|value, count| *count > 1 || known.contains(value));
        let ambiguous = |value: i64| writers.contains_key(&value) || known.contains(&value);
        let keep = |access: A| {
            let known = |value: RegisterValue| !value.is_some_and(ambiguous);
            let action = match access.action() {
                Action::Cas { from, to } => match (known(from), known(Some(to))) {
                    (true, true) => access.action(),
                    (false, true) => Action::Write(to),
                    (true, false) if access.certain() => Action::Read(from),
                    _ => return None,
                },
                Action::Read(value) => Some(Action::Read(value)).filter(|_| known(value))?,
                Action::Write(value) => Some(Action::Write(value)).filter(|_| known(Some(value)))?,
                Action::Begin => Action::Begin,
            };
            Some(action)
        };
        let kept = all
            .into_iter()
            .filter_map(|access| Some(access.with_action(keep(access)?)))
            .collect();
        (kept, writers.into_keys().collect())
    }
}
