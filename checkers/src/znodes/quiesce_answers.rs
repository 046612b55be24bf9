//! What clients answered to `quiesce` between the two readings of the znode tree: their sessions, and the znodes that
//! they named as their own.

use crate::analysis::Analysis;
use crate::analysis::clients::session;
use crate::analysis::transaction_log::TransactionTimes;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use zooquake_history::operation::{
    AnyType, Field, FieldType, ZnodeName,
    control::{SESSIONS, ZNODES, f},
};
use zooquake_history::{Event, EventType, Value, evidence::Reading};

/// When the witnesses that name the answers of all clients have so many events, of more such orphans only the number is
/// reported.
const MOST: usize = 1_000_000;

/// What one client answered to the `quiesce` between the two readings. Positions are those of events.
pub struct QuiesceAnswer {
    /// Where it was asked.
    pub sent: usize,
    /// Where it answered.
    pub read: usize,
    /// The sessions that it named.
    pub sessions: BTreeSet<u64>,
}

/// What was answered to the `quiesce` between the two readings.
pub struct QuiesceAnswers<'a> {
    /// By client.
    pub of: BTreeMap<&'a str, QuiesceAnswer>,
    /// Whether every client answered.
    pub all: bool,
    /// The sessions that clients have, each by the first of those that named it.
    pub sessions: BTreeMap<u64, &'a str>,
    /// The events of all answers.
    events: Vec<usize>,
    /// Whether the process of a client ended between recovery and its answer; also if there was no recovery.
    pub died: bool,
    /// When znodes were not there yet.
    pub ages: TransactionTimes,
    /// Events that witnesses of all answers may yet name.
    room: usize,
    /// The number of orphans that were left out for lack of room.
    pub untold: usize,
}

impl<'a> QuiesceAnswers<'a> {
    /// Puts the answers of the clients together; `all` is whether every client gave one.
    pub fn new(run: &Analysis<'_>, of: BTreeMap<&'a str, QuiesceAnswer>, all: bool) -> Self {
        let recovered = run.phase("recovered");
        let died = |(node, answer): (&&str, &QuiesceAnswer)| {
            recovered.is_none_or(|at| run.clients.died(node, at, answer.read))
        };
        let named = |(&node, answer): (&&'a str, &QuiesceAnswer)| {
            let sessions: Vec<u64> = answer.sessions.iter().copied().collect();
            sessions.into_iter().map(move |session| (session, node))
        };
        Self {
            all,
            sessions: of.iter().rev().flat_map(named).collect(),
            events: of.values().flat_map(|answer| [answer.sent, answer.read]).collect(),
            died: of.iter().any(died),
            of,
            ages: TransactionTimes::new(run),
            room: MOST,
            untold: 0,
        }
    }

    /// The events of all answers, while there is room for another witness of them.
    pub fn events(&mut self) -> Option<Vec<usize>> {
        if self.room == 0 {
            self.untold += 1;
            return None;
        }
        self.room = self.room.saturating_sub(self.events.len());
        Some(self.events.clone())
    }
}

/// The answers by client, and the znodes that any of them named.
pub fn answers<'a>(
    run: &Analysis<'a>,
    before: &Reading,
    after: &Reading,
) -> (BTreeMap<&'a str, QuiesceAnswer>, BTreeSet<(&'a str, i64)>) {
    let mut answers = BTreeMap::new();
    let mut known = BTreeSet::new();
    let workload = &run.record.plan.workload;
    let own = workload.recipe.is_some() && !workload.contenders.is_empty();
    for (node, sent, read) in answered_between(run, before, after) {
        let event = &run.events[read];
        if event.kind != EventType::Ok {
            continue;
        }
        // An answer that cannot be read may name any znode: it counts as none. So does one of a user's own recipe that
        // lacks a list: that is no answer.
        let lacks = own && (event.get(SESSIONS).is_none() || event.get(ZNODES).is_none());
        let (Some(sessions), Some(znodes), false) = (sessions(event), znodes(event), lacks) else {
            continue;
        };
        known.extend(znodes);
        answers.insert(node, QuiesceAnswer { sent, read, sessions });
    }
    (answers, known)
}

/// The clients that were asked `quiesce` and answered, however that was, between two readings, each with the events of
/// both.
fn answered_between<'r, 'a>(
    run: &'r Analysis<'a>,
    before: &'r Reading,
    after: &'r Reading,
) -> impl Iterator<Item = (&'a str, usize, usize)> {
    let asked = run.ops.control.iter().filter(|op| op.f == f::QUIESCE);
    let answered = asked.filter_map(|op| Some((op.node, op.sent()?, op.end?)));
    answered.filter(|&(_, sent, read)| sent >= before.end_index && read < after.index)
}

/// The entries of a list in an answer, none if there is no list; `None` if it is anything else.
fn list(event: &Event, field: Field<[AnyType]>) -> Option<&[Value]> {
    match event.get(field.any()) {
        None => Some(&[]),
        Some(_) => event.get(field),
    }
}

fn sessions(event: &Event) -> Option<BTreeSet<u64>> {
    let all = list(event, SESSIONS)?.iter();
    all.map(|text| session(text.as_str()?)).collect()
}

fn znodes(event: &Event) -> Option<Vec<(&str, i64)>> {
    let all = list(event, ZNODES)?.iter();
    all.map(|znode| {
        let (path, czxid) = ZnodeName::read(znode)?;
        Some((path?, czxid?))
    })
    .collect()
}

/// The znodes that clients named as their own between two readings, each with its client.
pub fn named_znodes<'a>(run: &Analysis<'a>, before: &Reading, after: &Reading) -> HashMap<(&'a str, i64), &'a str> {
    let answered = answered_between(run, before, after);
    let named = answered.filter_map(|(node, _, read)| Some((node, znodes(&run.events[read])?)));
    let each = named.flat_map(|(node, znodes)| znodes.into_iter().map(move |znode| (znode, node)));
    each.collect()
}

/// What a client named as its own in its last answer to `quiesce` between two readings. Positions are those of events.
pub struct NamedZnodes<'a> {
    pub client: &'a str,
    /// Where it was asked.
    pub sent: usize,
    /// Where it answered.
    pub read: usize,
    /// Paths and czxids.
    pub znodes: Vec<(&'a str, i64)>,
}

/// By client what its last answer to `quiesce` between two readings named, where that is `ok` and can be read.
pub fn last_named<'a>(run: &Analysis<'a>, before: &Reading, after: &Reading) -> Vec<NamedZnodes<'a>> {
    let mut last: BTreeMap<&'a str, (usize, usize)> = BTreeMap::new();
    for (node, sent, read) in answered_between(run, before, after) {
        let of_client = last.entry(node).or_insert((sent, read));
        *of_client = (sent, read).max(*of_client);
    }
    let named = last.into_iter().filter_map(|(client, (sent, read))| {
        let event = Some(&run.events[read]).filter(|event| event.kind == EventType::Ok);
        Some(NamedZnodes {
            client,
            sent,
            read,
            znodes: znodes(event?)?,
        })
    });
    named.collect()
}
