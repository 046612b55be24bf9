//! `stale-view`: when nothing changes any more, a client goes on showing a group that is not so. One report for each
//! client.
//!
//! After the last operations, and in the calm before them, the tree is read, then clients are asked for their views
//! again and again, then it is read again. The group is the same in both readings, so it was so all the time between
//! them ([`super::quiet_group`]), and what a view shows is compared with that: a member that is missing, one that is
//! dead, one that has an old value. It convicts if the views of one client differ so for the bound of liveness of a
//! `register`:
//!
//! - The first request was sent after the first reading was complete, the last one at least the bound later, and all
//!   between were answered `ok` before the second reading began, each with a view that differs. A notice between that
//!   shows no certain difference ends the spell; so does a request that was not answered `ok`, since what its client
//!   showed then is not known.
//! - All in one process and one session, which `session` notices and the views show: a new session may be served by a
//!   server that lags.
//! - Each answer was given after a quorum write of the client in its session, and the events before its reply: what
//!   the recipe could have known had reached its client.
//! - The run had recovered for certain, as for every anomaly of liveness ([`crate::analysis::recovery`]): no fault is
//!   on, and the harness did not stand still.
//!
//! So in every execution that fits the record the client had been able to read the group for at least the bound, and
//! showed something else whenever it was looked at. What differs otherwise at last is a reason against `valid`.

use super::quiet_group::{self, AnswerSpell, QuietGroup, QuietGroups, ViewAnswer, ViewDifference};
use crate::analysis::recovery::RecoverySpan;
use crate::analysis::{Analysis, GroupView};
use crate::findings::{Finding, Findings};
use crate::liveness::bound_words;
use crate::text::{few, seconds};
use std::collections::BTreeSet;

/// Looks for stale views, at the end and in the calm.
pub fn check(run: &Analysis<'_>, views: &[GroupView<'_>], groups: &QuietGroups<'_>, out: &mut Findings) {
    let Some(span) = run.recovery.span else {
        return out.ran("stale-view", 0);
    };
    out.reasons.extend(lack(run, groups).map(str::to_owned));
    let mut looked_at = 0;
    let mut convicted = BTreeSet::new();
    for group in groups.all().filter(|group| group.unchanged()) {
        let requests = quiet_group::requests(run, views, group);
        looked_at += requests.values().map(Vec::len).sum::<usize>();
        let differs = |view: &GroupView<'_>| !group.differences(view).is_empty();
        for node in quiet_group::living(run) {
            let own = requests.get(node).map(Vec::as_slice).unwrap_or_default();
            let notices = views.iter().filter(|view| view.node == node && view.notice);
            let within = notices.filter(|view| (group.from..group.until).contains(&view.at));
            let right: Vec<usize> = within.filter(|view| !differs(view)).map(|view| view.at).collect();
            let spells = quiet_group::spells(run, (node, own), differs, &right);
            match quiet_group::convicting(run, node, &spells, group) {
                Ok(spell) if convicted.insert(node) => stale(run, (node, &spell), (group, span), out),
                Ok(_) => {}
                Err(lasted) => out.reasons.extend(unseen(run, (node, own), group, lasted)),
            }
        }
    }
    out.ran("stale-view", looked_at);
}

/// Why views at the end were not compared with the tree, in words.
fn lack(run: &Analysis<'_>, groups: &QuietGroups<'_>) -> Option<&'static str> {
    match &groups.end {
        None => run.record.readings.map(|_| {
            "the tree was not read before and after clients were asked for their views: stale views and lost members were not looked \
             for"
        }),
        Some(end) => (!end.unchanged()).then_some(
            "the group was not the same in the readings of the tree around the views: stale views were not looked for",
        ),
    }
}

fn stale(
    run: &Analysis<'_>,
    (node, spell): (&str, &AnswerSpell<'_, '_>),
    (group, span): (&QuietGroup<'_>, RecoverySpan),
    out: &mut Findings,
) {
    let mut witness = spell.witness(span);
    let mut told = Vec::new();
    for view in spell.views() {
        let differences = group.differences(view);
        witness.extend(differences.first().and_then(ViewDifference::proof));
        told = differences.iter().map(ViewDifference::words).collect();
    }
    let why = format!(
        "From {} to {}, for {}, {node} was asked {} for its view, and each view that it showed in that time differed from the \
         tree, which had the same members in the readings before and after. In the last answer {}. The bound is {}: ten times the \
         median of the `register` operations answered before the views, at least ten seconds.",
        run.at(spell.first.sent),
        run.at(spell.last.sent),
        seconds(spell.ns(run)),
        crate::text::count(spell.count, "time"),
        few(&told),
        seconds(group.bound),
    );
    let first = run.time(spell.first.sent);
    let found = Finding::new("stale-view", "liveness", witness, why);
    out.add_at_end(run, found, Some(first));
}

/// Why it is not certain that a client showed the group at the end, in words; `None` if it did.
fn unseen(
    run: &Analysis<'_>,
    (node, requests): (&str, &[ViewAnswer<'_, '_>]),
    group: &QuietGroup<'_>,
    lasted: u64,
) -> Option<String> {
    let Some((read, view)) = requests.iter().rev().find_map(|request| request.answer) else {
        return Some(format!(
            "{node} answered no `view` between the readings of the tree: what it shows was not looked at"
        ));
    };
    if group.is_shown(view) {
        return None;
    }
    let differences: Vec<String> = group.differences(view).iter().map(ViewDifference::words).collect();
    let what = match differences.is_empty() {
        true => "it cannot be compared with the tree".to_owned(),
        false => format!("{}, for {}", few(&differences), bound_words(lasted, group.bound)),
    };
    Some(format!(
        "the last view of {node}, answered at {}, is not that of the tree: {what}{}",
        run.at(read),
        run.recovery.doubt_words()
    ))
}
