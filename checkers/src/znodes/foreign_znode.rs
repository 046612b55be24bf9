//! `foreign-znode`: a grant rests on a znode of another session than its answer names.
//!
//! The transaction logs record which session created the znode, and that session is its owner: the znode of a grant is
//! ephemeral. The client named the session that it believed in. It convicts only if that session was the client's
//! before the grant was asked for: then what the attempt made was made in it, and the znode was there before or is
//! another's. A client that had not named it may have changed its session while it waited, and names the one it has
//! now.

use crate::analysis::Analysis;
use crate::analysis::clients::session;
use crate::findings::{Finding, Findings};

/// Looks for them; only where there are transaction logs. It is named among the checkers that ran where the recipe is a
/// user's own, or where it found something.
pub fn check(run: &Analysis<'_>, out: &mut Findings) {
    let mut looked_at = 0;
    let before = out.anomalies.len();
    for number in run.grants.read() {
        let grant = &run.grants.all[number];
        let (Some(read), Some(told), Some(czxid)) = (grant.read, grant.session.and_then(session), grant.czxid) else {
            continue;
        };
        // That the path and the transaction do not fit is a matter of the evidence.
        let Some(txn) = run.log.create(czxid, grant.path) else {
            continue;
        };
        let Some(owner) = session(&txn.session) else { continue };
        looked_at += 1;
        if owner == told {
            continue;
        }
        let asked = grant.asked;
        let first = run.clients.first_named(grant.node, told);
        let named = first.zip(asked).filter(|(named, asked)| named < asked);
        let why = format!(
            "{} was read at {} and names the session {}. The transaction log shows that its znode{} was created by another \
             session, {}. {}",
            run.grant(number),
            run.at(read),
            grant.session.unwrap_or_default(),
            grant.path.map(|path| format!(", {path},")).unwrap_or_default(),
            txn.session,
            match named {
                Some((named, asked)) => format!(
                    "The client had named its session at {}, before the grant was asked for at {}: it holds by a znode that \
                     does not live with its session.",
                    run.at(named),
                    run.at(asked),
                ),
                None => "The client had not named its session before, and may have changed it while it waited, so this is an \
                         observation and no violation."
                    .to_owned(),
            },
        );
        let told = named.into_iter().flat_map(|(named, asked)| [named, asked]);
        let found = Finding::new("foreign-znode", "ownership", told.chain([read]).collect(), why);
        out.add(run, found.advisory(named.is_none()));
    }
    if run.record.plan.workload.recipe.is_some() || out.anomalies.len() > before {
        out.ran("foreign-znode", looked_at);
    }
}
