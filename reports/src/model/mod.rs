//! What a report shows, worked out once from the record and the results, for all formats.

mod bands;
mod groups;
mod lanes;
mod ops;
mod roots;
mod sessions;
mod stats;
mod witness;
mod words;

pub use bands::Band;
pub use groups::DrawnGroup;
pub use lanes::{Lanes, ServerLane, ServerSpan};
pub use ops::{DrawnHold, DrawnOperation, Mark, Role, subject_name};
pub use roots::Root;
pub use sessions::{DrawnSession, SessionLane, SessionMarks};
pub use stats::{LatencyTerms, OpStats, errors, op_stats, rates, stats_by_part};
pub use witness::{DrawnWitness, WitnessStep, listed};
pub use words::{Mend, Terms, round_word};
pub use zooquake_checkers::analysis::OperationOutcome;

use crate::{Extras, lists};
use std::collections::HashSet;
use zooquake_checkers::analysis::{Analysis, Latency};
use zooquake_checkers::consensus::{node_names, voting_word};
use zooquake_checkers::results::WindowResult;
use zooquake_checkers::{Anomaly, AnomalySpan, Results, sample};
use zooquake_history::plan::ConsensusGoal;
use zooquake_history::{Event, Record};

/// The most phases shown.
const PHASES: usize = 32;

/// The beginning of a phase of a run.
#[derive(Debug)]
pub struct DrawnPhase {
    pub name: String,
    /// When it began.
    pub from: u64,
}

/// A run as people look at it.
pub struct RunModel<'a> {
    /// The record that the report is about.
    pub record: &'a Record,
    pub results: &'a Results,
    /// What the checkers read out of it.
    pub analysis: Analysis<'a>,
    /// What else is shown.
    pub extras: &'a Extras,
    /// One row of a picture for each client.
    pub lanes: Lanes,
    /// Operations in the order of their invocations.
    pub ops: Vec<DrawnOperation<'a>>,
    /// Spans in which a client held, by their beginnings.
    pub holds: Vec<DrawnHold<'a>>,
    /// When faults were on, by their beginnings.
    pub bands: Vec<Band>,
    /// The anomalies that the page lists, by what they follow from; the one that it opens with is the first.
    pub roots: Vec<Root<'a>>,
    /// Phases of the run.
    pub phases: Vec<DrawnPhase>,
    /// Modes of each server over time.
    pub servers: Vec<ServerLane>,
    /// The sessions of each client over time, where the record has some.
    pub sessions: Vec<SessionLane>,
    /// How the run's family calls what is drawn.
    pub terms: &'static Terms,
    /// Time of the last event, in nanoseconds; at least one millisecond, so that every picture has a width.
    pub end: u64,
    /// What that is called in which the nodes of a consensus protocol vote for a value; empty of other runs.
    pub voting_word: &'static str,
}

impl<'a> RunModel<'a> {
    /// Reads the record.
    pub fn new(record: &'a Record, results: &'a Results, extras: &'a Extras) -> Self {
        let events = &record.history.events;
        let samples = record.servers.as_deref().unwrap_or_default();
        let times = events.iter().map(|e| e.time).chain(samples.iter().map(|s| s.time));
        let end = times.max().unwrap_or(0).max(1_000_000);
        let lanes = Lanes::new(record);
        let analysis = Analysis::new(record);
        let ops = ops::operations(&analysis, &lanes);
        let phase = |&(name, at): &(&str, usize)| DrawnPhase {
            name: crate::text::clip(name, 24),
            from: analysis.time(at),
        };
        let mut bands = bands::drawn(&analysis, results);
        if extras.progress.is_some() {
            // What is on at the moment may yet be healed.
            bands.iter_mut().for_each(|band| band.until = band.until.or(Some(end)));
        }
        Self {
            terms: words::terms(&record.plan.workload.family, &ops),
            ops,
            holds: ops::holds(&analysis, &lanes),
            bands,
            roots: Root::all(results),
            phases: analysis.phases.iter().take(PHASES).map(phase).collect(),
            sessions: sessions::drawn(&analysis, &lanes, end),
            analysis,
            servers: lanes::servers(samples),
            lanes,
            record,
            results,
            extras,
            end,
            voting_word: match record.plan.workload.goal {
                ConsensusGoal::Value => voting_word(&node_names(&record.history.events)),
                _ => "",
            },
        }
    }

    /// An event in words, as the rest of a sentence that begins with its client.
    pub fn words(&self, event: &Event) -> String {
        let request = self.analysis.ops.request(event);
        words::event(words::EventContext {
            event,
            invoke: request.map(|at| &self.analysis.events[at]),
            thing: self.analysis.names.thing,
            goal: self.record.plan.workload.goal,
            voting: self.voting_word,
        })
    }

    /// How long what clients wait for in the run's family took to reach them, in the order in which it set out.
    pub fn latencies(&self) -> Vec<Latency<'a>> {
        let measures = sample::measures(&self.record.plan.workload);
        let mut latencies = measures.map_or_else(Vec::new, |measures| self.analysis.latencies(measures.latency));
        latencies.sort_by_key(|latency| (self.analysis.time(latency.from), self.row(latency)));
        latencies
    }

    /// The row of the client that waited.
    pub fn row(&self, latency: &Latency<'_>) -> Option<usize> {
        self.lanes.row(&self.analysis.events[latency.until])
    }

    /// The anomaly that the report opens with, if there is one that is not advisory.
    pub fn headline(&self) -> Option<&Root<'a>> {
        self.roots.first().filter(|root| !root.anomaly.advisory)
    }

    /// The moment at which each anomaly was complete. The worst come first in the results and last here: they must lie
    /// on top.
    pub fn completed_anomalies(&self) -> impl Iterator<Item = (u64, &Anomaly)> {
        let events = &self.record.history.events;
        let last = |anomaly: &Anomaly| anomaly.witness.iter().filter_map(|&at| events.get(at)).next_back();
        let anomalies = self.results.anomalies.iter().take(500).rev();
        anomalies.filter_map(move |anomaly| Some((last(anomaly)?.time, anomaly)))
    }

    /// The fault of a window that was on.
    pub fn band(&self, window: i64) -> Option<&Band> {
        self.bands.iter().find(|band| band.id == window)
    }

    /// The faults that were near by the span of the checkers.
    pub fn bands_near(&self, span: AnomalySpan) -> impl Iterator<Item = &Band> {
        let near: HashSet<i64> = self.analysis.faults.near(span).map(|window| window.id).collect();
        self.bands.iter().filter(move |band| near.contains(&band.id))
    }

    /// Windows of one kind of fault.
    pub fn windows_of<'b>(&'b self, fault: &'b str) -> impl Iterator<Item = &'b WindowResult> {
        self.results.windows.iter().filter(move |w| w.fault == fault)
    }

    /// Kinds of fault that were asked for or happened, the asked ones first.
    pub fn fault_kinds(&self) -> Vec<&str> {
        let asked = self.record.plan.faults.iter().map(String::as_str);
        let happened = self.results.windows.iter().map(|w| w.fault.as_str());
        lists::distinct(asked.chain(happened).filter(|k| *k != "none"), 20)
    }
}
