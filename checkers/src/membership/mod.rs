//! The family `membership`: members of a group, and views of it.
//!
//! [`crate::analysis::GroupView`] reads the views out of a history; [`quiet_group`] is the group while nothing changes
//! at the end of a run, and what clients answered meanwhile, [`updates`] has what the transaction logs have of members'
//! values, with the checkers of `lost-update` and `undone-update`. The other checkers are files of their own;
//! [`crate::znodes`] audits registrations as it does grants.

mod lost_member;
mod phantom_member;
mod quiet_group;
mod stale_view;
mod updates;
mod view_regression;

use crate::analysis::faults::last_off;
use crate::analysis::{Analysis, GroupView, LatencyKind, Op};
use crate::family_checks::{FamilyChecks, FamilyMeasures, Inference, UnitSource, asks};
use crate::findings::Findings;
use crate::liveness::refused_for_ever;
use crate::text::few;
use crate::verdict::Requirements;
use crate::znodes::{evidence_consistency, foreign_znode, holder_znodes, orphan_node};
use crate::{Results, verdict};
use quiet_group::QuietGroups;
use std::collections::{BTreeSet, HashMap, HashSet};
use updates::LoggedValues;
use zooquake_history::Record;
use zooquake_history::operation::membership::{self, MEMBER, VALUE, f};
use zooquake_history::protocol::ClientLimit;

/// The family of groups.
pub const FAMILY: FamilyChecks = FamilyChecks {
    spec: &membership::FAMILY,
    check,
    checkers: &[
        "phantom-member",
        "view-regression",
        "stale-view",
        "lost-member",
        "lost-update",
        "undone-update",
        refused_for_ever::NAME,
        "foreign-znode",
        "orphan-node",
        "persistent-contender",
        "evidence",
    ],
    measures: Some(FamilyMeasures {
        units: "changes",
        unit: "change",
        wait: "view",
        wait_sentence: "from the answer to a register or an update to the first view of each other client that shows it",
        compete: false,
        source: UnitSource::Answered(&[f::REGISTER, f::UPDATE, f::DEREGISTER], None),
        latency: LatencyKind::Spread,
    }),
    infer: |history| {
        asks(history, &[f::REGISTER], MEMBER.any())
            .then(|| Inference::family("members register, so only what every variant of a group promises was judged"))
    },
    needs_plan: &[],
};

const NEEDS: Requirements = Requirements {
    progress: &[&[f::REGISTER]],
    tree: "stale views, lost members and orphans were not looked for",
    logged: &["foreign-znode"],
};

/// The whole verdict over a run of a group.
fn check(record: &Record) -> Results {
    let run = Analysis::new(record);
    let mut found = Findings::default();
    let views = GroupView::all(run.events);
    unread_views(&run, &views, &mut found);
    let logged = LoggedValues::new(&run);
    phantom_member::check(&run, &views, logged.as_ref(), &mut found);
    view_regression::check(&run, &views, &mut found);
    let groups = QuietGroups::new(&run);
    stale_view::check(&run, &views, &groups, &mut found);
    lost_member::check(&run, &views, &groups, &mut found);
    updates::lost_updates(&run, logged.as_ref(), &mut found);
    updates::undone_updates(&run, logged.as_ref(), &mut found);
    progress(&run, &views, &mut found);
    foreign_znode::check(&run, &mut found);
    orphan_node::check(&run, &mut found);
    holder_znodes::persistent_members(&run, &mut found);
    evidence_consistency::check(&run, &mut found);
    verdict::close(&run, found, &NEEDS)
}

/// What cannot be read of views: a reason against `valid`, unless the client declared that it cannot give it, which
/// names the checks that lack it. It convicts nobody, and no view is judged by what it lacks.
fn unread_views(run: &Analysis<'_>, views: &[GroupView<'_>], out: &mut Findings) {
    let mut unread = Vec::new();
    let (mut ageless, mut placeless, mut sessionless) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for view in views {
        let aged = |(czxid, mzxid): (Option<i64>, Option<i64>)| czxid.is_some() && mzxid.is_some();
        let valued = view.members().iter().all(|member| member.value.is_some()) && !view.placeless.contains(&None);
        let placed = view.placeless.is_empty();
        let ages = view.members().iter().all(|member| aged((member.czxid, member.mzxid)));
        if !placed && run.declared.cannot(view.node, ClientLimit::Czxid) {
            placeless.insert(view.node);
        }
        if !ages && run.declared.cannot(view.node, ClientLimit::Czxid) {
            ageless.insert(view.node);
        }
        if view.session.is_none() && run.declared.cannot(view.node, ClientLimit::Session) {
            sessionless.insert(view.node);
        }
        let lack = if view.unread {
            "has members that cannot be read, or one path twice"
        } else if !placed && !placeless.contains(view.node) {
            "has a member without its path"
        } else if !valued {
            "has a member without a value"
        } else if view.n.is_none() {
            "has no number (`n`)"
        } else if view.session.is_none() && !sessionless.contains(view.node) {
            "names no session"
        } else if !ages && !ageless.contains(view.node) {
            "has a member without its `czxid` or `mzxid`"
        } else {
            continue;
        };
        unread.push((view.at, format!("a view of {} that {lack}", view.node)));
    }
    out.doubt("views cannot be read", &unread);
    let names = |all: BTreeSet<&str>| few(&all.into_iter().collect::<Vec<_>>());
    if !ageless.is_empty() {
        let why = "views of {} do not give the `czxid` and `mzxid` of their members: such members are compared by their paths and \
                   values, where these are certain";
        out.leave("stale-view", why.replace("{}", &names(ageless.clone())));
        let why = "views of {} do not give the `czxid` and `mzxid` of their members: whether such a member had gone back, or had \
                   been away, was not judged";
        out.leave("view-regression", why.replace("{}", &names(ageless)));
    }
    if !placeless.is_empty() {
        let whose = names(placeless);
        out.leave(
            "stale-view",
            format!("views of {whose} do not give the `path` of their members: such members are compared by their values alone"),
        );
        out.leave(
            "view-regression",
            format!(
                "views of {whose} do not give the `path` of their members: whether such a member had gone back, or had been away, was \
                 not judged"
            ),
        );
    }
    if !sessionless.is_empty() {
        let whose = names(sessionless);
        out.leave(
            "view-regression",
            format!("views of {whose} do not name their session: they are compared with none"),
        );
    }
}

/// Adds a reason if there was no progress of the group: after the last fault a member was registered or wrote a value,
/// and every other living client showed that. A run without it is not `valid`; it convicts nobody.
fn progress(run: &Analysis<'_>, views: &[GroupView<'_>], out: &mut Findings) {
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
    let clients: Vec<&str> = quiet_group::living(run).collect();
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
