//! `stale-view`: when nothing changes any more, a client goes on showing a group that is not so. One report for each
//! client.
//!
//! The tree is read, then clients are asked for their views again and again, then it is read again. The group is the
//! same in both readings, so it was so all the time between them ([`super::quiet_group`]), and what a view shows is
//! compared with that: a member that is missing, one that is dead, one that has an old value. It convicts if the views
//! of one client differ so for the bound of liveness of a `register`:
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
//! showed something else whenever it was looked at. What differs otherwise at the end is a reason against `valid`.

use super::quiet_group::{QuietGroup, ViewDifference};
use super::view_answers::{self, AnswerSpell, ViewAnswer};
use crate::analysis::recovery::RecoverySpan;
use crate::analysis::{Analysis, GroupView};
use crate::findings::{Finding, Findings};
use crate::liveness::bound::bound_words;
use crate::text::{few, seconds};

/// Looks for them.
pub fn check(run: &Analysis<'_>, views: &[GroupView<'_>], group: Option<&QuietGroup<'_>>, out: &mut Findings) {
    let (Some(span), Some(group)) = (run.recovery.span, group) else {
        if run.recovery.span.is_some() && run.record.readings.is_some() {
            let lack = "the tree was not read before and after clients were asked for their views: stale views and lost members \
                        were not looked for";
            out.reasons.push(lack.to_owned());
        }
        return out.ran("stale-view", 0);
    };
    if !group.unchanged() {
        let changed =
            "the group was not the same in the readings of the tree around the views: stale views were not looked for";
        out.reasons.push(changed.to_owned());
        return out.ran("stale-view", 0);
    }
    let bound = view_answers::bound(run, span);
    let requests = view_answers::requests(run, views, group);
    let differs = |view: &GroupView<'_>| !group.differences(view).is_empty();
    for node in view_answers::living(run) {
        let own = requests.get(node).map(Vec::as_slice).unwrap_or_default();
        let notices = views.iter().filter(|view| view.node == node && view.notice);
        let within = notices.filter(|view| (group.from..group.until).contains(&view.at));
        let right: Vec<usize> = within.filter(|view| !differs(view)).map(|view| view.at).collect();
        let spells = view_answers::spells(run, (node, own), differs, &right);
        match view_answers::convicting(run, node, &spells, (bound, group.until)) {
            Ok(spell) => stale(run, (node, &spell), (group, span, bound), out),
            Err(lasted) => out.reasons.extend(unseen(run, (node, own), group, (lasted, bound))),
        }
    }
    out.ran("stale-view", requests.values().map(Vec::len).sum());
}

fn stale(
    run: &Analysis<'_>,
    (node, spell): (&str, &AnswerSpell<'_, '_>),
    (group, span, bound): (&QuietGroup<'_>, RecoverySpan, u64),
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
        seconds(bound),
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
    (lasted, bound): (u64, u64),
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
        false => format!("{}, for {}", few(&differences), bound_words(lasted, bound)),
    };
    Some(format!(
        "the last view of {node}, answered at {}, is not that of the tree: {what}{}",
        run.at(read),
        run.recovery.doubt_words()
    ))
}
