//! `foreign-znode`: a grant, or a registration in a group, rests on a znode of another session than its answer names.
//!
//! The transaction logs record which session created the znode, and that session is its owner: the znode of a grant or
//! of a member is ephemeral. The client named the session that it believed in. It convicts only if that session was the
//! client's before the grant was asked for: then what the attempt made was made in it, and the znode was there before
//! or is another's. A client that had not named it may have changed its session while it waited, and names the one it
//! has now.

use crate::analysis::Analysis;
use crate::analysis::clients::session;
use crate::findings::{Finding, Findings};
use crate::znodes::claims::claims;

/// Looks for them; only where there are transaction logs. It is named among the checkers that ran where the recipe is a
/// user's own, or where it found something.
pub fn check(run: &Analysis<'_>, out: &mut Findings) {
    let mut looked_at = 0;
    let before = out.anomalies.len();
    for claim in claims(run) {
        let (Some(told), Some(czxid)) = (claim.session.and_then(session), claim.czxid) else {
            continue;
        };
        // That the path and the transaction do not fit is a matter of the evidence.
        let Some(txn) = run.log.create(czxid, claim.path) else {
            continue;
        };
        let Some(owner) = session(&txn.session) else { continue };
        looked_at += 1;
        if owner == told {
            continue;
        }
        let first = run.clients.first_named(claim.node, told);
        let named = first.zip(claim.asked).filter(|(named, asked)| named < asked);
        let why = format!(
            "{} was read at {} and names the session {}. The transaction log shows that its znode{} was created by another \
             session, {}. {}",
            claim.words,
            run.at(claim.read),
            claim.session.unwrap_or_default(),
            claim.path.map(|path| format!(", {path},")).unwrap_or_default(),
            txn.session,
            match named {
                Some((named, asked)) => format!(
                    "The client had named its session at {}, before the {} was asked for at {}: it {} by a znode that \
                     does not live with its session.",
                    run.at(named),
                    claim.noun,
                    run.at(asked),
                    claim.verb,
                ),
                None => "The client had not named its session before, and may have changed it while it waited, so this is an \
                         observation and no violation."
                    .to_owned(),
            },
        );
        let told = named.into_iter().flat_map(|(named, asked)| [named, asked]);
        let found = Finding::new("foreign-znode", "ownership", told.chain([claim.read]).collect(), why);
        out.add(run, found.advisory(named.is_none()));
    }
    if run.record.plan.workload.recipe.is_some() || out.anomalies.len() > before {
        out.ran("foreign-znode", looked_at);
    }
}
