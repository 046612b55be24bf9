//! Progress of a group: after the last fault a member was registered or wrote a value, and every other living client
//! showed that. A run without it is not `valid`; it convicts nobody.

use super::view_answers;
use crate::analysis::faults::last_off;
use crate::analysis::{Analysis, GroupView, Op};
use crate::findings::Findings;
use std::collections::{HashMap, HashSet};
use zooquake_history::operation::membership::{VALUE, f};

/// Adds a reason if there was none.
pub fn check(run: &Analysis<'_>, views: &[GroupView<'_>], out: &mut Findings) {
    let after = last_off(run.events);
    let since = |at: usize| after.is_none_or(|after| at > after);
    // By path; by value alone, which is used once in a run, where the view or the answer names no path.
    let mut seen: HashMap<(Option<&str>, ViewEvidence), HashSet<&str>> = HashMap::new();
    for view in views.iter().filter(|view| since(view.at)) {
        for member in view.members() {
            let path = Some(member.path);
            let written = member.mzxid.map(|mzxid| (path, ViewEvidence::Write(mzxid)));
            let valued = [(path, member.value), (None, member.value)];
            let valued = valued.map(|(path, value)| Some((path, ViewEvidence::Value(value?))));
            for what in [written].into_iter().chain(valued).flatten() {
                seen.entry(what).or_default().insert(view.node);
            }
        }
        for &value in view.placeless.iter().flatten() {
            seen.entry((None, ViewEvidence::Placeless(value)))
                .or_default()
                .insert(view.node);
        }
    }
    let clients: Vec<&str> = view_answers::living(run).collect();
    let by_all = |(op, end): (&Op<'_>, usize)| {
        let answer = &run.events[end];
        let written = answer.mzxid().or(answer.czxid()).map(ViewEvidence::Write);
        let value = op.sent().and_then(|sent| run.events[sent].get(VALUE));
        let path = answer.path();
        let shown = [
            path.zip(written).map(|(path, written)| (Some(path), written)),
            value.map(|value| (path, ViewEvidence::Value(value))),
            value.map(|value| (None, ViewEvidence::Placeless(value))),
        ];
        let shown = shown.map(|what| seen.get(&what?));
        let mut others = clients.iter().filter(|client| **client != op.node);
        since(end) && others.all(|client| shown.iter().flatten().any(|nodes| nodes.contains(client)))
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
    /// The value of a member without a path.
    Placeless(i64),
}
