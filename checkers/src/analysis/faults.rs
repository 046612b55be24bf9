//! Faults: the one reading of which were on, and from when to when; which were near a moment; which windows count; and
//! the requests whose replies were lost or kept back.
//!
//! A window counts if its effect was verified on the spot and somebody could feel it: an operation was in flight, or,
//! for a fault on a client, that client waited, worked or held.

use super::clients::session;
use super::search_trees::Intervals;
use super::{Analysis, Hold, NamedClients, Op, OperationSubject, RecordView};
use crate::results::WindowResult;
use crate::text::{count, seconds};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use zooquake_history::fault::{HELD, LOST, OUTCOME};
use zooquake_history::operation::SESSION;
use zooquake_history::operation::control::ZXID;
use zooquake_history::plan::{On, Window};
use zooquake_history::{Event, EventType, FaultKind, Node, Plan, Txn};

/// A fault window, with the events of its phases by their places in the history: the first of each, of `off` all.
///
/// A window *begins* with the first of its events `begin`, `on` and `heal`: its effect may come before `on` is
/// recorded. One that was skipped was never on, unless `on` was recorded of it. It is *healed* by its last `off`, if
/// that has `"verified":true`: healing is tried again, and the last try decides. Without such an `off` it is on until
/// the end of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InjectedFault<'a> {
    /// Its number in the plan.
    pub id: i64,
    /// The kind of fault, such as `pause`.
    pub fault: &'a str,
    /// Whom it hit, such as `c3` or `n1,n2`; empty if that was not recorded.
    pub target: &'a str,
    /// The orchestrator began to inject it.
    pub begin: Option<usize>,
    /// The event from which it was in effect.
    pub on: Option<usize>,
    /// The orchestrator began to heal it.
    pub heal: Option<usize>,
    /// Where each try to heal it ended, in order, and whether it was verified.
    tries: Vec<(usize, bool)>,
    /// It was given up before it struck.
    pub skipped: Option<usize>,
}

impl<'a> InjectedFault<'a> {
    fn new(id: i64, event: &'a Event) -> Self {
        Self {
            id,
            fault: &event.f,
            target: "",
            begin: None,
            on: None,
            heal: None,
            tries: Vec::new(),
            skipped: None,
        }
    }

    /// The event from which on it may have had an effect; `None` if none was recorded.
    pub fn began(&self) -> Option<usize> {
        [self.begin, self.on, self.heal].into_iter().flatten().min()
    }

    /// Whether it was on at some time.
    pub fn was_on(&self) -> bool {
        self.on.is_some() || self.began().is_some() && self.skipped.is_none()
    }

    /// The event by which it was healed; `None` if it is on until the end of the history.
    pub fn healed(&self) -> Option<usize> {
        self.tries.last().filter(|(_, verified)| *verified).map(|&(at, _)| at)
    }

    /// The event at which it ceased to be in effect at the earliest, if it was healed: where healing began, or the
    /// effect was verified after that; where healing was tried several times, where the last try ended.
    pub fn healing(&self) -> Option<usize> {
        let healed = self.healed()?;
        let began = self.heal.map(|heal| self.on.map_or(heal, |on| on.max(heal)));
        let once = began.filter(|&began| self.tries.len() == 1 && began < healed);
        Some(once.unwrap_or(healed))
    }

    /// Where the last try to heal it ended.
    pub fn off(&self) -> Option<usize> {
        self.tries.last().map(|&(at, _)| at)
    }

    /// Whether it was on at some time at which the other one was, in a history of so many events.
    pub fn overlaps(&self, other: &Self, events: usize) -> bool {
        let span = |window: &Self| Some((window.began()?, window.healed().unwrap_or(events)));
        match (span(self), span(other)) {
            (Some((from, until)), Some((other_from, other_until))) => from <= other_until && other_from <= until,
            _ => false,
        }
    }

    /// Whether it is the loss of an engine of containers, which no plan has.
    pub fn is_engine_loss(&self) -> bool {
        self.fault == ENGINE_LOSS
    }

    /// The window in words: `window 3`; `the loss of the Docker engine at 1.204 s`.
    pub fn words(&self, events: &[Event]) -> String {
        let lost = self.on.filter(|_| self.is_engine_loss()).map(|on| &events[on]);
        match lost {
            Some(lost) => {
                let engines: Vec<&str> = lost.unreachable().into_iter().flatten().collect();
                format!("the loss of {} at {}", engines.join(", "), seconds(lost.time))
            }
            None => numbered(self.id),
        }
    }

    /// Whether the last try to heal it that ended before an event was verified; `None` if none did.
    pub fn healed_before(&self, by: usize) -> Option<bool> {
        let ended = self.tries.partition_point(|&(at, _)| at < by);
        self.tries[..ended].last().map(|&(_, verified)| verified)
    }
}

/// The name of what is no fault of a plan: the loss of an engine of containers, from when it did not answer until all
/// did again.
pub const ENGINE_LOSS: &str = "engine-loss";

/// A window by its number: `window 3`; what the plan does not have is `outside the plan`.
pub fn numbered(id: i64) -> String {
    match id {
        ..0 => "outside the plan".to_owned(),
        _ => format!("window {id}"),
    }
}

/// How long an engine may have been lost before that is recorded, in nanoseconds: a second until it is asked for a sign
/// of life, five in which it may give one, and what the record takes.
const UNNOTICED: u64 = 7_000_000_000;

/// The losses of engines, each as a window that strikes by itself: by numbers below zero. It begins when the engine may
/// have been lost.
fn engine_losses(events: &[Event]) -> Vec<InjectedFault<'_>> {
    let mut losses: Vec<InjectedFault<'_>> = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let Some(mut engines) = event.unreachable() else {
            continue;
        };
        let since = event.time.saturating_sub(UNNOTICED);
        let before = || events[..at].iter().rposition(|event| event.time < since);
        let number = losses.len() as i64;
        let open = losses.last_mut().filter(|loss| loss.tries.is_empty());
        match (engines.next().is_some(), open) {
            (true, None) => losses.push(InjectedFault {
                fault: ENGINE_LOSS,
                begin: Some(before().map_or(0, |before| before + 1)),
                on: Some(at),
                ..InjectedFault::new(-1 - number, event)
            }),
            (false, Some(loss)) => {
                loss.heal = Some(at);
                loss.tries.push((at, true));
            }
            _ => {}
        }
    }
    losses
}

/// The windows of a history by their numbers, and the losses of engines. Events of the nemesis without a number or a
/// known phase belong to none.
pub(super) fn injected(events: &[Event]) -> BTreeMap<i64, InjectedFault<'_>> {
    let mut all: BTreeMap<i64, InjectedFault<'_>> = BTreeMap::new();
    for (at, event) in events.iter().enumerate().filter(|(_, event)| event.is_of("nemesis")) {
        let (Some(id), Some(phase)) = (event.window(), event.phase()) else {
            continue;
        };
        let window = all.entry(id).or_insert_with(|| InjectedFault::new(id, event));
        window.target = event.target().filter(|_| phase != "off").unwrap_or(window.target);
        match phase {
            "begin" => window.begin = window.begin.or(Some(at)),
            "on" => window.on = window.on.or(Some(at)),
            "heal" => window.heal = window.heal.or(Some(at)),
            "skipped" => window.skipped = window.skipped.or(Some(at)),
            "off" => window.tries.push((at, event.verified() == Some(true))),
            _ => {}
        }
    }
    all.extend(engine_losses(events).into_iter().map(|loss| (loss.id, loss)));
    all
}

/// When an anomaly came about, in nanoseconds since the run began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AnomalySpan {
    /// From the first moment to the second.
    Between(u64, u64),
    /// At some time that is not known, or after recovery: any fault of the plan may have led to it.
    Any,
}

impl AnomalySpan {
    /// From the first to the last event of a witness.
    pub(crate) fn from_witness(run: &Analysis<'_>, witness: &[usize]) -> Self {
        let times = || witness.iter().map(|&at| run.time(at));
        match (times().min(), times().max()) {
            (Some(first), Some(last)) => Self::Between(first, last),
            _ => Self::Any,
        }
    }

    /// The span of what is found at the end of a run: from its first moment, or the run's if that is not known, to
    /// recovery.
    pub(crate) fn until_recovery(run: &Analysis<'_>, first: Option<u64>) -> Self {
        let first = first.unwrap_or(0);
        match run.phase("recovered").map(|at| run.time(at)) {
            Some(recovered) if first <= recovered => Self::Between(first, recovered),
            Some(_) => Self::Any,
            None => Self::Between(first, run.events.last().map_or(first, |event| event.time)),
        }
    }
}

/// A fault that was on, with times in nanoseconds since the run began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultWindow<'a> {
    /// Its number in the plan.
    pub id: i64,
    /// The kind of fault, such as `pause`.
    pub fault: &'a str,
    /// Whom it hit, such as `c3` or `n1,n2`; empty if that was not recorded.
    pub target: &'a str,
    /// When it began.
    pub from: u64,
    /// When it was in effect, if that was recorded.
    pub on: Option<u64>,
    /// When it was seen healed; `None` if it was on until the end.
    pub until: Option<u64>,
    /// The recorded moment of its healing: its effect ended between this and `until`.
    pub healing: Option<u64>,
}

impl<'a> FaultWindow<'a> {
    /// Whether it hit a server or client.
    pub fn hits(&self, node: &str) -> bool {
        self.target.split(',').any(|target| target == node)
    }

    /// Whether it was on at some moment from `from` to `until`.
    pub(crate) fn meets(&self, from: u64, until: u64) -> bool {
        self.from <= until && self.until.is_none_or(|healed| healed >= from)
    }

    /// `pause of c3 (window 2, 9.561 s to 13.999 s)`.
    pub(crate) fn words(&self) -> String {
        let from = seconds(self.on.unwrap_or(self.from));
        let until = self.healing.map_or("the end".to_owned(), seconds);
        let of = match self.target {
            "" => String::new(),
            target => format!(" of {target}"),
        };
        format!("{}{of} ({}, {from} to {until})", self.fault, numbered(self.id))
    }

    fn new(window: &InjectedFault<'a>, events: &[Event]) -> Option<Self> {
        let time = |at: usize| events[at].time;
        let from = window.began().filter(|_| window.was_on())?;
        Some(Self {
            id: window.id,
            fault: window.fault,
            target: window.target,
            from: time(from),
            on: window.on.map(time),
            until: window.healed().map(time),
            healing: window.healing().map(time),
        })
    }
}

/// How many windows a text names; of more of them only that there are.
const NAMED: usize = 20;

/// The windows of a run that were on, to find those near a moment: on then, or ended less than one session timeout
/// before.
#[derive(Debug, Default)]
pub struct Faults<'a> {
    all: Windows<'a>,
    of_kind: HashMap<&'a str, Windows<'a>>,
    /// Nanoseconds after its end for which a fault is near.
    session: u64,
    /// That time in words.
    margin: String,
}

/// Windows, each until it is no longer near.
type Windows<'a> = Intervals<FaultWindow<'a>>;

fn near<'r, 'a>(windows: &'r Windows<'a>, span: AnomalySpan) -> impl Iterator<Item = &'r FaultWindow<'a>> {
    let (first, last) = match span {
        AnomalySpan::Between(first, last) => (first.saturating_add(1), last),
        AnomalySpan::Any => (0, u64::MAX),
    };
    windows.meeting(first, last)
}

impl<'a> Faults<'a> {
    /// The windows of a history that were on. `session_ms` is the session timeout, for which a fault is near after
    /// its end; on a network, where no sessions are, it is just a time.
    pub(crate) fn new(
        events: &[Event],
        injected: &BTreeMap<i64, InjectedFault<'a>>,
        (on, session_ms): (On, u64),
    ) -> Self {
        let session = session_ms.saturating_mul(1_000_000);
        let windows = injected.values().filter_map(|window| FaultWindow::new(window, events));
        let until = |window: &FaultWindow<'_>| window.until.map_or(u64::MAX, |until| until.saturating_add(session));
        let windows: Vec<_> = windows.map(|window| (window.from, until(&window), window)).collect();
        let mut of_kind: HashMap<&str, Vec<_>> = HashMap::new();
        for window in &windows {
            of_kind.entry(window.2.fault).or_default().push(window.clone());
        }
        let of_kind = of_kind.into_iter();
        Self {
            of_kind: of_kind.map(|(kind, windows)| (kind, Windows::new(windows))).collect(),
            all: Windows::new(windows),
            session,
            margin: match on {
                On::Network => seconds(session),
                On::Docker | On::Sim => "one session timeout".to_owned(),
            },
        }
    }

    /// All windows that were on, in the order in which they began.
    pub fn all(&self) -> &[FaultWindow<'a>] {
        self.all.all()
    }

    /// The windows that were near, in the order in which they began.
    pub fn near(&self, span: AnomalySpan) -> impl Iterator<Item = &FaultWindow<'a>> {
        near(&self.all, span)
    }

    /// Whether a fault was on at some moment from `from` to `until`, in nanoseconds since the run began.
    pub fn on(&self, from: u64, until: u64) -> bool {
        let over = from.saturating_add(self.session);
        self.all.meeting(over, until).next().is_some()
    }

    /// The windows that hit a server or client and were on at some moment from `from` to `until`.
    pub(crate) fn hitting(&self, node: &str, from: u64, until: u64) -> impl Iterator<Item = &FaultWindow<'a>> {
        let all = self.all().iter();
        all.filter(move |window| window.hits(node) && window.meets(from, until))
    }

    /// The faults that were on at some moment from `from` to `until`, in words; of many the first ones.
    pub(crate) fn during(&self, from: u64, until: u64) -> Vec<String> {
        let on = self.all.meeting(from, until).filter(|window| window.meets(from, until));
        on.take(NAMED).map(FaultWindow::words).collect()
    }

    /// Whether a fault of one of these kinds was near, or one that nodes feel as that kind; `none` stands for no fault
    /// at all. Near [`AnomalySpan::Any`] is every kind of the plan.
    pub fn any_near(&self, plan: &Plan, span: AnomalySpan, kinds: &[String]) -> bool {
        let felt = |fault: &str, kind: &str| fault == kind || FaultKind::by_name(fault).is_felt_as(kind);
        let planned = |kind: &String| span == AnomalySpan::Any && plan.faults.iter().any(|fault| felt(fault, kind));
        let near = |kind: &String| {
            let mut of_kind = self.of_kind.iter().filter(|(fault, _)| felt(fault, kind));
            of_kind.any(|(_, windows)| near(windows, span).next().is_some())
        };
        kinds.iter().any(|kind| kind == "none" || planned(kind) || near(kind))
    }

    /// A sentence on the faults that were near. It names them and claims nothing.
    pub(crate) fn words(&self, span: AnomalySpan) -> String {
        let mut near = self.near(span);
        let mut named: Vec<&FaultWindow<'_>> = near.by_ref().take(NAMED).collect();
        named.sort_by_key(|window| window.id);
        let words = named.into_iter().map(FaultWindow::words);
        let near: Vec<String> = words.chain(near.next().map(|_| "and more".to_owned())).collect();
        let after = match span {
            AnomalySpan::Between(..) => "",
            AnomalySpan::Any => ", or at any time before",
        };
        if near.is_empty() {
            return format!("No fault was on, or had ended less than {} before.", self.margin);
        }
        format!(
            "The faults that were on, or ended less than {} before{after}: {}.",
            self.margin,
            near.join("; ")
        )
    }
}

/// What became of each window of the plan, in the plan's order. All of the analysis is read but its `windows`.
pub(super) fn window_results(analysis: &Analysis<'_>) -> Vec<WindowResult> {
    let (events, windows) = (analysis.events, &analysis.record.plan.windows);
    if windows.is_empty() {
        return Vec::new();
    }
    let busy = BusySpans::new(analysis);
    let each = |window: &Window| {
        let marks = i64::try_from(window.id).ok().and_then(|id| analysis.injected.get(&id));
        let on = marks.and_then(|marks| marks.on);
        let target = on.and_then(|on| events[on].target()).unwrap_or_default().to_owned();
        let (counts, why) = judge(window, marks, &target, events, &busy);
        let time = |at: Option<usize>| at.map(|at| events[at].time);
        let (from, until) = (time(on), time(marks.and_then(InjectedFault::healed)));
        WindowResult {
            id: window.id,
            fault: window.fault.clone(),
            target,
            counts,
            why,
            from,
            until,
        }
    };
    windows.iter().map(each).collect()
}

/// The last event that took a fault away, if there is one.
pub fn last_off(events: &[Event]) -> Option<usize> {
    events
        .iter()
        .rposition(|event| event.is_of("nemesis") && event.phase() == Some("off"))
}

/// Whether a window counts, and why it does or does not.
fn judge(
    window: &Window,
    marks: Option<&InjectedFault<'_>>,
    target: &str,
    events: &[Event],
    busy: &BusySpans<'_, '_>,
) -> (bool, String) {
    let detail = |at: usize| {
        events[at]
            .detail()
            .map(|detail| format!(": {detail}"))
            .unwrap_or_default()
    };
    let Some(marks) = marks else {
        return (false, "it never began".to_owned());
    };
    let Some(on) = marks.on else {
        return match (marks.skipped, marks.began()) {
            (Some(at), _) => (false, format!("it never began{}", detail(at))),
            (None, Some(_)) => (false, "it began and was never seen to take effect".to_owned()),
            (None, None) => (false, "it never began".to_owned()),
        };
    };
    if events[on].verified() != Some(true) {
        return (false, format!("its effect was not verified{}", detail(on)));
    }
    if let Some(loss) = busy.losses.iter().find(|loss| loss.overlaps(marks, events.len())) {
        return (false, format!("verified, but {} fell into it", loss.words(events)));
    }
    if let Some(hit) = marks.off().and_then(|off| events[off].hit()) {
        return (
            hit > 0,
            format!(
                "verified, and it hit {}",
                count(hit as usize, "message, timer or request")
            ),
        );
    }
    let heal = marks.heal.or(marks.off()).unwrap_or(events.len());
    let kind = FaultKind::by_name(&window.fault);
    // What a client answers before it is seen frozen, it did not feel.
    let since = marks.begin.filter(|_| !kind.freezes).unwrap_or(on);
    let clients: Vec<&str> = target
        .split(',')
        .map(str::trim)
        .filter(|&node| Node::from(node).is_client())
        .collect();
    if clients.is_empty() {
        return match busy.any.meeting(on as u64, heal as u64).next() {
            Some(op) => (true, format!("verified, and {} of {} was in flight", op.f, op.node)),
            None => (false, "verified, but no operation was in flight".to_owned()),
        };
    }
    let until = if kind.fatal { since } else { heal };
    let theirs = || clients.iter().filter_map(|client| busy.of.get(client));
    let busy_since = |from: usize| {
        theirs()
            .filter_map(|ops| ops.meeting(from as u64, until as u64).next())
            .min_by_key(|op| op.invoke)
    };
    // The fault is armed long before it acts; yet the answer to what it struck may be read before the event that
    // reports it.
    let struck = window
        .payload
        .as_ref()
        .filter(|_| kind.armed)
        .and_then(|_| busy_since(on));
    if let Some(op) = struck.or_else(|| busy_since(since)) {
        return (true, format!("verified, and {} of {} was in flight", op.f, op.node));
    }
    let holders = clients.iter().filter_map(|client| busy.holds.get(client));
    let held = holders
        .filter_map(|holds| holds.meeting(since as u64, until as u64).next())
        .min_by_key(|hold| hold.from);
    // A whole host's servers are felt by the clients elsewhere too.
    let servers = Node::list(target).any(|node| node.is_server());
    let elsewhere = servers.then(|| busy.any.meeting(on as u64, heal as u64).next());
    match (held, elsewhere.flatten()) {
        (Some(hold), _) => (
            true,
            format!("verified, and {} {}", hold.node, what_is_held(hold.subject)),
        ),
        (None, Some(op)) => (true, format!("verified, and {} of {} was in flight", op.f, op.node)),
        (None, None) => (
            false,
            format!("verified, but {} neither held, waited nor worked", clients.join(", ")),
        ),
    }
}

/// Who was busy from when to when, by place in the history.
struct BusySpans<'r, 'a> {
    any: Intervals<&'r Op<'a>>,
    of: HashMap<&'a str, Intervals<&'r Op<'a>>>,
    holds: HashMap<&'a str, Intervals<Hold<'a>>>,
    /// The losses of engines: who felt what in them is not known.
    losses: Vec<&'r InjectedFault<'a>>,
}

impl<'r, 'a> BusySpans<'r, 'a> {
    fn new(analysis: &'r Analysis<'a>) -> Self {
        let ops = &analysis.ops;
        let place = |at: usize| at as u64;
        // One whose request is missing may have been sent at any time.
        let op = |op: &'r Op<'a>| {
            let over = op.end.into_iter().chain(op.cut).min();
            (op.invoke.map_or(0, place), over.map_or(u64::MAX, place), op)
        };
        let mut of: HashMap<&str, Vec<_>> = HashMap::new();
        for one in &ops.work {
            of.entry(one.node).or_default().push(op(one));
        }
        let mut holds: HashMap<&str, Vec<_>> = HashMap::new();
        for hold in analysis.holds() {
            let span = (place(hold.from), hold.until.map_or(u64::MAX, place), hold);
            holds.entry(hold.node).or_default().push(span);
        }
        Self {
            any: Intervals::new(ops.work.iter().map(op)),
            of: intervals(of),
            holds: intervals(holds),
            losses: analysis
                .injected
                .values()
                .filter(|window| window.is_engine_loss())
                .collect(),
        }
    }
}

/// What a client did that held this, as the end of a sentence about it.
fn what_is_held(subject: OperationSubject<'_>) -> String {
    match subject {
        OperationSubject::Grant(grant) => format!("held {grant}"),
        OperationSubject::Item(item) => format!("held item {item}"),
        OperationSubject::Round(round) => format!("was in round {round}"),
        OperationSubject::Transaction(tx) => format!("had voted yes in {tx}"),
    }
}

fn intervals<T>(of: HashMap<&str, Vec<(u64, u64, T)>>) -> HashMap<&str, Intervals<T>> {
    of.into_iter().map(|(node, all)| (node, Intervals::new(all))).collect()
}

/// A request whose reply a fault lost or kept back after a server had applied it, by the fault's own evidence and the
/// transaction logs. Positions are those of events.
///
/// This makes the request certain, and no more: which operation it was of, and whether that is done by it, is a matter
/// of what the logs show that its transaction did.
#[derive(Debug, Clone, Copy)]
pub struct AppliedRequest<'a> {
    /// The client whose session it was made in.
    pub node: &'a str,
    /// The event that ties the session to the client.
    pub tie: usize,
    /// The window's `begin`, before which it was not made.
    pub begin: usize,
    /// The window's `on`, which was recorded after it was applied.
    pub on: usize,
    /// Its transaction.
    pub txn: &'a Txn,
    /// Whether its reply was kept back, and may have been delivered later; otherwise it was lost.
    pub held: bool,
}

impl AppliedRequest<'_> {
    /// What the fault did to its reply, as in `window 3 lost the reply`.
    pub fn deed(&self) -> &'static str {
        if self.held { "kept back" } else { "lost" }
    }
}

/// The requests of a run whose replies were lost, or kept back, after they had been applied.
#[derive(Debug, Default)]
pub struct AppliedRequests<'a> {
    /// In the order of their windows' `on`.
    all: Vec<AppliedRequest<'a>>,
    /// The place of the last one of each transaction, by its zxid.
    by_zxid: HashMap<i64, usize>,
}

impl<'a> AppliedRequests<'a> {
    /// Reads the requests out of a run, in time linear in its events and transactions. One whose session is not known
    /// to be the window's target's, or whose transaction the logs do not show to be of that session, is left out.
    pub fn new(
        (record, events): (&RecordView<'a>, &'a [Event]),
        clients: &NamedClients<'a>,
        injected: &BTreeMap<i64, InjectedFault<'a>>,
    ) -> Self {
        let of_nemesis = events.iter().enumerate().filter(|(_, event)| event.is_of("nemesis"));
        let lost = of_nemesis.filter_map(|(on, event)| {
            let evidence = event.evidence()?;
            let seen = event.kind == EventType::Info && event.phase() == Some("on") && event.verified() == Some(true);
            let held = HELD.read_from(evidence) == Some("reply");
            let struck = held || LOST.read_from(evidence) == Some("reply");
            let applied = struck && OUTCOME.read_from(evidence) == Some("applied");
            let zxid = ZXID.read_from(evidence).filter(|_| seen && applied)?;
            let made_in = SESSION.read_from(evidence).and_then(session)?;
            let owner = clients.sessions.get(&made_in)?;
            let begin = injected.get(&event.window()?)?.begin.filter(|&begin| begin < on)?;
            (event.target() == Some(owner.node)).then_some((zxid, (made_in, *owner), (begin, on, held)))
        });
        let lost: Vec<_> = lost.collect();
        if lost.is_empty() {
            return Self::default();
        }
        let mut txns: HashMap<i64, Option<&'a Txn>> = lost.iter().map(|&(zxid, ..)| (zxid, None)).collect();
        for txn in record.txnlog.unwrap_or_default() {
            if let Some(known) = txns.get_mut(&txn.zxid) {
                *known = Some(txn);
            }
        }
        let applied = lost
            .into_iter()
            .filter_map(|(zxid, (made_in, owner), (begin, on, held))| {
                let txn = txns.get(&zxid).copied().flatten()?;
                (session(&txn.session) == Some(made_in)).then_some(AppliedRequest {
                    node: owner.node,
                    tie: owner.event,
                    begin,
                    on,
                    txn,
                    held,
                })
            });
        let all: Vec<AppliedRequest<'a>> = applied.collect();
        let by_zxid = all.iter().enumerate().map(|(at, request)| (request.txn.zxid, at));
        Self {
            by_zxid: by_zxid.collect(),
            all,
        }
    }

    /// All requests, in the order of their windows' `on`.
    pub fn all(&self) -> &[AppliedRequest<'a>] {
        &self.all
    }

    /// The last one that made a transaction.
    pub fn of_transaction(&self, zxid: i64) -> Option<&AppliedRequest<'a>> {
        self.by_zxid.get(&zxid).map(|&at| &self.all[at])
    }
}

#[cfg(test)]
mod tests {
    use super::injected;
    use serde_json::json;
    use zooquake_history::{Event, EventType, Process};

    fn history(phases: &[(&str, Option<bool>)]) -> Vec<Event> {
        let event = |(index, (phase, verified)): (usize, &(&str, Option<bool>))| Event {
            index,
            time: index as u64,
            process: Process::Name("nemesis".into()),
            kind: EventType::Info,
            f: "pause".into(),
            value: json!({ "window": 1, "phase": phase, "target": "c3", "verified": verified }).into(),
            error: None,
            node: None,
        };
        phases.iter().enumerate().map(event).collect()
    }

    /// Where the window began, whether it was on, and where it was healed.
    fn read(phases: &[(&str, Option<bool>)]) -> (Option<usize>, bool, Option<usize>) {
        let events = history(phases);
        let window = &injected(&events)[&1];
        (window.began(), window.was_on(), window.healed())
    }

    const BEGIN: (&str, Option<bool>) = ("begin", None);
    const ON: (&str, Option<bool>) = ("on", Some(true));
    const OFF: (&str, Option<bool>) = ("off", Some(true));
    const FAILED: (&str, Option<bool>) = ("off", Some(false));

    #[test]
    fn the_last_try_to_heal_decides_and_only_a_verified_one_heals() {
        assert_eq!(read(&[BEGIN, ON, OFF]), (Some(0), true, Some(2)));
        assert_eq!(read(&[BEGIN, ON, FAILED]), (Some(0), true, None));
        assert_eq!(read(&[BEGIN, ON, FAILED, OFF]), (Some(0), true, Some(3)));
        assert_eq!(read(&[BEGIN, ON, OFF, FAILED]), (Some(0), true, None));
        let found = read(&[BEGIN, ON, ("off", None)]);
        assert_eq!(found, (Some(0), true, None), "it does not say");
        assert_eq!(read(&[BEGIN, ON]), (Some(0), true, None));
    }

    #[test]
    fn a_window_that_was_skipped_was_on_only_if_it_is_recorded_so() {
        assert_eq!(read(&[BEGIN, ("skipped", None)]), (Some(0), false, None));
        assert_eq!(read(&[("skipped", None)]), (None, false, None));
        assert_eq!(read(&[BEGIN, ON, ("skipped", None), OFF]), (Some(0), true, Some(3)));
        assert_eq!(read(&[BEGIN]), (Some(0), true, None), "it may have had an effect");
    }
}
