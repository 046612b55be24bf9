//! `lost-member`: a client answers that it is a member by a znode that is gone, or does not become a member again. One
//! report for each such client, and for each registration that does not finish.
//!
//! - *A znode that is gone.* After recovery, while the tree is read before and after, all answers to `view` of a client
//!   name as `registered` a znode that certainly stood at no time between the readings ([`super::quiet_group`]), for
//!   the bound of liveness: under the conditions of [`super::stale_view`], but that the group may change otherwise.
//!   Each answer came after a quorum write in the client's session, so the client was connected, and could have found
//!   out and registered anew. Where the czxid is not given the znode may be another one at its path: not judged.
//! - *A registration that does not finish.* After recovery a `register` stays pending for the bound, has an unknown
//!   outcome for so long, or is refused again and again: as every operation that convicts
//!   ([`crate::liveness`]). It is none if the client answers meanwhile that it is a member, or refuses
//!   since it is one. That makes it certain that the client was asked to be a member for the bound, was not one by its
//!   own account, and nothing kept it from it.
//!
//! What else did not finish is a reason against `valid`.

use super::quiet_group::{self, AnswerSpell, QuietGroups};
use crate::analysis::recovery::RecoverySpan;
use crate::analysis::{Analysis, GroupView};
use crate::findings::{Finding, Findings};
use crate::liveness::refused_for_ever::RefusalJudge;
use crate::liveness::{UnfinishedOps, bound_words, error_words, idle, open_clients, refused_for_ever, unfinished};
use crate::text::seconds;
use std::collections::BTreeSet;
use zooquake_history::EventType;
use zooquake_history::operation::{control, membership};

/// Looks for both.
pub fn check(run: &Analysis<'_>, views: &[GroupView<'_>], groups: &QuietGroups<'_>, out: &mut Findings) {
    let Some(span) = run.recovery.span else {
        out.ran(refused_for_ever::NAME, 0);
        return out.ran("lost-member", 0);
    };
    let answered = without_znodes(run, views, (groups, span), out);
    let bound = quiet_group::bound(run, span, "views");
    let pending = unregistered(run, (span, bound), out);
    out.ran("lost-member", answered + pending);
}

/// Clients that answer that they are members and are not; how many answers were looked at.
fn without_znodes(
    run: &Analysis<'_>,
    views: &[GroupView<'_>],
    (groups, span): (&QuietGroups<'_>, RecoverySpan),
    out: &mut Findings,
) -> usize {
    let mut looked_at = 0;
    let mut convicted = BTreeSet::new();
    for group in groups.all() {
        let requests = quiet_group::requests(run, views, group);
        looked_at += requests.values().map(Vec::len).sum::<usize>();
        let gone = |view: &GroupView<'_>| {
            let (path, czxid) = quiet_group::registered(run, view.at)?;
            group.gone(path, czxid?)
        };
        for node in quiet_group::living(run) {
            let own = requests.get(node).map(Vec::as_slice).unwrap_or_default();
            let spells = quiet_group::spells(run, (node, own), |view| gone(view).is_some(), &[]);
            match quiet_group::convicting(run, node, &spells, group) {
                Ok(spell) if convicted.insert(node) => {
                    let mut witness = spell.witness(span);
                    witness.extend(spell.views().filter_map(|view| gone(view)?));
                    without_znode(run, (node, &spell), (group.bound, witness), out);
                }
                Err(lasted) => out.reasons.extend(own.last().and_then(|last| {
                    let (read, view) = last.answer.filter(|(_, view)| gone(view).is_some())?;
                    let (path, _) = quiet_group::registered(run, view.at)?;
                    Some(format!(
                        "{node} answered at {} that it is a member by {path}, a znode that is gone, for {}{}",
                        run.at(read),
                        bound_words(lasted, group.bound),
                        run.recovery.doubt_words(),
                    ))
                })),
                Ok(_) => {}
            }
        }
    }
    looked_at
}

fn without_znode(
    run: &Analysis<'_>,
    (node, spell): (&str, &AnswerSpell<'_, '_>),
    (bound, witness): (u64, Vec<usize>),
    out: &mut Findings,
) {
    let (path, czxid) = spell
        .last
        .answer
        .and_then(|(read, _)| quiet_group::registered(run, read))
        .unwrap_or_default();
    let why = format!(
        "From {} to {}, for {}, {node} answered to each of {} that it is a member by a znode that is gone, at last by {path} (czxid \
         0x{:x}): that is neither in the reading of the tree before nor in the one after, and is not younger than them. The \
         bound is {}: ten times the median of the `register` operations answered before the views, at least ten seconds.",
        run.at(spell.first.sent),
        run.at(spell.last.sent),
        seconds(spell.ns(run)),
        crate::text::count(spell.count, "request"),
        czxid.unwrap_or_default(),
        seconds(bound),
    );
    let first = run.time(spell.first.sent);
    let found = Finding::new("lost-member", "liveness", witness, why);
    out.add_at_end(run, found, Some(first));
}

/// Registrations that do not finish; how many operations did not. Of the others each is a reason.
fn unregistered(run: &Analysis<'_>, (span, bound): (RecoverySpan, u64), out: &mut Findings) -> usize {
    let all = unfinished(run, span);
    let judged = run.recovery.doubt().is_none();
    let mut refused = RefusalJudge::new(run, span);
    for one in &all {
        if one.op.f != membership::f::REGISTER {
            refused.check(one, out);
            continue;
        }
        let spell = one.spell();
        let lasted = span.waited(run, spell);
        if judged && lasted >= bound && !is_member(run, one) {
            unfinished_registration(run, (one, spell), (span, bound), out);
        } else if !one.made_up {
            let why = match lasted < bound {
                true => format!(", for {}", bound_words(lasted, bound)),
                false => ", and it is not certain that the client was no member".to_owned(),
            };
            out.reasons.push(one.reason(run, &why));
        }
    }
    refused.close(out);
    idle(run, span, open_clients(&all), true, out);
    all.len()
}

/// Whether a client whose registration does not finish answers that it is a member: to `view`, or by its refusals.
fn is_member(run: &Analysis<'_>, one: &UnfinishedOps<'_, '_>) -> bool {
    let views = run
        .ops
        .control
        .iter()
        .filter(|op| op.f == control::f::VIEW && op.node == one.op.node);
    let within = |&read: &usize| one.asked() < read && read <= one.until() && run.events[read].kind == EventType::Ok;
    let mut answers = views.filter_map(|op| op.end.filter(within));
    one.states || answers.any(|read| !no_member(run, read))
}

/// Whether an answer to `view` names no znode as registered. One of a user's own recipe that lacks the field does not
/// answer that.
fn no_member(run: &Analysis<'_>, read: usize) -> bool {
    let absent = run.record.plan.workload.recipe.is_none();
    let registered = run.events[read].get(membership::REGISTERED);
    registered.map_or(absent, zooquake_history::Value::is_null)
}

fn unfinished_registration(
    run: &Analysis<'_>,
    (one, (asked, until)): (&UnfinishedOps<'_, '_>, (usize, usize)),
    (span, bound): (RecoverySpan, u64),
    out: &mut Findings,
) {
    let how = match one.attempts.len() {
        2.. => format!("was {} again and again until", one.answers()),
        _ => "was not answered `ok` by".to_owned(),
    };
    let why = format!(
        "{} was sent `register` at {} and {how} {}{}, though every fault was healed and the ensemble had recovered at {}: for {}. The \
         bound is {}: ten times the median of the `register` operations answered before the views, at least ten seconds.",
        one.op.node,
        run.at(asked),
        run.at(until),
        error_words(run, until),
        run.at(span.recovered),
        seconds(span.waited(run, (asked, until))),
        seconds(bound),
    );
    let witness = vec![asked, span.recovered, span.end];
    let found = Finding::new("lost-member", "liveness", witness, why);
    out.add_at_end(run, found, Some(run.time(asked)));
}
