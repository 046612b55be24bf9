//! `early-release`: an enter was answered before N members of the round were sent enter (join), or a leave before all
//! others had left, were sent leave, or had died.
//!
//! A member that is sent its operation again, because its first one failed, timed out or died with its process, counts
//! once.

use super::rounds::{BarrierRound, RoundMember, Rounds, answered};
use crate::analysis::{Analysis, Op};
use crate::findings::{Finding, Findings};
use crate::text::{count, if_any};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use zooquake_history::operation::barrier::f;

/// Looks for enters and leaves that were answered too early.
pub fn check(run: &Analysis<'_>, rounds: &Rounds<'_>, out: &mut Findings) {
    let mut looked_at = 0;
    for (&number, round) in &rounds.all {
        looked_at += round.enters.len();
        enters(run, rounds, (number, round), out);
        if rounds.member == f::ENTER {
            looked_at += round.leaves.len();
            leaves(run, rounds, (number, round), out);
        }
    }
    out.ran("early-release", looked_at);
}

fn enters(run: &Analysis<'_>, rounds: &Rounds<'_>, (number, round): (i64, &BarrierRound), out: &mut Findings) {
    // One whose invocation is missing may have been sent at any time.
    let sent = |&op: &usize| (rounds.member_of(run, op), run.ops.work[op].invoke.unwrap_or(0));
    let requests: Vec<(RoundMember<'_>, usize)> = round.members.iter().map(sent).collect();
    let mut first: BTreeMap<RoundMember<'_>, usize> = BTreeMap::new();
    for &(member, sent) in &requests {
        let known = first.entry(member).or_insert(sent);
        *known = sent.min(*known);
    }
    let sorted = |sent: &mut dyn Iterator<Item = usize>| {
        let mut sent: Vec<usize> = sent.collect();
        sent.sort_unstable();
        sent
    };
    let first = sorted(&mut first.into_values());
    let all = sorted(&mut requests.into_iter().map(|(_, sent)| sent));
    for op in round.enters.iter().map(|&op| &run.ops.work[op]) {
        let (Some(asked), Some(read)) = (op.sent(), answered(run, op)) else {
            continue;
        };
        let Some(members) = run.events[asked].members() else {
            continue;
        };
        let before = first.partition_point(|&sent| sent < read);
        if i64::try_from(before).unwrap_or(i64::MAX) >= members || rounds.hidden_before(read) {
            continue;
        }
        let again = all.partition_point(|&sent| sent < read) - before;
        let why = format!(
            "{} was let into round {number} of {} at {}, when no more than {before} of them had been sent `{}`{}. So the barrier \
             opened before all members can have been there.",
            op.node,
            count(usize::try_from(members).unwrap_or_default(), "member"),
            run.at(read),
            rounds.member,
            if_any(again, |again| format!(
                " ({again} of these requests were asked again, for the same members)"
            )),
        );
        add(run, vec![asked, read], why, out);
    }
}

/// One member's stay that certainly lasted from the answer to its enter until it was sent leave for the first time,
/// because a leave of its removed the very znode that the enter had made. Positions are those of events.
#[derive(Debug, Clone, Copy)]
struct CertainStay<'a> {
    node: &'a str,
    entered: usize,
    /// Where it was first sent leave.
    asked: usize,
    /// Where the leave that removed the znode was sent.
    removing: usize,
    left: usize,
}

fn leaves(run: &Analysis<'_>, rounds: &Rounds<'_>, (number, round): (i64, &BarrierRound), out: &mut Findings) {
    let stays = stays(run, rounds, round);
    // For each place in the order of entering, who is asked to leave last up to there, and the last of another client.
    let mut last: Vec<(CertainStay<'_>, Option<CertainStay<'_>>)> = Vec::with_capacity(stays.len());
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
fn stays<'a>(run: &Analysis<'a>, rounds: &Rounds<'_>, round: &BarrierRound) -> Vec<CertainStay<'a>> {
    let enter = |&op: &usize| {
        let op = &run.ops.work[op];
        let entered = answered(run, op)?;
        Some((op.node, run.events[entered].czxid()?, entered))
    };
    let mut enters: Vec<(&str, i64, usize)> = round.enters.iter().filter_map(enter).collect();
    enters.sort_unstable();
    let asked = LeaveRequests::new(run, round.leaves.iter().chain(&rounds.hidden_leaves));
    let stay = |op: &Op<'a>| {
        let (removing, left) = (op.sent()?, answered(run, op)?);
        let czxid = run.events[left].removed()?.1?;
        let key = |&(node, other, _): &(&str, i64, usize)| (node, other).cmp(&(op.node, czxid));
        let entered = enters[enters.binary_search_by(key).ok()?].2;
        let asked = asked.first(op.node, entered)?;
        (entered < removing && !run.clients.died(op.node, entered, removing)).then_some(CertainStay {
            node: op.node,
            entered,
            asked,
            removing,
            left,
        })
    };
    let mut stays: Vec<CertainStay<'_>> = round.leaves.iter().filter_map(|&op| stay(&run.ops.work[op])).collect();
    stays.sort_unstable_by_key(|stay| stay.entered);
    stays
}

/// Where clients were sent leave.
struct LeaveRequests<'a> {
    sent: BTreeSet<(&'a str, usize)>,
    /// By client: where the last leave ended whose invocation is missing, so that it may have been sent at any time
    /// before.
    unsent: HashMap<&'a str, usize>,
}

impl<'a> LeaveRequests<'a> {
    fn new<'n>(run: &Analysis<'a>, leaves: impl Iterator<Item = &'n usize>) -> Self {
        let mut asked = Self {
            sent: BTreeSet::new(),
            unsent: HashMap::new(),
        };
        for op in leaves.map(|&op| &run.ops.work[op]) {
            match (op.invoke, op.end) {
                (Some(sent), _) => drop(asked.sent.insert((op.node, sent))),
                (None, Some(end)) => {
                    let last = asked.unsent.entry(op.node).or_default();
                    *last = end.max(*last);
                }
                (None, None) => {}
            }
        }
        asked
    }

    /// Where a client was sent leave first after an event; `None` if that is not certain.
    fn first(&self, node: &'a str, from: usize) -> Option<usize> {
        let certain = self.unsent.get(node).is_none_or(|&end| end < from);
        let next = self.sent.range((node, from)..).next().filter(|(of, _)| *of == node);
        next.filter(|_| certain).map(|&(_, sent)| sent)
    }
}

fn left_behind(
    run: &Analysis<'_>,
    number: i64,
    op: &Op<'_>,
    (asked, read): (usize, usize),
    stay: &CertainStay<'_>,
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
    add(run, vec![asked, read, stay.entered, stay.removing, stay.left], why, out);
}

fn add(run: &Analysis<'_>, witness: Vec<usize>, why: String, out: &mut Findings) {
    out.add(run, Finding::new("early-release", "all or none", witness, why));
}
