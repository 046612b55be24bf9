//! `foreign-znode`: a grant, a registration in a group, or a place in a round, rests on a znode of another session than
//! its answer names.
//!
//! The transaction logs record which session created the znode, and that session is its owner: the znode of a grant or
//! of a member is ephemeral. The client named the session that it believed in. A client may have changed its session
//! while it waited, and names the one it has now, so this convicts only if
//!
//! - the session was the client's before the grant was asked for: then what the attempt made was made in it, and the
//!   znode was there before or is another's; or
//! - the znode was certainly made before the process began that was given the grant: an event before its `hello` names
//!   that transaction or a later one, and transactions are made in the order of their zxids; or
//! - the session that made it is another process's: one had named it as its own before, and this process never had. A
//!   session lives in one process.
//!
//! That the znode was made before the request alone proves nothing: the process may have had the session then, and not
//! have named it.

use super::holder_znodes::{ClaimedZnode, claims};
use crate::analysis::Analysis;
use crate::analysis::clients::session;
use crate::analysis::transaction_log::TransactionBounds;
use crate::findings::{Finding, Findings};
use std::cell::LazyCell;

/// Looks for foreign znodes among grants and registrations.
pub fn check(run: &Analysis<'_>, out: &mut Findings) {
    judge(run, claims(run).into_iter(), out);
}

/// Looks for them; only where there are transaction logs. It is named among the checkers
/// that ran where the recipe is a user's own, or where it found something.
pub fn judge<'a>(run: &Analysis<'a>, claims: impl Iterator<Item = ClaimedZnode<'a>>, out: &mut Findings) {
    let mut looked_at = 0;
    let before = out.anomalies.len();
    let named = LazyCell::new(|| TransactionBounds::events(run));
    for claim in claims {
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
        let proof = ForeignProof::find(run, &claim, (czxid, told, owner), &named);
        let why = format!(
            "{} was read at {} and names the session {}. The transaction log shows that its znode{} was created by another \
             session, {}. {}",
            claim.words,
            run.at(claim.read),
            claim.session.unwrap_or_default(),
            claim.path.map(|path| format!(", {path},")).unwrap_or_default(),
            txn.session,
            proof.as_ref().map_or_else(
                || {
                    "The client had not named its session before, and may have changed it while it waited, so this is an observation \
                     and no violation."
                        .to_owned()
                },
                |proof| proof.words(run, &claim)
            ),
        );
        let witness = proof
            .iter()
            .flat_map(ForeignProof::events)
            .chain([claim.read])
            .collect();
        let found = Finding::new("foreign-znode", "ownership", witness, why);
        out.add(run, found.advisory(proof.is_none()));
    }
    if run.record.plan.workload.recipe.is_some() || out.anomalies.len() > before {
        out.ran("foreign-znode", looked_at);
    }
}

/// Why a znode is certainly none of its client's own. Positions are those of events.
enum ForeignProof {
    /// The client had named its session before it asked.
    Named { named: usize, asked: usize },
    /// The znode was made before the process began.
    Older { made: usize, began: usize },
    /// Another process had named the session that made it.
    Others { named: usize, began: usize },
}

impl ForeignProof {
    /// What proves that a claim's znode, which `owner` created at `czxid`, is not of the process that claims it by the
    /// session `told`; `None` if nothing does.
    fn find(
        run: &Analysis<'_>,
        claim: &ClaimedZnode<'_>,
        (czxid, told, owner): (i64, u64, u64),
        transactions: &TransactionBounds<usize>,
    ) -> Option<Self> {
        let first = run.clients.first_named(claim.node, told);
        if let Some((named, asked)) = first.zip(claim.asked).filter(|(named, asked)| named < asked) {
            return Some(Self::Named { named, asked });
        }
        // Of an answer whose process is not certain nothing is known.
        let began = run.clients.process_began(claim.node, claim.read)?;
        let made = transactions.made_by(czxid).filter(|&made| made < began);
        if let Some(made) = made {
            return Some(Self::Older { made, began });
        }
        let named = run
            .clients
            .named_by_another(owner, (claim.node, began), claim.read)
            .filter(|named| !run.ops.disputed.contains(named))?;
        Some(Self::Others { named, began })
    }

    fn events(&self) -> [usize; 2] {
        match *self {
            Self::Named { named, asked } => [named, asked],
            Self::Older { made, began } => [made, began],
            Self::Others { named, began } => [named, began],
        }
    }

    fn words(&self, run: &Analysis<'_>, claim: &ClaimedZnode<'_>) -> String {
        match *self {
            Self::Named { named, asked } => format!(
                "The client had named its session at {}, before the {} was asked for at {}: it {} by a znode that does not live with \
                 its session.",
                run.at(named),
                claim.noun,
                run.at(asked),
                claim.verb,
            ),
            Self::Older { made, began } => format!(
                "What was recorded at {} names that transaction or a later one, and the process that was given the {} began only at {}: \
                 it {} by a znode that was made before it.",
                run.at(made),
                claim.noun,
                run.at(began),
                claim.verb,
            ),
            Self::Others { named, began } => format!(
                "{} had named that session as its own at {}, and the process that was given the {}, which began at {}, had not: it {} by \
                 a znode of another process.",
                run.events[named].node.as_deref().unwrap_or(claim.node),
                run.at(named),
                claim.noun,
                run.at(began),
                claim.verb,
            ),
        }
    }
}
