//! What recorded the run, and what checked its record.

use crate::model::RunModel;
use crate::text;
use maud::{Markup, html};
use zooquake_history::Provenance;

/// Both, with what the run took place on; nothing where neither is given.
pub fn list(model: &RunModel<'_>) -> Markup {
    let recorded = model.record.provenance.as_ref();
    let checker = Some(model.extras.checked_by.as_str()).filter(|checker| !checker.is_empty());
    let checked = checker.map(|checker| format!("checked by zooquake {checker}"));
    let items: Vec<String> = recorded.into_iter().flat_map(facts).chain(checked).collect();
    if items.is_empty() {
        return Markup::default();
    }
    html! {
        ul.facts { @for item in items { li { (text::clip(&item, 200)) } } }
    }
}

/// What a record has of its origin, in words.
fn facts(provenance: &Provenance) -> Vec<String> {
    let recorder = provenance.recorder();
    let zookeeper = Some(provenance.zookeeper().join(", ")).filter(|versions| !versions.is_empty());
    let text = |name| provenance.text(name).map(str::to_owned);
    let all = [
        ("recorded by zooquake ", recorder),
        ("backend: ", text(Provenance::ON)),
        ("engine: ", text(Provenance::ENGINE)),
        ("ZooKeeper, as its servers reported: ", zookeeper),
        ("image of the recipe's clients: ", text(Provenance::RECIPE)),
    ];
    all.into_iter()
        .filter_map(|(what, value)| Some(format!("{what}{}", value?)))
        .collect()
}
