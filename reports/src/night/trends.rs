//! How each place of the matrix did over the last nights.

use super::{CellOutcome, Night, Trend};
use crate::text;
use maud::{Markup, html};

/// The width of a night in the picture.
const STEP: usize = 14;

pub fn section(night: &Night) -> Markup {
    let [first, .., last] = night.nights.as_slice() else {
        return html! {
            section #trends {
                h2 { "Earlier nights" }
                p { "None in the folder beside this one." }
            }
        };
    };
    html! {
        section #trends {
            h2 { "The last " (night.nights.len()) " nights" }
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
        }
    }
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
    let width = STEP * trend.outcomes.len();
    let nights = trend.outcomes.iter().zip(&night.nights).enumerate();
    html! {
        svg.spark role="img" aria-label=(words(trend)) width=(width) height="22" viewBox={ "0 0 " (width) " 22" } {
            path.base d={ "M0 19.5H" (width) } {}
            @for (n, (outcome, name)) in nights {
                @if let Some(outcome) = outcome { (mark(n * STEP + STEP / 2, *outcome, name)) }
            }
        }
    }
}

fn mark(x: usize, outcome: CellOutcome, night: &str) -> Markup {
    let title = html! { title { (text::clip(night, 60)) ": " (outcome.words()) } };
    match outcome {
        CellOutcome::Skipped => Markup::default(),
        CellOutcome::Expected => html! { circle.m-expected cx=(x) cy="15" r="2.5" { (title) } },
        CellOutcome::New => html! { path.m-new d={ "M" (x) " 2V19" } { (title) } },
        CellOutcome::Unknown | CellOutcome::Failed => html! { circle.m-unknown cx=(x) cy="12" r="3.5" { (title) } },
    }
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
