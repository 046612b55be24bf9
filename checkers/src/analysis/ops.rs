//! The operations of a history: which completion belongs to which invocation, and which events fit no pairing.
//!
//! A process has one operation at a time, and each operation one completion, of its own name. Where that is not so, the
//! pairing of answers and requests is ambiguous: a reason against `valid`.
//!
//! An anomaly is found only if every execution that fits the history has it. An answer is disputed if it names another
//! operation than the open one, if its request got another answer too, or if it has no request and repeats an earlier
//! answer of its process: no anomaly has one among its witness. Where two requests of one name were open at once an
//! answer counts by its own fields alone, as one whose request was sent at any time; that an operation *failed* does
//! not count, as the failure may be another one's.

use crate::text::if_any;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use zooquake_history::operation::control::f;
use zooquake_history::operation::grant::NOT_HELD;
use zooquake_history::operation::membership::{MEMBERS, N};
use zooquake_history::{Event, EventType, Process};

/// All operations of a history, each list in the order of the first event of each operation.
#[derive(Debug, Default)]
pub struct Ops<'a> {
    /// The operations of the numbered processes.
    pub work: Vec<Op<'a>>,
    /// The requests to the clients' named processes: `confirm`, `quiesce`.
    pub control: Vec<Op<'a>>,
    /// For each event the operation that it completes, as a position in the list that its process belongs to.
    pub completes: Vec<Option<usize>>,
    /// Events that fit no pairing, and why, in their order.
    pub misfits: Vec<(usize, Misfit)>,
    /// Answers that may not have been given, or not to the request that they name: one that names another operation
    /// than the open one, and all that one request seems to have got ([`Misfit`]). No anomaly rests on one.
    pub disputed: BTreeSet<usize>,
}

/// Whether a client refused a request because it does not hold the grant any more.
pub fn is_not_held(event: &Event) -> bool {
    let error = event.error.as_deref().unwrap_or_default();
    event.kind == EventType::Fail && error.starts_with(NOT_HELD)
}

/// The client an event belongs to.
pub fn node(event: &Event) -> &str {
    match (&event.node, &event.process) {
        (Some(node), _) => node,
        (None, Process::Name(name)) => name,
        (None, Process::Number(_)) => "an unnamed client",
    }
}

/// Whether the named process is no client's.
pub fn is_harness(name: &str) -> bool {
    matches!(name, "nemesis" | "run" | "admin")
}

/// Whether an event is a notice that has the name of a control request: a client shows another view of its group. An
/// answer `info` to `view` has neither the number nor the members of a view.
pub fn is_view_notice(event: &Event) -> bool {
    let view = || event.get(N.any()).is_some() || event.get(MEMBERS).is_some();
    event.kind == EventType::Info && event.f == f::VIEW && view()
}

/// The client of whose named process an event is.
pub fn named_client(event: &Event) -> Option<&str> {
    match &event.process {
        Process::Name(name) if !is_harness(name) => Some(name),
        _ => None,
    }
}

impl<'a> Ops<'a> {
    /// Pairs invocations with completions.
    ///
    /// A numbered process has one operation at a time. In a named process an answer belongs to the oldest open request
    /// of its name: should an older one never have been answered, that makes the interval longer, which convicts
    /// nobody.
    pub fn new(events: &'a [Event]) -> Self {
        let mut ops = Self {
            completes: vec![None; events.len()],
            ..Self::default()
        };
        let mut open = OpenOperations::default();
        for (at, event) in events.iter().enumerate() {
            match &event.process {
                Process::Name(name) if is_harness(name) => {}
                Process::Name(client) if event.kind == EventType::Info && event.f == "exit" => {
                    ops.exit(client, at, &mut open);
                }
                Process::Name(_) if is_view_notice(event) => {}
                Process::Name(_) => {
                    let key = (&event.process, event.f.as_str());
                    // A notice is `info` too; without an open request of its name it is no operation.
                    if event.kind == EventType::Invoke || open.queues.get(&key).is_some_and(|queue| !queue.is_empty()) {
                        pair(&mut ops.control, &mut ops.completes, open.queue(key, event), at, event);
                    } else if event.kind != EventType::Info {
                        ops.misfits.push((at, Misfit::Unasked));
                        open.shifted.insert(key, at);
                    }
                }
                Process::Number(_) => ops.work(events, at, &mut open),
            }
        }
        ops.dispute(repeated(events, &ops.misfits));
        for op in &mut ops.control {
            // One answer too many: each until then may be that to an earlier request.
            let process = op.invoke.map(|at| &events[at].process);
            let until = process.and_then(|process| open.shifted.get(&(process, op.f)));
            op.doubtful = until.is_some_and(|&until| op.invoke < Some(until));
        }
        ops
    }

    /// The disputed answers, the requests that they seem to be to, and the requests that were open when an answer of
    /// another name was read.
    pub fn in_dispute(&self) -> impl Iterator<Item = usize> {
        let asked = |at: usize| self.completes[at].and_then(|op| self.work[op].invoke);
        let each = move |&at: &usize| asked(at).into_iter().chain([at]);
        let open = self.misfits.iter().filter_map(|&(_, misfit)| match misfit {
            Misfit::Other(asked) => Some(asked),
            _ => None,
        });
        self.disputed.iter().flat_map(each).chain(open)
    }

    /// The request that an event answers; `None` if it answers none that is in the history.
    pub fn request(&self, event: &Event) -> Option<usize> {
        let op = *self.completes.get(event.index)?;
        let list = match event.process {
            Process::Number(_) => &self.work,
            Process::Name(_) => &self.control,
        };
        list.get(op?)?.invoke
    }

    /// Whether a request or an answer pairs.
    pub fn fits(&self, at: usize) -> bool {
        self.misfits.binary_search_by_key(&at, |&(misfit, _)| misfit).is_err()
    }

    /// The misfits as one reason against `valid`; `None` if there is none.
    pub(crate) fn misfit_reason(&self, events: &[Event]) -> Option<String> {
        let number = self.misfits.len();
        let named = self.misfits.iter().take(NAMED);
        let words: Vec<String> = named.map(|&(at, misfit)| misfit.words(at, events)).collect();
        let more = if_any(number - words.len(), |more| format!("; {more} more"));
        (number > 0).then(|| {
            format!(
                "requests and answers do not pair at {number} events, so that it is not certain what happened: {}{more}",
                words.join("; ")
            )
        })
    }

    fn dispute(&mut self, answers: impl IntoIterator<Item = usize>) {
        for at in answers {
            self.disputed.insert(at);
            if let Some(op) = self.completes[at] {
                self.work[op].doubtful = true;
            }
        }
    }

    /// An event of a numbered process. A request makes it forget what it was at.
    fn work(&mut self, events: &'a [Event], at: usize, open: &mut OpenOperations<'a>) {
        let event = &events[at];
        let last = open.ended.get(&event.process).copied();
        let queue = open.queue((&event.process, ""), event);
        let under_way = queue.front().copied();
        let misfit = match (event.kind, under_way.map(|op| &self.work[op])) {
            // Its process had ended: that request is over.
            (EventType::Invoke, Some(op)) if op.cut.is_some() => None,
            (EventType::Invoke, other) => other.and_then(|op| op.invoke).map(Misfit::Busy),
            (_, Some(op)) if op.f == event.f => None,
            (_, Some(op)) => op.invoke.map(Misfit::Other),
            (_, None) => {
                let same = last.filter(|&op| self.work[op].f == event.f);
                let end = same.and_then(|op| self.work[op].end);
                Some(end.map_or(Misfit::Unasked, Misfit::Again))
            }
        };
        if event.kind == EventType::Invoke {
            queue.clear();
        }
        pair(&mut self.work, &mut self.completes, queue, at, event);
        let of = self.completes[at].unwrap_or(self.work.len() - 1);
        if event.kind != EventType::Invoke {
            open.ended.insert(&event.process, of);
        }
        // What a forgotten request of its name is yet to get may be taken for its own.
        self.work[of].doubtful |= open.forgotten.contains(&(&event.process, event.f.as_str()));
        let Some(misfit) = misfit else { return };
        self.misfits.push((at, misfit));
        match misfit {
            Misfit::Busy(before) => {
                open.forgotten.insert((&event.process, events[before].f.as_str()));
            }
            Misfit::Other(_) => self.dispute([at]),
            Misfit::Again(first) => self.dispute([first, at]),
            Misfit::Unasked => {}
        }
        let before = match misfit {
            Misfit::Busy(_) | Misfit::Other(_) => under_way,
            Misfit::Again(_) => last,
            // It can be the answer to nothing that is known.
            Misfit::Unasked => None,
        };
        let Some(before) = before else { return };
        self.work[before].doubtful = true;
        // An answer has the name of its request, so that it is not mistaken for that to a request of another name.
        let alike = self.work[before].f == event.f;
        self.work[of].doubtful |= alike || event.kind != EventType::Invoke;
    }

    /// Nothing of a client outlives its stream. A numbered process still gets its completion, as `info`; a control
    /// request that got none until now never will, and must not take the answer to one of the next process.
    fn exit(&mut self, node: &str, at: usize, open: &mut OpenOperations<'a>) {
        for key in open.asked.remove(node).unwrap_or_default() {
            let numbered = matches!(key.0, Process::Number(_));
            let list = if numbered { &mut self.work } else { &mut self.control };
            let Some(queue) = open.queues.get_mut(&key) else {
                continue;
            };
            if queue.front().is_none_or(|&op| list[op].node != node) {
                continue;
            }
            for &op in queue.iter() {
                list[op].cut.get_or_insert(at);
            }
            if !numbered {
                queue.clear();
            }
        }
    }
}

/// A process, and of a named one the name of the request.
type Key<'a> = (&'a Process, &'a str);

/// The operations without a completion until now.
#[derive(Default)]
struct OpenOperations<'a> {
    queues: HashMap<Key<'a>, VecDeque<usize>>,
    /// For each client what it was asked since its last stream ended, so that its end is a matter of these alone.
    asked: HashMap<&'a str, Vec<Key<'a>>>,
    /// For each numbered process the operation that it ended last.
    ended: HashMap<&'a Process, usize>,
    /// Requests of a numbered process that were not answered when the next one was sent.
    forgotten: HashSet<Key<'a>>,
    /// For each request in a named process the last answer that nobody had asked for.
    shifted: HashMap<Key<'a>, usize>,
}

impl<'a> OpenOperations<'a> {
    /// The open operations that an event belongs to.
    fn queue(&mut self, key: Key<'a>, event: &'a Event) -> &mut VecDeque<usize> {
        if event.kind == EventType::Invoke {
            let asked = self.asked.entry(node(event)).or_default();
            if asked.last() != Some(&key) {
                asked.push(key);
            }
        }
        self.queues.entry(key).or_default()
    }
}

fn pair<'a>(
    list: &mut Vec<Op<'a>>,
    completes: &mut [Option<usize>],
    queue: &mut VecDeque<usize>,
    at: usize,
    event: &'a Event,
) {
    let new = Op {
        node: node(event),
        f: &event.f,
        invoke: None,
        end: None,
        cut: None,
        doubtful: false,
    };
    if event.kind == EventType::Invoke {
        queue.push_back(list.len());
        list.push(Op {
            invoke: Some(at),
            ..new
        });
        return;
    }
    let known = queue.front().copied().filter(|&op| list[op].f == event.f);
    let op = match known {
        Some(op) => {
            queue.pop_front();
            list[op].end = Some(at);
            op
        }
        None => {
            list.push(Op { end: Some(at), ..new });
            list.len() - 1
        }
    };
    completes[at] = Some(op);
}

/// One operation of a client, or one control request to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Op<'a> {
    /// The client that was asked, such as `c1`.
    pub node: &'a str,
    /// The operation's name, such as `acquire`.
    pub f: &'a str,
    /// Where it was invoked; `None` if that is not in the history.
    pub invoke: Option<usize>,
    /// Where it was completed; `None` while it is pending.
    pub end: Option<usize>,
    /// Where the stream of its process ended while it was pending.
    pub cut: Option<usize>,
    /// Whether what completed it, or that nothing did, may be a matter of another operation ([`Misfit`]).
    pub doubtful: bool,
}

impl Op<'_> {
    /// Where it was sent; `None` if that is not in the history, or if its answer may be that to an earlier request.
    pub fn sent(&self) -> Option<usize> {
        self.invoke.filter(|_| !self.doubtful)
    }

    /// The event of the answer `fail`, which shows that it certainly did not happen; `None` also where that may be the
    /// answer to another operation.
    pub fn failed(&self, events: &[Event]) -> Option<usize> {
        self.end
            .filter(|&end| events[end].kind == EventType::Fail && !self.doubtful)
    }

    /// What came of it.
    pub fn outcome(&self, events: &[Event]) -> OperationOutcome {
        match self.end.map(|end| events[end].kind) {
            Some(EventType::Ok) => OperationOutcome::Ok,
            Some(EventType::Fail) => OperationOutcome::Fail,
            Some(EventType::Info) => OperationOutcome::Info,
            Some(EventType::Invoke) | None => OperationOutcome::Pending,
        }
    }

    /// Itself; or its request and its answer, each alone, where they may not belong together.
    pub fn apart(&self) -> Vec<Self> {
        if !self.doubtful || self.invoke.is_none() || self.end.is_none() {
            return vec![self.clone()];
        }
        let (mut request, mut answer) = (self.clone(), self.clone());
        (request.end, answer.invoke) = (None, None);
        vec![request, answer]
    }

    /// Whether it was in flight at some moment between the events `from` and `to`.
    pub fn in_flight(&self, from: usize, to: usize) -> bool {
        let begin = self.invoke.unwrap_or(0);
        let end = self.end.into_iter().chain(self.cut).min().unwrap_or(usize::MAX);
        begin <= to && end >= from
    }
}

/// What came of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OperationOutcome {
    /// It happened.
    Ok,
    /// It certainly did not.
    Fail,
    /// It may or may not have.
    Info,
    /// It was not answered by the end.
    Pending,
}

impl OperationOutcome {
    /// All of them, in the order of legends.
    pub const ALL: [Self; 4] = [Self::Ok, Self::Fail, Self::Info, Self::Pending];

    /// Its name in legends.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Fail => "fail",
            Self::Info => "info",
            Self::Pending => "pending",
        }
    }
}

/// How many a reason names; of more it gives the number.
const NAMED: usize = 3;

/// Why an event fits no pairing. Positions are those of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misfit {
    /// A request while the one sent at this event was not answered.
    Busy(usize),
    /// An answer to another operation than the one sent at this event, which was open.
    Other(usize),
    /// A second answer, after the one at this event.
    Again(usize),
    /// An answer to no request.
    Unasked,
}

impl Misfit {
    /// The misfit of an event in words.
    fn words(self, at: usize, events: &[Event]) -> String {
        let Event { process, f, .. } = &events[at];
        match self {
            Misfit::Busy(open) => format!(
                "event {at} asks process {process} for `{f}` while its `{}` of event {open} is not answered",
                events[open].f
            ),
            Misfit::Other(open) => format!(
                "event {at} answers `{f}` for process {process}, which was asked for `{}` at event {open}",
                events[open].f
            ),
            Misfit::Again(first) => {
                format!("event {at} answers the `{f}` of process {process} that event {first} had answered")
            }
            Misfit::Unasked => format!("event {at} answers `{f}` for process {process}, which was not asked for it"),
        }
    }
}

/// The answers of numbered processes that fit no request and repeat an earlier answer of the same process, and those
/// earlier answers. If they are of different kinds, which of them was given is unknown.
fn repeated(events: &[Event], misfits: &[(usize, Misfit)]) -> Vec<usize> {
    let odd = misfits.iter().flat_map(|&(at, misfit)| match misfit {
        Misfit::Busy(_) => [None, None],
        Misfit::Again(first) => [Some(first), Some(at)],
        Misfit::Other(_) | Misfit::Unasked => [Some(at), None],
    });
    let odd: BTreeSet<usize> = odd.flatten().collect();
    let processes: HashSet<&Process> = odd.iter().map(|&at| &events[at].process).collect();
    let mut said: HashMap<_, Vec<usize>> = HashMap::new();
    for (at, event) in events.iter().enumerate() {
        let numbered = matches!(event.process, Process::Number(_));
        if numbered && event.kind != EventType::Invoke && processes.contains(&event.process) {
            let key = (&event.process, event.f.as_str(), event.value.to_string());
            said.entry(key).or_default().push(at);
        }
    }
    let mut repeated = Vec::new();
    for mut same in said.into_values() {
        let last = same.iter().rposition(|at| odd.contains(at));
        same.truncate(last.map_or(0, |last| last + 1));
        if same.iter().any(|at| !odd.contains(at)) {
            repeated.append(&mut same);
        }
    }
    repeated
}
