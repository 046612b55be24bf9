//! What the anomalies of the run are, and what a recipe must do not to have them.

use super::tickets::linked;
use crate::lists;
use crate::model::{Mend, RunModel};
use maud::{Markup, html};
use zooquake_checkers::Anomaly;

/// The section; nothing where no anomaly is known by name.
pub fn section(model: &RunModel<'_>) -> Markup {
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
pub fn sentence(model: &RunModel<'_>, anomaly: &Anomaly) -> Option<Markup> {
    let (_, mend) = mend(model, anomaly)?;
    Some(html! { p.mend { (remedy(mend)) } })
}

fn remedy(mend: &Mend) -> Markup {
    html! { b { "Mend:" } " " (linked(mend.sentence)) }
}

/// A name with a link to what it means, where that is known.
pub fn named(anomaly: &Anomaly, name: &Markup) -> Markup {
    match Mend::by_kind(&anomaly.kind) {
        Some((kind, _)) => html! { a href={ "#about-" (kind) } { (name) } },
        None => name.clone(),
    }
}
