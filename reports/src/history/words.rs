//! Words about a history that is searched.

use crate::text::{self, count};
use zooquake_checkers::search::picture::{CallOutcome, ObjectOrder, ObjectPicture, OperationBar, OrderEnd};
use zooquake_checkers::{Results, Verdict};

/// Operations that ask for a value, of which null is an answer.
const ASKS: [&str; 4] = ["read", "get", "dequeue", "generate"];

/// How many letters of a value a bar has.
const VALUE: usize = 32;

pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Valid => "VALID",
        Verdict::Invalid => "INVALID",
        Verdict::Unknown => "UNKNOWN",
    }
}

/// Whether the budget of the verdict ran out, by its reasons and anomalies.
pub fn used_up(results: &Results) -> &'static str {
    let ran_out = results
        .reasons
        .iter()
        .any(|reason| reason.starts_with("the search ran out of"));
    let shrunk = results
        .anomalies
        .iter()
        .all(|anomaly| !anomaly.why.contains("The budget ran out"));
    match (ran_out, shrunk) {
        (true, _) => "it ran out before the verdict",
        (false, false) => "it ran out after the verdict, while the proof was made shorter",
        (false, true) => "it did not run out",
    }
}

/// The line of an object among others.
pub fn summary(one: &ObjectPicture, results: &Results) -> String {
    let key = text::clip(one.key.as_deref().unwrap_or_default(), 80);
    let found = one.anomalies.iter().filter_map(|&at| results.anomalies.get(at));
    let kinds: Vec<String> = found.map(|anomaly| text::clip(&anomaly.kind, 40)).take(3).collect();
    let end = match (&one.order, kinds.is_empty()) {
        (_, false) => kinds.join(", "),
        (Ok(order), true) if order.end == OrderEnd::Whole => "an order of all was found".to_owned(),
        _ => "nothing was found".to_owned(),
    };
    format!("Key {key}: {}, {end}", count(one.operations, "operation"))
}

/// How many operations are shown.
pub fn shown(one: &ObjectPicture) -> String {
    let (shown, all) = (one.bars.len(), one.operations);
    let which = match one.bars.iter().any(|bar| bar.witness) {
        true => "those around the ones that prove the anomaly",
        false => "those around the end of the order, or the first ones",
    };
    match shown < all {
        true => format!(
            "{} of {} are shown: {which}.",
            text::grouped(shown),
            count(all, "operation")
        ),
        false => format!("All {} are shown.", count(all, "operation")),
    }
}

/// The objects that are not shown.
pub fn left_out(objects: usize) -> String {
    match objects {
        1 => "1 more key is not shown.".to_owned(),
        _ => format!("{} more keys are not shown.", text::grouped(objects)),
    }
}

/// How far an order reaches, and what it fails at.
pub fn order(order: &ObjectOrder, one: &ObjectPicture) -> Vec<String> {
    let reached = text::grouped(order.reached);
    let certain = format!("{} that certainly happened", count(order.certain, "step"));
    let (of, all) = match one.stuck {
        Some(_) => (
            " of what was answered before it",
            "What was answered before it has an order",
        ),
        None => ("", "An order of all was found"),
    };
    let mut lines: Vec<String> = one.stuck.map(|stuck| cannot(&one.bars[stuck])).into_iter().collect();
    lines.push(match order.end {
        OrderEnd::Whole => format!("{all}: it has the {certain}."),
        OrderEnd::Longest => format!("The longest order{of} has {reached} of the {certain}."),
        OrderEnd::GaveUp(limit) => format!(
            "The longest order{of} that was found within the budget of this page has {reached} of the {certain}; the {limit} \
             ran out, so that a longer one may exist."
        ),
    });
    if order.steps.len() < order.length {
        lines.push(format!(
            "The order has {} in all, of which those are numbered whose operations are shown.",
            count(order.length, "step")
        ));
    }
    let refused = &order.refused;
    let first = one.stuck.or(refused.first().copied());
    if let Some(first) = first.filter(|first| refused.contains(first)) {
        let others = match refused.len() - 1 {
            0 => String::new(),
            more => format!(
                ", nor can {}",
                count(more, "other operation") + " that could follow by when it was sent"
            ),
        };
        lines.push(format!(
            "After its last step the state is {}, and {} by process {} cannot be next{others}.",
            order.last,
            operation(&one.bars[first]),
            one.bars[first].process,
        ));
    }
    lines
}

/// That an operation is what the proof of an anomaly ends with.
fn cannot(stuck: &OperationBar) -> String {
    format!(
        "By what proves the anomaly {} by process {} cannot have its answer in any order.",
        operation(stuck),
        stuck.process,
    )
}

/// An operation in short: its name, what it was sent with, what it was answered with.
pub fn operation(bar: &OperationBar) -> String {
    let mut words = text::clip(&bar.f, 40);
    if !bar.asked.is_empty() {
        words += &format!(" {}", text::clip(&bar.asked, 80));
    }
    let says = bar.answered != "null" || ASKS.contains(&bar.f.as_str());
    if bar.outcome == CallOutcome::Ok && !bar.answered.is_empty() && bar.answered != bar.asked && says {
        words += &format!(" → {}", text::clip(&bar.answered, 80));
    }
    words
}

/// An operation on its bar: of long values the beginning and the end.
pub fn label(bar: &OperationBar) -> String {
    let ends = |value: &str| text::ends(value, VALUE);
    operation(&OperationBar {
        f: text::ends(&bar.f, 16),
        asked: ends(&bar.asked),
        answered: ends(&bar.answered),
        ..bar.clone()
    })
}

/// All that is known of an operation, under the pointer.
pub fn pointed(bar: &OperationBar) -> String {
    let asked = if bar.asked.is_empty() { "nothing" } else { &bar.asked };
    let answer = match (bar.outcome, bar.to) {
        (_, None) => "never answered".to_owned(),
        (CallOutcome::Ok, _) => format!("answered with {}", text::clip(&bar.answered, 240)),
        (CallOutcome::Fail, _) => format!("failed {}", text::clip(&bar.answered, 120)),
        (CallOutcome::Info, _) => format!("outcome unknown {}", text::clip(&bar.answered, 120)),
    };
    let error = bar.error.as_ref().map(|error| format!(" ({})", text::clip(error, 120)));
    let to = bar.to.map_or("the end".to_owned(), |to| to.to_string());
    format!(
        "process {}: {}, sent with {}; {}{}; events {} to {to}",
        bar.process,
        text::clip(&bar.f, 60),
        text::clip(asked, 240),
        answer.trim_end(),
        error.unwrap_or_default(),
        bar.from,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_shows_what_was_asked_and_answered_and_both_ends_of_what_is_long() {
        let bar = |asked: &str, answered: &str| OperationBar {
            process: 1,
            f: "read".to_owned(),
            asked: asked.to_owned(),
            answered: answered.to_owned(),
            error: None,
            outcome: CallOutcome::Ok,
            from: 0,
            to: Some(1),
            witness: false,
        };
        assert_eq!(label(&bar("", "-31")), "read → -31");
        let long = "0123456789".repeat(9) + "end";
        assert_eq!(label(&bar("k", &long)), "read k → 01234567890123456789012…56789end");
    }
}
