//! The faults that were near a moment of a run: on then, or ended less than one session timeout before.
//!
//! A window counts from its `begin`, as its effect may come before `on` is read, to its `off`; one that was not seen to be
//! healed is on until the end. One that was skipped never was.

use crate::history::Event;
use crate::peaks::Peaks;
use crate::run::{Run, seconds};
use std::collections::{BTreeMap, HashMap};

/// When an anomaly came about, in nanoseconds since the run began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    /// Between two moments.
    Between(u64, u64),
    /// At some time that is not known, or after recovery: any fault of the plan may have led to it.
    Any,
}

impl Span {
    /// From the first to the last event of a witness.
    pub fn of(run: &Run<'_>, witness: &[usize]) -> Self {
        let times = || witness.iter().map(|&at| run.time(at));
        match (times().min(), times().max()) {
            (Some(first), Some(last)) => Self::Between(first, last),
            _ => Self::Any,
        }
    }

    /// Of what is found at the end of a run: from its first moment, or the run's if that is not known, to recovery.
    pub fn until_recovery(run: &Run<'_>, first: Option<u64>) -> Self {
        let first = first.unwrap_or(0);
        match run.phase("recovered").map(|at| run.time(at)) {
            Some(recovered) if first <= recovered => Self::Between(first, recovered),
            Some(_) => Self::Any,
            None => Self::Between(first, run.events.last().map_or(first, |event| event.time)),
        }
    }
}

/// A fault that was injected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Window<'a> {
    fault: &'a str,
    target: &'a str,
    /// `None` until it begins.
    from: Option<u64>,
    /// When it was in effect, if that was read.
    on: Option<u64>,
    skipped: bool,
    /// `None` while it is not seen to be healed.
    until: Option<u64>,
}

/// How many windows a text names; of more of them only that there are.
const NAMED: usize = 20;

/// The windows of a run.
#[derive(Debug, Default)]
pub struct Faults<'a> {
    all: Windows<'a>,
    of_kind: HashMap<&'a str, Windows<'a>>,
}

/// Windows with their numbers in the order in which they began, and until when each is near.
#[derive(Debug, Default)]
struct Windows<'a> {
    windows: Vec<(i64, Window<'a>)>,
    over: Peaks,
}

impl<'a> Windows<'a> {
    /// `session`: nanoseconds after its end for which a fault is near.
    fn new(mut windows: Vec<(i64, Window<'a>)>, session: u64) -> Self {
        windows.sort_by_key(|&(id, ref window)| (window.from, id));
        let over =
            |(_, window): &(i64, Window<'_>)| window.until.map_or(u64::MAX, |until| until.saturating_add(session));
        let over = Peaks::new(windows.iter().map(over).collect());
        Self { windows, over }
    }

    /// Those that were near, in time logarithmic in all for each.
    fn near(&self, span: Span) -> impl Iterator<Item = &(i64, Window<'a>)> {
        let (first, last) = match span {
            Span::Between(first, last) => (first.saturating_add(1), last),
            Span::Any => (0, u64::MAX),
        };
        let mut next = 0;
        std::iter::from_fn(move || {
            let at = self.over.first(next, first)?;
            next = at + 1;
            self.windows
                .get(at)
                .filter(|(_, window)| window.from.is_some_and(|from| from <= last))
        })
    }
}

impl<'a> Faults<'a> {
    /// Reads them out of a history.
    pub fn new(events: &'a [Event], session_ms: u64) -> Self {
        let mut windows: BTreeMap<i64, Window<'_>> = BTreeMap::new();
        for event in events.iter().filter(|event| event.on_lane("nemesis")) {
            let (Some(id), Some(phase)) = (event.int("window"), event.str("phase")) else {
                continue;
            };
            let window = windows.entry(id).or_default();
            match phase {
                "begin" | "on" | "heal" => {
                    window.fault = &event.f;
                    window.target = event.str("target").unwrap_or(window.target);
                    window.from = window.from.or(Some(event.time));
                    if phase == "on" {
                        window.on = window.on.or(Some(event.time));
                    }
                }
                "off" if event.bool("verified") != Some(false) => window.until = window.until.or(Some(event.time)),
                "skipped" => window.skipped = true,
                _ => {}
            }
        }
        windows.retain(|_, window| window.from.is_some() && (window.on.is_some() || !window.skipped));
        let session = session_ms.saturating_mul(1_000_000);
        let mut of_kind: HashMap<&str, Vec<(i64, Window<'_>)>> = HashMap::new();
        for (&id, window) in &windows {
            of_kind.entry(window.fault).or_default().push((id, window.clone()));
        }
        let of_kind = of_kind.into_iter();
        Self {
            of_kind: of_kind
                .map(|(kind, windows)| (kind, Windows::new(windows, session)))
                .collect(),
            all: Windows::new(windows.into_iter().collect(), session),
        }
    }

    /// Whether a fault of one of these kinds was near; `none` stands for no fault at all.
    pub fn any_near(&self, run: &Run<'_>, span: Span, kinds: &[String]) -> bool {
        let planned = |kind: &String| span == Span::Any && run.record.plan.faults.contains(kind);
        let near = |kind: &String| {
            let windows = self.of_kind.get(kind.as_str());
            windows.is_some_and(|windows| windows.near(span).next().is_some())
        };
        kinds.iter().any(|kind| kind == "none" || planned(kind) || near(kind))
    }

    /// A sentence on the faults that were near. It names them and claims nothing.
    pub fn words(&self, span: Span) -> String {
        let mut near = self.all.near(span);
        let mut named: Vec<&(i64, Window<'_>)> = near.by_ref().take(NAMED).collect();
        named.sort_by_key(|(id, _)| *id);
        let words = named.into_iter().map(|(id, window)| tell(*id, window));
        let near: Vec<String> = words.chain(near.next().map(|_| "and more".to_owned())).collect();
        let after = match span {
            Span::Between(..) => "",
            Span::Any => ", or at any time before",
        };
        if near.is_empty() {
            return "No fault was on, or had ended less than one session timeout before.".to_owned();
        }
        format!(
            "The faults that were on, or ended less than one session timeout before{after}: {}.",
            near.join("; ")
        )
    }
}

fn tell(id: i64, window: &Window<'_>) -> String {
    let from = window.on.or(window.from).map_or_else(String::new, seconds);
    let until = window.until.map_or("the end".to_owned(), seconds);
    let of = match window.target {
        "" => String::new(),
        target => format!(" of {target}"),
    };
    format!("{}{of} (window {id}, {from} to {until})", window.fault)
}
