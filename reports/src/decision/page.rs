//! The page: one file, complete without a network and without JavaScript; and what is drawn of a situation: its message
//! delays and its messages, a bar for each protocol and number of acceptors.

use super::words::{claimed, delays_text, summary, timeouts};
use super::{CostRow, DecisionComparison, DecisionCost, SituationCosts, TITLE};
use crate::compare::figure::{self, Figure, FigureFrame, Mark, Row};
use crate::html::{self, Document, PAGE_STYLE, PICTURE_STYLE};
use crate::lists;
use maud::{Markup, html};

const STYLES: [&str; 4] = [
    PAGE_STYLE,
    PICTURE_STYLE,
    include_str!("../../assets/compare.css"),
    include_str!("../../assets/decision.css"),
];
/// The frame of a figure that fits a narrow screen.
const NARROW: FigureFrame = FigureFrame {
    width: 360.0,
    left: 134.0,
    right: 30.0,
};

/// The whole page.
pub fn page(comparison: &DecisionComparison) -> String {
    let figures = all_figures(comparison);
    let body = html! {
        main {
            (head(comparison))
            @for (number, (situation, figures)) in comparison.situations.iter().zip(&figures).enumerate() {
                (section(comparison, situation, (number, figures)))
            }
            (method(comparison))
            (settings(comparison))
        }
    };
    Document {
        title: TITLE,
        styles: &STYLES,
        class: "compare decision",
        body,
        ..Document::default()
    }
    .page()
}

fn head(comparison: &DecisionComparison) -> Markup {
    let lines = summary(comparison);
    let (first, rest) = html::first_and_rest(&lines);
    html! {
        header #first {
            p.facts { b { (TITLE) } " · " (comparison.setting()) }
            h1 { (first) }
            ul.conclusion { (html::items(rest, 900)) }
            p.note {
                "Bars are what was measured, upright lines what papers claim; a star stands for timeouts that passed. Fast Paxos is named by its \
                 way to recover from collisions: restart, coordinated, uncoordinated. Every number was counted while a network played the protocol."
            }
        }
    }
}

fn section(
    comparison: &DecisionComparison,
    situation: &SituationCosts,
    (number, figures): (usize, &[Figure; 2]),
) -> Markup {
    let sizes = comparison.sizes();
    html! {
        section {
            h2 { (situation.title) }
            p.note { (situation.words) }
            div.panels {
                @for (place, (figure, heading)) in figures.iter().zip(["Message delays", "Messages"]).enumerate() {
                    div.panel {
                        h3 { (heading) }
                        (figure::picture(&NARROW, &comparison.labels(&sizes, |protocol| &protocol.label), 2 * number + place, figure))
                    }
                }
            }
            (numbers(comparison, situation))
        }
    }
}

fn numbers(comparison: &DecisionComparison, situation: &SituationCosts) -> Markup {
    html! {
        div.wide {
            table.numbers {
                thead {
                    tr {
                        td {}
                        th scope="col" { "message delays" }
                        th scope="col" { "claimed" }
                        @for n in &comparison.acceptors { th scope="col" { "messages, n = " (n) } }
                        th scope="col" { "claimed" }
                        th scope="col" { "timeouts" }
                    }
                }
                tbody {
                    @for (protocol, row) in comparison.protocols.iter().zip(&situation.rows) {
                        tr {
                            th scope="row" { (protocol.name) }
                            td { (delays_text(row)) }
                            td { (claimed(&row.claim.delays)) }
                            @for cost in &row.costs {
                                td title=(parts(row, cost.acceptors)) {
                                    @if cost.claimed_messages.is_some_and(|claimed| claimed != cost.messages) { b { (cost.messages) } }
                                    @else { (cost.messages) }
                                }
                            }
                            td { (claimed(&row.claim.messages)) }
                            td { (timeouts(row)) }
                        }
                        tr.source {
                            td {}
                            td colspan=(comparison.acceptors.len() + 4) {
                                (row.claim.source)
                                @if row.differs() { ". " b { "Measured differs." } " " (row.claim.explanation) }
                            }
                        }
                        "\n"
                    }
                }
            }
        }
        "\n"
    }
}

/// The messages of one size by kind and receiver: `5 request to leader, 5 2a to acceptor`.
fn parts(row: &CostRow, acceptors: u8) -> String {
    let costs = row.costs.iter().filter(|cost| cost.acceptors == acceptors);
    let parts = costs.flat_map(|cost| &cost.parts);
    lists::joined(
        parts.map(|part| format!("{} {} to {}", part.count, part.kind, part.to)),
        ", ",
    )
}

fn method(comparison: &DecisionComparison) -> Markup {
    let paragraphs = [
        format!(
            "Each decision is a run of its own on a network in virtual time, on which every message takes {} ms and nothing is left to \
             chance but the lengths of timers. A message delay is the time of one message. The delays of a decision are counted from the \
             request to the moment at which the last learner learns the value.",
            f64::from(comparison.unit_us) / 1_000.0
        ),
        "Where a timer has to run out, delays are counted from the last one that did. Timeouts are given by their number and by the role \
         of the node that waited; how long they are is a matter of configuration, not of the protocol."
            .to_owned(),
        "Messages are those that were sent from the request until the value was learned, to dead nodes too. What learners send after that, \
         to inform leaders and proposers, is not among them."
            .to_owned(),
        "The papers state the delays of Paxos, of a fast round and of each recovery. The other claims, and all numbers of messages, are the \
         sums of the steps that the named sections describe, for n acceptors and l learners. What a proposer sends again while no \
         coordinator answers no paper describes: there no number of messages is claimed."
            .to_owned(),
    ];
    let body = html! { @for paragraph in paragraphs { p { (paragraph) } } };
    html::titled("method", "How it is counted", body)
}

fn settings(comparison: &DecisionComparison) -> Markup {
    let sizes = [("nodes", comparison.setting()), ("seed", comparison.seed.to_string())];
    let sizes = sizes.iter().map(|(name, value)| (*name, value.as_str()));
    let protocols = comparison.protocols.iter();
    let protocols = protocols.map(|protocol| (protocol.name.as_str(), protocol.promise.as_str()));
    html::settings("Settings and protocols", sizes.chain(protocols))
}

/// The message delays and the messages of a situation.
fn figures(situation: &SituationCosts) -> [Figure; 2] {
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
pub fn all_figures(comparison: &DecisionComparison) -> Vec<[Figure; 2]> {
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
