//! `lost-update`: an `update` was answered `ok`, and no transaction wrote what it was asked to. One report for each.
//!
//! It is certain by complete transaction logs, where the data of the path read as decimal numbers throughout
//! ([`super::logged_values`]): the transaction that the answer names wrote another value, or another znode; or, where
//! the answer names none, no transaction at all wrote that value there. An update that finds its value written, and
//! names the transaction that did, is none.

use super::logged_values::LoggedValues;
use crate::analysis::Analysis;
use crate::findings::{Finding, Findings};
use zooquake_history::operation::membership::{VALUE, f};

/// Looks for them.
pub fn check(run: &Analysis<'_>, logged: Option<&LoggedValues<'_>>, out: &mut Findings) {
    let Some(logged) = logged else {
        return out.ran("lost-update", 0);
    };
    let mut looked_at = 0;
    for (op, read) in run.answered(&[f::UPDATE]) {
        let answer = &run.events[read];
        let asked = op.sent().and_then(|sent| Some((sent, run.events[sent].get(VALUE)?)));
        let (Some((sent, value)), Some(path)) = (asked, answer.path()) else {
            continue;
        };
        let Some(writes) = logged.writes_at(path) else { continue };
        looked_at += 1;
        let instead = match answer.mzxid() {
            Some(mzxid) => logged.instead_of(path, mzxid, value),
            None => {
                let none = writes.iter().all(|write| write.value != value);
                none.then(|| "no transaction wrote that value there".to_owned())
            }
        };
        if let Some(instead) = instead {
            let why = format!(
                "{} was asked at {} to update its value to {value}, and answered `ok` at {}, of {path}{}. The transaction logs are \
                 complete, and in them {instead}: the update was acknowledged, and never made.",
                op.node,
                run.at(sent),
                run.at(read),
                answer
                    .mzxid()
                    .map(|mzxid| format!(" and mzxid 0x{mzxid:x}"))
                    .unwrap_or_default(),
            );
            let found = Finding::new("lost-update", "nothing is lost", vec![sent, read], why);
            out.add(run, found);
        }
    }
    out.ran("lost-update", looked_at);
}
