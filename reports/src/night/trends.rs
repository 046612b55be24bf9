//! How each place of the matrix did over the last nights.

use super::{Night, Outcome, Trend};
use crate::text;

/// The width of a night in the picture.
const STEP: usize = 14;

pub fn section(night: &Night) -> String {
    if night.nights.len() < 2 {
        return "<section id=\"trends\">\n<h2>Earlier nights</h2>\n<p>None in the folder beside this one.</p></section>".into();
    }
    let rows: String = night.trends.iter().map(|trend| row(night, trend)).collect();
    format!(
        "<section id=\"trends\">\n<h2>The last {} nights</h2>\n<p>From {} to {}, the newest at the right. A bar up is a new \
         anomaly, a dot is as expected, a ring has no verdict, a gap was not run.</p>\n\
         <div class=\"wide\"><table class=\"trends\"><thead><tr><th scope=\"col\">Variant</th><th scope=\"col\">Faults</th>\
         <th scope=\"col\">Nights</th><th scope=\"col\">In words</th></tr></thead><tbody>\n{rows}</tbody></table></div></section>",
        night.nights.len(),
        text::html(&night.nights[0], 60),
        text::html(&night.nights[night.nights.len() - 1], 60),
    )
}

fn row(night: &Night, trend: &Trend) -> String {
    format!(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        text::html(&trend.variant, 80),
        text::html(&trend.faults, 80),
        picture(night, trend),
        words(trend)
    )
}

fn picture(night: &Night, trend: &Trend) -> String {
    let width = STEP * trend.outcomes.len();
    let nights = trend.outcomes.iter().zip(&night.nights).enumerate();
    let marks = nights.map(|(n, (outcome, name))| mark(n * STEP + STEP / 2, *outcome, name));
    let marks: String = marks.collect();
    format!(
        "<svg class=\"spark\" role=\"img\" aria-label=\"{}\" width=\"{width}\" height=\"22\" viewBox=\"0 0 {width} 22\">\
         <path class=\"base\" d=\"M0 19.5H{width}\"/>{marks}</svg>",
        text::escape(&words(trend))
    )
}

fn mark(x: usize, outcome: Option<Outcome>, night: &str) -> String {
    let shape = match outcome {
        None | Some(Outcome::Skipped) => return String::new(),
        Some(Outcome::Expected) => format!("<circle class=\"m-expected\" cx=\"{x}\" cy=\"15\" r=\"2.5\">"),
        Some(Outcome::New) => format!("<path class=\"m-new\" d=\"M{x} 2V19\">"),
        Some(Outcome::Unknown | Outcome::Failed) => {
            format!("<circle class=\"m-unknown\" cx=\"{x}\" cy=\"12\" r=\"3.5\">")
        }
    };
    let words = outcome.map(Outcome::words).unwrap_or_default();
    let end = if shape.starts_with("<path") {
        "</path>"
    } else {
        "</circle>"
    };
    format!("{shape}<title>{}: {words}</title>{end}", text::html(night, 60))
}

/// `as expected in 9 of 10; stale-write (known) seen in 8 of 10`.
fn words(trend: &Trend) -> String {
    let count = |outcome| trend.outcomes.iter().filter(|o| **o == Some(outcome)).count();
    let outcomes = trend.outcomes.iter().flatten();
    let run = outcomes.filter(|o| **o != Outcome::Skipped).count();
    let mut parts = vec![match run {
        0 => "not run yet".to_string(),
        run => format!("as expected in {} of {run}", count(Outcome::Expected)),
    }];
    for (kind, accepted, nights) in &trend.seen {
        let note = if *accepted { "known" } else { "new" };
        parts.push(format!(
            "{} ({note}) seen in {nights} of {}",
            text::html(kind, 60),
            trend.judged
        ));
    }
    parts.join("; ")
}
