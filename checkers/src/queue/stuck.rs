//! `stuck-barrier`: after recovery, with N live members in the round, an enter stays pending.
//!
//! The clock runs from the moment when all of that is so to the phase `audit`. The bound is ten times the median duration
//! of the run's answered enters, at least ten seconds.

use super::rounds::{Round, Rounds, told};
use crate::findings::{Findings, Found};
use crate::liveness;
use crate::ops::Op;
use crate::run::{Run, seconds};
use std::collections::{BTreeMap, HashSet};

/// A live member, by the event that shows it: its enter was sent, or its join was answered.
#[derive(Debug, Clone, Copy)]
struct Member<'a> {
    node: &'a str,
    since: usize,
}

/// Looks for enters that are never answered. What is pending and cannot be judged is a reason against `valid`.
pub fn check(run: &Run<'_>, rounds: &Rounds<'_>, out: &mut Findings) {
    let Some(recovered) = run.phase("recovered") else {
        return out.ran("stuck-barrier", 0);
    };
    let last = run.events.len() - 1;
    let end = run.phase("audit").filter(|&audit| audit > recovered).unwrap_or(last);
    let bound = liveness::bound(run, "enter");
    let mut members: BTreeMap<(i64, usize), Vec<Member<'_>>> = BTreeMap::new();
    let mut looked_at = 0;
    for op in &run.ops.work {
        let Some(asked) = op.invoke.filter(|&asked| asked < end) else {
            continue;
        };
        let Some(until) = liveness::pending_until(run, op, recovered, end) else {
            continue;
        };
        looked_at += 1;
        let (Some(number), Some(wanted)) = (told(run, op, "round"), told(run, op, "members")) else {
            out.reasons.push(unjudged(run, op, asked, ""));
            continue;
        };
        let live = members.entry((number, until)).or_insert_with(|| {
            let round = rounds.all.get(&number);
            round.map(|round| live(run, rounds, round, until)).unwrap_or_default()
        });
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        let chosen = (op.f == "enter")
            .then(|| choose(live, op, asked, wanted, rounds.member))
            .flatten();
        let Some(chosen) = chosen else {
            let why = format!(", with {} of {wanted} live members in its round", live.len());
            out.reasons
                .push(unjudged(run, op, asked, if op.f == "enter" { &why } else { "" }));
            continue;
        };
        let since = chosen
            .iter()
            .map(|member| member.since)
            .fold(asked.max(recovered), usize::max);
        let waited = run.time(until).saturating_sub(run.time(since));
        let stuck = Stuck {
            op,
            number,
            asked,
            recovered,
            until,
            since,
            members: chosen,
        };
        if waited < bound {
            let why = format!(
                ", with {wanted} live members in its round for only {} of the {} after which that convicts",
                seconds(waited),
                seconds(bound)
            );
            out.reasons.push(unjudged(run, op, asked, &why));
        } else {
            add(run, &stuck, bound, out);
        }
    }
    out.ran("stuck-barrier", looked_at);
}

fn unjudged(run: &Run<'_>, op: &Op<'_>, asked: usize, why: &str) -> String {
    let since = run.at(asked);
    format!(
        "the {} of {} sent at {since} was still pending after recovery{why}",
        op.f, op.node
    )
}

/// The live members of a round in the order in which they came to be; one for each client where each enters for itself.
fn live<'a>(run: &Run<'a>, rounds: &Rounds<'a>, round: &Round, until: usize) -> Vec<Member<'a>> {
    let each = rounds.member == "enter";
    let mut members: Vec<Member<'_>> = round
        .members
        .iter()
        .map(|&op| &run.ops.work[op])
        .filter(|op| rounds.lives(run, op, until))
        .filter_map(|op| {
            let since = if each { op.invoke } else { op.end };
            Some(Member {
                node: op.node,
                since: since.filter(|&since| since < until)?,
            })
        })
        .collect();
    members.sort_unstable_by_key(|member| member.since);
    let mut seen = HashSet::new();
    members.retain(|member| !each || seen.insert(member.node));
    members
}

/// As many members as the round wants, the earliest; where each enters for itself, the one that waits among them.
fn choose<'a>(live: &[Member<'a>], op: &Op<'a>, asked: usize, wanted: usize, member: &str) -> Option<Vec<Member<'a>>> {
    if member != "enter" {
        return live.get(..wanted).map(<[_]>::to_vec);
    }
    let own = Member {
        node: op.node,
        since: asked,
    };
    let others = live.iter().filter(|member| member.node != op.node).copied();
    let chosen: Vec<Member<'_>> = [own].into_iter().chain(others).take(wanted).collect();
    (chosen.len() == wanted).then_some(chosen)
}

struct Stuck<'a> {
    op: &'a Op<'a>,
    number: i64,
    asked: usize,
    recovered: usize,
    until: usize,
    since: usize,
    members: Vec<Member<'a>>,
}

fn add(run: &Run<'_>, stuck: &Stuck<'_>, bound: u64, out: &mut Findings) {
    let names: Vec<&str> = stuck.members.iter().map(|member| member.node).collect();
    let why = format!(
        "{} was sent to round {} at {} and was not let in by {}, though every fault was healed, the ensemble had recovered at \
         {}, and from {} on all {} members of the round were there and alive: {}. The bound is {}: ten times the median of \
         the run's answered enters, at least ten seconds.",
        stuck.op.node,
        stuck.number,
        run.at(stuck.asked),
        run.at(stuck.until),
        run.at(stuck.recovered),
        run.at(stuck.since),
        names.len(),
        names.join(", "),
        seconds(bound),
    );
    let members = stuck.members.iter().map(|member| member.since);
    let first = members.clone().chain([stuck.asked]).min();
    let found = Found {
        kind: "stuck-barrier",
        property: "liveness",
        advisory: false,
        witness: members.chain([stuck.asked, stuck.recovered, stuck.until]).collect(),
        why,
    };
    out.add_at_end(run, found, first.map(|first| run.time(first)));
}
