//! Groups: what each client showed of the members, against who was one; a row a watcher, and in it a line a member.

use super::titled;
use crate::model::{DrawnGroup, RunModel};
use crate::svg::scale::TimeScale;
use crate::svg::{Svg, WIDTH, marks};
use crate::text;
use maud::{Markup, html};

const LEFT: f64 = 96.0;
/// The height of a member's line.
const LINE: f64 = 12.0;

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
        (picture(model, &group))
    };
    titled("groups", "Views of the group", body)
}

/// Draws who was a member when, and what each client showed of that.
fn picture(model: &RunModel<'_>, group: &DrawnGroup) -> Markup {
    let scale = TimeScale::whole(model, LEFT);
    let mut svg = Svg::new(WIDTH);
    let row = group.members.len() as f64 * LINE + 16.0;
    let height = row * group.watchers.len() as f64;
    let top = marks::bands(&mut svg, model, &scale, height) + 4.0;
    scale.draw(&mut svg, top, top + height);
    let spans = |spans: &[(u64, u64)], y: f64, height: f64| {
        let places = spans.iter().map(|&(from, until)| (scale.x(from), scale.x(until)));
        marks::bars(places, y, height)
    };
    for (place, watcher) in group.watchers.iter().enumerate() {
        let y = top + row * place as f64 + 11.0;
        let name = &model.lanes.names[watcher.lane];
        svg.text("lane", (2.0, y + 9.0), &text::clip(name, 8));
        for (member, name) in group.members.iter().enumerate() {
            let y = y + member as f64 * LINE;
            svg.text("lane end small", (LEFT - 6.0, y + 9.0), &text::clip(name, 10));
            svg.path("truth", &spans(&group.truth[member], y + 1.0, 4.0));
            svg.path("shade", &spans(&watcher.shown[member], y + 1.0, 9.0));
            svg.path("late", &spans(&watcher.late[member], y + 1.0, 9.0));
        }
        svg.path("blank", &spans(&watcher.blank, y, group.members.len() as f64 * LINE));
    }
    svg.finish(
        "views",
        top + height + 18.0,
        "What each client showed of the group, and who was a member",
    )
}
