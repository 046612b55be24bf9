//! How each family of recipes calls what the pictures show.

use super::{DrawnHold, DrawnOperation, Mark, Role};

/// Words for legends and labels; `None` for what the family does not have.
#[derive(Debug)]
pub struct Terms {
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

/// Of a family that has no words of its own.
pub const GENERAL: Terms = Terms {
    holds: "holds",
    hold: Some("holds"),
    wait: Some("waits"),
    work: "works",
    take: Some("takes"),
    leave: Some("gives back"),
    took: "accepted",
    refused: Some("refused"),
    no: Some("no"),
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
