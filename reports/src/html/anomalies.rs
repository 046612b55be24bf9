//! All anomalies, each with the events that prove it, and those that follow from it; and what they are, with what a
//! recipe must do not to have them.

use super::first_screen::{self, accepted};
use super::tickets::linked;
use crate::model::{DrawnWitness, Mend, Root, RunModel, WitnessStep, listed};
use crate::svg::window;
use crate::{lists, text};
use maud::{Markup, html};
use zooquake_checkers::Anomaly;

/// How many get a picture of their own.
const PICTURES: usize = 8;
/// How many are unfolded from the start.
const OPEN: usize = 3;

pub fn section(model: &RunModel<'_>) -> Markup {
    let anomalies = &model.results.anomalies;
    let counted: usize = model
        .roots
        .iter()
        .map(|root| 1 + root.followers.len() + root.more)
        .sum();
    let body = html! {
        @if anomalies.is_empty() { p { "None." } }
        @for (i, root) in model.roots.iter().enumerate() { (details(model, root, i < OPEN)) "\n" }
        @if anomalies.len() > counted { p { "And " (text::grouped(anomalies.len() - counted)) " more, in results.json." } }
    };
    let heading = format!("Anomalies ({})", text::grouped(anomalies.len()));
    super::titled("anomalies", &heading, body)
}

/// A root, and in it what follows from it, folded.
fn details(model: &RunModel<'_>, root: &Root<'_>, open: bool) -> Markup {
    let count = root.followers.len() + root.more;
    let followers = root.numbered().skip(1);
    let body = html! {
        @if count > 0 {
            details.followers {
                summary { (follow(count)) }
                @for (number, anomaly) in followers { (one(model, (number, anomaly), false, &Markup::default())) }
                @if root.more > 0 { p.more { "And " (text::grouped(root.more)) " more, in results.json." } }
            }
        }
    };
    one(model, (root.number, root.anomaly), open, &body)
}

/// `and 5 that follow from it`.
pub fn follow(count: usize) -> String {
    let verb = if count == 1 { "follows" } else { "follow" };
    format!("and {} that {verb} from it", text::grouped(count))
}

/// What an anomaly comes from, as a paragraph; `None` if that is not known.
pub fn anomaly_cause(anomaly: &Anomaly) -> Option<Markup> {
    let known = anomaly.cause.as_ref()?;
    cause(&known.sentence, known.proven)
}

/// The sentence of a cause as a paragraph; `None` if it is empty.
pub fn cause(sentence: &str, proven: bool) -> Option<Markup> {
    let kind = if proven { "Cause:" } else { "May be:" };
    (!sentence.is_empty()).then(|| html! { p.cause { b { (kind) } " " (text::clip(sentence, 600)) } })
}

/// An anomaly of this number on the page.
fn one(model: &RunModel<'_>, (number, anomaly): (usize, &Anomaly), open: bool, below: &Markup) -> Markup {
    let witness = DrawnWitness::new(model, anomaly);
    let steps = &witness.steps;
    let unknown = anomaly.witness.len() - steps.last().map_or(0, |step| step.number);
    let label = format!("The clients involved in anomaly {number}, over time");
    html! {
        details #{ "a" (number) } .anomaly open[open] {
            summary {
                span.no { (number) } " " (badge(anomaly)) " "
                span.prop { (text::clip(&anomaly.property, 80)) } " "
                span.at { (steps.last().map(|step| text::moment(step.time)).unwrap_or_default()) } " "
                button.show.js type="button" data-anomaly=(number - 1) { "Show in the timeline" }
            }
            p { (text::clip(&anomaly.why, 2000)) }
            @if let Some(cause) = anomaly_cause(anomaly) { (cause) }
            @if let Some(why) = accepted(model, anomaly) { p.accepted { "Known and accepted: " (why) } }
            @if number <= PICTURES && !steps.is_empty() {
                @if first_screen::shows_witness(model, number) { p.more { a href="#first" { "Its picture" } " opens the page." } }
                @else { div.again[is_again(model, number, anomaly)] { (window::draw(model, &witness, &format!("w{number}"), &label)) } }
            }
            (steps_list(&witness, steps.len()))
            @if unknown > 0 { p.more { (text::count(unknown, "step")) " not shown: the history lacks the event" } }
            (below)
        }
    }
}

/// Whether an anomaly with a lower number is of the same kind: on paper one picture of a kind is enough.
fn is_again(model: &RunModel<'_>, number: usize, anomaly: &Anomaly) -> bool {
    let mut numbered = model.roots.iter().flat_map(Root::numbered);
    numbered.any(|(other, earlier)| other < number && earlier.kind == anomaly.kind)
}

/// The kind of an anomaly, with what it means for the verdict.
pub fn badge(anomaly: &Anomaly) -> Markup {
    let (class, note) = match (anomaly.advisory, anomaly.accepted) {
        (true, true) => ("advisory", "advisory, known and accepted"),
        (true, false) => ("advisory", "advisory"),
        (false, true) => ("violation known", "known and accepted"),
        (false, false) => ("violation", ""),
    };
    let name = html! { (text::clip(&anomaly.kind, 60)) };
    html! {
        span class={ "badge " (class) } {
            (named(anomaly, &name))
            @if !note.is_empty() { " " i { (note) } }
        }
    }
}

/// What the anomaly comes from and its steps as a numbered list, of more steps than so many the first and the last
/// ones; the numbers are those of the picture.
pub fn steps_list(witness: &DrawnWitness, most: usize) -> Markup {
    html! {
        ol.steps {
            @for (missing, step) in listed(witness, most) {
                @if missing > 0 { li.gap { "… " (text::grouped(missing)) " more …" } }
                (step_item(step))
            }
        }
    }
}

fn step_item(step: &WitnessStep) -> Markup {
    html! {
        li value=(step.number) {
            span.no.last[step.last] { (step.number) }
            span.at { (text::moment(step.time)) }
            b { (text::visible(&step.who)) } " "
            span title=(text::visible(&step.value)) { (text::clip(&step.what, 320)) } " "
            span.idx { "event " (step.index) }
        }
    }
}

/// The section on what the anomalies of the run are; nothing where none is known by name.
pub fn meanings(model: &RunModel<'_>) -> Markup {
    let named = model
        .results
        .anomalies
        .iter()
        .filter_map(|anomaly| mend(model, anomaly));
    let known = lists::distinct(named, usize::MAX);
    if known.is_empty() {
        return Markup::default();
    }
    let body = html! {
        dl.meanings {
            @for (kind, mend) in known {
                dt #{ "about-" (kind) } { (kind) }
                dd { (mend.meaning) }
                dd { (remedy(mend)) }
            }
        }
        p.note { "The document docs/anomalies.md of zooquake has usual causes and pictures of each." }
    };
    super::titled("meanings", "What these anomalies are, and how to mend a recipe", body)
}

/// The name and the words of an anomaly; `None` of one that no family has.
fn mend(model: &RunModel<'_>, anomaly: &Anomaly) -> Option<(&'static str, &'static Mend)> {
    Mend::by_family(&model.record.plan.workload.family, &anomaly.kind)
}

/// What the recipe must do, as a sentence.
pub fn mend_sentence(model: &RunModel<'_>, anomaly: &Anomaly) -> Option<Markup> {
    let (_, mend) = mend(model, anomaly)?;
    Some(html! { p.mend { (remedy(mend)) } })
}

fn remedy(mend: &Mend) -> Markup {
    html! { b { "Mend:" } " " (linked(mend.sentence)) }
}

/// A name with a link to what it means, where that is known.
fn named(anomaly: &Anomaly, name: &Markup) -> Markup {
    match Mend::by_kind(&anomaly.kind) {
        Some((kind, _)) => html! { a href={ "#about-" (kind) } { (name) } },
        None => name.clone(),
    }
}
