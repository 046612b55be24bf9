//! The audit of the final tree: no contender znode of a live session that no client named as its own.

use super::quiesce_answers::{QuiesceAnswers, answers};
use crate::analysis::clients::session;
use crate::analysis::transaction_log::{TransactionBounds, creates};
use crate::analysis::{Analysis, Op};
use crate::cause::orphan::OrphanCauses;
use crate::cause::{AnomalySubject, CauseZnode};
use crate::findings::{Finding, Findings};
use crate::liveness::error_words;
use crate::text::{count, few};
use crate::verdict::NOTE;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use zooquake_history::EventType;
use zooquake_history::evidence::{Reading, Znode};
use zooquake_history::operation::control::f;
use zooquake_history::operation::grant;
use zooquake_history::protocol::ClientLimit;

/// Looks for orphans. A client that did not answer is not judged, and a reason against `valid`.
pub fn check(run: &Analysis<'_>, out: &mut Findings) {
    check_claims(run, &|_| None, out);
}

/// The same where contenders may be claims on items: `gone` gives the event that ended an item's life, from when on a
/// claim on it is an orphan whosever it is.
pub fn check_claims<'a>(run: &Analysis<'a>, gone: &dyn Fn(i64) -> Option<usize>, out: &mut Findings) {
    out.reasons.extend(looks_at_nothing(run));
    let readings = run.record.audit();
    let Some((before, after)) = readings else {
        out.ran("orphan-node", 0);
        return;
    };
    let (of, known) = answers(run, before, after);
    let names = run.clients.names.iter().map(String::as_str);
    let silent: Vec<&str> = names.filter(|name| !of.contains_key(name)).collect();
    if !silent.is_empty() {
        let refusals = refusals(run, before);
        let words = silent.iter().map(|name| match refusals.get(name) {
            Some(&end) => format!("{name}{}", error_words(run, end)),
            None => (*name).to_owned(),
        });
        let names = words.collect::<Vec<_>>().join(", ");
        out.reasons.push(format!(
            "{names} answered no quiesce that can be read between the two readings of the znode tree: not audited"
        ));
    }
    let mut answers = QuiesceAnswers::new(run, of, silent.is_empty());
    let znodes = before.znodes.iter().map(|znode| (znode.path.as_str(), znode.czxid));
    let first: BTreeSet<(&str, i64)> = znodes.collect();
    let mut causes = None;
    let contenders: Vec<&Znode> = after.znodes.iter().filter(|znode| contender(run, znode)).collect();
    let stands = |znode: &&Znode| {
        let id = (znode.path.as_str(), znode.czxid);
        first.contains(&id) && !known.contains(&id)
    };
    let nobodys = |znode: &&Znode| {
        let number = owner(znode).as_deref().and_then(session);
        number.is_some_and(|number| {
            !answers.sessions.contains_key(&number) && !run.clients.sessions.contains_key(&number)
        })
    };
    let unnamed: Vec<&Znode> = contenders.iter().copied().filter(stands).filter(nobodys).collect();
    let excused = excused(run, (before, after), &unnamed, out);
    for znode in contenders.iter().copied().filter(stands) {
        if excused.contains(&(znode.path.as_str(), znode.czxid)) {
            continue;
        }
        if !orphan(run, znode, &mut answers, &mut causes, out)
            && let Some(ended) = claimed_item(znode).and_then(gone).filter(|_| answers.all)
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

/// By client its last answer to a `quiesce` after a reading, where that was `info`.
fn refusals<'a>(run: &Analysis<'a>, before: &Reading) -> BTreeMap<&'a str, usize> {
    let quiesces = run.ops.control.iter().filter(|op| op.f == f::QUIESCE);
    let after = quiesces.filter(|op| op.sent().is_some_and(|sent| sent >= before.end_index));
    let mut last: BTreeMap<&str, usize> = BTreeMap::new();
    for (node, end) in after.filter_map(|op| Some((op.node, op.end?))) {
        let known = last.entry(node).or_insert(end);
        *known = end.max(*known);
    }
    last.retain(|_, end| run.events[*end].kind == EventType::Info);
    last
}

/// Whether a znode is somebody's, below one of the contenders' parents.
fn contender(run: &Analysis<'_>, znode: &Znode) -> bool {
    owner(znode).is_some() && is_below_parents(run, &znode.path)
}

/// Whether a path is below one of the contenders' parents.
pub fn is_below_parents(run: &Analysis<'_>, path: &str) -> bool {
    let parents = &run.record.plan.workload.contenders;
    let below = |parent: &String| {
        let rest = path.strip_prefix(parent.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    parents.iter().any(below)
}

/// A remark where the audit looks at nothing: the transaction logs are complete and have no creation below a parent of
/// contenders, of whatever kind, and have ephemeral znodes elsewhere.
fn looks_at_nothing(run: &Analysis<'_>) -> Option<String> {
    let parents = &run.record.plan.workload.contenders;
    if parents.is_empty() || !run.log.whole() {
        return None;
    }
    let mut elsewhere = BTreeSet::new();
    for txn in run.record.txnlog.unwrap_or_default() {
        for change in txn.changes().filter(|change| creates(change.op)) {
            if is_below_parents(run, change.path) {
                return None;
            }
            let ours = change.path.starts_with("/zooquake/");
            if change.ephemeral == Some(true) && !ours && run.log.committed(txn) {
                elsewhere.insert(
                    change
                        .path
                        .rsplit_once('/')
                        .map_or("/", |(parent, _)| if parent.is_empty() { "/" } else { parent }),
                );
            }
        }
    }
    let places: Vec<&str> = elsewhere.into_iter().collect();
    let parents: Vec<&str> = parents.iter().map(String::as_str).collect();
    (!places.is_empty()).then(|| {
        format!(
            "{NOTE}the audit looked at nothing: no znode was ever made below {}, and ephemeral ones were made below {}, where \
             orphans were not looked for; `contenders` of the recipe names the parents that are audited",
            few(&parents),
            few(&places),
        )
    })
}

/// Whose a znode is: its session's, or, of a claim that outlives its session, the one's that its data names as `owner`.
pub fn owner(znode: &Znode) -> Option<String> {
    let told = || {
        serde_json::from_str::<serde_json::Value>(&znode.data)
            .ok()?
            .get("owner")?
            .as_str()
            .map(str::to_owned)
    };
    znode.owner.clone().or_else(told)
}

/// The item that a claim is on, by its data.
pub fn claimed_item(znode: &Znode) -> Option<i64> {
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
    let subject = AnomalySubject::Orphan(CauseZnode::new(&znode.path, znode.czxid));
    out.add_at_end(run, found(witness, why).caused(cause).about(subject), first);
    true
}

fn found(witness: Vec<usize>, why: String) -> Finding<'static> {
    Finding::new("orphan-node", "no leaks", witness, why)
}

/// Znodes that clients may wait or hold by without being able to name them: those of a client that cannot name the
/// session of what it acquires, such as one that runs a program for each grant.
///
/// Chooses among the contenders that stand in both readings, and that nobody named or has the session of, those that
/// requests may have made which are pending then, or whose grant is still held: as many as there are, each one made
/// after its request was sent, the latest first. A request without an `ok` that ended less than two session timeouts
/// before counts, as what its program had made goes with its session. What is not judged for it is noted.
fn excused<'z>(
    run: &Analysis<'_>,
    (before, after): (&Reading, &Reading),
    unnamed: &[&'z Znode],
    out: &mut Findings,
) -> BTreeSet<(&'z str, i64)> {
    if unnamed.is_empty() {
        return BTreeSet::new();
    }
    let held = held(run, after);
    let since = run
        .events
        .get(before.index.saturating_sub(1))
        .map_or(0, |event| event.time);
    let lives = run.record.plan.cluster.timing.session_ms.saturating_mul(2_000_000);
    let stands = |op: &&Op<'_>| {
        let asks = matches!(op.f, grant::f::ACQUIRE | grant::f::ELECT | grant::f::TRY_ACQUIRE)
            && run.declared.cannot(op.node, ClientLimit::Session);
        let ended = op.end.into_iter().chain(op.cut).min().filter(|&end| end < before.index);
        let goes_on = ended.is_none_or(|end| match run.events[end].kind {
            EventType::Ok => held.contains(&end),
            _ => run.time(end).saturating_add(lives) > since,
        });
        asks && op.invoke.is_some_and(|sent| sent < before.end_index) && goes_on
    };
    let mut requests: Vec<&Op<'_>> = run.ops.work.iter().filter(stands).collect();
    if requests.is_empty() {
        return BTreeSet::new();
    }
    let bounds = TransactionBounds::new(run);
    let mut latest = unnamed.to_vec();
    latest.sort_unstable_by_key(|znode| std::cmp::Reverse(znode.czxid));
    let mut excused = BTreeSet::new();
    for znode in latest {
        // The last request that was sent before the znode was there for certain.
        let made = bounds.made_by(znode.czxid);
        let may = |op: &&Op<'_>| {
            op.invoke
                .is_some_and(|sent| made.is_none_or(|made| run.time(sent) <= made))
        };
        if let Some(at) = requests.iter().rposition(may) {
            requests.remove(at);
            excused.insert((znode.path.as_str(), znode.czxid));
        }
    }
    if !excused.is_empty() {
        out.leave(
            "orphan-node",
            format!(
                "clients cannot name the session of what they wait or hold by: {} of a session that no client named, which as many \
                 of their requests may have made, the latest ones",
                count(excused.len(), "znode")
            ),
        );
    }
    excused
}

/// Where the grants were read that were not asked back by the end of a reading.
fn held(run: &Analysis<'_>, after: &Reading) -> HashSet<usize> {
    let grants = run.grants.all.iter();
    let held = grants.filter(|grant| grant.end.is_none_or(|end| end >= after.end_index));
    held.filter_map(|grant| grant.read).collect()
}
