//! The verdict: what was found, and whether the evidence of the run suffices for `valid`.

use crate::analysis::faults::last_off;
use crate::analysis::recovery::RecoverySpan;
use crate::analysis::{Analysis, ops};
use crate::findings::Findings;
use crate::liveness::error_words;
use crate::record_gaps::FileNeeds;
use crate::text::{count, if_any};
use crate::{Anomaly, Results, Verdict, cause, ensemble, recipe, record_gaps, statistics};
use std::collections::BTreeMap;
use zooquake_history::operation::control::UNASKED;
use zooquake_history::plan::record_files::{TREE, TXNLOG, TXNLOGS};
use zooquake_history::{Event, EventType};

/// Prefix of reasons that are only remarks.
pub const NOTE: &str = "note: ";

/// What a run of a family needs to be valid beside its faults and its recovery.
#[derive(Debug)]
pub struct Requirements<'a> {
    /// After the last fault an operation of each of these groups was answered with `ok`.
    pub progress: &'a [&'a [&'a str]],
    /// What was left undone if the znode tree was not read.
    pub tree: &'a str,
    /// The checkers that convict by the transaction logs, and by nothing else.
    pub logged: &'a [&'a str],
}

/// `Invalid` with an anomaly that is not advisory, else `Unknown` with a reason that is no note, else `Valid`.
pub fn verdict(anomalies: &[Anomaly], reasons: &[String]) -> Verdict {
    if anomalies.iter().any(|anomaly| !anomaly.advisory) {
        Verdict::Invalid
    } else if reasons.iter().any(|reason| !reason.starts_with(NOTE)) {
        Verdict::Unknown
    } else {
        Verdict::Valid
    }
}

/// The results of a check: adds what is checked in every family and the reasons against `valid`, and sorts the
/// anomalies.
pub fn close(run: &Analysis<'_>, mut found: Findings, needs: &Requirements<'_>) -> Results {
    ensemble::check(run, &mut found);
    if run.record.plan.workload.recipe.is_some() {
        recipe::check(run, &mut found);
    }
    cause::close(run, &mut found);
    let Findings {
        anomalies,
        subjects: _,
        reasons: unjudged,
        mut not_judged,
        checkers,
    } = found;
    not_judged.sort();
    let mut reasons = run.record.damage.clone();
    reasons.extend(run.ops.misfit_reason(run.events));
    unasked(run, &mut reasons);
    phases(run, &mut reasons);
    faults(run, &mut reasons);
    progress(run, needs, &mut reasons);
    let file_needs = FileNeeds {
        tree: needs.tree,
        logged: needs.logged,
    };
    reasons.extend(record_gaps::reasons(&run.record, file_needs));
    tree(run, needs, &mut reasons);
    logs(run, needs, &mut reasons);
    reasons.extend(unjudged);
    remarks(run, &mut reasons);
    // Remarks last, each group in the order in which it was found.
    reasons.sort_by_key(|reason| reason.starts_with(NOTE));
    Results {
        on: run.record.plan.on,
        verdict: verdict(&anomalies, &reasons),
        anomalies,
        reasons,
        not_judged,
        windows: run.windows.clone(),
        checkers,
        stats: statistics::statistics(run),
        ..Results::default()
    }
}

fn phases(run: &Analysis<'_>, reasons: &mut Vec<String>) {
    if run.events.is_empty() {
        reasons.push("the history has no events".to_owned());
    }
    if let Some(at) = run.phase("interrupted") {
        reasons.push(format!("the run was interrupted at {}", run.at(at)));
    }
    reasons.extend(run.recovery.lacks.iter().cloned());
    reasons.extend(run.recovery.sessionless_words(&run.record));
    if run.phase("audit").is_none() {
        reasons.push("the run has no phase `audit`: what was left at its end was not looked at".to_owned());
    }
    if run.phase("done").is_none() {
        reasons.push("the run did not reach its end".to_owned());
    }
    let Some(RecoverySpan { recovered, end, .. }) = run.recovery.span else {
        return;
    };
    for node in run
        .clients
        .exits
        .keys()
        .filter(|node| run.clients.died(node, recovered, end))
    {
        reasons.push(format!("the process of {node} ended after recovery"));
    }
}

/// Answers to nothing that was open, by the client that gave them.
fn unasked(run: &Analysis<'_>, reasons: &mut Vec<String>) {
    let mut all: BTreeMap<&str, Vec<&Event>> = BTreeMap::new();
    let events = run.events.iter().filter(|event| event.f == UNASKED);
    for event in events.filter(|event| event.request_id().is_some()) {
        all.entry(ops::node(event)).or_default().push(event);
    }
    for (client, answers) in all {
        let first = answers[0];
        let more = if_any(answers.len() - 1, |more| format!(" (and {more} more)"));
        reasons.push(format!(
            "{client} answered request {} at {}, which was not open: it was never sent, or answered before{more}",
            first.request_id().unwrap_or_default(),
            run.at(first.index),
        ));
    }
}

/// Each kind of fault that was asked for needs a window that counts.
fn faults(run: &Analysis<'_>, reasons: &mut Vec<String>) {
    for fault in run.record.plan.faults.iter().filter(|fault| *fault != "none") {
        let of = || run.windows.iter().filter(|window| window.fault == *fault);
        if of().any(|window| window.counts) {
            continue;
        }
        let why: Vec<String> = of()
            .map(|window| format!("window {}: {}", window.id, window.why))
            .collect();
        let why = if why.is_empty() {
            "none was planned".to_owned()
        } else {
            why.join("; ")
        };
        reasons.push(format!("no window of {fault} counts ({why})"));
    }
}

/// After the last fault the work went on.
fn progress(run: &Analysis<'_>, needs: &Requirements<'_>, reasons: &mut Vec<String>) {
    let after = last_off(run.events);
    let ok = |f: &str| {
        let op = |op: &crate::analysis::Op<'_>| {
            let done = op.end.filter(|&end| after.is_none_or(|after| end > after));
            op.f == f && done.is_some_and(|end| run.events[end].kind == EventType::Ok)
        };
        run.ops.work.iter().any(op)
    };
    let lacking = |group: &&[&str]| !group.iter().any(|f| ok(f));
    if needs.progress.iter().any(lacking) {
        let since = after
            .map(|at| format!(" after the last fault ended at {}", run.at(at)))
            .unwrap_or_default();
        let groups: Vec<String> = needs
            .progress
            .iter()
            .map(|group| format!("no {}", group.join(" and no ")))
            .collect();
        let groups_lacking = needs.progress.iter().filter(|group| lacking(group));
        let unknown = groups_lacking
            .flat_map(|group| group.iter())
            .filter_map(|f| last_unknown(run, f));
        let unknown: String = unknown.map(|last| format!("; {last}")).collect();
        reasons.push(format!(
            "there was no progress{since}: {}{unknown}",
            groups.join(", or ")
        ));
    }
}

/// The last operation of a name, if its outcome is unknown, with its error, in words.
fn last_unknown(run: &Analysis<'_>, f: &str) -> Option<String> {
    let ended = run.ops.work.iter().filter(|op| op.f == f);
    let end = ended.filter_map(|op| op.end).max()?;
    let event = &run.events[end];
    (event.kind == EventType::Info).then(|| {
        format!(
            "the last {f}, answered at {}, has an unknown outcome{}",
            run.at(end),
            error_words(run, end)
        )
    })
}

fn tree(run: &Analysis<'_>, needs: &Requirements<'_>, reasons: &mut Vec<String>) {
    let undone = needs.tree;
    match run.record.readings {
        None if run.record.lacks(TREE) => {}
        None => reasons.push(format!("the znode tree was not read at the end: {undone}")),
        Some(readings) if run.record.audit().is_none() => {
            reasons.push(format!(
                "of the znode tree there is {}, and not 2: {undone}",
                count(readings.len(), "reading")
            ));
        }
        Some(_) => {}
    }
}

/// A checker that rests on the transaction logs alone needs them complete. It judges sessions that clients named: where
/// none did it has nothing to judge. A history of others has no logs.
fn logs(run: &Analysis<'_>, needs: &Requirements<'_>, reasons: &mut Vec<String>) {
    let missed = [TXNLOG, TXNLOGS].iter().any(|file| run.record.lacks(file));
    let judged = run.record.own() && !run.clients.sessions.is_empty() && !missed;
    if let Some(lack) = run.log.lack().filter(|_| judged && !needs.logged.is_empty()) {
        let need = ["need", "needs"][usize::from(needs.logged.len() == 1)];
        reasons.push(format!("{lack}: {} {need} them complete", needs.logged.join(" and ")));
    }
}

fn remarks(run: &Analysis<'_>, reasons: &mut Vec<String>) {
    let timing = &run.record.plan.cluster.timing;
    if timing.hazardous() {
        reasons.push(format!(
            "{NOTE}these timings are a hazard of their own: a server that is cut off from its leader goes on serving its \
             clients for syncLimit x tickTime = {} ms, while the leader expires their sessions after {} ms; a session timeout \
             of less than twice the former lets a client be served after its session has expired and another was granted",
            timing.sync_ms(),
            timing.session_ms,
        ));
    }
}
