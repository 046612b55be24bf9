//! Liveness after recovery: what did not finish, that is operations that stay pending, end with an unknown outcome or
//! fail, and clients that finish none at all; which answers finish an operation; and the bound, how long one may stay
//! unfinished before that convicts.
//!
//! The checkers of families in which clients wait for one another convict some of it; the rest is a reason against
//! `valid`.

pub mod refused_for_ever;

use crate::analysis::recovery::RecoverySpan;
use crate::analysis::{Analysis, Op, nanos};
use crate::findings::Findings;
use crate::text::seconds;
use refused_for_ever::RefusalJudge;
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use zooquake_history::liveness::AnsweredDurations;
use zooquake_history::operation::{
    FinishRule, Replacement, Role, barrier, commit, family, grant, membership, queue, role,
};
use zooquake_history::{Event, EventType, operation};

/// How an operation that did not finish stands at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnfinishedOutcome {
    /// It was not answered.
    Pending,
    /// It was answered `info`; of several attempts one was, at the least.
    Unknown,
    /// It was answered `fail`, at each attempt.
    Failed,
}

/// An operation that a living client did not finish after recovery; or all attempts at one that one process made, one
/// after the other, and that ended as `fail` or `info`.
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
    /// Whether it did so later, which ends a chain of attempts.
    ended: bool,
    /// Whether the answers are no refusals but state what the client holds, or is: [`is_state`].
    pub states: bool,
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

    /// From the first sending to the last end, after which the bound of liveness convicts: each attempt followed from
    /// the last.
    pub fn spell(&self) -> (usize, usize) {
        (self.asked(), self.until())
    }

    /// Whether an attempt failed.
    pub fn was_refused(&self, run: &Analysis<'_>) -> bool {
        let failed = |&(_, until): &(usize, usize)| run.events[until].kind == EventType::Fail;
        self.how != UnfinishedOutcome::Pending && self.attempts.iter().any(failed)
    }

    /// What came of several attempts, in words.
    pub fn answers(&self) -> &'static str {
        match self.how {
            UnfinishedOutcome::Failed => "refused",
            UnfinishedOutcome::Pending | UnfinishedOutcome::Unknown => "refused, or answered with an unknown outcome,",
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
            (UnfinishedOutcome::Unknown, count) if self.was_refused(run) => format!(
                "{count} {f}s of {node}, sent from {asked} on, failed after recovery or ended with an unknown outcome, the last at \
                 {until}{error}, and none finished"
            ),
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

    /// What happened as a reason against `valid`: why it convicts nobody may follow.
    pub fn reason(&self, run: &Analysis<'_>, why: &str) -> String {
        self.told(run) + why + &run.recovery.doubt_words()
    }
}

/// ` (ConnectionLoss: …)`: the error that an event records; empty if there is none.
pub fn error_words(run: &Analysis<'_>, event: usize) -> String {
    let error = run.events.get(event).and_then(|event| event.error.as_deref());
    error.map(|error| format!(" ({error})")).unwrap_or_default()
}

/// Looks for operations that are refused for ever; all else that did not finish is a reason. `each`: every planned
/// client has to finish an operation.
pub fn check(run: &Analysis<'_>, each: bool, out: &mut Findings) {
    let Some(span) = run.recovery.span else {
        return out.ran(refused_for_ever::NAME, 0);
    };
    let all = unfinished(run, span);
    let mut refused = RefusalJudge::new(run, span);
    all.iter().for_each(|one| refused.check(one, out));
    refused.close(out);
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
    // For each client and operation the attempts at it that go on, as a position in the list.
    let mut series: HashMap<(&str, &str, OperationUnit<'_>), usize> = HashMap::new();
    // A client that never had a session is a reason of its own.
    let judged = run
        .ops
        .work
        .iter()
        .filter(|op| !run.recovery.sessionless.contains(op.node));
    for op in judged {
        let unit = if op.f == commit::f::BEGIN {
            // Another transaction takes the place of one that could not begin.
            OperationUnit::None
        } else {
            unit(run, op)
        };
        let key = (op.node, op.f, unit);
        let (asked, until, how) = match state(run, op, span) {
            SpanOutcome::Open(asked, until, how) => (asked, until, how),
            SpanOutcome::Finished => {
                series.remove(&key);
                continue;
            }
            SpanOutcome::Elsewhere => {
                // A `begin` finishes with its transaction, but that one was possible.
                if op.end.is_some_and(|end| run.events[end].kind == EventType::Ok) {
                    series.remove(&key);
                }
                continue;
            }
        };
        let begun = op.f == commit::f::BEGIN && finished.begun.get(op.node).is_some_and(|&end| end > until);
        let ended = begun || how != UnfinishedOutcome::Pending && finished.make_up(run, op, until, false);
        let failed = how == UnfinishedOutcome::Failed;
        let made_up = match begun && !failed {
            true => finished.make_up(run, op, until, false),
            false => ended,
        };
        let made_up = made_up || failed && finished.make_up(run, op, until, true);
        let states = failed && is_state(run.events[until].error.as_deref().unwrap_or_default());
        // What a client does not go on asking for has ended, when it certainly did not happen; so has what it asked
        // once.
        if failed && again(op.f) == Replacement::Any && (states || !is_asked_again(run, op.f)) {
            series.remove(&key);
            continue;
        }
        let goes_on = |one: &UnfinishedOps<'_, '_>| {
            one.how != UnfinishedOutcome::Pending
                && one.states == states
                && !ended
                && !one.ended
                && !run.clients.died(op.node, one.until(), asked)
        };
        match series.get(&key).copied().filter(|&at| goes_on(&all[at])) {
            Some(at) if how != UnfinishedOutcome::Pending => {
                let one = &mut all[at];
                one.attempts.push((asked, until));
                one.made_up &= made_up;
                if !failed {
                    one.how = how;
                }
            }
            _ => {
                series.insert(key, all.len());
                all.push(UnfinishedOps {
                    op,
                    how,
                    attempts: vec![(asked, until)],
                    made_up,
                    ended,
                    states,
                });
            }
        }
    }
    let asked_once = |one: &UnfinishedOps<'_, '_>| one.how == UnfinishedOutcome::Failed && one.attempts.len() == 1;
    all.retain(|one| again(one.op.f) != Replacement::Any || !asked_once(one));
    all
}

/// Whether the error of an answer `fail` states what the client holds or is, and refuses nothing.
fn is_state(error: &str) -> bool {
    [
        grant::NOT_HELD,
        membership::NOT_REGISTERED,
        membership::REGISTERED_ALREADY,
    ]
    .iter()
    .any(|state| error.starts_with(state))
}

/// Whether clients are asked again for an operation that failed, though any other one of theirs makes up for it.
fn is_asked_again(run: &Analysis<'_>, f: &str) -> bool {
    refused_for_ever::convicts(run, f) || matches!(f, barrier::f::LEAVE | queue::f::ACKNOWLEDGE)
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
    same: HashMap<(&'a str, &'a str, OperationUnit<'a>), (usize, bool)>,
    /// By client: its last `begin` that was answered `ok`.
    begun: HashMap<&'a str, usize>,
    /// By client: its last answer of any kind that finishes something.
    any: HashMap<&'a str, usize>,
    /// Rounds that somebody entered and transactions whose decision was answered to somebody.
    units: HashSet<OperationUnit<'a>>,
}

impl<'a> FinishedOps<'a> {
    fn new(run: &Analysis<'a>, span: RecoverySpan) -> Self {
        let mut finished = Self {
            same: HashMap::new(),
            begun: HashMap::new(),
            any: HashMap::new(),
            units: HashSet::new(),
        };
        for op in &run.ops.work {
            let ended = op.end.filter(|&end| span.recovered < end && end <= span.end);
            if let Some(end) = ended.filter(|&end| op.f == commit::f::BEGIN && run.events[end].kind == EventType::Ok) {
                finished.begun.insert(op.node, end);
            }
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

    /// Whether the client finished something that makes up for an attempt that ended there, later or, if `before`, at
    /// any time since recovery: one that failed certainly did nothing.
    fn make_up(&self, run: &Analysis<'a>, op: &Op<'a>, ended: usize, before: bool) -> bool {
        match again(op.f) {
            Replacement::Same => self
                .same
                .get(&(op.node, op.f, unit(run, op)))
                .is_some_and(|&(end, sent)| end > ended || before && sent),
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
    let clients = run.record.plan.cluster.client_nodes().into_iter();
    let idle: Vec<String> = clients
        .map(|client| client.to_string())
        .filter(|client| each || asked.contains(client.as_str()))
        .filter(|client| !run.recovery.sessionless.contains(client.as_str()))
        .filter(|client| !run.recovery.dead.contains(client.as_str()) && !settled.contains(client.as_str()))
        .collect();
    if !idle.is_empty() {
        let last = LastEnds::new(run, span);
        let errors: String = idle.iter().filter_map(|client| last.error(run, client)).collect();
        out.reasons.push(format!(
            "after recovery no operation of {} finished{errors}",
            idle.join(", ")
        ));
    }
}

/// By client: where its last operation after recovery ended.
struct LastEnds<'a>(HashMap<&'a str, usize>);

impl<'a> LastEnds<'a> {
    fn new(run: &Analysis<'a>, span: RecoverySpan) -> Self {
        let mut last: HashMap<&str, usize> = HashMap::new();
        let ended = run.ops.work.iter().filter_map(|op| Some((op.node, op.end?)));
        for (node, end) in ended.filter(|&(_, end)| span.recovered < end && end <= span.end) {
            let known = last.entry(node).or_insert(end);
            *known = end.max(*known);
        }
        Self(last)
    }

    /// The error of a client's last answer, in words; `None` if it has none.
    fn error(&self, run: &Analysis<'_>, client: &str) -> Option<String> {
        let &end = self.0.get(client)?;
        let error = run.events[end].error.as_deref()?;
        Some(format!("; the last answer of {client}, at {}: {error}", run.at(end)))
    }
}

/// What an operation is about, where an attempt at one does not make up for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum OperationUnit<'a> {
    /// Nothing in particular.
    None,
    Transaction(&'a str),
    Round(i64),
}

/// What makes up for an attempt at an operation of this name that did not finish.
fn again(f: &str) -> Replacement {
    operation::op(f).map_or(Replacement::Any, |op| op.again)
}

/// Whether this answer finishes its operation.
fn finishes(answer: &Event) -> bool {
    let code = || answer.error.as_deref().unwrap_or_default();
    let finishes = operation::op(&answer.f).map_or(FinishRule::Ok, |op| op.finishes);
    match (finishes, answer.kind) {
        (FinishRule::WithOthers, _) => false,
        (_, EventType::Ok) | (FinishRule::OkOrFail, EventType::Fail) => true,
        (FinishRule::OkOrRefused, EventType::Fail) => answer.accepted() == Some(false) || code().starts_with("refused"),
        (FinishRule::OkOrMismatch, EventType::Fail) => matches!(code(), "" | "mismatch" | "bad-version"),
        _ => false,
    }
}

/// The round or the transaction that an operation is about.
fn unit<'a>(run: &Analysis<'a>, op: &Op<'_>) -> OperationUnit<'a> {
    let events = || op.invoke.into_iter().chain(op.end).map(|at| &run.events[at]);
    let transaction = events().find_map(|event| event.tx()).map(OperationUnit::Transaction);
    let round = || events().find_map(|event| event.round()).map(OperationUnit::Round);
    transaction.or_else(round).unwrap_or(OperationUnit::None)
}

/// The bounds of a run's unfinished operations.
pub struct LivenessBounds(AnsweredDurations);

impl LivenessBounds {
    /// The bounds by the operations that were answered `ok` before the span's end. An answer that is the history's last
    /// event shows only how long others waited.
    pub fn new(run: &Analysis<'_>, span: RecoverySpan) -> Self {
        let mut answered = AnsweredDurations::default();
        // Work under a grant takes as long as it is asked to.
        let grants = family(&run.record.plan.workload.family).is_some_and(|family| family.grants);
        let works = |f: &str| grants && matches!(role(f), Role::Take | Role::Work);
        for op in run.ops.work.iter().filter(|op| !works(op.f)) {
            let ok = |&end: &usize| end < span.end && run.events[end].kind == EventType::Ok;
            let Some(end) = op.end.filter(ok) else { continue };
            // One whose request is missing may have been sent at any time.
            let sent = op.sent().map_or(0, |at| run.time(at));
            answered.add(op.f, Duration::from_nanos(run.time(end).saturating_sub(sent)));
        }
        Self(answered)
    }

    /// The bound of an unfinished operation of this name, in nanoseconds.
    pub fn bound(&self, f: &str) -> u64 {
        nanos(self.0.bound(f))
    }
}

/// How long something went on, in nanoseconds, beside the bound that convicts, in words.
pub fn bound_words(waited: u64, bound: u64) -> String {
    match waited < bound {
        true => format!(
            "only {} of the {} after which that convicts",
            seconds(waited),
            seconds(bound)
        ),
        false => format!("{}, where {} convict", seconds(waited), seconds(bound)),
    }
}
