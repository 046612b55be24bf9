//! `early-release`: an enter was answered before N enters (joins) of the round were sent, or a leave before all others
//! had left, were sent leave, or had died.

use super::rounds::{Round, Rounds, answered};
use crate::analysis::Analysis;
use crate::findings::{Findings, Found};
use crate::ops::Op;
use crate::text::count;

/// Looks for enters and leaves that were answered too early.
pub fn check(run: &Analysis<'_>, rounds: &Rounds<'_>, out: &mut Findings) {
    let mut looked_at = 0;
    for (&number, round) in &rounds.all {
        looked_at += round.enters.len();
        enters(run, rounds, (number, round), out);
        if rounds.member == "enter" {
            looked_at += round.leaves.len();
            leaves(run, (number, round), out);
        }
    }
    out.ran("early-release", looked_at);
}

fn enters(run: &Analysis<'_>, rounds: &Rounds<'_>, (number, round): (i64, &Round), out: &mut Findings) {
    let member = rounds.member;
    // One whose invocation is missing may have been sent at any time.
    let sent = |&op: &usize| run.ops.work[op].invoke.unwrap_or(0);
    let mut sent: Vec<usize> = round.members.iter().map(sent).collect();
    sent.sort_unstable();
    for op in round.enters.iter().map(|&op| &run.ops.work[op]) {
        let (Some(asked), Some(read)) = (op.sent(), answered(run, op)) else {
            continue;
        };
        let Some(members) = run.events[asked].members() else {
            continue;
        };
        let before = sent.partition_point(|&sent| sent < read);
        if i64::try_from(before).unwrap_or(i64::MAX) >= members || rounds.hidden_before(read) {
            continue;
        }
        let why = format!(
            "{} was let into round {number} of {} at {}, when no more than {} of that round had been sent. So the barrier \
             opened before all members can have been there.",
            op.node,
            count(usize::try_from(members).unwrap_or_default(), "member"),
            run.at(read),
            count(before, member),
        );
        add(run, vec![asked, read], why, out);
    }
}

/// One member's stay that certainly lasted from the answer to its enter to the sending of its leave, because that leave
/// removed the very znode that the enter had made. Positions are those of events.
#[derive(Debug, Clone, Copy)]
struct Stay<'a> {
    node: &'a str,
    entered: usize,
    asked: usize,
    left: usize,
}

fn leaves(run: &Analysis<'_>, (number, round): (i64, &Round), out: &mut Findings) {
    let stays = stays(run, round);
    // For each place in the order of entering, who is asked to leave last up to there, and the last of another client.
    let mut last: Vec<(Stay<'_>, Option<Stay<'_>>)> = Vec::with_capacity(stays.len());
    for stay in &stays {
        let next = match last.last() {
            None => (*stay, None),
            Some(&(best, other)) if stay.node == best.node => {
                (if stay.asked > best.asked { *stay } else { best }, other)
            }
            Some(&(best, _)) if stay.asked > best.asked => (*stay, Some(best)),
            Some(&(best, other)) => (best, other.filter(|other| other.asked > stay.asked).or(Some(*stay))),
        };
        last.push(next);
    }
    for op in round.leaves.iter().map(|&op| &run.ops.work[op]) {
        let (Some(asked), Some(read)) = (op.sent(), answered(run, op)) else {
            continue;
        };
        let place = stays.partition_point(|stay| stay.entered < asked).checked_sub(1);
        let Some((best, other)) = place.map(|place| last[place]) else {
            continue;
        };
        let other = if best.node == op.node { other } else { Some(best) };
        if let Some(stay) = other.filter(|stay| stay.asked > read) {
            left_behind(run, number, op, (asked, read), &stay, out);
        }
    }
}

/// The stays of a round, in the order in which they began.
fn stays<'a>(run: &Analysis<'a>, round: &Round) -> Vec<Stay<'a>> {
    let enter = |&op: &usize| {
        let op = &run.ops.work[op];
        let entered = answered(run, op)?;
        Some((op.node, run.events[entered].czxid()?, entered))
    };
    let mut enters: Vec<(&str, i64, usize)> = round.enters.iter().filter_map(enter).collect();
    enters.sort_unstable();
    let stay = |op: &Op<'a>| {
        let (asked, left) = (op.sent()?, answered(run, op)?);
        let czxid = run.events[left].removed()?.1?;
        let key = |&(node, other, _): &(&str, i64, usize)| (node, other).cmp(&(op.node, czxid));
        let entered = enters[enters.binary_search_by(key).ok()?].2;
        (entered < asked).then_some(Stay {
            node: op.node,
            entered,
            asked,
            left,
        })
    };
    let mut stays: Vec<Stay<'_>> = round.leaves.iter().filter_map(|&op| stay(&run.ops.work[op])).collect();
    stays.sort_unstable_by_key(|stay| stay.entered);
    stays
}

fn left_behind(
    run: &Analysis<'_>,
    number: i64,
    op: &Op<'_>,
    (asked, read): (usize, usize),
    stay: &Stay<'_>,
    out: &mut Findings,
) {
    let why = format!(
        "{} left round {number}: it was sent leave at {} and answered at {}. {} had been let in at {} and was still inside: \
         it was sent leave only at {}, and that leave removed the znode with which it had entered. So the barrier did not \
         wait for all to leave.",
        op.node,
        run.at(asked),
        run.at(read),
        stay.node,
        run.at(stay.entered),
        run.at(stay.asked),
    );
    add(run, vec![asked, read, stay.entered, stay.asked, stay.left], why, out);
}

fn add(run: &Analysis<'_>, witness: Vec<usize>, why: String, out: &mut Findings) {
    out.add(run, Found::new("early-release", "all or none", witness, why));
}
