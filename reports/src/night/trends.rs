//! How each place of the matrix did over the last nights.

use super::{CellOutcome, Night, Trend, spark};
use crate::html::titled;
use crate::text;
use maud::{Markup, html};

pub fn section(night: &Night) -> Markup {
    let [first, .., last] = night.nights.as_slice() else {
        return titled(
            "trends",
            "Earlier nights",
            html! { p { "None in the folder beside this one." } },
        );
    };
    let body = html! {
        p {
            "From " (text::clip(first, 60)) " to " (text::clip(last, 60))
            ", the newest at the right. A bar up is a new anomaly, a dot is as expected, a ring has no verdict, a gap was not run."
        }
        div.wide {
            table.trends {
                thead {
                    tr {
                        @for head in ["Variant", "Faults", "Nights", "In words"] { th scope="col" { (head) } }
                    }
                }
                tbody { "\n" @for trend in &night.trends { (row(night, trend)) "\n" } }
            }
        }
    };
    titled("trends", &format!("The last {} nights", night.nights.len()), body)
}

fn row(night: &Night, trend: &Trend) -> Markup {
    html! {
        tr {
            td { (text::clip(&trend.variant, 80)) }
            td { (text::clip(&trend.faults, 80)) }
            td { (picture(night, trend)) }
            td { (words(trend)) }
        }
    }
}

fn picture(night: &Night, trend: &Trend) -> Markup {
    let title = |name: &str, outcome: CellOutcome| html! { (text::clip(name, 60)) ": " (outcome.words()) };
    let nights = trend.outcomes.iter().zip(&night.nights);
    let nights = nights.map(|(outcome, name)| outcome.map(|outcome| (outcome, title(name, outcome))));
    spark::draw(&words(trend), nights)
}

/// `as expected in 9 of 10; stale-write (known) seen in 8 of 10`.
fn words(trend: &Trend) -> String {
    let count = |outcome| trend.outcomes.iter().filter(|o| **o == Some(outcome)).count();
    let outcomes = trend.outcomes.iter().flatten();
    let run = outcomes.filter(|o| **o != CellOutcome::Skipped).count();
    let mut parts = vec![match run {
        0 => "not run yet".to_string(),
        run => format!("as expected in {} of {run}", count(CellOutcome::Expected)),
    }];
    for (kind, accepted, nights) in &trend.seen {
        let note = if *accepted { "known" } else { "new" };
        parts.push(format!(
            "{} ({note}) seen in {nights} of {}",
            text::clip(kind, 60),
            trend.judged
        ));
    }
    parts.join("; ")
}
