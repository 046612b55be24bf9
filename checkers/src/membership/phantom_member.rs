//! `phantom-member`: a view shows a member that nobody made. One report for each value, or for each znode.
//!
//! It is certain in every execution that fits the record:
//!
//! - *A value that nobody had been asked for.* One process records the history, and writes `invoke` before the request
//!   is sent; a view is recorded after it was shown. A value that stands in a view, and in no `register` or `update`
//!   before that event, was shown before any client could have been asked to write it. An entry that its recipe
//!   registers anew has a value that was asked for before. A request that is missing, or has no value that can be read,
//!   may have asked for any value: after such a one no value is a phantom.
//! - *A znode that nobody created.* The transaction logs have every transaction of the run, and none hides what it
//!   changed ([`crate::analysis::TransactionLog::whole`]): a path and a czxid that no create has is that of no znode.
//! - *A value that its transaction did not write.* By the same logs, the transaction of the mzxid that an entry names
//!   wrote another value at its path, or none, where the data of that path read as decimal numbers throughout
//!   ([`super::updates`]).
//!
//! A value or a czxid that cannot be read is doubt, and no phantom.

use super::updates::LoggedValues;
use crate::analysis::{Analysis, GroupView};
use crate::findings::{Finding, Findings};
use std::collections::{HashMap, HashSet};
use zooquake_history::operation::membership::{VALUE, f};
use zooquake_history::{EventType, Process};

/// Looks for members that were made up.
pub fn check(run: &Analysis<'_>, views: &[GroupView<'_>], logged: Option<&LoggedValues<'_>>, out: &mut Findings) {
    let asked = AskedValues::new(run);
    let (mut values, mut znodes, mut written) = (HashSet::new(), HashSet::new(), HashSet::new());
    for view in views {
        for member in view.members() {
            let first = member.value.filter(|&value| values.insert(value));
            let unasked = first.filter(|&value| !asked.before(value, view.at));
            if let Some(value) = unasked {
                phantom(run, view, asked.why(run, view, &member.words(), value), out);
            }
            if let Some(czxid) = member.czxid
                && znodes.insert((member.path, czxid))
                && run.log.whole()
                && run.log.create(czxid, Some(member.path)).is_none()
            {
                let why = format!(
                    "{} showed at {} the member {}. The transaction logs are complete, and no transaction in them created that \
                     znode.",
                    view.node,
                    run.at(view.at),
                    member.words(),
                );
                phantom(run, view, why, out);
            }
            if let (Some(mzxid), Some(value), Some(logged)) = (member.mzxid, member.value, logged)
                && member
                    .czxid
                    .is_none_or(|czxid| run.log.create(czxid, Some(member.path)).is_some())
                && written.insert((member.path, mzxid, value))
                && unasked.is_none()
                && let Some(instead) = logged.instead_of(member.path, mzxid, value)
            {
                let why = format!(
                    "{} showed at {} the member {} with the value {value} of mzxid 0x{mzxid:x}. The transaction logs are complete, and in \
                     them {instead}.",
                    view.node,
                    run.at(view.at),
                    member.words(),
                );
                phantom(run, view, why, out);
            }
        }
    }
    out.ran("phantom-member", values.len() + znodes.len() + written.len());
}

/// The values that clients were asked to register or to write.
struct AskedValues {
    /// Where each was asked for first.
    first: HashMap<i64, usize>,
    /// From which event on any value may have been asked for.
    any: Option<usize>,
}

impl AskedValues {
    fn new(run: &Analysis<'_>) -> Self {
        let mut asked = Self {
            first: HashMap::new(),
            any: None,
        };
        let lost = |op: &&crate::analysis::Op<'_>| matches!(op.f, f::REGISTER | f::UPDATE) && op.invoke.is_none();
        if run.ops.work.iter().any(|op| lost(&op)) {
            asked.any = Some(0);
        }
        for (at, event) in run.events.iter().enumerate() {
            let numbered = matches!(event.process, Process::Number(_)) && event.kind == EventType::Invoke;
            if !numbered || !matches!(event.f.as_str(), f::REGISTER | f::UPDATE) {
                continue;
            }
            match event.get(VALUE) {
                Some(value) => {
                    asked.first.entry(value).or_insert(at);
                }
                None => asked.any = Some(asked.any.unwrap_or(at)),
            }
        }
        asked
    }

    /// Whether a value may have been asked for before an event.
    fn before(&self, value: i64, at: usize) -> bool {
        let first = self.first.get(&value).copied();
        first.into_iter().chain(self.any).any(|asked| asked < at)
    }

    /// The words for a value that a view shows before it may have been asked for.
    fn why(&self, run: &Analysis<'_>, view: &GroupView<'_>, member: &str, value: i64) -> String {
        let later = match self.first.get(&value) {
            Some(&sent) => format!("The first request with that value was sent only at {}.", run.at(sent)),
            None => "No request in the history has that value.".to_owned(),
        };
        format!(
            "{} showed at {} the member {member} with the value {value}, and until then no client had been asked to register with \
             that value or to write it. {later}",
            view.node,
            run.at(view.at),
        )
    }
}

fn phantom(run: &Analysis<'_>, view: &GroupView<'_>, why: String, out: &mut Findings) {
    let found = Finding::new("phantom-member", "nothing is made up", vec![view.at], why);
    out.add(run, found);
}
