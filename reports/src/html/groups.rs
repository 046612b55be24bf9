//! Groups: what each client showed of the members, against who was one.

use super::titled;
use crate::model::{DrawnGroup, RunModel};
use crate::svg::groups;
use maud::{Markup, html};

/// The section; nothing of a run without groups.
pub fn section(model: &RunModel<'_>) -> Markup {
    let group = DrawnGroup::new(&model.analysis, &model.lanes, model.end);
    if group.watchers.is_empty() {
        return Markup::default();
    }
    let body = html! {
        p {
            "A row a client, and in it a line a member. A member is one from the answer to its register until it leaves, or its session or \
             process ends, by its own client's events."
        }
        p.legend {
            span { i.key.truth {} "is a member" } span { i.key.shade {} "is shown" }
            span { i.key.late {} "differs: is not shown, has an older value, or is no member any more" } span { i.key.blank {} "nothing is shown: not connected" }
        }
        (groups::draw(model, &group))
    };
    titled("groups", "Views of the group", body)
}
