//! Acknowledgements: a leader that promises one writes only after its acknowledgement znode was created.
//!
//! The field `ack` of a reply names the acknowledgement znode that its leader had read, `null` if it had read none.
//! Where a reply lacks the field the grant's counts, and where that lacks it too the write is not judged. A znode that
//! is older than the one that the grant rests on acknowledges an earlier term.

use crate::analysis::{Analysis, Write};
use crate::findings::{Finding, Findings};
use zooquake_history::Value;
use zooquake_history::operation::CZXID;

/// Looks for accepted writes of leaders without an acknowledgement; at most one anomaly for each grant, its first.
pub fn check(run: &Analysis<'_>, out: &mut Findings) {
    let mut convicted = vec![false; run.grants.all.len()];
    let (mut looked_at, mut unreadable) = (0, Vec::new());
    for &write in &run.grants.writes {
        let Some((told, ack)) = told(run, write) else { continue };
        let czxid = CZXID.read_from(ack);
        if !ack.is_null() && czxid.is_none() {
            unreadable.push((told, "an acknowledgement that names no znode".to_owned()));
            continue;
        }
        looked_at += 1;
        if convicted[write.grant] {
            continue;
        }
        let grant = &run.grants.all[write.grant];
        if ack.is_null() {
            convicted[write.grant] = true;
            unknown(run, write, out);
        } else if let (Some(czxid), Some(own), Some(read)) = (czxid, grant.czxid, grant.read)
            && czxid < own
        {
            convicted[write.grant] = true;
            earlier(run, write, czxid, vec![told, read, write.read], out);
        }
    }
    out.doubt("acknowledgements cannot be read", &unreadable);
    if looked_at == 0
        && unreadable.is_empty()
        && !run.grants.writes.is_empty()
        && run.record.plan.workload.capabilities().acknowledges
    {
        out.reasons.push(
            "no reply contains its leader's acknowledgement: unacknowledged leaders were not looked for".to_owned(),
        );
    }
    out.ran("unacknowledged-leader", looked_at);
}

/// The acknowledgement that a write's reply or its grant names, and the event of that answer. A grant that was made
/// without one does not show that the writes after it were.
fn told<'a>(run: &Analysis<'a>, write: Write) -> Option<(usize, &'a Value)> {
    let said = |at: usize| Some((at, run.events[at].ack()?));
    said(write.read).or_else(|| said(run.grants.all[write.grant].read?).filter(|(_, ack)| !ack.is_null()))
}

fn unknown(run: &Analysis<'_>, write: Write, out: &mut Findings) {
    let why = format!(
        "The resource accepted a write under {} at {}, and its reply reports no acknowledgement znode of the leader: \
         the leader wrote before it had received that its acknowledgement exists.",
        run.grant(write.grant),
        run.at(write.read),
    );
    out.add(run, found(vec![write.read], why));
}

fn earlier(run: &Analysis<'_>, write: Write, czxid: i64, witness: Vec<usize>, out: &mut Findings) {
    let why = format!(
        "The resource accepted a write under {} at {}, whose leader names an acknowledgement znode with the czxid \
         0x{czxid:x}. That znode is older than the one that the grant rests on, so it acknowledged an earlier term, \
         and this term was not acknowledged.",
        run.grant(write.grant),
        run.at(write.read),
    );
    out.add(run, found(witness, why));
}

fn found(witness: Vec<usize>, why: String) -> Finding<'static> {
    Finding::new("unacknowledged-leader", "acknowledgement", witness, why)
}
