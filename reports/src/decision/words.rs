//! The numbers in sentences, and in a table for a README.

use super::{CostRow, DecisionComparison, DecisionCost, MessageShare, SituationCosts};
use crate::lists::{self, in_sentence};
use crate::text;

/// What the comparison shows, in sentences, the most important first.
pub fn summary(comparison: &DecisionComparison) -> Vec<String> {
    let mut lines = Vec::new();
    for situation in &comparison.situations {
        lines.push(delays(comparison, situation));
    }
    if let Some(first) = comparison.situations.first() {
        lines.push(messages(comparison, first));
        lines.extend(tutorial(comparison, first));
    }
    lines.push(agreement(comparison));
    lines
}

/// `Phase 1 is done. Message delays: 3 in paxos; 2 in fast-paxos.`
fn delays(comparison: &DecisionComparison, situation: &SituationCosts) -> String {
    let rows = comparison.protocols.iter().zip(&situation.rows);
    let groups = lists::by_key(rows.map(|(protocol, row)| (delays_text(row), &protocol.name)));
    let groups = groups
        .iter()
        .map(|(taken, names)| format!("{taken} in {}", in_sentence(names)));
    format!("{}. Message delays: {}.", situation.title, lists::joined(groups, "; "))
}

/// The message delays of a row, with the timeouts before them: `3`, or by size if they differ.
pub fn delays_text(row: &CostRow) -> String {
    let taken = |cost: &DecisionCost| match cost.timeouts.len() {
        0 => cost.delays.to_string(),
        1 => format!("{} after a timeout", cost.delays),
        n => format!("{} after {n} timeouts", cost.delays),
    };
    by_size(row, taken)
}

/// A value of each size, once where all have the same.
fn by_size(row: &CostRow, value: impl Fn(&DecisionCost) -> String) -> String {
    if let Some(common) = row.common(&value) {
        return common;
    }
    let groups = lists::by_key(row.costs.iter().map(|cost| (value(cost), cost.acceptors)));
    let sized = |(text, sizes): &(String, Vec<u8>)| format!("{text} with {} acceptors", in_sentence(sizes));
    lists::joined(groups.iter().map(sized), ", ")
}

/// The messages of a row, by size.
fn messages_text(row: &CostRow) -> String {
    lists::joined(row.costs.iter().map(|cost| cost.messages), ", ")
}

fn messages(comparison: &DecisionComparison, situation: &SituationCosts) -> String {
    let rows = comparison.protocols.iter().zip(&situation.rows);
    let rows = rows.map(|(protocol, row)| format!("{} {}", protocol.name, messages_text(row)));
    format!(
        "{}. Messages with {} acceptors and {}: {}.",
        situation.title,
        sizes(comparison),
        text::count(usize::from(comparison.learners), "learner"),
        lists::joined(rows, "; ")
    )
}

/// The numbers of acceptors: `3, 4, 5 and 7`.
fn sizes(comparison: &DecisionComparison) -> String {
    in_sentence(&comparison.acceptors)
}

/// The messages that the decision itself takes in an undisturbed fast round: the request, and the votes for learners.
fn own_messages(cost: &DecisionCost) -> u32 {
    let own = |share: &&MessageShare| share.kind == "request" || share.to == "learner";
    cost.parts.iter().filter(own).map(|share| share.count).sum()
}

/// What the tutorial claims of fast rounds without a collision, and what was measured; `None` without Paxos, or without
/// anything to compare it with.
fn tutorial(comparison: &DecisionComparison, undisturbed: &SituationCosts) -> Option<String> {
    let rows = || comparison.protocols.iter().zip(&undisturbed.rows);
    let (_, paxos) = rows().find(|(protocol, _)| protocol.name == "paxos")?;
    let fast = rows().filter(|(protocol, _)| protocol.name != "paxos");
    let fast: Vec<&CostRow> = fast.map(|(_, row)| row).collect();
    if fast.is_empty() {
        return None;
    }
    let all = |holds: &dyn Fn(&DecisionCost, &DecisionCost) -> bool| {
        let pairs = fast.iter().flat_map(|row| row.costs.iter().zip(&paxos.costs));
        if pairs.clone().all(|(fast, paxos)| holds(fast, paxos)) {
            return "does";
        }
        match pairs.clone().any(|(fast, paxos)| holds(fast, paxos)) {
            true => "does in part",
            false => "does not",
        }
    };
    Some(format!(
        "The tutorial claims of a fast round without a collision that it takes one message delay less than Paxos and fewer messages. It {} \
         take one delay less. Counting the proposal and the votes to learners alone, it {} take fewer messages; with the votes that \
         acceptors send so that a collision can be recovered from, it {}.",
        all(&|fast, paxos| fast.delays + 1 == paxos.delays),
        all(&|fast, paxos| own_messages(fast) < paxos.messages),
        all(&|fast, paxos| fast.messages < paxos.messages),
    ))
}

/// How many of the claims hold.
fn agreement(comparison: &DecisionComparison) -> String {
    let rows = comparison.situations.iter().flat_map(|situation| &situation.rows);
    let costs: Vec<&DecisionCost> = rows.flat_map(|row| &row.costs).collect();
    let delays = costs
        .iter()
        .filter_map(|cost| Some((cost.claimed_delays?, cost.delays)));
    let messages = costs
        .iter()
        .filter_map(|cost| Some((cost.claimed_messages?, cost.messages)));
    let held = |pairs: Vec<(u32, u32)>| {
        let same = pairs.iter().filter(|(claimed, measured)| claimed == measured).count();
        format!("{same} of {}", pairs.len())
    };
    format!(
        "Claims that hold: of message delays {}, of numbers of messages {}; each row in which one does not has the section that explains \
         it.",
        held(delays.collect()),
        held(messages.collect())
    )
}

/// What was measured, a line for each situation and protocol.
pub fn table(comparison: &DecisionComparison) -> String {
    let heads = [
        "situation".to_owned(),
        "protocol".to_owned(),
        "message delays".to_owned(),
        "claimed".to_owned(),
        format!("messages with {} acceptors", sizes(comparison)),
        "claimed".to_owned(),
    ];
    let mut out = line(&heads) + &line(&heads.each_ref().map(|_| "---".to_owned()));
    for situation in &comparison.situations {
        for (protocol, row) in comparison.protocols.iter().zip(&situation.rows) {
            out += &line(&[
                situation.title.clone(),
                protocol.name.clone(),
                delays_text(row),
                claimed(&row.claim.delays),
                messages_text(row),
                claimed(&row.claim.messages),
            ]);
        }
    }
    let explained = explanations(comparison);
    let explained: String = explained
        .iter()
        .map(|words| format!("- {}\n", text::in_markdown(words)))
        .collect();
    format!("{out}\n{}.\n\n{explained}", text::in_markdown(&comparison.setting()))
}

/// A claim, or a dash where there is none.
pub fn claimed(claim: &str) -> String {
    if claim.is_empty() {
        "–".to_owned()
    } else {
        claim.to_owned()
    }
}

/// Why measured values differ from what is claimed, each explanation once, with the protocols that it is about.
fn explanations(comparison: &DecisionComparison) -> Vec<String> {
    let situations = comparison.situations.iter();
    let rows = situations.flat_map(|situation| comparison.protocols.iter().zip(&situation.rows));
    let differing = rows.filter(|(_, row)| row.differs());
    let explained = differing.map(|(protocol, row)| (&*row.claim.explanation, &*protocol.name));
    let explained = lists::by_key(lists::distinct(explained, usize::MAX).into_iter());
    explained
        .iter()
        .map(|(words, names)| format!("{}: {words}", names.join(", ")))
        .collect()
}

/// The timeouts of a row and how long they took: `2 × proposer, 290–310 ms`; a dash where there were none.
pub fn timeouts(row: &CostRow) -> String {
    let owners = by_size(row, |cost| match cost.timeouts.as_slice() {
        [] => "–".to_owned(),
        [owner, ..] => format!("{} × {owner}", cost.timeouts.len()),
    });
    let waits = row.costs.iter().map(|cost| cost.waited_ms);
    let waits = waits.filter(|waited| *waited > 0.0);
    let (least, most) = waits.fold((f64::MAX, 0.0), |(least, most), waited| {
        (f64::min(least, waited), f64::max(most, waited))
    });
    match (least.round(), most.round()) {
        (_, 0.0) => owners,
        (least, most) if least == most => format!("{owners}, {most} ms"),
        (least, most) => format!("{owners}, {least}–{most} ms"),
    }
}

fn line(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| text::in_markdown(cell)).collect();
    format!("| {} |\n", cells.join(" | "))
}
