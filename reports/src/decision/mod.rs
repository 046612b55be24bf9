//! The report of what a decision takes: message delays and messages of consensus protocols in several situations,
//! beside what papers claim, on one page, in one picture and in a table.
//!
//! [`DecisionComparison`] is what was played. `page` makes the page and its figures, `words` the sentences and the
//! table.

use crate::compare::figure::FigureLabels;
use crate::compare::write_files;
use crate::png::figures::{self, FigureSheet};
use anyhow::Result;
use serde::Serialize;
use std::path::{Path, PathBuf};

mod page;
#[cfg(test)]
mod tests;
mod words;

pub use words::summary;

const TITLE: &str = "consensus compared: what a decision takes";

/// What decisions of several protocols take.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DecisionComparison {
    /// Numbers of acceptors, ascending.
    pub acceptors: Vec<u8>,
    /// Number of learners.
    pub learners: u8,
    /// Number of leaders, which Fast Paxos names coordinators.
    pub leaders: u8,
    /// Number of proposers.
    pub proposers: u8,
    /// How long each message takes, in microseconds.
    pub unit_us: u32,
    /// What the lengths of timers are drawn from.
    pub seed: u64,
    pub protocols: Vec<ComparedProtocol>,
    /// The situations, each with a row for each protocol; the first is the one without anything wrong.
    pub situations: Vec<SituationCosts>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparedProtocol {
    /// `paxos`, …
    pub name: String,
    /// The same in one word, for the bars of figures: `Paxos`, or how Fast Paxos recovers from collisions.
    pub label: String,
    /// What it is, in a sentence.
    pub promise: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SituationCosts {
    /// Its name, such as `collision`.
    pub name: String,
    /// Its heading.
    pub title: String,
    /// What is played.
    pub words: String,
    /// A row for each of [`DecisionComparison::protocols`].
    pub rows: Vec<CostRow>,
}

/// What a decision of one protocol in one situation takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostRow {
    /// What is claimed of it.
    pub claim: CostClaim,
    /// What was measured, for each of [`DecisionComparison::acceptors`].
    pub costs: Vec<DecisionCost>,
}

/// What papers claim.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CostClaim {
    /// Message delays, such as `3`; empty if none is claimed.
    pub delays: String,
    /// Messages of `n` acceptors and `l` learners, such as `1 + n + n·l`; empty if none is claimed.
    pub messages: String,
    /// The paper and its sections.
    pub source: String,
    /// Why measured values differ from it, with the section; empty where none does.
    pub explanation: String,
}

/// What one decision took.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct DecisionCost {
    /// Number of acceptors.
    pub acceptors: u8,
    /// Message delays until the last learner had learned the value: from the request, or, where a timer had to run out,
    /// from when the last one did.
    pub delays: u32,
    /// The delays that are claimed; `None` if none are.
    pub claimed_delays: Option<u32>,
    /// The messages that were sent from the request until then.
    pub messages: u32,
    /// The messages that are claimed; `None` if none are.
    pub claimed_messages: Option<u32>,
    /// The same messages by kind and receiver.
    pub parts: Vec<MessageShare>,
    /// The messages that followed, by which learners inform leaders and proposers.
    pub after: u32,
    /// The timers that ran out in between, by the roles of their nodes.
    pub timeouts: Vec<String>,
    /// From the request until the last of the timers that the decision hung on ran out, in milliseconds.
    pub waited_ms: f64,
    /// The round or ballot in which the value was chosen.
    pub round: u32,
}

/// Messages of one kind to nodes of one role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MessageShare {
    /// Their kind as the papers name it.
    pub kind: String,
    /// The role of the nodes that they are for.
    pub to: String,
    /// How many there were.
    pub count: u32,
}

impl CostRow {
    /// The value that all sizes have in common; `None` if they differ.
    fn common<T: PartialEq>(&self, value: impl Fn(&DecisionCost) -> T) -> Option<T> {
        let mut values = self.costs.iter().map(value);
        let first = values.next()?;
        values.all(|other| other == first).then_some(first)
    }

    /// Whether what is measured differs from the claims.
    pub fn differs(&self) -> bool {
        let other = |claimed: Option<u32>, measured| claimed.is_some_and(|claimed| claimed != measured);
        self.costs
            .iter()
            .any(|cost| other(cost.claimed_delays, cost.delays) || other(cost.claimed_messages, cost.messages))
    }
}

impl DecisionComparison {
    /// The labels of the groups of a figure.
    fn sizes(&self) -> Vec<String> {
        self.acceptors.iter().map(|n| format!("n = {n}")).collect()
    }

    /// The sizes of all groups, in words.
    fn setting(&self) -> String {
        format!(
            "l = {} learners, {} leaders, {} proposers; each message takes the same time",
            self.learners, self.leaders, self.proposers
        )
    }

    /// The names of what the rows of figures stand for: these sizes, and of each protocol its name or its label.
    fn labels<'a>(&'a self, sizes: &'a [String], name: impl Fn(&'a ComparedProtocol) -> &'a str) -> FigureLabels<'a> {
        FigureLabels {
            subjects: sizes.iter().map(String::as_str).collect(),
            faults: self.protocols.iter().map(name).collect(),
        }
    }
}

/// Writes `compare.html`, `compare.md` and `compare.png` into the folder `dir`, which must exist, and returns the files
/// written.
///
/// # Errors
/// If a file cannot be written.
pub fn write_all(comparison: &DecisionComparison, dir: &Path) -> Result<Vec<PathBuf>> {
    let texts = [page::page(comparison), words::table(comparison)];
    write_files(texts, |path| draw_picture(comparison, path), dir)
}

/// Draws a pair of figures for each situation.
fn draw_picture(comparison: &DecisionComparison, path: &Path) -> Result<()> {
    let figures = page::all_figures(comparison);
    let sizes = comparison.sizes();
    let bars = comparison.acceptors.len() * comparison.protocols.len();
    let sheet = FigureSheet {
        title: TITLE,
        subtitle: &comparison.setting(),
        labels: comparison.labels(&sizes, |protocol| &protocol.name),
        figures: figures.iter().flatten().collect(),
        height: 80 + 15 * bars as u32,
    };
    figures::write(&sheet, figures.len() as u32, path)
}
