//! `stuck-barrier`: after recovery, with N live members in the round, an enter stays pending, or is refused again and
//! again; or a leave stays pending though every other member has left or is leaving ([`LeaveOps`]).
//!
//! The clock runs from the moment when all of that is so to the phase `audit`. The bound is ten times the median
//! duration of the run's answered enters (leaves), at least ten seconds. A client whose enters of the round fail one
//! after the other, and that goes on asking, counts as a member for the others of which that is true. If the run cannot
//! be judged ([`crate::analysis::recovery`]) nobody is convicted.

use super::presence::{MemberStay, Presence, PresentMembers, Question};
use super::rounds::{BarrierRound, RoundMember, Rounds, told};
use crate::analysis::recovery::RecoverySpan;
use crate::analysis::{Analysis, Op, first_after};
use crate::cause::{AnomalySubject, WaitingClient};
use crate::findings::{Finding, Findings};
use crate::liveness::{
    LivenessBounds, UnfinishedOps, UnfinishedOutcome, bound_words, error_words, idle, open_clients, unfinished,
};
use crate::text::{few, seconds};
use std::collections::BTreeMap;
use zooquake_history::EventType;
use zooquake_history::operation::barrier::{MEMBERS, ROUND, f};

/// When witnesses have named so many members, further stuck enters are only counted.
const MOST: usize = 1_000_000;

/// Looks for enters that are never answered. What did not finish and cannot be judged is a reason against `valid`.
/// `each`: every planned client has to finish an operation.
pub fn check(run: &Analysis<'_>, rounds: &Rounds<'_>, each: bool, out: &mut Findings) {
    let Some(span) = run.recovery.span else {
        return out.ran("stuck-barrier", 0);
    };
    let all = unfinished(run, span);
    let bound = LivenessBounds::new(run, span).bound(f::ENTER);
    let there = RoundPresences::new(run, rounds, &all);
    let (mut room, mut untold) = (MOST, 0);
    let leaves = LeaveOps::new(run, rounds, &all, span);
    for (number, one) in all.iter().enumerate() {
        if one.op.f == f::LEAVE {
            leaves.check(one, out);
            continue;
        }
        let why = match there.stuck(number, span) {
            Ok(stuck) if stuck.waited >= bound && run.recovery.doubt().is_none() => {
                if room == 0 {
                    untold += 1;
                    continue;
                }
                let (members, looked_at) = there.members(one, &stuck);
                room = room.saturating_sub(looked_at.max(1));
                add(run, one, (&stuck, members), (span, bound), out);
                continue;
            }
            Ok(stuck) if stuck.waited < bound && one.made_up => continue,
            Ok(stuck) => format!(
                ", with {} live members in its round for {}",
                stuck.wanted,
                bound_words(stuck.waited, bound)
            ),
            Err(_) if one.made_up => continue,
            Err(why) => why,
        };
        out.reasons.push(one.reason(run, &why));
    }
    if untold > 0 {
        out.reasons.push(format!(
            "note: {untold} more stuck enters, in rounds of many members, are not listed"
        ));
    }
    idle(run, span, open_clients(&all), each, out);
    out.ran("stuck-barrier", all.len());
}

/// By round those whose enters fail one after the other, while they go on asking.
fn refused<'a>(run: &Analysis<'a>, all: &[UnfinishedOps<'_, 'a>]) -> BTreeMap<i64, Vec<MemberStay<'a>>> {
    let mut refused: BTreeMap<i64, Vec<MemberStay<'a>>> = BTreeMap::new();
    let enters = all.iter().filter(|one| one.op.f == f::ENTER);
    for one in enters.filter(|one| one.was_refused(run) && !one.made_up) {
        if let Some(number) = told(run, one.op, ROUND) {
            refused.entry(number).or_default().push(MemberStay {
                node: one.op.node,
                member: RoundMember::Client(one.op.node),
                named: None,
                since: one.asked(),
                alive: (0, usize::MAX),
                until: Some(one.until()),
            });
        }
    }
    refused
}

/// An enter that did not finish.
#[derive(Clone, Copy)]
struct AskedEnter {
    /// Its round, and how many members that has.
    number: i64,
    wanted: usize,
    /// From the first sending to the last end.
    spell: (usize, usize),
    /// Who was there at the end.
    there: PresentMembers,
}

/// Who is in each round.
struct RoundPresences<'r, 'a> {
    run: &'r Analysis<'a>,
    /// By round the members, with those refused if the enter in question is ([`refused`]).
    rounds: BTreeMap<(i64, bool), Presence<'a>>,
    /// By enter, as a position in the list of what did not finish.
    asked: BTreeMap<usize, AskedEnter>,
    /// Whether members enter for themselves.
    enters: bool,
}

impl<'r, 'a> RoundPresences<'r, 'a> {
    fn new(run: &'r Analysis<'a>, rounds: &Rounds<'a>, all: &[UnfinishedOps<'_, 'a>]) -> Self {
        let mut there = Self {
            run,
            rounds: BTreeMap::new(),
            asked: BTreeMap::new(),
            enters: rounds.member == f::ENTER,
        };
        let refused = refused(run, all);
        // By round the questions about it, each with the enter and the members that it takes.
        type Of<'a> = Vec<(Question<'a>, usize, usize)>;
        let mut questions: BTreeMap<(i64, bool), Of<'a>> = BTreeMap::new();
        for (at, one) in all.iter().enumerate().filter(|(_, one)| one.op.f == f::ENTER) {
            let (Some(number), Some(wanted)) = (told(run, one.op, ROUND), told(run, one.op, MEMBERS)) else {
                continue;
            };
            let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
            let question = there.question(one, wanted, one.until());
            let of = questions.entry(there.round(one, number)).or_default();
            of.push((question, at, wanted));
        }
        for ((number, with_refused), of) in questions {
            let mut stays = live(run, rounds, number);
            stays.extend(refused.get(&number).into_iter().flatten().filter(|_| with_refused));
            let presence = Presence::new(stays);
            let asked: Vec<Question<'_>> = of.iter().map(|&(question, ..)| question).collect();
            for ((_, at, wanted), answer) in of.into_iter().zip(presence.answers(&asked)) {
                let enter = AskedEnter {
                    number,
                    wanted,
                    spell: all[at].spell(),
                    there: answer,
                };
                there.asked.insert(at, enter);
            }
            there.rounds.insert((number, with_refused), presence);
        }
        there
    }

    fn round(&self, one: &UnfinishedOps<'_, 'a>, number: i64) -> (i64, bool) {
        (number, one.was_refused(self.run) && self.enters)
    }

    /// Where each enters for itself, the one that waits is a member itself.
    fn question(&self, one: &UnfinishedOps<'_, 'a>, wanted: usize, at: usize) -> Question<'a> {
        Question {
            at,
            beside: self.enters.then_some(RoundMember::Client(one.op.node)),
            wanted: wanted.saturating_sub(usize::from(self.enters)),
        }
    }

    /// An enter while all members were there; why they were not, in words.
    fn stuck(&self, at: usize, span: RecoverySpan) -> Result<StuckEnter, String> {
        let run = self.run;
        let &AskedEnter {
            number,
            wanted,
            spell: (asked, until),
            there,
        } = self.asked.get(&at).ok_or_else(String::new)?;
        let most = there.members;
        let (last, shown) = there
            .full
            .ok_or_else(|| format!(", with {most} of {wanted} live members in its round"))?;
        let since = last.max(asked).max(span.clock);
        let there = shown.map_or(until, |shown| shown.min(until));
        Ok(StuckEnter {
            number,
            wanted,
            asked,
            until,
            since,
            waited: run.time(there).saturating_sub(run.time(since)),
        })
    }

    /// The members that a stuck enter waits with, itself first where each enters for itself: each by the client and the
    /// events that show it. And how many were looked at.
    fn members(&self, one: &UnfinishedOps<'_, 'a>, stuck: &StuckEnter) -> (Vec<MemberEvidence<'a>>, usize) {
        let own = MemberEvidence {
            node: one.op.node,
            named: None,
            since: stuck.asked,
        };
        let mut members: Vec<MemberEvidence<'_>> =
            [own].into_iter().filter(|_| self.enters).take(stuck.wanted).collect();
        let Some(presence) = self.rounds.get(&self.round(one, stuck.number)) else {
            return (members, 0);
        };
        let (others, looked_at) = presence.named(self.question(one, stuck.wanted, stuck.until));
        let shown = |stay: MemberStay<'a>| MemberEvidence {
            node: stay.node,
            named: stay.named,
            since: stay.since,
        };
        members.extend(others.into_iter().map(shown));
        (members, looked_at)
    }
}

/// The members of a round while they live, but for those that may be any.
fn live<'a>(run: &Analysis<'a>, rounds: &Rounds<'a>, number: i64) -> Vec<MemberStay<'a>> {
    let members = rounds.all.get(&number).into_iter().flat_map(|round| &round.members);
    let stay = |&number: &usize| {
        let op = &run.ops.work[number];
        let since = if rounds.member == f::ENTER { op.invoke? } else { op.end? };
        let member = rounds.member_of(run, number);
        (!matches!(member, RoundMember::Unknown(_))).then_some(MemberStay {
            node: op.node,
            member,
            named: op.invoke.filter(|_| matches!(member, RoundMember::Number(_))),
            since,
            alive: (since + 1, rounds.stays(run, op)),
            until: None,
        })
    };
    members.filter_map(stay).collect()
}

/// A member: the client that was sent to the round, the request that names the member, and the event that shows it
/// there.
struct MemberEvidence<'a> {
    node: &'a str,
    named: Option<usize>,
    since: usize,
}

/// An enter, and since when it waits for nobody.
struct StuckEnter {
    number: i64,
    wanted: usize,
    asked: usize,
    until: usize,
    since: usize,
    waited: u64,
}

fn add(
    run: &Analysis<'_>,
    one: &UnfinishedOps<'_, '_>,
    (stuck, members): (&StuckEnter, Vec<MemberEvidence<'_>>),
    (span, bound): (RecoverySpan, u64),
    out: &mut Findings,
) {
    let names: Vec<&str> = members.iter().map(|member| member.node).collect();
    let until = run.at(stuck.until);
    let what = match one.attempts.len() {
        2.. => format!(
            "was {} again and again until {until}{}",
            one.answers(),
            error_words(run, one.until())
        ),
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
        few(&names),
        seconds(bound),
    );
    let members = members
        .iter()
        .flat_map(|member| member.named.into_iter().chain([member.since]));
    let first = members.clone().chain([stuck.asked]).min();
    let witness = members.chain([stuck.asked, span.recovered, span.end]).collect();
    let waiter = WaitingClient {
        node: one.op.node.to_owned(),
        asked: stuck.asked,
        since: stuck.since,
        pending: one.how == UnfinishedOutcome::Pending,
        mode: None,
    };
    let found = Finding::new("stuck-barrier", "liveness", witness, why).about(AnomalySubject::Member(waiter));
    out.add_at_end(run, found, first.map(|first| run.time(first)));
}

/// The leaves of a run that did not finish; of them those convict that wait for nobody: every other member of the round
/// has certainly left it or is leaving it.
///
/// A client may be inside from the sending of its first enter of the round that did not fail. It is so no more when it
/// was sent a leave after its last such enter, unless that ended as `fail` or `info`: what became of it is open then.
/// Nor is it, from `recovered` on, if its process ended before the recovery began: the session of that process is over
/// by then ([`crate::analysis::recovery`]). All is as of the end of the span, in time linear in the round.
struct LeaveOps<'r, 'a> {
    run: &'r Analysis<'a>,
    rounds: &'r Rounds<'a>,
    /// By round who is in it.
    of: BTreeMap<i64, RoundMembers<'a>>,
    span: RecoverySpan,
    bound: u64,
}

/// From the sending of a leave to the event up to which it was not answered, and since when it waited for nobody.
struct LeaveSpell {
    number: i64,
    asked: usize,
    until: usize,
    since: usize,
    waited: u64,
}

impl<'r, 'a> LeaveOps<'r, 'a> {
    /// Finds out who is in the rounds of all that did not finish.
    fn new(run: &'r Analysis<'a>, rounds: &'r Rounds<'a>, all: &[UnfinishedOps<'_, 'a>], span: RecoverySpan) -> Self {
        let mut of = BTreeMap::new();
        let leaves = all.iter().filter(|one| one.op.f == f::LEAVE);
        for number in leaves.filter_map(|one| told(run, one.op, ROUND)) {
            of.entry(number)
                .or_insert_with(|| RoundMembers::new(run, rounds, number, span));
        }
        Self {
            run,
            rounds,
            of,
            span,
            bound: LivenessBounds::new(run, span).bound(f::LEAVE),
        }
    }

    /// Adds the anomaly that a leave is, or a reason against `valid`.
    fn check(&self, one: &UnfinishedOps<'_, '_>, out: &mut Findings) {
        let (run, bound) = (self.run, self.bound);
        let why = match self.longest(one) {
            Ok(spell) if spell.waited >= bound && run.recovery.doubt().is_none() => {
                return self.convict(one, &spell, out);
            }
            Ok(spell) if one.made_up && spell.waited < bound => return,
            Err(_) if one.made_up => return,
            Ok(spell) => format!(
                ", with nobody else in its round for {}",
                bound_words(spell.waited, bound)
            ),
            Err(why) => why,
        };
        out.reasons.push(one.reason(run, &why));
    }

    /// The longest spell of a leave; why somebody else may be in its round, in words.
    fn longest(&self, one: &UnfinishedOps<'_, '_>) -> Result<LeaveSpell, String> {
        let run = self.run;
        let number = told(run, one.op, ROUND).ok_or_else(String::new)?;
        let leaving = self.of.get(&number).ok_or_else(String::new)?;
        if self.rounds.hidden_before(one.until()) {
            return Err(", and an enter that names no round that can be read may be of its round".to_owned());
        }
        if let Some(other) = leaving.inside(one.op.node) {
            return Err(format!(", and {other} may be in its round"));
        }
        let spell = |(asked, until)| {
            let since = leaving.since(one.op.node).max(asked).max(self.span.clock);
            LeaveSpell {
                number,
                asked,
                until,
                since,
                waited: run.time(until).saturating_sub(run.time(since)),
            }
        };
        Ok(spell(one.spell()))
    }

    fn convict(&self, one: &UnfinishedOps<'_, '_>, spell: &LeaveSpell, out: &mut Findings) {
        let run = self.run;
        let why = format!(
            "{} was sent to leave round {} at {} and was not answered `ok` by {}{}, though every fault was healed, the ensemble had \
             recovered at {}, and from {} on every other client that had been sent to the round had left it, was leaving it, or had \
             ended. The bound is {}: ten times the median of the run's answered leaves, at least ten seconds.",
            one.op.node,
            spell.number,
            run.at(spell.asked),
            run.at(spell.until),
            error_words(run, spell.until),
            run.at(self.span.recovered),
            run.at(spell.since),
            seconds(self.bound),
        );
        let witness = vec![spell.asked, self.span.recovered, self.span.end];
        let found = Finding::new("stuck-barrier", "liveness", witness, why);
        out.add_at_end(run, found, Some(run.time(spell.asked)));
    }
}

/// Who is in one round at the end of the span.
#[derive(Debug, Default)]
struct RoundMembers<'a> {
    /// The two clients that went last, each with the event since which it certainly is inside no more.
    last: [Option<(usize, &'a str)>; 2],
    /// Two of those that may be inside.
    inside: [Option<&'a str>; 2],
}

/// What a client was sent in a round, by where.
#[derive(Debug, Default)]
struct RoundRequests {
    /// Its last enter that did not fail.
    entered: Option<usize>,
    /// Its leaves that were answered `ok` or are pending, in order.
    leaves: Vec<usize>,
}

impl<'a> RoundMembers<'a> {
    fn new(run: &Analysis<'a>, rounds: &Rounds<'a>, number: i64, span: RecoverySpan) -> Self {
        let recover = run.phase("recover").filter(|&at| at < span.recovered);
        let mut leaving = Self::default();
        let round = rounds.all.get(&number);
        for (node, part) in round.map(|round| parts(run, round, span)).unwrap_or_default() {
            let Some(entered) = part.entered else { continue };
            let left = part.leaves.iter().copied().find(|&sent| sent > entered);
            let over = first_after(run.clients.exits_of(node), entered).filter(|&at| Some(at) < recover);
            match left.into_iter().chain(over.map(|_| span.recovered)).min() {
                Some(gone) => leaving.went(gone, node),
                None if leaving.inside[0].is_none() => leaving.inside[0] = Some(node),
                None => leaving.inside[1] = Some(node),
            }
        }
        leaving
    }

    fn went(&mut self, gone: usize, node: &'a str) {
        let [first, second] = self.last;
        match first {
            Some((latest, _)) if latest >= gone => self.last[1] = second.max(Some((gone, node))),
            _ => self.last = [Some((gone, node)), first],
        }
    }

    /// A client beside this one that may be inside.
    fn inside(&self, node: &str) -> Option<&'a str> {
        self.inside.into_iter().flatten().find(|other| *other != node)
    }

    /// The event since which no client beside this one is inside; 0 if none was.
    fn since(&self, node: &str) -> usize {
        let others = self.last.into_iter().flatten().filter(|(_, other)| *other != node);
        others.map(|(gone, _)| gone).max().unwrap_or(0)
    }
}

/// What each client was sent in a round.
fn parts<'a>(run: &Analysis<'a>, round: &BarrierRound, span: RecoverySpan) -> BTreeMap<&'a str, RoundRequests> {
    let mut parts: BTreeMap<&str, RoundRequests> = BTreeMap::new();
    let op = |&at: &usize| &run.ops.work[at];
    for op in round.enters.iter().map(op).filter(|op| op.failed(run.events).is_none()) {
        // One whose request is missing was sent before its answer.
        let sent = op.invoke.or(op.end).filter(|&at| at < span.end);
        let part = parts.entry(op.node).or_default();
        part.entered = part.entered.max(sent);
    }
    let certain = |op: &&Op<'_>| {
        let open = |end: usize| end > span.end || run.events[end].kind == EventType::Ok;
        op.end.is_none_or(open) && op.cut.is_none_or(|cut| cut > span.end)
    };
    for op in round.leaves.iter().map(op).filter(certain) {
        let sent = op.sent().filter(|&at| at < span.end);
        parts.entry(op.node).or_default().leaves.extend(sent);
    }
    parts
}
