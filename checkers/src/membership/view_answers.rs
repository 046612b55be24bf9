//! The answers to `view` between the two readings of the tree, and the spells in which all that a client answered was
//! wrong.

use super::quiet_group::QuietGroup;
use crate::analysis::recovery::RecoverySpan;
use crate::analysis::{Analysis, GroupView};
use std::collections::{BTreeMap, HashMap};
use zooquake_history::EventType;
use zooquake_history::operation::{FieldType, ZnodeName, control::f, membership::REGISTERED};

/// A request `view`, and what was answered. Positions are those of events.
#[derive(Debug, Clone, Copy)]
pub struct ViewAnswer<'r, 'a> {
    /// Where it was sent.
    pub sent: usize,
    /// Where its answer `ok` was read, and the view in that; `None` if there is none.
    pub answer: Option<(usize, &'r GroupView<'a>)>,
}

/// From the sending of the first to the answer of the last of some requests one after the other.
#[derive(Debug, Clone, Copy)]
pub struct AnswerSpell<'r, 'a> {
    pub first: ViewAnswer<'r, 'a>,
    pub last: ViewAnswer<'r, 'a>,
    /// How many there are.
    pub count: usize,
}

/// The requests of each client that were sent after the first reading was complete and before the second began, in the
/// order in which they were sent.
pub fn requests<'r, 'a>(
    run: &Analysis<'a>,
    views: &'r [GroupView<'a>],
    group: &QuietGroup<'_>,
) -> BTreeMap<&'a str, Vec<ViewAnswer<'r, 'a>>> {
    let by_event: HashMap<usize, &GroupView<'a>> = views.iter().map(|view| (view.at, view)).collect();
    let mut all: BTreeMap<&str, Vec<ViewAnswer<'r, 'a>>> = BTreeMap::new();
    for op in run.ops.control.iter().filter(|op| op.f == f::VIEW) {
        let within = |sent: &usize| (group.from..group.until).contains(sent);
        let Some(sent) = op.invoke.filter(within) else { continue };
        let read = op.end.filter(|&end| end < group.until && !op.doubtful);
        let read = read.filter(|&end| run.events[end].kind == EventType::Ok);
        let answer = read.and_then(|read| Some((read, *by_event.get(&read)?)));
        all.entry(op.node).or_default().push(ViewAnswer { sent, answer });
    }
    all
}

/// The znode that an answer `ok` to `view` names as the one by which its client is a member: its path and its czxid;
/// `None` if it names none that can be read.
pub fn registered<'a>(run: &Analysis<'a>, read: usize) -> Option<(&'a str, Option<i64>)> {
    let (path, czxid) = ZnodeName::read(run.events[read].get(REGISTERED)?)?;
    Some((path?, czxid))
}

/// The spells, each as long as it can be, in which every request was answered `ok`, every answer is `wrong`, and no
/// event between is `right`, in one process and one session.
pub fn spells<'r, 'a>(
    run: &Analysis<'a>,
    (node, requests): (&str, &[ViewAnswer<'r, 'a>]),
    wrong: impl Fn(&GroupView<'a>) -> bool,
    right: &[usize],
) -> Vec<AnswerSpell<'r, 'a>> {
    let clock = run.recovery.span.map_or(usize::MAX, |span| span.clock);
    let mut all: Vec<AnswerSpell<'r, 'a>> = Vec::new();
    let mut open = false;
    for &request in requests {
        let Some((read, view)) = request.answer.filter(|(_, view)| request.sent > clock && wrong(view)) else {
            open = false;
            continue;
        };
        let follows = |spell: &AnswerSpell<'r, 'a>| {
            let from = spell.first.sent;
            let next = right.partition_point(|&at| at < from);
            let session = spell.first.answer.and_then(|(_, first)| first.session);
            right.get(next).is_none_or(|&at| at > read)
                && run.clients.one_session(node, from, read)
                && session
                    .zip(view.session)
                    .is_none_or(|(first, session)| first == session)
        };
        match all.last_mut().filter(|spell| open && follows(spell)) {
            Some(spell) => (spell.last, spell.count) = (request, spell.count + 1),
            None => all.push(AnswerSpell {
                first: request,
                last: request,
                count: 1,
            }),
        }
        open = true;
    }
    all
}

impl<'r, 'a> AnswerSpell<'r, 'a> {
    /// Nanoseconds from the sending of the first request to that of the last one.
    pub fn ns(&self, run: &Analysis<'_>) -> u64 {
        run.time(self.last.sent).saturating_sub(run.time(self.first.sent))
    }

    /// The views in the first and the last answer.
    pub fn views(&self) -> impl Iterator<Item = &'r GroupView<'a>> {
        let answers = [self.first.answer, self.last.answer].into_iter().flatten();
        answers.map(|(_, view)| view)
    }

    /// The events that prove it, with those that prove that the run had recovered and the bound was seen to its end.
    pub fn witness(&self, RecoverySpan { recovered, end, .. }: RecoverySpan) -> Vec<usize> {
        let answers = [self.first.answer, self.last.answer].into_iter().flatten();
        let read = answers.map(|(read, _)| read);
        read.chain([self.first.sent, self.last.sent, recovered, end]).collect()
    }
}

/// Of a client's spells the longest one that convicts: it lasted for the bound, and the client's process did not end
/// before the second reading; else for how long the longest lasted.
pub fn convicting<'r, 'a>(
    run: &Analysis<'_>,
    node: &str,
    spells: &[AnswerSpell<'r, 'a>],
    group: &QuietGroup<'_>,
) -> Result<AnswerSpell<'r, 'a>, u64> {
    let longest = spells.iter().rev().max_by_key(|spell| spell.ns(run)).copied();
    let spell = longest.ok_or(0_u64)?;
    let lives = !run.clients.died(node, spell.first.sent, group.until);
    match spell.ns(run) >= group.bound && lives && run.recovery.doubt().is_none() {
        true => Ok(spell),
        false => Err(spell.ns(run)),
    }
}

/// The bound of a spell, in nanoseconds, by the registrations that were answered before the phase in which clients are
/// asked, `views` or `calm`: those from which the engine computes how long it asks for views.
pub fn bound(run: &Analysis<'_>, span: RecoverySpan, phase: &str) -> u64 {
    let end = run.phase(phase).filter(|&asked| asked > span.recovered);
    let load = RecoverySpan {
        end: end.unwrap_or(span.end),
        ..span
    };
    crate::liveness::LivenessBounds::new(run, load).bound(zooquake_history::operation::membership::f::REGISTER)
}

/// The planned clients that live at the end, but for those that never had a session.
pub fn living<'a>(run: &'a Analysis<'_>) -> impl Iterator<Item = &'a str> {
    let names = run.clients.names.iter().map(String::as_str);
    let recovery = &run.recovery;
    names.filter(|name| !recovery.dead.contains(name) && !recovery.sessionless.contains(name))
}
