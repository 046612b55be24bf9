//! The picture of a group: a row a watcher, and in it a line a member.

use super::scale::TimeScale;
use super::{Svg, WIDTH, marks};
use crate::model::{DrawnGroup, RunModel};
use crate::text;
use maud::Markup;

const LEFT: f64 = 96.0;
/// The height of a member's line.
const LINE: f64 = 12.0;

/// Draws who was a member when, and what each client showed of that.
pub fn draw(model: &RunModel<'_>, group: &DrawnGroup) -> Markup {
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
