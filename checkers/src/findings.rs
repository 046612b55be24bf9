//! What checkers found, as they go.

use crate::analysis::Analysis;
use crate::cause::{AnomalySubject, Cause};
use crate::text::if_any;
use crate::{Anomaly, AnomalySpan, NotJudged};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How many events a reason names; of more than these only the number.
const TOLD: usize = 3;

/// Anomalies, reasons against `valid`, and what each checker looked at.
#[derive(Debug, Default)]
pub struct Findings {
    /// Violations and advisory observations.
    pub anomalies: Vec<Anomaly>,
    /// By the index of an anomaly what it is about, for what follows from others.
    pub subjects: BTreeMap<usize, AnomalySubject>,
    /// Why the verdict cannot be `valid`; remarks start with `note: `.
    pub reasons: Vec<String>,
    /// What was not judged because clients declared that they cannot give the evidence.
    pub not_judged: Vec<NotJudged>,
    /// What each checker that ran looked at, by its name.
    pub checkers: BTreeMap<String, Value>,
}

/// An anomaly without the context that [`Findings::add`] fills in.
#[derive(Debug)]
pub struct Finding<'a> {
    /// The anomaly's name, such as `double-grant`.
    pub kind: &'a str,
    /// The property it concerns.
    pub property: &'a str,
    /// Whether it is an observation only.
    pub advisory: bool,
    /// The events that prove it, in any order.
    pub witness: Vec<usize>,
    /// What happened, in words; the faults are added.
    pub why: String,
    /// What it comes from, where its checker finds that.
    pub cause: Option<Cause>,
    /// What it is about, where others may follow from it or it from others.
    pub subject: Option<AnomalySubject>,
}

impl<'a> Finding<'a> {
    /// A violation of a property, with the events that prove it.
    pub fn new(kind: &'a str, property: &'a str, witness: Vec<usize>, why: String) -> Self {
        Self {
            kind,
            property,
            advisory: false,
            witness,
            why,
            cause: None,
            subject: None,
        }
    }

    /// The same, with what it comes from.
    pub fn caused(self, cause: Option<Cause>) -> Self {
        Self { cause, ..self }
    }

    /// The same, with what it is about.
    pub fn about(self, subject: AnomalySubject) -> Self {
        Self {
            subject: Some(subject),
            ..self
        }
    }

    /// The same, as an observation only or not.
    pub fn advisory(self, advisory: bool) -> Self {
        Self { advisory, ..self }
    }
}

impl Findings {
    /// Adds an anomaly that came about between the first and the last event of its witness.
    pub fn add(&mut self, run: &Analysis<'_>, found: Finding<'_>) {
        let span = AnomalySpan::from_witness(run, &found.witness);
        self.add_in(run, found, span);
    }

    /// Adds an anomaly that is found at the end of a run, though it came about before: at some time from `first` on, in
    /// nanoseconds since the run began; from its beginning on if that is not known.
    pub fn add_at_end(&mut self, run: &Analysis<'_>, found: Finding<'_>, first: Option<u64>) {
        self.add_in(run, found, AnomalySpan::until_recovery(run, first));
    }

    /// Adds an anomaly that came about in a span, unless a disputed answer is among its witness.
    pub fn add_in(&mut self, run: &Analysis<'_>, mut found: Finding<'_>, span: AnomalySpan) {
        found.witness.sort_unstable();
        found.witness.dedup();
        // It is an anomaly only if it happened in every way in which the history can have come about.
        if found.witness.iter().any(|at| run.ops.disputed.contains(at)) {
            return;
        }
        if let Some(subject) = found.subject {
            self.subjects.insert(self.anomalies.len(), subject);
        }
        let plan = &run.record.plan;
        let mut known = plan.workload.accepted.iter();
        self.anomalies.push(Anomaly {
            kind: found.kind.into(),
            property: found.property.into(),
            advisory: found.advisory,
            accepted: known.any(|known| known.anomaly == found.kind && run.faults.any_near(plan, span, &known.faults)),
            witness: found.witness,
            span: Some(span),
            stuck: None,
            cause: found.cause,
            why: format!("{} {}", found.why, run.faults.words(span)),
        });
    }

    /// Adds a reason against `valid` for events that do not fit, each with what it is; nothing if there are none.
    pub fn doubt(&mut self, what: &str, events: &[(usize, String)]) {
        let each = events.iter().take(TOLD);
        let told: Vec<String> = each.map(|(at, what)| format!("event {at} is {what}")).collect();
        if !told.is_empty() {
            let more = if_any(events.len() - told.len(), |more| format!("; {more} more"));
            self.reasons.push(format!("{what}: {}{more}", told.join("; ")));
        }
    }

    /// Says what a check did not judge, and why.
    pub fn leave(&mut self, check: &str, why: String) {
        let check = check.to_owned();
        self.not_judged.push(NotJudged { check, why });
    }

    /// Says that a checker ran, and how many things it looked at.
    pub fn ran(&mut self, checker: &str, looked_at: usize) {
        self.checkers
            .insert(checker.to_owned(), json!({ "looked_at": looked_at }));
    }
}
