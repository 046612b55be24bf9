//! What is drawn of a situation: its message delays and its messages, a bar for each protocol and number of acceptors.

use super::{DecisionComparison, DecisionCost, SituationCosts};
use crate::compare::figure::{Figure, Mark, Row};

/// The message delays and the messages of a situation.
pub fn figures(situation: &SituationCosts) -> [Figure; 2] {
    let figure = |what: &str, rows| Figure {
        title: format!("{}: {what}", situation.title),
        caption: String::new(),
        hint: "upright: claimed; *: with timeouts",
        unit: "",
        log: false,
        rows,
    };
    [
        figure(
            "message delays",
            rows(situation, |cost| (cost.delays, cost.claimed_delays)),
        ),
        figure(
            "messages",
            rows(situation, |cost| (cost.messages, cost.claimed_messages)),
        ),
    ]
}

/// The figures of all situations, those of each one after the other.
pub fn all(comparison: &DecisionComparison) -> Vec<[Figure; 2]> {
    comparison.situations.iter().map(figures).collect()
}

/// A row for each size and protocol, with what was measured and what is claimed.
fn rows(situation: &SituationCosts, value: impl Fn(&DecisionCost) -> (u32, Option<u32>)) -> Vec<Row> {
    let mut rows = Vec::new();
    for (faults, row) in situation.rows.iter().enumerate() {
        for (subject, cost) in row.costs.iter().enumerate() {
            let (measured, claimed) = value(cost);
            let measured = f64::from(measured);
            let number = match cost.timeouts.is_empty() {
                true => Mark::Number(measured),
                false => Mark::Starred(measured),
            };
            let mut marks = vec![Mark::Bar(measured), number];
            marks.extend(claimed.map(|claimed| Mark::Tick(f64::from(claimed))));
            rows.push(Row {
                subject,
                faults,
                marks,
                without: "",
            });
        }
    }
    rows
}
