//! The order of a protected queue.

use crate::recipes::sequence::{order, sequence};

/// Where the znodes of one kind stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queue {
    /// Their parent.
    pub parent: &'static str,
    /// What stands between the GUID and the sequence number in their names.
    pub mark: &'static str,
}

/// What stands before a znode.
pub(super) enum Before<'a> {
    Nobody,
    This(&'a str),
}

/// The znode just before the own one in the queue; `None` if the own one is missing.
pub(super) fn before<'a>(names: &'a [String], own: &str, mark: &str) -> Option<Before<'a>> {
    let own = own.rsplit('/').next()?;
    let mine = sequence(own, mark)?;
    names.iter().find(|name| *name == own)?;
    let earlier = names.iter().filter_map(|name| Some((sequence(name, mark)?, name)));
    let nearest = earlier
        .filter(|(number, _)| order(*number, mine).is_lt())
        .max_by(|(a, _), (b, _)| order(*a, *b));
    Some(nearest.map_or(Before::Nobody, |(_, name)| Before::This(name)))
}
