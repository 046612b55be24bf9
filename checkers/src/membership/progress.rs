//! Progress of a group: after the last fault a member was registered or wrote a value, and every other living client
//! showed that. A run without it is not `valid`; it convicts nobody.

use super::view_answers;
use crate::analysis::{Analysis, GroupView, Op, window_results};
use crate::findings::Findings;
use std::collections::{HashMap, HashSet};
use zooquake_history::operation::membership::{VALUE, f};

/// Adds a reason if there was none.
pub fn check(run: &Analysis<'_>, views: &[GroupView<'_>], out: &mut Findings) {
    let after = window_results::last_off(run.events);
    let since = |at: usize| after.is_none_or(|after| at > after);
    let mut seen: HashMap<(&str, ViewEvidence), HashSet<&str>> = HashMap::new();
    for view in views.iter().filter(|view| since(view.at)) {
        for member in view.members() {
            let each = [
                member.mzxid.map(ViewEvidence::Write),
                member.value.map(ViewEvidence::Value),
            ];
            for what in each.into_iter().flatten() {
                seen.entry((member.path, what)).or_default().insert(view.node);
            }
        }
    }
    let clients: Vec<&str> = view_answers::living(run).collect();
    let by_all = |(op, end): (&Op<'_>, usize)| {
        let answer = &run.events[end];
        let written = answer.mzxid().or(answer.czxid()).map(ViewEvidence::Write);
        let valued = op
            .sent()
            .and_then(|sent| run.events[sent].get(VALUE))
            .map(ViewEvidence::Value);
        let Some(path) = answer.path().filter(|_| since(end)) else {
            return false;
        };
        let shown = [written, valued].map(|what| seen.get(&(path, what?)));
        let mut others = clients.iter().filter(|client| **client != op.node);
        others.all(|client| shown.iter().flatten().any(|nodes| nodes.contains(client)))
    };
    if !run.answered(&[f::REGISTER, f::UPDATE]).any(by_all) {
        let since = after.map(|at| format!(" after the last fault ended at {}", run.at(at)));
        out.reasons.push(format!(
            "there was no progress{}: no change of a member was shown by all other clients",
            since.unwrap_or_default()
        ));
    }
}

/// By what a change is found in a view of its path.
#[derive(PartialEq, Eq, Hash)]
enum ViewEvidence {
    /// The transaction that wrote it.
    Write(i64),
    Value(i64),
}
