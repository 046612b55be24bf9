//! `stuck-barrier`: after recovery, with N live members in the round, an enter stays pending, or is refused again and again.
//!
//! The clock runs from the moment when all of that is so to the phase `audit`. The bound is ten times the median duration
//! of the run's answered enters, at least ten seconds. A client whose enters of the round fail one after the other, and
//! that goes on asking, counts as a member for the others of which that is true. If the run cannot be judged
//! ([`crate::recovery`]) nobody is convicted.

use super::rounds::{Round, Rounds, told};
use crate::findings::{Findings, Found};
use crate::liveness;
use crate::pending::{How, Unfinished, idle, of_bound, unfinished};
use crate::recovery::Span;
use crate::run::{Run, seconds};
use std::collections::{BTreeMap, HashSet};

/// A live member, by the event that shows it: its enter was sent, or its join was answered.
#[derive(Debug, Clone, Copy)]
struct Member<'a> {
    node: &'a str,
    since: usize,
    /// The last event that shows it.
    until: usize,
}

/// Looks for enters that are never answered. What did not finish and cannot be judged is a reason against `valid`. `each`:
/// every planned client has to finish an operation.
pub fn check(run: &Run<'_>, rounds: &Rounds<'_>, each: bool, out: &mut Findings) {
    let Some(span) = run.recovery.span else {
        return out.ran("stuck-barrier", 0);
    };
    let all = unfinished(run, span);
    let bound = liveness::bound(run, "enter");
    let mut there = There {
        run,
        rounds,
        refused: refused(run, &all),
        live: BTreeMap::new(),
    };
    for one in &all {
        let long = spells(run, one, span, bound);
        let stuck = match one.op.f {
            "enter" if !long.is_empty() => there.stuck(one, &long, span),
            _ => Err(String::new()),
        };
        let why = match stuck {
            Ok(stuck) if stuck.waited >= bound && run.recovery.doubt().is_none() => {
                add(run, one, &stuck, (span, bound), out);
                continue;
            }
            Ok(stuck) if stuck.waited < bound && one.made_up => continue,
            Ok(stuck) => format!(
                ", with {} live members in its round for {}",
                stuck.members.len(),
                of_bound(stuck.waited, bound)
            ),
            Err(_) if one.made_up => continue,
            Err(why) => why,
        };
        out.reasons.push(one.reason(run, &why));
    }
    let told = all.iter().filter(|one| !one.made_up).map(|one| one.op.node).collect();
    idle(run, span, told, each, out);
    out.ran("stuck-barrier", all.len());
}

/// The spells of what did not finish that last for the bound; if none does, the longest, unless something made up for it.
fn spells(run: &Run<'_>, one: &Unfinished<'_, '_>, span: Span, bound: u64) -> Vec<(usize, usize)> {
    let lasts = |&(asked, until): &(usize, usize)| run.time(until).saturating_sub(run.time(asked.max(span.clock)));
    let all = one.spells();
    let long: Vec<(usize, usize)> = all.iter().filter(|spell| lasts(spell) >= bound).copied().collect();
    match long.is_empty() && !one.made_up {
        true => all.into_iter().max_by_key(lasts).into_iter().collect(),
        false => long,
    }
}

/// By round those whose enters fail one after the other, while they go on asking.
fn refused<'a>(run: &Run<'a>, all: &[Unfinished<'_, 'a>]) -> BTreeMap<i64, Vec<Member<'a>>> {
    let mut refused: BTreeMap<i64, Vec<Member<'a>>> = BTreeMap::new();
    let enters = all.iter().filter(|one| one.op.f == "enter");
    for one in enters.filter(|one| one.how == How::Failed && !one.made_up) {
        if let Some(number) = told(run, one.op, "round") {
            refused.entry(number).or_default().push(Member {
                node: one.op.node,
                since: one.asked(),
                until: one.until(),
            });
        }
    }
    refused
}

/// Who is in each round.
struct There<'r, 'a> {
    run: &'r Run<'a>,
    rounds: &'r Rounds<'a>,
    /// See [`refused`].
    refused: BTreeMap<i64, Vec<Member<'a>>>,
    /// The live members by round and moment.
    live: BTreeMap<(i64, usize), Vec<Member<'a>>>,
}

impl<'a> There<'_, 'a> {
    /// The spell of an enter in which most time went by while all members were there; why there is none, in words.
    fn stuck(&mut self, one: &Unfinished<'_, 'a>, spells: &[(usize, usize)], span: Span) -> Result<Stuck<'a>, String> {
        let (run, op) = (self.run, one.op);
        let (Some(number), Some(wanted)) = (told(run, op, "round"), told(run, op, "members")) else {
            return Err(String::new());
        };
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        let (mut longest, mut most) = (None::<Stuck<'a>>, 0);
        for &(asked, until) in spells {
            let members = self.members(one, number, until);
            most = most.max(members.len());
            let own = Member {
                node: op.node,
                since: asked,
                until,
            };
            let Some(members) = choose(&members, own, wanted, self.rounds.member) else {
                continue;
            };
            let since = members
                .iter()
                .map(|member| member.since)
                .fold(asked.max(span.clock), usize::max);
            let there = members.iter().map(|member| member.until).fold(until, usize::min);
            let waited = run.time(there).saturating_sub(run.time(since));
            let stuck = Stuck {
                number,
                asked,
                until,
                since,
                waited,
                members,
            };
            if longest.as_ref().is_none_or(|longest| longest.waited < waited) {
                longest = Some(stuck);
            }
        }
        longest.ok_or_else(|| format!(", with {most} of {wanted} live members in its round"))
    }

    /// The live members of the round of an enter, one for each client where each enters for itself.
    fn members(&mut self, one: &Unfinished<'_, 'a>, number: i64, until: usize) -> Vec<Member<'a>> {
        let (run, rounds) = (self.run, self.rounds);
        let live = self.live.entry((number, until)).or_insert_with(|| {
            let round = rounds.all.get(&number);
            round.map(|round| live(run, rounds, round, until)).unwrap_or_default()
        });
        let mut members = live.clone();
        if one.how == How::Failed && rounds.member == "enter" {
            members.extend(self.refused.get(&number).into_iter().flatten());
            members.sort_by_key(|member| member.since);
            let mut seen = HashSet::new();
            members.retain(|member| seen.insert(member.node));
        }
        members
    }
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
                until,
            })
        })
        .collect();
    members.sort_unstable_by_key(|member| member.since);
    let mut seen = HashSet::new();
    members.retain(|member| !each || seen.insert(member.node));
    members
}

/// As many members as the round wants, the earliest; where each enters for itself, the one that waits among them.
fn choose<'a>(live: &[Member<'a>], own: Member<'a>, wanted: usize, member: &str) -> Option<Vec<Member<'a>>> {
    if member != "enter" {
        return live.get(..wanted).map(<[_]>::to_vec);
    }
    let others = live.iter().filter(|member| member.node != own.node).copied();
    let chosen: Vec<Member<'_>> = [own].into_iter().chain(others).take(wanted).collect();
    (chosen.len() == wanted).then_some(chosen)
}

/// An enter, and since when it waits for nobody.
struct Stuck<'a> {
    number: i64,
    asked: usize,
    until: usize,
    since: usize,
    waited: u64,
    members: Vec<Member<'a>>,
}

fn add(run: &Run<'_>, one: &Unfinished<'_, '_>, stuck: &Stuck<'_>, (span, bound): (Span, u64), out: &mut Findings) {
    let names: Vec<&str> = stuck.members.iter().map(|member| member.node).collect();
    let until = run.at(stuck.until);
    let what = match (one.how, one.attempts.len()) {
        (How::Failed, 2..) => format!("was refused again and again until {until}"),
        _ => format!("was not let in by {until}"),
    };
    let why = format!(
        "{} was sent to round {} at {} and {what}, though every fault was healed, the ensemble had recovered at {}, and from \
         {} on all {} members of the round were there and alive: {}. The bound is {}: ten times the median of the run's \
         answered enters, at least ten seconds.",
        one.op.node,
        stuck.number,
        run.at(stuck.asked),
        run.at(span.recovered),
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
        witness: members.chain([stuck.asked, span.recovered, stuck.until]).collect(),
        why,
    };
    out.add_at_end(run, found, first.map(|first| run.time(first)));
}
