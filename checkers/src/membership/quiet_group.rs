//! The group, and what clients answered to `view`, in a time in which nothing is changed, between the two readings of
//! the tree around these answers: in the calm after recovery, before the last operations, and after these at the end.
//!
//! A reading lists a group and then reads each member: it is no single state, and this is what it proves.
//!
//! - A znode that stands in both readings, with one czxid, stood all the time from when the first reading was complete
//!   until the second began: it was created once. With one mzxid, too, it had those data all the time.
//! - A znode (path, czxid) that is in neither reading was gone all the time if the first one was made of a later state.
//!   That is so if that reading has a later znode at its path; if an `ok` answer to a `register` had named the znode
//!   before the reading began; or if the czxid is not above a transaction that an `ok` answer to a `register` or an
//!   `update` had named before, and that the reading shows as that which made or last wrote the member: the session
//!   that reads wrote first, so it saw all that was acknowledged. What is younger may have come and gone between the
//!   readings. No zxid in the reading proves that by itself: a member may have been written after the list of the group
//!   was read, and be another znode than the one that was listed under its name.

use super::updates::decimal;
use crate::analysis::recovery::RecoverySpan;
use crate::analysis::{Analysis, GroupMember, GroupView};
use std::collections::{BTreeMap, HashMap};
use zooquake_history::EventType;
use zooquake_history::evidence::{Reading, Znode};
use zooquake_history::operation::membership::{REGISTERED, f};
use zooquake_history::operation::{FieldType, ZnodeName, control};

/// The group in each time in which nothing was changed.
#[derive(Debug)]
pub struct QuietGroups<'a> {
    /// At the end; `None` if the tree was not read around the views after recovery.
    pub end: Option<QuietGroup<'a>>,
    /// In the calm; `None` if the run has none.
    calm: Option<QuietGroup<'a>>,
}

/// The group while nothing was changed.
#[derive(Debug)]
pub struct QuietGroup<'a> {
    /// How many events there were when the first reading was complete: what has an index from here on came after it.
    pub from: usize,
    /// How many there were when the second one began.
    pub until: usize,
    /// The bound of liveness of the answers between them, in nanoseconds.
    pub bound: u64,
    /// The members in the first reading and in the second one, by their paths.
    first: BTreeMap<&'a str, &'a Znode>,
    second: BTreeMap<&'a str, &'a Znode>,
    /// The znodes that answers to `register` named before the first reading began, with the events of these.
    registered: HashMap<(&'a str, i64), usize>,
    /// The latest transaction that the list of the first reading certainly came after, and the event of the answer that
    /// names it.
    named: Option<(i64, usize)>,
}

/// What of a view is certainly not as the group was.
#[derive(Debug, Clone, Copy)]
pub enum ViewDifference<'r, 'a> {
    /// The recipe shows nothing, and there are members.
    Nothing,
    /// A member is missing.
    Missing(&'r Znode),
    /// No entry has the value of a member, where entries have no paths.
    Unshown(&'r Znode),
    /// A member has data that had been overwritten.
    Old(&'r GroupMember<'a>, &'r Znode),
    /// A member is gone; the answer that proves it, if one is needed.
    Dead(&'r GroupMember<'a>, Option<usize>),
}

impl<'a> QuietGroups<'a> {
    /// The quiet groups of a run.
    pub fn new(run: &Analysis<'a>) -> Self {
        let between = |readings: Option<_>, phase| QuietGroup::between(run, readings?, phase);
        Self {
            end: between(run.record.around_views(), "views"),
            calm: between(run.record.around_calm(), "calm"),
        }
    }

    /// That at the end first.
    pub fn all(&self) -> impl Iterator<Item = &QuietGroup<'a>> {
        self.end.iter().chain(&self.calm)
    }
}

impl<'a> QuietGroup<'a> {
    /// The group between two readings, around the views of a phase; `None` unless they were made after recovery.
    fn between(run: &Analysis<'a>, (first, second): (&'a Reading, &'a Reading), phase: &str) -> Option<Self> {
        let span = run.recovery.span?;
        if first.index <= span.recovered || first.end_index > second.index {
            return None;
        }
        let parents = &run.record.plan.workload.contenders;
        let group = |reading: &'a Reading| -> BTreeMap<&'a str, &'a Znode> {
            let children = reading.znodes.iter().filter(|znode| is_child(&znode.path, parents));
            children.map(|znode| (znode.path.as_str(), znode)).collect()
        };
        let (members, second_members) = (group(first), group(second));
        let shown = |end: usize| {
            let answer = &run.events[end];
            let znode = members.get(answer.path()?)?;
            let made = answer.czxid().filter(|&czxid| czxid == znode.czxid);
            let written = answer.mzxid().filter(|&mzxid| mzxid == znode.mzxid);
            made.max(written).map(|zxid| (zxid, end))
        };
        let answered = run.answered(&[f::REGISTER, f::UPDATE]).map(|(_, end)| end);
        let before = answered.filter(|end| *end < first.index && !run.ops.disputed.contains(end));
        let before: Vec<usize> = before.collect();
        let registered = before.iter().filter(|end| run.events[**end].f == f::REGISTER);
        let registered = registered.filter_map(|&end| {
            let answer = &run.events[end];
            Some(((answer.path()?, answer.czxid()?), end))
        });
        let registered = registered.collect();
        let named = before.into_iter().filter_map(shown).max();
        Some(Self {
            from: first.end_index,
            until: second.index,
            bound: bound(run, span, phase),
            first: members,
            second: second_members,
            registered,
            named,
        })
    }

    /// Whether the second reading has the same members as the first one, with the same data.
    pub fn unchanged(&self) -> bool {
        let all = |group: &BTreeMap<&str, &Znode>| -> Vec<(String, i64, i64)> {
            group
                .values()
                .map(|znode| (znode.path.clone(), znode.czxid, znode.mzxid))
                .collect()
        };
        all(&self.first) == all(&self.second)
    }

    /// Whether a view shows just the members of both readings, by what both can be compared by.
    pub fn is_shown(&self, view: &GroupView<'_>) -> bool {
        let Some(members) = view.members.as_ref().filter(|_| !view.unread) else {
            return false;
        };
        let others = self.second.values().filter(|znode| view.member(&znode.path).is_none());
        let mut wanted: Vec<Option<i64>> = others.map(|znode| value(znode)).collect();
        let mut placeless = view.placeless.clone();
        wanted.sort_unstable();
        placeless.sort_unstable();
        if wanted != placeless || wanted.contains(&None) {
            return false;
        }
        let same = |member: &GroupMember<'_>| {
            let znode = self.second.get(member.path);
            znode.is_some_and(|znode| {
                let is = |shown: Option<i64>, zxid: i64| shown.is_none_or(|shown| shown == zxid);
                is(member.czxid, znode.czxid) && is(member.mzxid, znode.mzxid) && !is_overwritten(member, znode)
            })
        };
        members.iter().all(same)
    }

    /// What of a view differs from a group that is [unchanged](Self::unchanged), for certain in each case; what an
    /// answer has to prove comes last.
    pub fn differences<'r>(&'r self, view: &'r GroupView<'a>) -> Vec<ViewDifference<'r, 'a>> {
        if view.members.is_none() {
            let nothing = (!self.first.is_empty()).then_some(ViewDifference::Nothing);
            return nothing.into_iter().collect();
        }
        let stands = |znode: &&'r &'a Znode| {
            let shown = view
                .member(&znode.path)
                .and_then(|member| member.czxid.or(Some(znode.czxid)));
            shown == Some(znode.czxid)
        };
        let missing = self
            .first
            .values()
            .filter(|_| view.whole)
            .filter(|znode| !stands(znode));
        let mut all: Vec<_> = missing.map(|znode| ViewDifference::Missing(znode)).collect();
        let readable = !view.unread && !view.placeless.is_empty() && !view.placeless.contains(&None);
        let unshown = self.first.values().filter(|znode| {
            let shown = |value| view.placeless.contains(&Some(value));
            readable && view.member(&znode.path).is_none() && value(znode).is_some_and(|value| !shown(value))
        });
        all.extend(unshown.map(|znode| ViewDifference::Unshown(znode)));
        for member in view.members() {
            let znode = self.first.get(member.path).copied();
            match znode.filter(|znode| member.czxid.is_none_or(|czxid| czxid == znode.czxid)) {
                Some(znode) if is_overwritten(member, znode) => all.push(ViewDifference::Old(member, znode)),
                Some(_) => {}
                None => {
                    let gone = member.czxid.and_then(|czxid| self.gone(member.path, czxid));
                    all.extend(gone.map(|proof| ViewDifference::Dead(member, proof)));
                }
            }
        }
        all.sort_by_key(|difference| matches!(difference, ViewDifference::Dead(_, Some(_))));
        all
    }

    /// Whether a znode was certainly gone all the time between the readings: `Some` with the event of the answer that
    /// proves it, if one is needed.
    pub fn gone(&self, path: &str, czxid: i64) -> Option<Option<usize>> {
        let stands = |group: &BTreeMap<&str, &Znode>| group.get(path).is_some_and(|znode| znode.czxid == czxid);
        if stands(&self.first) || stands(&self.second) {
            return None;
        }
        let later = self.first.get(path).is_some_and(|znode| znode.czxid > czxid);
        if later {
            return Some(None);
        }
        let named = self.named.filter(|&(named, _)| czxid <= named);
        let registered = || self.registered.get(&(path, czxid)).copied();
        named.map(|(_, answer)| answer).or_else(registered).map(Some)
    }
}

/// Whether a view shows data of a znode that it had no more: those of an earlier transaction; where it names the one
/// that the znode has, or none, another value than the znode has.
fn is_overwritten(member: &GroupMember<'_>, znode: &Znode) -> bool {
    let other = || {
        let values = member.value.zip(value(znode));
        values.is_some_and(|(value, data)| value != data)
    };
    match member.mzxid {
        Some(mzxid) if mzxid != znode.mzxid => mzxid < znode.mzxid,
        _ => other(),
    }
}

/// The value in a member's data; `None` if they are no decimal number.
fn value(znode: &Znode) -> Option<i64> {
    decimal(&znode.data)
}

/// Whether a path is directly below one of these.
fn is_child(path: &str, parents: &[String]) -> bool {
    let parent = path.rsplit_once('/').map(|(parent, _)| parent);
    parents.iter().any(|of| parent == Some(of.trim_end_matches('/')))
}

impl ViewDifference<'_, '_> {
    /// The answer that it rests on beside the readings, if one is needed.
    pub fn proof(&self) -> Option<usize> {
        match self {
            Self::Dead(_, proof) => *proof,
            _ => None,
        }
    }

    /// What it is, in words.
    pub fn words(&self) -> String {
        match self {
            Self::Nothing => "it shows nothing, though there are members".to_owned(),
            Self::Missing(znode) => format!("{} (czxid 0x{:x}) is missing", znode.path, znode.czxid),
            Self::Unshown(znode) => format!("no member has the value {} of {}", znode.data.trim(), znode.path),
            Self::Old(member, znode) if member.mzxid == Some(znode.mzxid) => format!(
                "{} has another value than mzxid 0x{:x}, which it names, has in the tree",
                member.words(),
                znode.mzxid,
            ),
            Self::Old(member, znode) => format!(
                "{} has an old value{}, where the tree has that of mzxid 0x{:x}",
                member.words(),
                member
                    .mzxid
                    .map(|mzxid| format!(", of mzxid 0x{mzxid:x}"))
                    .unwrap_or_default(),
                znode.mzxid,
            ),
            Self::Dead(member, _) => format!("{} is dead", member.words()),
        }
    }
}

/// A request `view`, and what was answered. Positions are those of events.
#[derive(Debug, Clone, Copy)]
pub struct ViewAnswer<'r, 'a> {
    /// Where it was sent.
    pub sent: usize,
    /// Where its answer `ok` was read, and the view in that; `None` if there is none.
    pub answer: Option<(usize, &'r GroupView<'a>)>,
}

/// From the sending of the first to the answer of the last of some requests one after the other: a spell in which all
/// that a client answered was wrong.
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
    for op in run.ops.control.iter().filter(|op| op.f == control::f::VIEW) {
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
    crate::liveness::LivenessBounds::new(run, load).bound(f::REGISTER)
}

/// The planned clients that live at the end, but for those that never had a session.
pub fn living<'a>(run: &'a Analysis<'_>) -> impl Iterator<Item = &'a str> {
    let names = run.clients.names.iter().map(String::as_str);
    let recovery = &run.recovery;
    names.filter(|name| !recovery.dead.contains(name) && !recovery.sessionless.contains(name))
}
