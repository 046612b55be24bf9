//! `blocked-transaction`: after recovery, every killed process restarted, a transaction stays undecided.
//!
//! A site that asks for the decision, or the coordinator that is to make it, stays without an answer for the bound of
//! liveness. A transaction whose znode never came into being cannot block anybody.

use super::transactions::{Transaction, Transactions};
use crate::findings::{Findings, Found};
use crate::history::{EventType, Process};
use crate::liveness::{bound, pending_until};
use crate::ops::Op;
use crate::run::{Run, few, seconds};
use std::collections::{BTreeSet, HashMap};

/// Looks for transactions that stay undecided, each once. What is pending and cannot be judged is a reason against
/// `valid`.
pub fn check(run: &Run<'_>, all: &Transactions<'_>, out: &mut Findings) {
    let Some(recovered) = run.phase("recovered") else {
        out.ran("blocked-transaction", 0);
        return;
    };
    let last = run.events.len() - 1;
    let end = run.phase("audit").filter(|&audit| audit > recovered).unwrap_or(last);
    let bound = bound(run, "decided");
    let dead = dead(run, end);
    let coordinators = coordinators(run, all);
    let mut told = BTreeSet::new();
    let mut looked_at = 0;
    for op in &run.ops.work {
        let (Some(asked), Some(until)) = (
            op.invoke.filter(|&asked| asked < end),
            pending_until(run, op, recovered, end),
        ) else {
            continue;
        };
        looked_at += 1;
        let pending = Pending {
            op,
            asked,
            recovered,
            until,
            bound,
        };
        if !matches!(op.f, "decide" | "decided") {
            out.reasons.push(pending.reason(run));
            continue;
        }
        let Some(transaction) = all.of(run, op).filter(|tx| tx.stands || tx.begun.is_some()) else {
            continue;
        };
        if !dead.is_empty() {
            out.reasons.push(format!(
                "{}, but {} was not running again, so that is not judged",
                pending.reason(run),
                few(&dead)
            ));
        } else if pending.waited(run) < bound {
            out.reasons.push(format!(
                "{}, but only for {} of the {} after which that convicts",
                pending.reason(run),
                seconds(pending.waited(run)),
                seconds(bound)
            ));
        } else if told.insert(transaction.name) {
            let coordinator = coordinators.get(transaction.name);
            let coordinator = coordinator.map_or_else(String::new, |op| last_word(run, op));
            convict(run, transaction, &pending, coordinator, out);
        }
    }
    out.ran("blocked-transaction", looked_at);
}

/// Clients whose process had ended by then and was not started again.
fn dead<'a>(run: &Run<'a>, end: usize) -> Vec<&'a str> {
    let mut hellos: HashMap<&str, usize> = HashMap::new();
    for (at, event) in run.events[..=end].iter().enumerate() {
        if let ("hello", Process::Name(lane)) = (event.f.as_str(), &event.process) {
            hellos.insert(lane, at);
        }
    }
    let gone = |exits: &[usize]| exits[..exits.partition_point(|&at| at <= end)].last().copied();
    let ended = run.clients.exits.iter();
    ended
        .filter_map(|(node, exits)| Some((*node, gone(exits)?)))
        .filter(|(node, exit)| hellos.get(node).is_none_or(|hello| hello < exit))
        .map(|(node, _)| node)
        .collect()
}

struct Pending<'a> {
    op: &'a Op<'a>,
    asked: usize,
    recovered: usize,
    until: usize,
    bound: u64,
}

impl Pending<'_> {
    /// Nanoseconds that it was pending after recovery.
    fn waited(&self, run: &Run<'_>) -> u64 {
        run.time(self.until)
            .saturating_sub(run.time(self.asked.max(self.recovered)))
    }

    fn reason(&self, run: &Run<'_>) -> String {
        let (f, node, asked) = (self.op.f, self.op.node, run.at(self.asked));
        format!("the {f} of {node} sent at {asked} was still pending after recovery")
    }
}

/// The last operation by which each transaction's coordinator was to bring a decision about.
fn coordinators<'r, 'a>(run: &'r Run<'a>, all: &Transactions<'a>) -> HashMap<&'a str, &'r Op<'a>> {
    let ops = run.ops.work.iter().filter(|op| matches!(op.f, "begin" | "decide"));
    ops.filter_map(|op| Some((all.of(run, op)?.name, op))).collect()
}

/// What became of an operation of the coordinator, in words; nothing if it was answered.
fn last_word(run: &Run<'_>, op: &Op<'_>) -> String {
    let sent = op
        .invoke
        .map(|at| format!(", sent at {},", run.at(at)))
        .unwrap_or_default();
    let ended = match (op.end, op.cut) {
        (Some(end), _) if run.events[end].kind == EventType::Ok => return String::new(),
        (Some(end), _) => {
            let error = run.events[end].error.as_deref().unwrap_or("its outcome is unknown");
            format!("ended at {}: {error}", run.at(end))
        }
        (None, Some(cut)) => format!("was cut off by the end of its process at {}", run.at(cut)),
        (None, None) => "was never answered".to_string(),
    };
    format!(
        " The coordinator's last word on it: `{}` of {}{sent} {ended}.",
        op.f, op.node
    )
}

fn convict(
    run: &Run<'_>,
    transaction: &Transaction<'_>,
    pending: &Pending<'_>,
    coordinator: String,
    out: &mut Findings,
) {
    let Pending {
        op,
        asked,
        recovered,
        until,
        bound,
    } = pending;
    let why = format!(
        "{} was asked for the decision about transaction {} (operation `{}`) at {} and did not know it by {}, though every fault was \
         healed, every killed process was running again, and the ensemble had recovered at {}: it stayed undecided for {} \
         of the time after that. The bound is {}: ten times the median of the run's answered `decided` operations, at \
         least ten seconds.{coordinator}",
        op.node,
        transaction.name,
        op.f,
        run.at(*asked),
        run.at(*until),
        run.at(*recovered),
        seconds(pending.waited(run)),
        seconds(*bound),
    );
    let mut witness = vec![*asked, *recovered, *until];
    if let Some(begun) = transaction.begun.filter(|_| !transaction.stands) {
        // If that was read late enough, it shows the time that went by as well.
        let late = run.time(begun).saturating_sub(run.time(*asked.max(recovered))) >= *bound;
        witness[2] = if late { begun } else { *until };
        witness.push(begun);
    }
    let found = Found {
        kind: "blocked-transaction",
        property: "liveness",
        advisory: false,
        witness,
        why,
    };
    out.add_at_end(run, found, Some(run.time(transaction.first)));
}
