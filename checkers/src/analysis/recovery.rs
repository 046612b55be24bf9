//! Recovery: the part of a run in which liveness is judged, or why it cannot be.

use super::{Analysis, InjectedFault, NamedClients, Op, Ops, RecordView};
use crate::text::{few, seconds};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use zooquake_history::operation::control::f;
use zooquake_history::{Event, EventType, Process};

/// How many lacks are named together; of more of them only that there are.
const NAMED: usize = 5;

/// The part of a history in which liveness is judged, by events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecoverySpan {
    /// The last phase `recovered`.
    pub recovered: usize,
    /// Where the clock starts: there, or where the last living client answered the `quiesce` of the recovery.
    pub clock: usize,
    /// The phase `audit` after it; the last event if there is none.
    pub end: usize,
}

impl RecoverySpan {
    /// Nanoseconds from a sending, at the earliest from where the clock starts, to an end.
    pub fn waited(&self, run: &Analysis<'_>, (asked, until): (usize, usize)) -> u64 {
        run.time(until).saturating_sub(run.time(asked.max(self.clock)))
    }
}

/// What a history records about its recovery.
#[derive(Debug, Default)]
pub struct Recovery<'a> {
    /// Where liveness is judged; `None` if there is no phase `recovered`.
    pub span: Option<RecoverySpan>,
    /// Clients whose process had ended by the end of the span and was not started again.
    pub dead: BTreeSet<&'a str>,
    /// Planned clients of which the record has no session: none is named, and no operation was ever answered `ok`.
    pub sessionless: BTreeSet<&'a str>,
    /// What the recovery lacks, in words; each forbids the verdict `valid`.
    pub lacks: Vec<String>,
    /// What happened in the span to the harness or to clients, in words: it forbids it only if something did not
    /// finish.
    doubts: Vec<String>,
}

impl<'a> Recovery<'a> {
    /// Reads the recovery out of a history. `phases` has the last event of each phase.
    pub fn new(
        record: &RecordView<'a>,
        phases: &BTreeMap<&str, usize>,
        ops: &Ops<'a>,
        clients: &NamedClients<'a>,
        injected: &BTreeMap<i64, InjectedFault<'_>>,
    ) -> Self {
        let events = record.history.events.as_slice();
        let phase = |name: &str| phases.get(name).copied();
        let mut span = phase("recovered").map(|recovered| RecoverySpan {
            recovered,
            clock: recovered,
            end: phase("audit")
                .filter(|&audit| audit > recovered)
                .unwrap_or(events.len() - 1),
        });
        let mut recovery = Self {
            sessionless: clients.sessionless(events, ops),
            ..Self::default()
        };
        let asked = RecoveryRequests { events, ops };
        let failed = match &mut span {
            Some(span) => not_kept(events, phases, *span).or_else(|| {
                let patience = record.plan.cluster.timing.session_ms.saturating_mul(1_000_000);
                asked.silent(phase("recover")?, span, patience)
            }),
            None => Some(told(events, phase("not-recovered"))),
        };
        recovery.span = span;
        recovery.lacks.extend(
            failed.map(|why| {
                format!("the ensemble and its clients were not seen to recover{why}; liveness was not judged")
            }),
        );
        recovery.lacks.extend(unhealed(events, injected, span));
        if let Some(span) = span {
            if phase("audit").is_none_or(|audit| audit < span.recovered) {
                recovery
                    .doubts
                    .push("the bound of liveness was not seen to its end, the phase `audit`".to_owned());
            }
            recovery.doubts.extend(stalls(events, span));
            let disputed = ops
                .disputed
                .first()
                .map(|at| format!("whether the answer at event {at} was given is not certain"));
            recovery.doubts.extend(disputed);
            // A history without the phase `recover` is not that of an engine that asks.
            recovery
                .doubts
                .extend(phase("recover").and_then(|_| asked.silent_since(span)));
            recovery.dead = dead(events, clients, span.end);
        }
        recovery
    }

    /// Why what did not finish in the span convicts nobody, in words; `None` if it may.
    pub fn doubt(&self) -> Option<String> {
        let mut all = self.lacks.iter().chain(&self.doubts).map(String::as_str);
        let mut words: Vec<&str> = all.by_ref().take(NAMED).collect();
        // The text is repeated for each operation, so its length is bounded.
        words.extend(all.next().map(|_| "and more"));
        (!words.is_empty()).then(|| words.join("; "))
    }

    /// Why the liveness of clients without a session is not judged, each with the last line of its log.
    pub fn sessionless_words(&self, record: &RecordView<'_>) -> impl Iterator<Item = String> {
        self.sessionless.iter().map(|&client| {
            let last = record.client_logs.get(client).and_then(|lines| lines.last());
            let last = last
                .map(|line| format!("; the last line of its log: {line}"))
                .unwrap_or_default();
            format!("{client} never had a session, so its liveness is not judged{last}")
        })
    }

    /// `; that is not judged: …`: the same, to follow what did not finish; empty if it may convict.
    pub fn doubt_words(&self) -> String {
        let doubt = self.doubt().map(|doubt| format!("; that is not judged: {doubt}"));
        doubt.unwrap_or_default()
    }
}

/// `: <error>` of the event that reports that the run did not recover; empty if there is none.
fn told(events: &[Event], at: Option<usize>) -> String {
    let error = at.and_then(|at| events[at].error.as_deref());
    error.map(|error| format!(": {error}")).unwrap_or_default()
}

/// Why the last `recovered` does not count: recovery was begun again after it, or failed and was not begun again.
fn not_kept(events: &[Event], phases: &BTreeMap<&str, usize>, span: RecoverySpan) -> Option<String> {
    let phase = |name: &str| phases.get(name).copied();
    let (heal, recover) = (phase("heal"), phase("recover"));
    let failed = phase("not-recovered").filter(|&at| heal < Some(at) && recover < Some(at));
    match (failed, recover.filter(|&at| at > span.recovered)) {
        (Some(at), _) => Some(told(events, Some(at))),
        (None, Some(at)) => Some(format!(
            ": recovery was begun again at {} and did not end",
            seconds(events[at].time)
        )),
        (None, None) => None,
    }
}

/// What living clients were asked in the last phase `recover` and since.
struct RecoveryRequests<'r, 'a> {
    events: &'a [Event],
    ops: &'r Ops<'a>,
}

impl RecoveryRequests<'_, '_> {
    /// Names the living clients that were sent `quiesce` in the last phase `recover` and did not answer it by
    /// `recovered`. A client that was seen running instead has answered. `None` if no client was asked.
    ///
    /// An engine that does not wait for those whose operation is pending reads their answers after `recovered`: then
    /// the clock starts there, unless it took them `patience` (in nanoseconds) or longer.
    fn silent(&self, recover: usize, span: &mut RecoverySpan, patience: u64) -> Option<String> {
        let RecoverySpan { recovered, end, .. } = *span;
        let late = self.events[recovered].time.saturating_add(patience);
        let mut silent: BTreeSet<&str> = BTreeSet::new();
        for (node, answer) in self.answers(recover, recovered, end) {
            match answer.filter(|&at| at < recovered || self.events[at].time < late) {
                Some(at) => span.clock = span.clock.max(at),
                None => {
                    silent.insert(node);
                }
            }
        }
        self.unanswered(silent).map(|who| format!(": {who}"))
    }

    /// Names the living clients that were sent `quiesce` in the span and answered none by its end.
    fn silent_since(&self, RecoverySpan { recovered, end, .. }: RecoverySpan) -> Option<String> {
        let all = self.answers(recovered, end, end).into_iter();
        self.unanswered(all.filter(|(_, answer)| answer.is_none()).map(|(node, _)| node))
    }

    /// The clients that were sent `quiesce` between two events and whose process did not end before `until`, each with
    /// its first answer.
    fn answers(&self, from: usize, to: usize, until: usize) -> BTreeMap<&str, Option<usize>> {
        let mut running: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, event) in self.events.iter().enumerate().take(until).skip(from) {
            if let ("running", Process::Name(client)) = (event.f.as_str(), &event.process) {
                running.insert(client, at);
            }
        }
        let asked = |op: &&Op<'_>| op.f == f::QUIESCE && op.invoke.is_some_and(|at| from < at && at < to);
        let answer = |op: &Op<'_>| {
            let own = op.end.filter(|_| !op.doubtful);
            let read = own.filter(|&at| at < until && self.events[at].kind == EventType::Ok);
            read.or_else(|| running.get(op.node).copied().filter(|&at| Some(at) > op.invoke))
        };
        let mut all: BTreeMap<&str, Option<usize>> = BTreeMap::new();
        for op in self
            .ops
            .control
            .iter()
            .filter(asked)
            .filter(|op| op.cut.is_none_or(|cut| cut > until))
        {
            let first = all.entry(op.node).or_default();
            *first = (*first).into_iter().chain(answer(op)).min();
        }
        all
    }

    /// That clients did not answer `quiesce`, in words, with the error of each whose last answer was `info`.
    fn unanswered<'n>(&self, silent: impl IntoIterator<Item = &'n str>) -> Option<String> {
        let mut last: BTreeMap<&str, usize> = BTreeMap::new();
        for op in self.ops.control.iter().filter(|op| op.f == f::QUIESCE) {
            let end = last.entry(op.node).or_default();
            *end = (*end).max(op.end.unwrap_or(0));
        }
        let names = silent.into_iter().map(|node| {
            let answer = last.get(node).map(|&end| &self.events[end]);
            let unknown = answer.filter(|answer| answer.f == f::QUIESCE && answer.kind == EventType::Info);
            match unknown.and_then(|answer| answer.error.as_deref()) {
                Some(error) => format!("{node} (answered `info`: {error})"),
                None => node.to_owned(),
            }
        });
        let names: Vec<String> = names.collect();
        (!names.is_empty()).then(|| format!("{} did not answer quiesce in time", few(&names)))
    }
}

/// The windows that were on and not seen healed, each in words: those that never were, then those that were not by
/// `recovered`.
fn unhealed(events: &[Event], injected: &BTreeMap<i64, InjectedFault<'_>>, span: Option<RecoverySpan>) -> Vec<String> {
    let on = || injected.values().filter(|window| window.was_on());
    let never = on().filter(|window| window.healed().is_none());
    let never = never.map(|window| match window.off() {
        Some(_) => format!("the healing of {} was not verified", window.words(events)),
        None => format!("{} was never healed", window.words(events)),
    });
    let late = |window: &&InjectedFault<'_>| {
        let by = span.map(|span| window.healed_before(span.recovered) != Some(true));
        window.healed().is_some() && by == Some(true)
    };
    let late = on().filter(late);
    let late = late.map(|window| format!("{} was not seen healed before `recovered`", window.words(events)));
    never.chain(late).collect()
}

fn stalls(events: &[Event], span: RecoverySpan) -> Option<String> {
    let all: Vec<String> = events[span.recovered..span.end]
        .iter()
        .filter(|event| event.f == "stall" && event.is_of("run"))
        .map(|event| format!("{} ms at {}", event.stalled_ms().unwrap_or(0), seconds(event.time)))
        .collect();
    (!all.is_empty()).then(|| format!("the harness itself stood still after recovery: {}", few(&all)))
}

fn dead<'a>(events: &'a [Event], clients: &NamedClients<'a>, end: usize) -> BTreeSet<&'a str> {
    let mut hellos: HashMap<&str, usize> = HashMap::new();
    for (at, event) in events.iter().enumerate().take(end + 1) {
        if let ("hello", Process::Name(client)) = (event.f.as_str(), &event.process) {
            hellos.insert(client, at);
        }
    }
    let gone = |(node, exits): (&&'a str, &Vec<usize>)| {
        let ended = *exits[..exits.partition_point(|&at| at <= end)].last()?;
        hellos.get(node).is_none_or(|&hello| hello < ended).then_some(*node)
    };
    clients.exits.iter().filter_map(gone).collect()
}
