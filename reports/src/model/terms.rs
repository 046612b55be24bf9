//! How each family of recipes calls what the pictures show.

use super::{DrawnHold, DrawnOperation, Mark, Role};

/// Words for legends and labels; `None` for what the family does not have.
#[derive(Debug)]
pub struct Terms {
    /// Each of these separates the family from those that come after it.
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
}

/// Every family; the first of them that fits is taken.
const FAMILIES: [&Terms; 9] = [
    &SEMAPHORE,
    &LOCK,
    &ELECTION,
    &QUEUE,
    &BARRIER,
    &DOUBLE_BARRIER,
    &COMMIT,
    &REGISTER,
    &COUNTER,
];

/// These serve for an unknown family, too.
const LOCK: Terms = Terms {
    operations: &["acquire", "release"],
    holds: "holds",
    hold: Some("holds"),
    wait: Some("waits"),
    work: "works, then writes",
    take: Some("reads"),
    leave: Some("releases"),
    took: "write accepted",
    refused: Some("refused"),
    no: None,
};

const ELECTION: Terms = Terms {
    operations: &["elect", "resign"],
    holds: "leads under",
    hold: Some("leads"),
    wait: Some("stands for election"),
    leave: Some("resigns"),
    ..LOCK
};

const SEMAPHORE: Terms = Terms {
    operations: &["work"],
    work: "works",
    took: "has worked",
    refused: None,
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
};

const BARRIER: Terms = Terms {
    operations: &["join", "close"],
    holds: "is in",
    hold: Some("is in the round"),
    wait: Some("waits for the start"),
    work: "joins",
    take: None,
    leave: Some("closes its session"),
    took: "joined",
    refused: None,
    no: None,
};

const DOUBLE_BARRIER: Terms = Terms {
    operations: &["enter", "leave"],
    wait: Some("enters: waits for the others"),
    leave: Some("leaves: waits for the others"),
    ..BARRIER
};

const COMMIT: Terms = Terms {
    operations: &["begin", "vote", "decide", "decided"],
    holds: "in doubt of",
    hold: Some("in doubt: has voted yes, was told no decision"),
    wait: Some("waits for votes or the decision"),
    work: "begins or votes",
    take: None,
    leave: None,
    took: "yes, commit",
    refused: None,
    no: Some("no, abort"),
};

const REGISTER: Terms = Terms {
    operations: &["read", "cas"],
    holds: "holds",
    hold: None,
    wait: None,
    work: "writes, compares and sets",
    take: Some("reads"),
    leave: None,
    took: "written",
    refused: None,
    no: None,
};

const COUNTER: Terms = Terms {
    operations: &["increment", "get"],
    work: "adds 1",
    took: "added",
    ..REGISTER
};

impl Terms {
    /// Holds that are here: whether they are shared, with the family's words for them.
    pub fn holds<'h>(&self, holds: impl Iterator<Item = &'h DrawnHold<'h>>) -> Vec<(bool, String)> {
        let Some(words) = self.hold else { return Vec::new() };
        let mut here = [false; 2];
        holds.for_each(|hold| here[usize::from(hold.shared)] = true);
        let all = [(false, words.to_owned()), (true, format!("{words} shared"))];
        all.into_iter()
            .filter(|(shared, _)| here[usize::from(*shared)])
            .collect()
    }

    /// The terms of the family whose operations these are.
    pub fn from_ops(ops: &[DrawnOperation<'_>]) -> &'static Self {
        let has = |terms: &&Self| ops.iter().any(|op| !op.control && terms.operations.contains(&op.f));
        FAMILIES.into_iter().find(has).unwrap_or(&LOCK)
    }

    /// Roles that operations have here, with the family's words for them.
    pub fn roles(&self, ops: &[&DrawnOperation<'_>]) -> Vec<(Role, &'static str)> {
        let roles = [
            (Role::Wait, self.wait),
            (Role::Work, Some(self.work)),
            (Role::Take, self.take),
            (Role::Leave, self.leave),
        ];
        let here = |role| ops.iter().any(|op| op.role == role && !op.control);
        let named = roles.into_iter().filter_map(|(role, words)| Some((role, words?)));
        named.filter(|(role, _)| here(*role)).collect()
    }

    /// Marks that answers have here, with the family's words for them.
    pub fn marks(&self, ops: &[&DrawnOperation<'_>]) -> Vec<(Mark, &'static str)> {
        let marks = [
            (Mark::Took, Some(self.took)),
            (Mark::Refused, self.refused),
            (Mark::No, self.no),
        ];
        let here = |mark| ops.iter().any(|op| op.mark() == mark);
        let named = marks.into_iter().filter_map(|(mark, words)| Some((mark, words?)));
        named.filter(|(mark, _)| here(*mark)).collect()
    }
}
