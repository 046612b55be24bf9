//! The faults that were near a moment of a run: on then, or ended less than one session timeout before.
//!
//! [`InjectedFault`] defines the interval in which a window was on.

use crate::analysis::intervals::Intervals;
use crate::analysis::{Analysis, InjectedFault, numbered};
use crate::text::seconds;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use zooquake_history::plan::On;
use zooquake_history::{Event, FaultKind, Plan};

/// When an anomaly came about, in nanoseconds since the run began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

    /// Of what is found at the end of a run: from its first moment, or the run's if that is not known, to recovery.
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

/// The windows of a run.
#[derive(Debug, Default)]
pub struct Faults<'a> {
    all: Windows<'a>,
    of_kind: HashMap<&'a str, Windows<'a>>,
    /// Nanoseconds after its end for which a fault is near.
    session: u64,
    /// The same in words.
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
    /// Those of a history's windows that were on. `session_ms` is the session timeout, for which a fault is near after
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

    /// All that were on, in the order in which they began.
    pub fn all(&self) -> &[FaultWindow<'a>] {
        self.all.all()
    }

    /// Those that were near, in the order in which they began.
    pub fn near(&self, span: AnomalySpan) -> impl Iterator<Item = &FaultWindow<'a>> {
        near(&self.all, span)
    }

    /// Whether a fault was on at some moment from `from` to `until`, in nanoseconds since the run began.
    pub fn on(&self, from: u64, until: u64) -> bool {
        let over = from.saturating_add(self.session);
        self.all.meeting(over, until).next().is_some()
    }

    /// Those that hit a server or client and were on at some moment from `from` to `until`.
    pub(crate) fn hitting(&self, node: &str, from: u64, until: u64) -> impl Iterator<Item = &FaultWindow<'a>> {
        let all = self.all().iter();
        all.filter(move |window| window.hits(node) && window.meets(from, until))
    }

    /// The faults that were on at some moment from `from` to `until`, in words; of many the first ones.
    pub(crate) fn during(&self, from: u64, until: u64) -> Vec<String> {
        let on = self.all.meeting(from, until).filter(|window| window.meets(from, until));
        on.take(NAMED).map(words).collect()
    }

    /// Whether a fault of one of these kinds was near, or one that nodes feel as that kind; `none` stands for no fault
    /// at all. Near [`Span::Any`] is every kind of the plan.
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
        let words = named.into_iter().map(words);
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

/// `pause of c3 (window 2, 9.561 s to 13.999 s)`.
pub(crate) fn words(window: &FaultWindow<'_>) -> String {
    let from = seconds(window.on.unwrap_or(window.from));
    let until = window.healing.map_or("the end".to_owned(), seconds);
    let of = match window.target {
        "" => String::new(),
        target => format!(" of {target}"),
    };
    format!("{}{of} ({}, {from} to {until})", window.fault, numbered(window.id))
}
