//! What cannot be read of views: a reason against `valid`, unless the client declared that it cannot give it. It
//! convicts nobody, and no view is judged by what it lacks.

use crate::analysis::{Analysis, GroupView};
use crate::findings::Findings;
use crate::text::few;
use std::collections::BTreeSet;
use zooquake_history::protocol::ClientLimit;

/// Adds reasons for what views lack, and names the checks that lack it.
pub fn check(run: &Analysis<'_>, views: &[GroupView<'_>], out: &mut Findings) {
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
