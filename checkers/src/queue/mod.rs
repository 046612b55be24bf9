//! The family `queue`: items that are enqueued and dequeued, and members that meet at a barrier.
//!
//! `items` and `rounds` read out of a history what the checkers need, `drain` what the end of a run proves. The checkers:
//! `lost`, `duplicate`, `phantom`, `order` for items, `early` and `stuck`, which asks `presence`, for barriers; [`crate::orphans`] audits claims
//! and members.

mod drain;
mod duplicate;
mod early;
mod items;
mod lost;
mod order;
mod phantom;
mod presence;
mod rounds;
mod stuck;

use crate::Record;
use crate::findings::Findings;
use crate::names;
use crate::orphans;
use crate::pending;
use crate::results::Results;
use crate::run::Run;
use crate::verdict::{self, Needs};
use items::Items;
use rounds::Rounds;

/// The checkers of the family, by the names in `results.json`.
pub const CHECKERS: &[&str] = &[
    "lost-item",
    "duplicate-delivery",
    "phantom-item",
    "reordered",
    "early-release",
    "stuck-barrier",
    "orphan-node",
];

/// What kind of recipe a variant is. A planted one is named after the variant it was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The tutorial's barrier: members join, an application waits.
    Barrier,
    /// Members enter and leave together.
    DoubleBarrier,
    /// Items, delivered at most once.
    Fifo,
    /// Items, delivered until they are acknowledged.
    Claimed,
}

impl Kind {
    fn of(variant: &str) -> Self {
        [
            ("barrier", Self::Barrier),
            ("double-barrier", Self::DoubleBarrier),
            ("claimed", Self::Claimed),
        ]
        .into_iter()
        .find(|(name, _)| variant.starts_with(name))
        .map_or(Self::Fifo, |(_, kind)| kind)
    }
}

/// The whole verdict over a run of a queue or a barrier.
pub fn check(record: &Record) -> Results {
    let run = Run::new(record, &names::NONE);
    let mut found = Findings::default();
    let kind = Kind::of(&record.plan.workload.variant);
    let progress: &[&[&str]] = match kind {
        Kind::Barrier => &[&["join"], &["enter"]],
        Kind::DoubleBarrier => &[&["enter"], &["leave"]],
        Kind::Fifo => &[&["enqueue"], &["dequeue"]],
        Kind::Claimed => &[&["enqueue"], &["dequeue"], &["acknowledge"]],
    };
    match kind {
        Kind::Fifo | Kind::Claimed => {
            let items = Items::new(&run);
            lost::check(&run, &items, &mut found);
            duplicate::check(&run, &items, kind == Kind::Claimed, &mut found);
            phantom::check(&run, &items, kind == Kind::Claimed, &mut found);
            order::check(&run, &items, &mut found);
            pending::check(&run, false, &mut found);
            found.doubt("items cannot be read", &items.unread);
            orphans::check_claims(&run, &|item| items.acknowledged(item), &mut found);
        }
        Kind::Barrier | Kind::DoubleBarrier => {
            let rounds = Rounds::new(&run, if kind == Kind::Barrier { "join" } else { "enter" });
            early::check(&run, &rounds, &mut found);
            stuck::check(&run, &rounds, kind == Kind::DoubleBarrier, &mut found);
            found.doubt("rounds cannot be read", &rounds.unread);
            orphans::check(&run, &mut found);
        }
    }
    let tree = "orphans were not looked for";
    verdict::close(&run, found, &Needs { progress, tree })
}
