//! Accesses: what each client asked of the register and was answered, and between which moments that took effect.

use crate::analysis::clients::session;
use crate::analysis::{Analysis, Op};
use std::collections::{HashMap, HashSet};
use zooquake_history::operation::{
    Field,
    register::{FROM, TO, VALUE, f},
};
use zooquake_history::{Event, EventType};
use zooquake_linearizability::unique::{self, ambiguous::left_out};

pub use zooquake_linearizability::unique::{AccessMoment, Action, BEGINNING, NEVER, RegisterValue, UNKNOWN, at};

/// The moment between an event and the one before it.
fn before(event: usize) -> AccessMoment {
    2 * event as AccessMoment + 2
}

/// One access that happened or may have.
#[derive(Debug, Clone, Copy)]
pub struct Access<'a> {
    /// The client; empty for what no client did.
    pub node: &'a str,
    pub action: Action,
    /// It took effect after this.
    pub start: AccessMoment,
    /// It took effect before this; [`NEVER`] where its outcome is unknown.
    pub finish: AccessMoment,
    /// Where it was sent; where that is not in the history, or not certain of a read, what else names it without an
    /// answer.
    pub invoke: Option<usize>,
    /// Where its answer `ok` was read.
    pub end: Option<usize>,
    /// Whether its request contains the value that it writes.
    pub asks: bool,
    /// Whether its answer contains the value that it wrote or read.
    pub repeats: bool,
    /// Of a read that starts where its session's last acknowledged write was sent: where that was sent and
    /// acknowledged.
    pub own: Option<(usize, usize)>,
    /// The session that it was done in.
    pub session: Option<u64>,
    /// The server that answered.
    pub server: Option<&'a str>,
    /// The transaction that wrote the value which it left or found.
    pub mzxid: Option<i64>,
}

impl unique::RegisterAccess for Access<'_> {
    fn action(&self) -> Action {
        self.action
    }

    fn start(&self) -> AccessMoment {
        self.start
    }

    fn finish(&self) -> AccessMoment {
        self.finish
    }

    fn with_action(self, action: Action) -> Self {
        // The transaction that a compare-and-set names is that of the value that it wrote, not of the value that it
        // found.
        let found = matches!(action, Action::Read(_)) && action != self.action;
        let mzxid = self.mzxid.filter(|_| !found);
        Self { action, mzxid, ..self }
    }

    fn with_start(self, start: AccessMoment) -> Self {
        Self { start, ..self }
    }

    fn is_weak(&self) -> bool {
        self.of_tree()
    }
}

impl Access<'_> {
    /// Whether it is a reading of the znode tree.
    pub fn of_tree(&self) -> bool {
        self.node.is_empty() && matches!(self.action, Action::Read(_))
    }

    pub(super) fn nobody(action: Action, start: AccessMoment, finish: AccessMoment) -> Self {
        Self {
            node: "",
            action,
            start,
            finish,
            invoke: None,
            end: None,
            asks: false,
            repeats: false,
            own: None,
            session: None,
            server: None,
            mzxid: None,
        }
    }
}

/// The accesses of a run, the first of them [`Action::Begin`], the others in the order of their first events.
///
/// A failed operation is none, nor is a read without an answer. For a value that was written twice it is unknown which
/// write was read: the value is left out, and the other values of its operations are kept.
#[derive(Debug)]
pub struct Accesses<'a> {
    pub all: Vec<Access<'a>>,
    /// Values that more than one write can have written, in order.
    pub ambiguous: Vec<i64>,
    /// Operations whose values cannot be read.
    pub unreadable: usize,
}

impl<'a> Accesses<'a> {
    /// Reads them out of a run, in which some values are known to be `ambiguous`. Without a promise that reads are
    /// linearizable (`promised`), a read may show any state since its session's last acknowledged write was sent: that
    /// write has seen all that was acknowledged before, and what answers the read has seen that write.
    pub fn new(run: &Analysis<'a>, promised: bool, ambiguous: &HashSet<i64>) -> Self {
        let mut unreadable = 0;
        let mut all = vec![Access::nobody(Action::Begin, BEGINNING, BEGINNING)];
        for op in run.ops.work.iter().flat_map(|op| parts(run, op)) {
            match access(run, &op) {
                Ok(found) => all.extend(found),
                Err(UnreadableValue) => unreadable += 1,
            }
        }
        let (mut all, ambiguous) = left_out(all, ambiguous);
        if !promised {
            widen(&mut all);
        }
        Self {
            all,
            ambiguous,
            unreadable,
        }
    }

    /// The values that the readings of the znode tree found, each read by a session that had written before, and how
    /// many of these readings have no register whose value can be read.
    pub fn of_tree(&self, run: &Analysis<'a>, path: &str) -> (Vec<Access<'a>>, usize) {
        let (mut found, mut unreadable) = (Vec::new(), 0);
        for reading in run.record.readings.into_iter().flatten() {
            let znode = reading.znodes.iter().find(|znode| znode.path == path);
            let told = znode.and_then(|znode| Some((znode, data(&znode.data)?)));
            let Some((znode, value)) = told else {
                unreadable += 1;
                continue;
            };
            // They are in order.
            if value.is_some_and(|value| self.ambiguous.binary_search(&value).is_ok()) {
                continue;
            }
            let read = Access::nobody(Action::Read(value), before(reading.index), before(reading.end_index));
            found.push(Access {
                mzxid: Some(znode.mzxid),
                ..read
            });
        }
        (found, unreadable)
    }
}

/// The value in a znode's data, nil where they are empty; `None` if they are not a number.
fn data(text: &str) -> Option<RegisterValue> {
    match text {
        "" => Some(None),
        text => text.parse().ok().map(Some),
    }
}

struct UnreadableValue;

/// An operation as what may have happened: where its answer may not be its own, what it asked for, and what was
/// answered.
fn parts<'a>(run: &Analysis<'a>, op: &Op<'a>) -> Vec<Op<'a>> {
    let mut parts = op.apart();
    if let [_, answer] = parts.as_slice()
        && op.f != f::READ
        && !answer.end.is_some_and(|end| tells(&run.events[end]))
    {
        parts.pop();
    }
    parts
}

/// Whether an event contains a value that was written or read.
fn tells(event: &Event) -> bool {
    [VALUE, TO].into_iter().any(|field| value(event, field).is_some())
}

fn access<'a>(run: &Analysis<'a>, op: &Op<'a>) -> Result<Option<Access<'a>>, UnreadableValue> {
    let events = run.events;
    let outcome = op.end.map(|end| events[end].kind);
    if !matches!(op.f, f::READ | f::WRITE | f::CAS) || op.failed(events).is_some() {
        return Ok(None);
    }
    let end = op
        .end
        .filter(|end| outcome == Some(EventType::Ok) && !run.ops.disputed.contains(end));
    if op.f == f::READ && end.is_none() {
        return Ok(None);
    }
    // An answer that does not repeat what it was asked answers that.
    let told = [end, op.invoke, op.end].into_iter().flatten();
    let field = |field: Field<i64>| told.clone().find_map(|at| value(&events[at], field));
    let number = |of: Field<i64>| field(of).flatten();
    let action = match op.f {
        f::READ => end.and_then(|end| value(&events[end], VALUE)).map(Action::Read),
        f::WRITE => number(VALUE).map(Action::Write),
        _ => number(TO).and_then(|to| Some(Action::Cas { from: field(FROM)?, to })),
    };
    let answer = end.map(|end| &events[end]);
    let invoke = op.invoke.or(op.end.filter(|_| end.is_none()));
    Ok(Some(Access {
        node: op.node,
        action: action.ok_or(UnreadableValue)?,
        start: op.invoke.map_or(UNKNOWN, at),
        finish: end.map_or(NEVER, at),
        invoke,
        end,
        asks: invoke.is_some_and(|at| tells(&events[at])),
        repeats: answer.is_some_and(tells),
        own: None,
        session: answer.and_then(|event| event.session()).and_then(session),
        server: answer.and_then(|event| event.server()),
        mzxid: answer.and_then(|event| event.mzxid()),
    }))
}

/// A value in an event; `None` if there is none or it is no value of the register.
fn value(event: &Event, field: Field<i64>) -> Option<RegisterValue> {
    match event.get(field.any())?.is_null() {
        true => Some(None),
        false => event.get(field).map(Some),
    }
}

/// Lets each client's read start where its session's last write was sent that had been acknowledged when the read was.
fn widen(all: &mut [Access<'_>]) {
    /// Where a write was acknowledged, and of the writes acknowledged until then the one sent last (sent,
    /// acknowledged).
    type LatestWrite = (usize, (usize, usize));
    let mut acknowledged: HashMap<u64, Vec<(usize, usize)>> = HashMap::new();
    for access in all.iter().filter(|access| access.action.written().is_some()) {
        if let (Some(session), Some(invoke), Some(end)) = (access.session, access.invoke, access.end) {
            acknowledged.entry(session).or_default().push((end, invoke));
        }
    }
    let mut last: HashMap<u64, Vec<LatestWrite>> = HashMap::new();
    for (session, mut writes) in acknowledged {
        writes.sort_unstable();
        let latest = |own: &mut Option<(usize, usize)>, (end, invoke): (usize, usize)| {
            if own.is_none_or(|(sent, _)| sent < invoke) {
                *own = Some((invoke, end));
            }
            own.map(|own| (end, own))
        };
        last.insert(session, writes.into_iter().scan(None, latest).collect());
    }
    for access in all.iter_mut().filter(|access| matches!(access.action, Action::Read(_))) {
        let own = access.session.zip(access.invoke).and_then(|(session, invoke)| {
            let writes = last.get(&session)?;
            Some(writes[writes.partition_point(|&(end, _)| end < invoke).checked_sub(1)?].1)
        });
        access.own = own;
        access.start = own.map_or(UNKNOWN, |(sent, _)| at(sent));
    }
}
