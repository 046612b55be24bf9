//! What is read out of a run, once and for all: operations, grants and other holds, faults, phases, latencies.
//!
//! The checkers judge by it, and reports draw it as it is: nothing else pairs an answer with its request, or decides
//! from when to when a client held, a fault was on or something was waited for.

pub(crate) mod clients;
pub(crate) mod faults;
pub(crate) mod grants;
mod group_views;
mod holds;
mod latencies;
pub(crate) mod ops;
mod record_view;
pub(crate) mod recovery;
pub(crate) mod search_trees;
mod session_spans;
mod timed_holds;
pub(crate) mod transaction_log;

pub use clients::{ClientLimits, NamedClients, SessionOwner};
pub use faults::{AnomalySpan, FaultWindow, Faults, InjectedFault, numbered};
pub use grants::{Denial, Grant, Grants, HoldContradiction, HolderAnswer, Write, mode};
pub use group_views::{GroupMember, GroupView};
pub use holds::{Hold, OperationSubject};
pub use latencies::{Latency, LatencyKind};
pub use ops::{Misfit, Op, OperationOutcome, Ops};
pub use record_view::RecordView;
pub use recovery::Recovery;
pub use session_spans::{SessionEnd, SessionSpan};
pub use timed_holds::TimedHold;
pub use transaction_log::TransactionLog;

use crate::results::WindowResult;
use crate::text::seconds;
use faults::AppliedRequests;
use grants::GrantTerms;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;
use zooquake_history::operation::Mode;
use zooquake_history::plan::LeaseTerm;
use zooquake_history::{Event, Record};

/// A time in nanoseconds, as the history has them.
pub(crate) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The first of some sorted events after another one.
pub(crate) fn first_after(all: &[usize], event: usize) -> Option<usize> {
    all.get(all.partition_point(|&at| at <= event)).copied()
}

/// The record of a run, taken apart. Operations, grants and phases are given by the places of their events in the
/// history.
#[derive(Debug)]
pub struct Analysis<'a> {
    /// All that was recorded up to the end of the history.
    pub record: RecordView<'a>,
    /// The events of the history.
    pub events: &'a [Event],
    /// What the family calls things.
    pub names: &'static GrantTerms,
    /// The operations.
    pub ops: Ops<'a>,
    /// The grants; none in a family that grants nothing exclusively.
    pub grants: Grants<'a>,
    /// How many clients may hold exclusively at a time.
    pub capacity: NonZeroUsize,
    /// For how long leases last; `None` if not for a time.
    pub term: Option<LeaseTerm>,
    /// The clients, their processes and sessions.
    pub clients: NamedClients<'a>,
    /// What the clients declared that they cannot do or give.
    pub declared: ClientLimits<'a>,
    /// The transaction logs.
    pub log: TransactionLog<'a>,
    /// The fault windows in the history, by their numbers.
    pub injected: BTreeMap<i64, InjectedFault<'a>>,
    /// The requests whose replies were lost or kept back after they had been applied.
    pub(crate) applied: AppliedRequests<'a>,
    /// What became of the fault windows of the plan.
    pub windows: Vec<WindowResult>,
    /// When faults were on.
    pub faults: Faults<'a>,
    /// Where liveness is judged, or why it cannot be.
    pub recovery: Recovery<'a>,
    /// The phases in the order in which they began: the name of each, and the event that began it.
    pub phases: Vec<(&'a str, usize)>,
    /// For each name the last phase of it.
    last_phases: BTreeMap<&'a str, usize>,
}

impl<'a> Analysis<'a> {
    /// Takes a record apart, in time nearly linear in its events. What is a grant depends on the family in its plan.
    pub fn new(record: &'a Record) -> Self {
        let events = record.history.events.as_slice();
        let record = RecordView::new(record);
        let names = GrantTerms::of_family(&record.plan.workload.family);
        let ops = Ops::new(events);
        let mut grants = Grants::new(events, &ops, names);
        let log = TransactionLog::new(&record);
        if record.plan.workload.recipe.is_some() {
            log.date(&mut grants);
        }
        let clients = NamedClients::new(&record, &ops, &grants);
        let injected = faults::injected(events);
        let began = |(at, event): (usize, &'a Event)| Some((event.entered()?, at));
        let phases: Vec<(&str, usize)> = events.iter().enumerate().filter_map(began).collect();
        let last_phases = phases.iter().copied().collect();
        let recovery = Recovery::new(&record, &last_phases, &ops, &clients, &injected);
        let declared = ClientLimits::new(events, &ops, &record.plan.workload);
        let mut analysis = Self {
            events,
            names,
            ops,
            grants,
            capacity: record.plan.workload.capabilities().capacity,
            term: record.plan.workload.lease_term(),
            declared,
            log,
            applied: AppliedRequests::new((&record, events), &clients, &injected),
            windows: Vec::new(),
            clients,
            faults: Faults::new(
                events,
                &injected,
                (record.plan.on, record.plan.cluster.timing.session_ms),
            ),
            record,
            injected,
            recovery,
            phases,
            last_phases,
        };
        // Whether a window counts depends on holds, which are read out of all the rest.
        analysis.windows = faults::window_results(&analysis);
        analysis
    }

    /// The event that began a phase, the last one if it began more than once.
    pub fn phase(&self, name: &str) -> Option<usize> {
        self.last_phases.get(name).copied()
    }

    /// The first and the last event of the phase `ops`; of the whole run without phases. `None` if there are no events.
    pub fn ops_phase(&self) -> Option<(usize, usize)> {
        let last = self.events.len().checked_sub(1)?;
        Some((self.phase("ops").unwrap_or(0), self.phase("heal").unwrap_or(last)))
    }

    /// Whether each hold excludes every other: one client may hold, and no request asks for another mode than
    /// exclusive.
    pub(crate) fn plain(&self) -> bool {
        self.single() && !self.grants.moded
    }

    /// Whether one client at a time may hold exclusively.
    pub(crate) fn single(&self) -> bool {
        self.capacity == NonZeroUsize::MIN
    }

    /// The mode by which a grant is judged. One that is not known counts as shared, which excludes least; `None` if it
    /// cannot be judged: where several may hold exclusively it is not known to exclude any.
    pub(crate) fn judged_mode(&self, number: usize) -> Option<Mode> {
        self.grants.all[number].mode.or(self.single().then_some(Mode::Shared))
    }

    /// The requests that show that two grants of different modes exclude each other; none where they would also without
    /// modes.
    pub(crate) fn telling_modes(&self, pair: [usize; 2]) -> impl Iterator<Item = usize> {
        let several = pair.into_iter().filter(|_| !self.single());
        several.filter_map(|grant| self.grants.all[grant].asked)
    }

    /// When an event was recorded, in nanoseconds since the run began.
    pub fn time(&self, at: usize) -> u64 {
        self.events[at].time
    }

    /// `12.402 s`, when an event was recorded.
    pub(crate) fn at(&self, at: usize) -> String {
        seconds(self.time(at))
    }

    /// A grant for a text: its name, client, and its age if that is known.
    pub(crate) fn grant(&self, number: usize) -> String {
        let Grant { name, node, czxid, .. } = &self.grants.all[number];
        match czxid {
            Some(czxid) => format!("grant {name} of {node} (czxid 0x{czxid:x})"),
            None => format!("grant {name} of {node}"),
        }
    }
}
