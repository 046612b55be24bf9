//! Of two-phase commit: transactions, votes and decisions.

use super::{EventContext, FamilyWords, Terms};
use crate::{lists, text};
use zooquake_history::operation::commit::{self, DECISION, SITES, VOTE};
use zooquake_history::{
    Event,
    EventType::{Fail, Info, Invoke, Ok},
    Value,
};

const TERMS: Terms = Terms {
    holds: "in doubt of",
    hold: Some("in doubt: has voted yes, has received no decision"),
    wait: Some("waits for votes or the decision"),
    work: "begins or votes",
    take: None,
    leave: None,
    took: "yes, commit",
    refused: None,
    no: Some("no, abort"),
};

/// The family and its words.
pub(super) const FAMILY: FamilyWords = FamilyWords {
    spec: &commit::FAMILY,
    terms: |_| &TERMS,
    predicate,
};

/// The predicate of a transaction's event.
fn predicate(context: EventContext<'_>) -> Option<String> {
    let tx = || text::clip(context.read(Event::tx).unwrap_or("a transaction"), 40);
    Some(match context.what() {
        (commit::f::BEGIN, Invoke) => format!("begins {}{}", tx(), sites(context)),
        (commit::f::BEGIN, Ok) => format!("has begun {}: it is there for its sites", tx()),
        (commit::f::BEGIN, Fail | Info) => context.failed(&format!("begun {}", tx()))?,
        (commit::f::VOTE, Invoke) => asked(context, &tx()),
        (commit::f::VOTE, Ok) => format!("has voted {} on {}", voted(context), tx()),
        (commit::f::VOTE, Fail) => format!("has not voted on {}, and will not", tx()),
        (commit::f::VOTE, Info) => format!("may or may not have voted {} on {}", context.field(VOTE), tx()),
        (commit::f::DECIDE, Invoke) => format!("is to collect the votes on {}, and to decide", tx()),
        (commit::f::DECIDE, Ok) => format!("as coordinator decides {} of {}", decision(context), tx()),
        (commit::f::DECIDE, Fail | Info) => format!("as coordinator has no decision of {}", tx()),
        (commit::f::DECIDED, Invoke) => format!("asks what was decided of {}", tx()),
        (commit::f::DECIDED, Ok) => format!("receives that {} is to {}", tx(), decision(context)),
        (commit::f::DECIDED, Fail | Info) => format!("has no decision of {}", tx()),
        _ => return None,
    })
}

/// ` with the sites c2, c3`.
fn sites(context: EventContext<'_>) -> String {
    let Some(sites) = context.get(SITES).and_then(Value::as_array) else {
        return String::new();
    };
    let names = sites.iter().take(12).map(|site| text::value(site, 16));
    let more = if sites.len() > 12 { ", …" } else { "" };
    format!(" with the sites {}{more}", lists::joined(names, ", "))
}

fn asked(context: EventContext<'_>, tx: &str) -> String {
    let vote = context.field(VOTE);
    match context.work() {
        Some(work) => format!("is to vote {vote} on {tx}, after {work} of work"),
        None => format!("is to vote {vote} on {tx}"),
    }
}

/// The vote that was sent: the site's log decides it, and may differ from what was asked for this time.
fn voted(context: EventContext<'_>) -> String {
    match (context.read(Event::voted), context.read(Event::vote)) {
        (Some(voted), Some(asked)) if voted != asked => format!(
            "{} (by its log, though asked for {})",
            text::clip(voted, 16).to_uppercase(),
            text::clip(asked, 16)
        ),
        (Some(voted), _) => text::clip(voted, 16).to_uppercase(),
        (None, _) => "…".into(),
    }
}

fn decision(context: EventContext<'_>) -> String {
    text::clip(&context.field(DECISION), 16).to_uppercase()
}
