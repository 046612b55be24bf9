//! The page: one file, complete without a network and without JavaScript. It has the matrix of variants under faults,
//! what failed, the cells without a verdict, and how each place of the matrix did over the last nights.

use super::{AnomalyCount, Cell, CellOutcome, Night, NightFailure, Standing, Trend};
use crate::html::{self, Document, PAGE_STYLE, cause, titled, unjudged_checks};
use crate::{lists, text};
use maud::{Markup, html};

/// The styles of pages of nights.
pub const STYLES: [&str; 2] = [PAGE_STYLE, include_str!("../../assets/night.css")];
/// Reports of a failure that are linked.
const REPORTS: usize = 20;
/// The width of a night in a row of marks.
const STEP: usize = 14;

/// The whole page.
pub fn page(night: &Night) -> String {
    let title = format!("{} {}", text::clip(&night.campaign, 60), text::clip(&night.name, 60));
    let body = html! {
        main {
            (head(night))
            (matrix(night))
            (failures(night)) "\n"
            (trends(night)) "\n"
            (remarks(night))
            (html::settings("Settings", night.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()))))
        }
    };
    Document {
        title: &title,
        styles: &STYLES,
        class: "night",
        body,
        ..Document::default()
    }
    .page()
}

/// What came of the night, in words.
fn head(night: &Night) -> Markup {
    let (class, word) = match night.code {
        0 => ("expected", "AS EXPECTED"),
        1 if night.failures_of(Standing::NewTonight).is_empty() => ("new", "STILL THERE"),
        1 => ("new", "NEW ANOMALY"),
        2 => ("unknown", "UNKNOWN"),
        _ => ("failed", "HARNESS FAILED"),
    };
    let (first, rest) = html::first_and_rest(&night.conclusion);
    html! {
        header #first class={ "night-" (class) } {
            div.verdict {
                h1 { (word) }
                div {
                    p.sentence { (text::clip(first, 600)) }
                    p.facts {
                        b { (text::clip(&night.campaign, 60)) } " · night " (text::clip(&night.name, 60)) " · begun "
                        (text::clip(&night.begun, 40))
                        @if let Some(shard) = &night.shard { " · part " (text::clip(shard, 20)) }
                        " · " (night.counts()) " · exit code " (night.code)
                    }
                }
            }
            @if !rest.is_empty() { ul.conclusion { (html::items(rest, 600)) } }
        }
    }
}

fn remarks(night: &Night) -> Markup {
    if night.remarks.is_empty() {
        return Markup::default();
    }
    titled(
        "remarks",
        "Remarks",
        html! { ul { (html::items(&night.remarks, 600)) } },
    )
}

/// The variants and the faults of a night, each in the order of its first cell.
pub fn axes(night: &Night) -> (Vec<&str>, Vec<&str>) {
    let variants = night.cells.iter().map(|cell| cell.variant.as_str());
    let faults = night.cells.iter().map(|cell| cell.faults.as_str());
    (
        lists::distinct(variants, usize::MAX),
        lists::distinct(faults, usize::MAX),
    )
}

/// Variants down, faults across, and a line for each seed.
fn matrix(night: &Night) -> Markup {
    let (variants, faults) = axes(night);
    let body = html! {
        p.legend {
            @for outcome in CellOutcome::ALL {
                span class={ "o-" (outcome.class()) } { b { (outcome.sign()) } " " (outcome.words()) }
            }
        }
        div.wide {
            table.matrix {
                thead { tr { td {} @for list in &faults { th scope="col" { (faults_head(list)) } } } }
                tbody { @for variant in variants { (variant_row(night, variant, &faults)) "\n" } }
            }
        }
    };
    titled("matrix", "Variants under faults", body)
}

/// A list of faults, which may be broken after each comma.
fn faults_head(faults: &str) -> Markup {
    html! {
        @for (at, fault) in text::clip(faults, 80).split(',').enumerate() {
            @if at > 0 { "," wbr; }
            (fault)
        }
    }
}

fn variant_row(night: &Night, variant: &str, faults: &[&str]) -> Markup {
    let (family, name) = variant.split_once('/').unwrap_or(("", variant));
    html! {
        tr {
            th scope="row" { span.family { (text::clip(family, 40)) "/" } (text::clip(name, 60)) }
            @for list in faults { (place(night, variant, list)) }
        }
    }
}

fn place(night: &Night, variant: &str, faults: &str) -> Markup {
    let mut cells = night.cells_at(variant, faults).peekable();
    match cells.peek() {
        None => html! { td.empty { span.o-none { "another part" } } },
        Some(_) => html! { td { @for one in cells { (cell(night, one)) } } },
    }
}

fn cell(night: &Night, cell: &Cell) -> Markup {
    let attempt = cell.decisive();
    let anomalies = attempt.iter().flat_map(|attempt| &attempt.anomalies);
    let words = match (cell.outcome, attempt.and_then(|attempt| attempt.verdict.as_deref())) {
        (CellOutcome::Expected, Some("valid")) => "valid",
        (CellOutcome::Expected, Some("invalid")) => "as known",
        (outcome, _) => outcome.words(),
    };
    let label = html! { b { (cell.outcome.sign()) } " " span { (words) } };
    html! {
        div class={ "cell o-" (cell.outcome.class()) } {
            @match attempt.and_then(|attempt| attempt.run.as_ref()) {
                Some(run) => a href={ (text::visible(run)) "/report.html" } { (label) },
                None => (label),
            }
            @if cell.attempts.len() > 1 { " " small { "after " (cell.attempts.len()) " runs" } }
            " " small { (cell.seed_shown()) }
            @for anomaly in anomalies.filter(|anomaly| !anomaly.advisory && anomaly.root.is_none()) {
                (chip(night.standing(cell, anomaly), anomaly, attempt.map_or(&[], |attempt| &attempt.anomalies)))
            }
            (unjudged_checks(attempt.into_iter().flat_map(|attempt| &attempt.not_judged)))
        }
    }
}

/// A root among the anomalies of a run, with its standing and what follows from it.
fn chip(standing: Standing, anomaly: &AnomalyCount, all: &[AnomalyCount]) -> Markup {
    let class = match standing {
        Standing::Known => "known",
        Standing::NewTonight | Standing::StillThere => "news",
    };
    html! {
        span class={ "seen " (class) } title=(text::clip(&anomaly.why, 300)) {
            (text::clip(&anomaly.counted(all), 120)) " " i { (standing.words()) }
        }
    }
}

/// What failed, one for each signature, and the cells without a verdict; sections without entries are left out.
fn failures(night: &Night) -> Markup {
    let undecided = night.cells_with(&[CellOutcome::Unknown, CellOutcome::Failed]);
    let skipped = night.cells_with(&[CellOutcome::Skipped]);
    html! {
        (failures_of("failures", "New tonight", &night.failures_of(Standing::NewTonight)))
        (failures_of("still", "Still there", &night.failures_of(Standing::StillThere)))
        @if !undecided.is_empty() {
            section #undecided {
                h2 { "Without a verdict" }
                ul { @for cell in undecided { (problem(cell)) } }
            }
        }
        @if !skipped.is_empty() {
            section #skipped {
                h2 { "Not run (" (skipped.len()) " of " (night.cells.len()) ")" }
                p {
                    "There was no time left for these, or the night was stopped. The next night takes them before others."
                }
                ul.skipped { @for cell in skipped { li { (name(cell)) } } }
            }
        }
    }
}

fn failures_of(id: &str, head: &str, failures: &[&NightFailure]) -> Markup {
    html! {
        @if !failures.is_empty() {
            section id=(id) {
                h2 { (head) " (" (failures.len()) ")" }
                @for one in failures { (failure(one)) "\n" }
            }
        }
    }
}

fn name(cell: &Cell) -> Markup {
    html! {
        b { (text::clip(&cell.variant, 80)) } " under " (text::clip(&cell.faults, 80)) ", " (cell.seed_in_full())
    }
}

fn failure(failure: &NightFailure) -> Markup {
    let reports = failure.seeds.iter().zip(&failure.runs).take(REPORTS);
    html! {
        article.failure {
            h3 {
                span.badge.violation { (text::clip(&failure.anomaly, 60)) } " breaks “" (text::clip(&failure.property, 80)) "”"
                " · " (text::clip(&failure.variant, 80)) " under " (text::clip(&failure.faults, 80))
                " · " (text::count(failure.seeds.len(), "cell")) " · " (text::clip(&failure.since, 120))
            }
            p { (text::clip(&failure.why, 2000)) }
            @if let Some(cause) = cause(&failure.cause, failure.cause_proven) { (cause) }
            @if !failure.followers.is_empty() { p.facts { "From it follow: " (text::clip(&failure.followers, 300)) } }
            p.facts {
                "Reports: "
                @for (at, (seed, run)) in reports.enumerate() {
                    @if at > 0 { ", " }
                    a href={ (text::visible(run)) "/report.html" } { "seed " (seed) }
                }
            }
            pre { (text::visible(&failure.again)) }
        }
    }
}

fn problem(cell: &Cell) -> Markup {
    html! {
        li {
            (cell.outcome.sign()) " " (name(cell)) ": " (cell.outcome.words())
            ul {
                @for attempt in &cell.attempts {
                    @let why = match &attempt.error {
                        Some(error) => format!("the harness failed: {error}"),
                        None => attempt.reasons.join("; "),
                    };
                    li {
                        "seed " (attempt.seed) ": " (text::clip(&why, 1200))
                        @if let Some(run) = &attempt.run { " " a href=(text::visible(run)) { "its folder" } }
                        br;
                        code { (text::visible(&attempt.again)) }
                    }
                }
            }
        }
    }
}

/// How each place of the matrix did over the last nights.
fn trends(night: &Night) -> Markup {
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
            ", the newest at the right. A bar up is an anomaly that is not known, a dot is as expected, a ring has no verdict, a gap was not run."
        }
        div.wide {
            table.trends {
                thead {
                    tr {
                        @for head in ["Variant", "Faults", "Nights", "In words"] { th scope="col" { (head) } }
                    }
                }
                tbody { "\n" @for trend in &night.trends { (trend_row(night, trend)) "\n" } }
            }
        }
    };
    titled("trends", &format!("The last {} nights", night.nights.len()), body)
}

fn trend_row(night: &Night, trend: &Trend) -> Markup {
    html! {
        tr {
            td { (text::clip(&trend.variant, 80)) }
            td { (text::clip(&trend.faults, 80)) }
            td { (trend_spark(night, trend)) }
            td { (trend_words(trend)) }
        }
    }
}

fn trend_spark(night: &Night, trend: &Trend) -> Markup {
    let title = |name: &str, outcome: CellOutcome| html! { (text::clip(name, 60)) ": " (outcome.words()) };
    let nights = trend.outcomes.iter().zip(&night.nights);
    let nights = nights.map(|(outcome, name)| outcome.map(|outcome| (outcome, title(name, outcome))));
    spark(&trend_words(trend), nights)
}

/// `as expected in 9 of 10; stale-write (known) seen in 8 of 10`.
fn trend_words(trend: &Trend) -> String {
    let count = |outcome| trend.outcomes.iter().filter(|o| **o == Some(outcome)).count();
    let outcomes = trend.outcomes.iter().flatten();
    let run = outcomes.filter(|o| **o != CellOutcome::Skipped).count();
    let mut parts = vec![match run {
        0 => "not run yet".to_string(),
        run => format!("as expected in {} of {run}", count(CellOutcome::Expected)),
    }];
    for (kind, accepted, nights) in &trend.seen {
        let note = if *accepted { "known" } else { "not known" };
        parts.push(format!(
            "{} ({note}) seen in {nights} of {}",
            text::clip(kind, 60),
            trend.judged
        ));
    }
    parts.join("; ")
}

/// Nights as marks in a row, the newest at the right: what came of each, with words for that; nothing where it is not
/// known. `label` is what a screen reader reads out.
pub fn spark(label: &str, nights: impl ExactSizeIterator<Item = Option<(CellOutcome, Markup)>>) -> Markup {
    let width = STEP * nights.len();
    html! {
        svg.spark role="img" aria-label=(label) width=(width) height="22" viewBox={ "0 0 " (width) " 22" } {
            path.base d={ "M0 19.5H" (width) } {}
            @for (n, night) in nights.enumerate() {
                @if let Some((outcome, words)) = night { (spark_mark(n * STEP + STEP / 2, outcome, &words)) }
            }
        }
    }
}

fn spark_mark(x: usize, outcome: CellOutcome, words: &Markup) -> Markup {
    let title = html! { title { (words) } };
    match outcome {
        CellOutcome::Skipped => Markup::default(),
        CellOutcome::Expected => html! { circle.m-expected cx=(x) cy="15" r="2.5" { (title) } },
        CellOutcome::New => html! { path.m-new d={ "M" (x) " 2V19" } { (title) } },
        CellOutcome::Unknown | CellOutcome::Failed => html! { circle.m-unknown cx=(x) cy="12" r="3.5" { (title) } },
    }
}
