//! What did not finish after recovery: operations that stay pending, end with an unknown outcome or fail, and clients
//! that finish none at all.
//!
//! The checkers of families in which clients wait for one another convict some of it; the rest is a reason against
//! `valid`.

use crate::analysis::recovery::RecoverySpan;
use crate::analysis::{Analysis, Op};
use crate::findings::Findings;
use crate::liveness::completion::{OperationSubject, again, finishes, unit};
use std::collections::{HashMap, HashSet};
use zooquake_history::EventType;
use zooquake_history::operation::{Replacement, barrier, commit};

/// How an operation that did not finish stands at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnfinishedOutcome {
    /// It was not answered.
    Pending,
    /// It was answered `info`.
    Unknown,
    /// It was answered `fail`.
    Failed,
}

/// An operation that a living client did not finish after recovery; or all attempts at one, one after the other, that
/// ended alike.
#[derive(Debug)]
pub struct UnfinishedOps<'r, 'a> {
    /// The operation, of several attempts the first.
    pub op: &'r Op<'a>,
    /// How it stands.
    pub how: UnfinishedOutcome,
    /// Where each attempt was sent, and where it ended or, of one that is pending, the span does; never empty.
    pub attempts: Vec<(usize, usize)>,
    /// Whether the client finished another one that makes up for it.
    pub made_up: bool,
}

impl UnfinishedOps<'_, '_> {
    /// Where the first attempt was sent.
    pub fn asked(&self) -> usize {
        self.attempts[0].0
    }

    /// The event up to which it did not finish.
    pub fn until(&self) -> usize {
        self.attempts[self.attempts.len() - 1].1
    }

    /// The spells, from a sending to an end, after which the bound of liveness convicts: each attempt alone; of
    /// attempts that failed all of them together, since each followed from the last.
    pub fn spells(&self) -> Vec<(usize, usize)> {
        match self.how {
            UnfinishedOutcome::Failed => vec![(self.asked(), self.until())],
            UnfinishedOutcome::Pending | UnfinishedOutcome::Unknown => self.attempts.clone(),
        }
    }

    /// What happened, in words.
    pub fn told(&self, run: &Analysis<'_>) -> String {
        let (f, node, asked, until) = (self.op.f, self.op.node, run.at(self.asked()), run.at(self.until()));
        let error = error_words(run, self.until());
        match (self.how, self.attempts.len()) {
            (UnfinishedOutcome::Pending, _) => {
                format!("the {f} of {node} sent at {asked} was still pending after recovery")
            }
            (UnfinishedOutcome::Unknown, 1) => {
                format!(
                    "the {f} of {node} sent at {asked} ended after recovery, at {until}, with an unknown outcome{error}"
                )
            }
            (UnfinishedOutcome::Unknown, count) => format!(
                "{count} {f}s of {node}, sent from {asked} on, ended after recovery with an unknown outcome, the last at \
                 {until}{error}, and no later one finished"
            ),
            (UnfinishedOutcome::Failed, 1) => {
                format!("the {f} of {node} sent at {asked} failed after recovery, at {until}{error}")
            }
            (UnfinishedOutcome::Failed, count) => format!(
                "{count} {f}s of {node}, sent from {asked} on, failed after recovery, the last at {until}{error}, and none finished"
            ),
        }
    }

    /// The same as a reason against `valid`: why it convicts nobody may follow.
    pub fn reason(&self, run: &Analysis<'_>, why: &str) -> String {
        self.told(run) + why + &run.recovery.doubt_words()
    }
}

/// ` (ConnectionLoss: …)`: the error that an event records; empty if there is none.
pub fn error_words(run: &Analysis<'_>, event: usize) -> String {
    let error = run.events.get(event).and_then(|event| event.error.as_deref());
    error.map(|error| format!(" ({error})")).unwrap_or_default()
}

/// Adds a reason for all that did not finish, where it convicts nobody. `each`: every planned client has to finish an
/// operation.
pub fn check(run: &Analysis<'_>, each: bool, out: &mut Findings) {
    let Some(span) = run.recovery.span else { return };
    let all = unfinished(run, span);
    let open = all.iter().filter(|one| !one.made_up);
    out.reasons.extend(open.map(|one| one.reason(run, "")));
    idle(run, span, open_clients(&all), each, out);
}

/// The clients of what did not finish and is not made up for.
pub fn open_clients<'a>(all: &[UnfinishedOps<'_, 'a>]) -> HashSet<&'a str> {
    all.iter().filter(|one| !one.made_up).map(|one| one.op.node).collect()
}

/// All that did not finish in the span, in the order in which it was sent.
pub fn unfinished<'r, 'a>(run: &'r Analysis<'a>, span: RecoverySpan) -> Vec<UnfinishedOps<'r, 'a>> {
    let finished = FinishedOps::new(run, span);
    let mut all: Vec<UnfinishedOps<'r, 'a>> = Vec::new();
    // For each client and operation the attempts at it that are still alike, as a position in the list.
    let mut series: HashMap<(&str, &str, OperationSubject<'_>), usize> = HashMap::new();
    for op in &run.ops.work {
        let key = (op.node, op.f, unit(run, op));
        let (asked, until, how) = match state(run, op, span) {
            SpanOutcome::Open(asked, until, how) => (asked, until, how),
            SpanOutcome::Finished => {
                series.remove(&key);
                continue;
            }
            SpanOutcome::Elsewhere => continue,
        };
        let made_up = how != UnfinishedOutcome::Pending && finished.make_up(run, op, until, how);
        // What a client does not go on asking for has ended, when it certainly did not happen.
        if how == UnfinishedOutcome::Failed && again(op.f) == Replacement::Any {
            continue;
        }
        let same = series
            .get(&key)
            .copied()
            .filter(|&at| all[at].how == how && !made_up && !all[at].made_up);
        match same {
            Some(at) if how != UnfinishedOutcome::Pending => all[at].attempts.push((asked, until)),
            _ => {
                series.insert(key, all.len());
                all.push(UnfinishedOps {
                    op,
                    how,
                    attempts: vec![(asked, until)],
                    made_up,
                });
            }
        }
    }
    all
}

enum SpanOutcome {
    /// It was sent, did not finish in the span, and stands so since or up to this event.
    Open(usize, usize, UnfinishedOutcome),
    /// It finished in the span.
    Finished,
    /// It ended before the span, was sent after it, or its process ended meanwhile.
    Elsewhere,
}

fn state(run: &Analysis<'_>, op: &Op<'_>, span: RecoverySpan) -> SpanOutcome {
    let Some(asked) = op.invoke.filter(|&asked| asked < span.end) else {
        return SpanOutcome::Elsewhere;
    };
    // Whether a request that pairs with no answer for certain was answered is unknown; one sent to a busy process may
    // have waited for the other.
    if op.doubtful || !run.ops.fits(asked) || op.cut.is_some_and(|cut| cut <= span.end) {
        return SpanOutcome::Elsewhere;
    }
    let Some(done) = op.end.filter(|&done| done <= span.end) else {
        return SpanOutcome::Open(asked, span.end, UnfinishedOutcome::Pending);
    };
    match run.events[done].kind {
        _ if done <= span.recovered => SpanOutcome::Elsewhere,
        _ if finishes(&run.events[done]) => SpanOutcome::Finished,
        EventType::Fail => SpanOutcome::Open(asked, done, UnfinishedOutcome::Failed),
        EventType::Info => SpanOutcome::Open(asked, done, UnfinishedOutcome::Unknown),
        // An answer that finishes nothing by itself, such as that of a vote.
        EventType::Ok | EventType::Invoke => SpanOutcome::Elsewhere,
    }
}

/// What finished in the span.
struct FinishedOps<'a> {
    /// By client, operation, and round or transaction: the last answer, and whether one was sent after recovery.
    same: HashMap<(&'a str, &'a str, OperationSubject<'a>), (usize, bool)>,
    /// By client: its last answer of any kind that finishes something.
    any: HashMap<&'a str, usize>,
    /// Rounds that somebody entered and transactions whose decision was answered to somebody.
    units: HashSet<OperationSubject<'a>>,
}

impl<'a> FinishedOps<'a> {
    fn new(run: &Analysis<'a>, span: RecoverySpan) -> Self {
        let mut finished = Self {
            same: HashMap::new(),
            any: HashMap::new(),
            units: HashSet::new(),
        };
        for op in &run.ops.work {
            let ended = op.end.filter(|&end| span.recovered < end && end <= span.end);
            let Some(end) = ended.filter(|&end| finishes(&run.events[end])) else {
                continue;
            };
            let unit = unit(run, op);
            let last = finished.same.entry((op.node, op.f, unit)).or_default();
            *last = (
                last.0.max(end),
                last.1 || op.invoke.is_some_and(|asked| asked > span.recovered),
            );
            let any = finished.any.entry(op.node).or_default();
            *any = end.max(*any);
            if matches!(op.f, barrier::f::ENTER | commit::f::DECIDED) {
                finished.units.insert(unit);
            }
        }
        finished
    }

    /// Whether the client finished something that makes up for an attempt that ended there. For one that failed, which
    /// certainly did nothing, that may have been before.
    fn make_up(&self, run: &Analysis<'a>, op: &Op<'a>, ended: usize, how: UnfinishedOutcome) -> bool {
        match again(op.f) {
            Replacement::Same => self
                .same
                .get(&(op.node, op.f, unit(run, op)))
                .is_some_and(|&(end, sent)| end > ended || how == UnfinishedOutcome::Failed && sent),
            Replacement::Any => self.any.get(op.node).is_some_and(|&end| end > ended) || self.with_others(run, op),
        }
    }

    /// Whether an operation finishes with its round or its transaction, and that did.
    fn with_others(&self, run: &Analysis<'a>, op: &Op<'a>) -> bool {
        matches!(op.f, barrier::f::JOIN | commit::f::BEGIN) && self.units.contains(&unit(run, op))
    }
}

/// Adds a reason that names the planned clients that live at the end of the span and finished nothing in it, but for
/// those in `reported`. Where `each` is false, only those that were asked for something in the
/// span.
pub fn idle<'a>(run: &Analysis<'a>, span: RecoverySpan, reported: HashSet<&'a str>, each: bool, out: &mut Findings) {
    let finished = FinishedOps::new(run, span);
    let (mut asked, mut settled) = (HashSet::new(), reported);
    settled.extend(finished.any.keys());
    for op in &run.ops.work {
        if op.invoke.is_some_and(|sent| span.recovered < sent && sent < span.end) {
            asked.insert(op.node);
            if finished.with_others(run, op) {
                settled.insert(op.node);
            }
        }
    }
    let idle: Vec<String> = (1..=run.record.plan.cluster.clients)
        .map(|number| format!("c{number}"))
        .filter(|client| each || asked.contains(client.as_str()))
        .filter(|client| !run.recovery.dead.contains(client.as_str()) && !settled.contains(client.as_str()))
        .collect();
    if !idle.is_empty() {
        out.reasons
            .push(format!("after recovery no operation of {} finished", idle.join(", ")));
    }
}
