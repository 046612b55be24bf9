//! Atomic commit: `begin` with `[transaction sites]`, `vote` with `[transaction site vote]`, and `decided` with
//! `[transaction site]`, answered with `[transaction site decision]`.

mod generator;
mod sequential;

pub use sequential::{CommitOp, Transaction};

use crate::call::{Call, CallOutcome, InputError, Reading};
use crate::equality::ValueNumbers;
use crate::generate::{GeneratedLoad, Simulation, one_client, simulate};
use crate::judgement::{Inquiry, Judgement, apart, judge};
use crate::model::Op;
use crate::models::entry::{ModelEntry, ModelFit, ModelSize, unable};
use crate::value::Value;
use sequential::SPLIT;
use std::collections::HashSet;

/// Transactions that all sites commit, or none.
pub static ATOMIC_COMMIT: ModelEntry = ModelEntry {
    names: &["atomic-commit"],
    summary: "begin [tx sites], vote [tx site yes|no], decided [tx site], answered [tx site commit|abort]",
    operations: &["begin", "vote", "decided"],
    size: ModelSize::Fixed,
    begins: Some("nobody has voted at first"),
    // What is added, only its reads show.
    fits: |operations| ModelFit::shown_if(operations.any(&["vote", "decided"]) && !operations.any(&["add"])),
    simulations: &[Simulation {
        name: "atomic-commit",
        clients: one_client,
        loads: &[GeneratedLoad::COMMON],
        run: |options, _| simulate(options, generator::Commits::default()),
    }],
    judge: |model, calls, _, _, inquiry| {
        let mut transactions = ValueNumbers::default();
        let transaction = |call: &Call<'_>| {
            let (f, at) = (call.f, call.invoke);
            if !model.operations.contains(&f) {
                return Err(unable(model, call));
            }
            let Some(name) = part(&call.asked, 0) else {
                return Err(InputError::Unexpected {
                    what: format!("the {f} of event {at} names no transaction"),
                    found: call.asked.clone(),
                });
            };
            transactions.number(name, || format!("the transaction of event {at}"))
        };
        // Its operations have no positions of their own, so that nothing orders them.
        let Inquiry::Verdict(budget) = inquiry else {
            return Ok(Judgement::default());
        };
        apart(calls, transaction, |calls| {
            Ok(judge(SPLIT, &Transaction, read(calls)?, budget))
        })
    },
};

/// The operations of one transaction.
///
/// A vote names a site that takes part whatever became of it, and so does a begin that did not fail.
fn read<'a>(calls: &[&'a Call<'a>]) -> Result<Reading<'a, CommitOp>, InputError> {
    let (mut reading, mut sites, mut known) = (Reading::new(), ValueNumbers::default(), HashSet::new());
    for &call in calls {
        let (f, at, ok) = (call.f, call.invoke, call.outcome == CallOutcome::Ok);
        let mut site = |name: &Value| sites.number(name, || format!("the site of the {f} of event {at}"));
        let unread = |what: &str| Err(InputError::Unable(format!("the {f} of event {at} names no {what}")));
        let told = part(&call.asked, 1).unwrap_or(&Value::Nil);
        let mut taking_part = Vec::new();
        match f {
            "begin" if call.outcome == CallOutcome::Fail => {}
            "begin" => match told.sequence() {
                Some(names) => taking_part = names.iter().map(&mut site).collect::<Result<_, _>>()?,
                None => return unread("sites"),
            },
            "vote" if told.is_nil() => return unread("site"),
            "vote" => {
                let site = site(told)?;
                let vote = ok
                    .then_some(&call.answered)
                    .into_iter()
                    .chain([&call.asked])
                    .find_map(|value| word(value, ["no", "yes"]));
                match vote {
                    None if ok => return unread("vote, neither yes nor no"),
                    // What was asked for is not known, so it may be yes.
                    vote => reading.add(call, CommitOp::Vote(site, vote.unwrap_or(true))),
                }
                taking_part.push(site);
            }
            _ if ok => {
                let by = match told {
                    Value::Nil => &Value::from(format!("process {}", call.process).as_str()),
                    told => told,
                };
                match word(&call.answered, ["abort", "commit"]) {
                    Some(commit) => reading.add(call, CommitOp::Decided(site(by)?, commit)),
                    None => return unread("decision, neither commit nor abort"),
                }
            }
            _ => {}
        }
        for site in taking_part.into_iter().filter(|&site| known.insert(site)) {
            // That it does was so from the beginning. Several may share this position, as `near` decides every
            // transaction.
            reading.ops.push(Op::done(CommitOp::Site(site), 0, 0));
            reading.calls.push(call);
        }
    }
    Ok(reading)
}

/// Of a value that is a sequence what stands at a place, unless that is nothing.
fn part(value: &Value, place: usize) -> Option<&Value> {
    value.sequence()?.get(place).filter(|part| !part.is_nil())
}

/// Which of two words stands third in a value, as a keyword or as a text: whether it is the second one.
fn word(value: &Value, words: [&str; 2]) -> Option<bool> {
    let third = part(value, 2)?.word()?;
    let place = words.iter().position(|word| *word == third)?;
    Some(place == 1)
}
