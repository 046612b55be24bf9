//! The audit of the final tree: no contender znode of a live session that no client named as its own.

use crate::analysis::Analysis;
use crate::analysis::clients::session;
use crate::analysis::transaction_times::Ages;
use crate::cause::{AnomalySubject, CauseZnode, OrphanCauses};
use crate::findings::{Finding, Findings};
use crate::text::count;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use zooquake_history::operation::{
    Any, Field, FieldType, ZnodeName,
    control::{SESSIONS, ZNODES, f},
};
use zooquake_history::{
    Event, EventType, Value,
    evidence::{Reading, Znode},
};

/// What one client answered to the `quiesce` between the two readings.
struct QuiesceAnswer {
    sent: usize,
    read: usize,
    sessions: BTreeSet<u64>,
}

/// When the witnesses that name the answers of all clients have so many events, of more such orphans only the number is
/// reported.
const MOST: usize = 1_000_000;

/// What was answered to the `quiesce` between the two readings.
struct QuiesceAnswers<'a> {
    /// By client.
    of: BTreeMap<&'a str, QuiesceAnswer>,
    /// Whether every client answered.
    all: bool,
    /// The sessions that clients have, each by the first of those that named it.
    sessions: BTreeMap<u64, &'a str>,
    /// The events of all answers.
    events: Vec<usize>,
    /// Whether the process of a client ended between recovery and its answer; also if there was no recovery.
    died: bool,
    /// When znodes were not there yet.
    ages: Ages,
    /// Events that witnesses of all answers may yet name, and the number of orphans that were left out for lack of
    /// room.
    room: usize,
    untold: usize,
}

/// Looks for orphans. A client that did not answer is not judged, and a reason against `valid`.
pub fn check(run: &Analysis<'_>, out: &mut Findings) {
    check_claims(run, &|_| None, out);
}

/// The same where contenders may be claims on items: `gone` gives the event that ended an item's life, from when on a
/// claim on it is an orphan whosever it is.
pub fn check_claims<'a>(run: &Analysis<'a>, gone: &dyn Fn(i64) -> Option<usize>, out: &mut Findings) {
    let readings = run.record.audit();
    let Some((before, after)) = readings else {
        out.ran("orphan-node", 0);
        return;
    };
    let (of, known) = answers(run, before, after);
    let names = run.clients.names.iter().map(String::as_str);
    let silent: Vec<&str> = names.filter(|name| !of.contains_key(name)).collect();
    if !silent.is_empty() {
        let names = silent.join(", ");
        out.reasons.push(format!(
            "{names} answered no quiesce that can be read between the two readings of the znode tree: not audited"
        ));
    }
    let mut answers = QuiesceAnswers::new(run, of, silent.is_empty());
    let znodes = before.znodes.iter().map(|znode| (znode.path.as_str(), znode.czxid));
    let first: BTreeSet<(&str, i64)> = znodes.collect();
    let mut causes = None;
    let contenders: Vec<&Znode> = after.znodes.iter().filter(|znode| contender(run, znode)).collect();
    for znode in &contenders {
        let id = (znode.path.as_str(), znode.czxid);
        if !first.contains(&id) || known.contains(&id) {
            continue;
        }
        if !orphan(run, znode, &mut answers, &mut causes, out)
            && let Some(ended) = item(znode).and_then(gone).filter(|_| answers.all)
        {
            stale_claim(run, znode, &mut answers, ended, out);
        }
    }
    if answers.untold > 0 {
        out.reasons.push(format!(
            "note: {} proved by the answers of all clients could no longer be listed",
            count(answers.untold, "orphan")
        ));
    }
    out.ran("orphan-node", contenders.len());
}

impl<'a> QuiesceAnswers<'a> {
    fn new(run: &Analysis<'_>, of: BTreeMap<&'a str, QuiesceAnswer>, all: bool) -> Self {
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
            ages: Ages::new(run),
            room: MOST,
            untold: 0,
        }
    }

    /// The events of all answers, while there is room for another witness of them.
    fn events(&mut self) -> Option<Vec<usize>> {
        if self.room == 0 {
            self.untold += 1;
            return None;
        }
        self.room = self.room.saturating_sub(self.events.len());
        Some(self.events.clone())
    }
}

/// The answers by client, and the znodes that any of them named.
fn answers<'a>(
    run: &Analysis<'a>,
    before: &Reading,
    after: &Reading,
) -> (BTreeMap<&'a str, QuiesceAnswer>, BTreeSet<(&'a str, i64)>) {
    let mut answers = BTreeMap::new();
    let mut known = BTreeSet::new();
    for op in run.ops.control.iter().filter(|op| op.f == f::QUIESCE) {
        let (Some(sent), Some(read)) = (op.sent(), op.end) else {
            continue;
        };
        let event = &run.events[read];
        if event.kind != EventType::Ok || sent < before.end_index || read >= after.index {
            continue;
        }
        // An answer that cannot be read may name any znode: it counts as none.
        let (Some(sessions), Some(znodes)) = (sessions(event), znodes(event)) else {
            continue;
        };
        known.extend(znodes);
        answers.insert(op.node, QuiesceAnswer { sent, read, sessions });
    }
    (answers, known)
}

/// The entries of a list in an answer, none if there is no list; `None` if it is anything else.
fn list(event: &Event, field: Field<[Any]>) -> Option<&[Value]> {
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
    let asked = run.ops.control.iter().filter(|op| op.f == f::QUIESCE);
    let answered = asked.filter_map(|op| Some((op.node, op.sent()?, op.end?)));
    let between = answered.filter(|&(_, sent, read)| sent >= before.end_index && read < after.index);
    let named = between.filter_map(|(node, _, read)| Some((node, znodes(&run.events[read])?)));
    let each = named.flat_map(|(node, znodes)| znodes.into_iter().map(move |znode| (znode, node)));
    each.collect()
}

/// Whether a znode is somebody's, below one of the contenders' parents.
fn contender(run: &Analysis<'_>, znode: &Znode) -> bool {
    owner(znode).is_some() && is_below_contenders(run, znode)
}

/// Whether a znode is below one of the contenders' parents.
pub fn is_below_contenders(run: &Analysis<'_>, znode: &Znode) -> bool {
    let parents = &run.record.plan.workload.contenders;
    let below = |parent: &String| {
        znode
            .path
            .strip_prefix(parent.trim_end_matches('/'))
            .is_some_and(|rest| rest.starts_with('/'))
    };
    parents.iter().any(below)
}

/// Whose a znode is: its session's, or, of a claim that outlives its session, the one's that its data names as `owner`.
fn owner(znode: &Znode) -> Option<String> {
    let told = || {
        serde_json::from_str::<serde_json::Value>(&znode.data)
            .ok()?
            .get("owner")?
            .as_str()
            .map(str::to_owned)
    };
    znode.owner.clone().or_else(told)
}

/// The item that a claim is on.
fn item(znode: &Znode) -> Option<i64> {
    serde_json::from_str::<serde_json::Value>(&znode.data)
        .ok()?
        .get("item")?
        .as_i64()
}

fn stale_claim(run: &Analysis<'_>, znode: &Znode, answers: &mut QuiesceAnswers<'_>, ended: usize, out: &mut Findings) {
    let Some(mut witness) = answers.events() else { return };
    let why = format!(
        "The claim {} (czxid 0x{:x}) was in the tree before and after every client was last asked to finish its work \
         and to name its znodes. No client named it, so none will remove it, and its item is gone: that was \
         acknowledged at {}.",
        znode.path,
        znode.czxid,
        run.at(ended),
    );
    witness.push(ended);
    let first = answers.ages.not_before(znode.czxid);
    out.add_at_end(run, found(witness, why), first);
}

/// Returns whether the znode is an orphan of a live session.
fn orphan<'r, 'a>(
    run: &'r Analysis<'a>,
    znode: &Znode,
    answers: &mut QuiesceAnswers<'_>,
    causes: &mut Option<OrphanCauses<'r, 'a>>,
    out: &mut Findings,
) -> bool {
    let text = owner(znode).unwrap_or_default();
    let Some(number) = session(&text) else { return false };
    // An ephemeral znode that is there proves that its session lives; of others only a client's answer does.
    let named = answers.sessions.get(&number).copied();
    if znode.owner.is_none() && named.is_none() {
        return false;
    }
    let recovered = run.phase("recovered");
    let tied = run.clients.sessions.get(&number);
    let (mut witness, asked, whose) = match named.or(tied.map(|owner| owner.node)) {
        Some(node) => {
            let Some(answer) = answers.of.get(node) else {
                return false;
            };
            let mut witness = vec![answer.sent, answer.read];
            if named.is_none() {
                // Once it was this client's. That it lived until now is the client's doing only if older silent
                // sessions had been seen to expire, and the client's process has not died since.
                let Some(recovered) = recovered.filter(|&at| !run.clients.died(node, at, answer.read)) else {
                    return false;
                };
                witness.extend(tied.map(|owner| owner.event));
                witness.push(recovered);
            }
            (
                witness,
                node,
                format!("a session of {node}, which answered at {}", run.at(answer.read)),
            )
        }
        None => {
            let Some(recovered) = recovered.filter(|_| answers.all && !answers.died) else {
                return false;
            };
            let Some(mut witness) = answers.events() else {
                return true;
            };
            witness.push(recovered);
            (
                witness,
                "every client",
                "which no client named as its own, though all had answered".to_owned(),
            )
        }
    };
    witness.sort_unstable();
    let why = format!(
        "The znode {} (czxid 0x{:x}) was in the tree before and after {asked} was last asked to finish its work and to \
         name its znodes. It belongs to the live session {text}, {whose}; no client named it, so none will remove \
         it{}.",
        znode.path,
        znode.czxid,
        ["", ", and it stays until that session ends"][usize::from(znode.owner.is_some())],
    );
    let first = answers.ages.not_before(znode.czxid);
    let causes = causes.get_or_insert_with(|| OrphanCauses::new(run));
    let cause = causes.cause(asked, znode, first);
    let subject = AnomalySubject::Orphan(CauseZnode {
        path: znode.path.clone(),
        czxid: znode.czxid,
    });
    out.add_at_end(run, found(witness, why).caused(cause).about(subject), first);
    true
}

fn found(witness: Vec<usize>, why: String) -> Finding<'static> {
    Finding::new("orphan-node", "no leaks", witness, why)
}
