//! How each family of recipes calls what the pictures show.

use super::{Mark, Op, Role};

/// Words for legends and labels; `None` for what the family does not have.
#[derive(Debug)]
pub struct Terms {
    /// One of the family's operations tells it from the others.
    operations: &'static [&'static str],
    /// What begins the label of a hold, before what is held.
    pub holds: &'static str,
    /// A hold in a legend.
    pub hold: Option<&'static str>,
    /// Operations that wait for others.
    pub wait: Option<&'static str>,
    /// Operations that change something.
    pub work: &'static str,
    /// Operations that ask for something.
    pub take: Option<&'static str>,
    /// Operations that give up what the client had.
    pub leave: Option<&'static str>,
    /// The mark of what was taken.
    pub took: &'static str,
    /// The mark of what the resource refused.
    pub refused: Option<&'static str>,
    /// The mark of a lawful no.
    pub no: Option<&'static str>,
    /// What the passing from a hold to the next is called, where it has a meaning.
    pub handover: bool,
}

/// Every family. The first is also what an unknown one is told with.
const FAMILIES: [Terms; 6] = [LOCK, ELECTION, QUEUE, BARRIER, COMMIT, REGISTER];

const LOCK: Terms = Terms {
    operations: &["acquire", "release"],
    holds: "holds",
    hold: Some("holds"),
    wait: Some("waits"),
    work: "works, then writes",
    take: None,
    leave: Some("releases"),
    took: "write accepted",
    refused: Some("refused"),
    no: None,
    handover: true,
};

const ELECTION: Terms = Terms {
    operations: &["elect", "resign"],
    holds: "leads under",
    hold: Some("leads"),
    wait: Some("stands for election"),
    leave: Some("resigns"),
    ..LOCK
};

const QUEUE: Terms = Terms {
    operations: &["enqueue", "dequeue", "acknowledge"],
    holds: "has claimed",
    hold: Some("has claimed an item"),
    wait: None,
    work: "enqueues",
    take: Some("dequeues"),
    leave: Some("acknowledges"),
    took: "item enqueued or given",
    refused: None,
    no: None,
    handover: false,
};

const BARRIER: Terms = Terms {
    operations: &["join", "enter", "leave", "close"],
    holds: "is in",
    hold: Some("is in the round"),
    wait: Some("enters: waits for the others"),
    work: "joins",
    take: None,
    leave: Some("leaves, or closes"),
    took: "joined",
    refused: None,
    no: None,
    handover: false,
};

const COMMIT: Terms = Terms {
    operations: &["begin", "vote", "decide", "decided"],
    holds: "in doubt of",
    hold: Some("in doubt: has voted yes, was told no decision"),
    wait: Some("waits for votes or the decision"),
    work: "begins, or works and votes",
    take: None,
    leave: None,
    took: "yes, commit",
    refused: None,
    no: Some("no, abort"),
    handover: false,
};

const REGISTER: Terms = Terms {
    operations: &["read", "cas", "write"],
    holds: "holds",
    hold: None,
    wait: None,
    work: "writes, compares and sets",
    take: Some("reads"),
    leave: None,
    took: "written",
    refused: None,
    no: None,
    handover: false,
};

impl Terms {
    /// The terms of the family whose operations these are.
    pub fn of(ops: &[Op<'_>]) -> &'static Self {
        static ALL: [Terms; 6] = FAMILIES;
        let family = |op: &Op<'_>| ALL.iter().find(|terms| terms.operations.contains(&op.f));
        // A write alone may be any family's.
        let telling = ops.iter().filter(|op| !op.control && op.f != "write");
        let only_writes = || ops.iter().any(|op| op.f == "write" && op.subject().is_none());
        let found = telling.filter_map(family).next();
        found.unwrap_or(if only_writes() { &ALL[5] } else { &ALL[0] })
    }

    /// Roles that the family has, with their words.
    pub fn roles(&self) -> impl Iterator<Item = (Role, &'static str)> {
        let roles = [
            (Role::Wait, self.wait),
            (Role::Work, Some(self.work)),
            (Role::Take, self.take),
            (Role::Leave, self.leave),
        ];
        roles.into_iter().filter_map(|(role, words)| Some((role, words?)))
    }

    /// Marks that the family has, with their words.
    pub fn marks(&self) -> impl Iterator<Item = (Mark, &'static str)> {
        let marks = [
            (Mark::Took, Some(self.took)),
            (Mark::Refused, self.refused),
            (Mark::No, self.no),
        ];
        marks.into_iter().filter_map(|(mark, words)| Some((mark, words?)))
    }
}
