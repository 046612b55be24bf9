//! The audit of the final tree: no contender znode of a live session that no client named as its own.

use super::quiesce_answers::{QuiesceAnswers, answers};
use crate::analysis::Analysis;
use crate::analysis::clients::session;
use crate::cause::orphan::OrphanCauses;
use crate::cause::record::CauseZnode;
use crate::cause::subject::AnomalySubject;
use crate::findings::{Finding, Findings};
use crate::text::count;
use std::collections::BTreeSet;
use zooquake_history::evidence::Znode;

/// Looks for orphans. A client that did not answer is not judged, and a reason against `valid`.
pub fn check(run: &Analysis<'_>, out: &mut Findings) {
    check_claims(run, &|_| None, out);
}

/// The same where contenders may be claims on items: `gone` gives the event that ended an item's life, from when on a
/// claim on it is an orphan whosever it is.
pub fn check_claims<'a>(run: &Analysis<'a>, gone: &dyn Fn(i64) -> Option<usize>, out: &mut Findings) {
    let readings = run.record.audit();
    let Some((before, after)) = readings else {
        out.ran("orphan-node", 0);
        return;
    };
    let (of, known) = answers(run, before, after);
    let names = run.clients.names.iter().map(String::as_str);
    let silent: Vec<&str> = names.filter(|name| !of.contains_key(name)).collect();
    if !silent.is_empty() {
        let names = silent.join(", ");
        out.reasons.push(format!(
            "{names} answered no quiesce that can be read between the two readings of the znode tree: not audited"
        ));
    }
    let mut answers = QuiesceAnswers::new(run, of, silent.is_empty());
    let znodes = before.znodes.iter().map(|znode| (znode.path.as_str(), znode.czxid));
    let first: BTreeSet<(&str, i64)> = znodes.collect();
    let mut causes = None;
    let contenders: Vec<&Znode> = after.znodes.iter().filter(|znode| contender(run, znode)).collect();
    for znode in &contenders {
        let id = (znode.path.as_str(), znode.czxid);
        if !first.contains(&id) || known.contains(&id) {
            continue;
        }
        if !orphan(run, znode, &mut answers, &mut causes, out)
            && let Some(ended) = item(znode).and_then(gone).filter(|_| answers.all)
        {
            stale_claim(run, znode, &mut answers, ended, out);
        }
    }
    if answers.untold > 0 {
        out.reasons.push(format!(
            "note: {} proved by the answers of all clients could no longer be listed",
            count(answers.untold, "orphan")
        ));
    }
    out.ran("orphan-node", contenders.len());
}

/// Whether a znode is somebody's, below one of the contenders' parents.
fn contender(run: &Analysis<'_>, znode: &Znode) -> bool {
    owner(znode).is_some() && is_below_contenders(run, znode)
}

/// Whether a znode is below one of the contenders' parents.
pub fn is_below_contenders(run: &Analysis<'_>, znode: &Znode) -> bool {
    let parents = &run.record.plan.workload.contenders;
    let below = |parent: &String| {
        znode
            .path
            .strip_prefix(parent.trim_end_matches('/'))
            .is_some_and(|rest| rest.starts_with('/'))
    };
    parents.iter().any(below)
}

/// Whose a znode is: its session's, or, of a claim that outlives its session, the one's that its data names as `owner`.
fn owner(znode: &Znode) -> Option<String> {
    let told = || {
        serde_json::from_str::<serde_json::Value>(&znode.data)
            .ok()?
            .get("owner")?
            .as_str()
            .map(str::to_owned)
    };
    znode.owner.clone().or_else(told)
}

/// The item that a claim is on.
fn item(znode: &Znode) -> Option<i64> {
    serde_json::from_str::<serde_json::Value>(&znode.data)
        .ok()?
        .get("item")?
        .as_i64()
}

fn stale_claim(run: &Analysis<'_>, znode: &Znode, answers: &mut QuiesceAnswers<'_>, ended: usize, out: &mut Findings) {
    let Some(mut witness) = answers.events() else { return };
    let why = format!(
        "The claim {} (czxid 0x{:x}) was in the tree before and after every client was last asked to finish its work \
         and to name its znodes. No client named it, so none will remove it, and its item is gone: that was \
         acknowledged at {}.",
        znode.path,
        znode.czxid,
        run.at(ended),
    );
    witness.push(ended);
    out.add_at_end(run, found(witness, why), answers.ages.not_before(znode.czxid));
}

/// Returns whether the znode is an orphan of a live session.
fn orphan<'r, 'a>(
    run: &'r Analysis<'a>,
    znode: &Znode,
    answers: &mut QuiesceAnswers<'_>,
    causes: &mut Option<OrphanCauses<'r, 'a>>,
    out: &mut Findings,
) -> bool {
    let text = owner(znode).unwrap_or_default();
    let Some(number) = session(&text) else { return false };
    // An ephemeral znode that is there proves that its session lives; of others only a client's answer does.
    let named = answers.sessions.get(&number).copied();
    if znode.owner.is_none() && named.is_none() {
        return false;
    }
    let recovered = run.phase("recovered");
    let tied = run.clients.sessions.get(&number);
    let (mut witness, asked, whose) = match named.or(tied.map(|owner| owner.node)) {
        Some(node) => {
            let Some(answer) = answers.of.get(node) else {
                return false;
            };
            let mut witness = vec![answer.sent, answer.read];
            if named.is_none() {
                // Once it was this client's. That it lived until now is the client's doing only if older silent
                // sessions had been seen to expire, and the client's process has not died since.
                let Some(recovered) = recovered.filter(|&at| !run.clients.died(node, at, answer.read)) else {
                    return false;
                };
                witness.extend(tied.map(|owner| owner.event));
                witness.push(recovered);
            }
            (
                witness,
                node,
                format!("a session of {node}, which answered at {}", run.at(answer.read)),
            )
        }
        None => {
            let Some(recovered) = recovered.filter(|_| answers.all && !answers.died) else {
                return false;
            };
            let Some(mut witness) = answers.events() else {
                return true;
            };
            witness.push(recovered);
            (
                witness,
                "every client",
                "which no client named as its own, though all had answered".to_owned(),
            )
        }
    };
    witness.sort_unstable();
    let why = format!(
        "The znode {} (czxid 0x{:x}) was in the tree before and after {asked} was last asked to finish its work and to \
         name its znodes. It belongs to the live session {text}, {whose}; no client named it, so none will remove \
         it{}.",
        znode.path,
        znode.czxid,
        ["", ", and it stays until that session ends"][usize::from(znode.owner.is_some())],
    );
    let first = answers.ages.not_before(znode.czxid);
    let causes = causes.get_or_insert_with(|| OrphanCauses::new(run));
    let cause = causes.cause(asked, znode, first);
    let subject = AnomalySubject::Orphan(CauseZnode {
        path: znode.path.clone(),
        czxid: znode.czxid,
    });
    out.add_at_end(run, found(witness, why).caused(cause).about(subject), first);
    true
}

fn found(witness: Vec<usize>, why: String) -> Finding<'static> {
    Finding::new("orphan-node", "no leaks", witness, why)
}
