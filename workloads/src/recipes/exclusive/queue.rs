//! The order of a protected queue.

use zooquake_history::operation::Mode;

use crate::recipes::sequence::{order, sequence};

/// Where the znodes of one kind stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queue {
    /// Their parent.
    pub parent: &'static str,
    /// What stands between the GUID and the sequence number in their names.
    pub mark: &'static str,
}

/// Where all contenders stand: in one queue, or, of a read-write lock, in two under one parent, whose znodes are numbered together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queues {
    /// Of those that are to hold exclusively.
    pub exclusive: Queue,
    /// Of those that are to hold shared; `None` where nobody is.
    pub shared: Option<Queue>,
}

/// Where one stands, and the marks of those that it waits for if they stand before it.
pub(super) struct Place {
    pub(super) queue: Queue,
    marks: Vec<&'static str>,
}

impl From<Queue> for Queues {
    fn from(exclusive: Queue) -> Self {
        Self {
            exclusive,
            shared: None,
        }
    }
}

impl Queues {
    /// The place of one that is to hold so.
    pub(super) fn place(&self, mode: Mode) -> Place {
        let Self { exclusive, shared } = *self;
        match shared {
            Some(queue) if mode == Mode::Shared => Place {
                queue,
                marks: vec![exclusive.mark],
            },
            _ => Place {
                queue: exclusive,
                marks: [Some(exclusive), shared]
                    .into_iter()
                    .flatten()
                    .map(|queue| queue.mark)
                    .collect(),
            },
        }
    }
}

/// What stands before a znode.
pub(super) enum Before<'a> {
    Nobody,
    This(&'a str),
}

/// The nearest znode before the own one that this waits for; `None` if the own one is missing.
pub(super) fn before<'a>(names: &'a [String], own: &str, Place { queue, marks }: &Place) -> Option<Before<'a>> {
    let own = own.rsplit('/').next()?;
    let mine = sequence(own, queue.mark)?;
    names.iter().find(|name| *name == own)?;
    let number = |name| marks.iter().find_map(|mark| sequence(name, mark));
    let earlier = names.iter().filter_map(|name| Some((number(name)?, name)));
    let nearest = earlier
        .filter(|(number, _)| order(*number, mine).is_lt())
        .max_by(|(a, _), (b, _)| order(*a, *b));
    Some(nearest.map_or(Before::Nobody, |(_, name)| Before::This(name)))
}
