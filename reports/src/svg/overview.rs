//! The picture of the whole run: every client, every fault, every anomaly.

use super::scale::TimeScale;
use super::{Svg, WIDTH, marks, sessions};
use crate::model::{DrawnOperation, OperationOutcome, RunModel};
use crate::palette;
use crate::text;
use maud::Markup;

const LEFT: f64 = 72.0;
const ROW: f64 = 19.0;
/// Height of a server's row.
const SERVER: f64 = 12.0;

/// The time axis of the picture, which the page needs to show what part of it is zoomed in on.
pub fn scale(model: &RunModel<'_>) -> TimeScale {
    TimeScale::whole(model, LEFT)
}

/// Draws the whole run.
pub fn draw(model: &RunModel<'_>, id: &str) -> Markup {
    let scale = scale(model);
    let servers = model.servers.len() as f64 * SERVER + if model.servers.is_empty() { 0.0 } else { 6.0 };
    let below = servers + sessions::height(&model.sessions);
    let height = model.lanes.names.len() as f64 * ROW + below + 14.0;
    let mut svg = Svg::new(WIDTH);
    let top = marks::bands(&mut svg, model, &scale, height + 2.0) + 12.0;
    let bottom = top - 10.0 + height;
    scale.draw(&mut svg, top - 12.0, bottom);
    let mut by_lane: Vec<Vec<&DrawnOperation>> = vec![Vec::new(); model.lanes.names.len()];
    model.ops.iter().for_each(|op| by_lane[op.lane].push(op));
    for (lane, ops) in by_lane.iter().enumerate() {
        row(&mut svg, model, &scale, (lane, ops), top + lane as f64 * ROW);
    }
    let rows_end = top + by_lane.len() as f64 * ROW + 4.0;
    server_rows(&mut svg, model, &scale, rows_end);
    sessions::draw(&mut svg, &model.sessions, &scale, rows_end + servers);
    anomalies(&mut svg, model, &scale, top - 11.0, bottom);
    phases(&mut svg, model, &scale, bottom);
    let title = "The whole run: clients, faults and anomalies over time";
    svg.finish(id, bottom + 30.0, title)
}

fn row(svg: &mut Svg, model: &RunModel<'_>, scale: &TimeScale, (lane, ops): (usize, &[&DrawnOperation<'_>]), y: f64) {
    let name = &model.lanes.names[lane];
    svg.text("lane end", (LEFT - 6.0, y + 12.0), &text::name(name, 11));
    marks::hatch(svg, model, scale, name, y + 1.0, ROW - 3.0);
    for shared in [false, true] {
        let holds = model.holds.iter().filter(|h| h.lane == lane && h.shared == shared);
        let spans = holds.map(|h| (scale.x(h.from), scale.x(h.until.unwrap_or(u64::MAX))));
        svg.path(palette::hold_class(shared), &marks::bars(spans, y + 1.5, 15.0));
    }
    marks::op_bars(svg, ops, scale, y + 6.0, 6.0);
    svg.path("badend", &marks::bad_ends(ops, OperationOutcome::Fail, scale, y + 9.0));
    svg.path("badend", &marks::bad_ends(ops, OperationOutcome::Info, scale, y + 9.0));
}

fn server_rows(svg: &mut Svg, model: &RunModel<'_>, scale: &TimeScale, top: f64) {
    for (i, server) in model.servers.iter().enumerate() {
        let y = top + i as f64 * SERVER;
        svg.text("lane end small", (LEFT - 6.0, y + 9.0), &server.name);
        for span in server.spans.iter().take(2000) {
            let class = match span.mode.as_str() {
                "leader" | "standalone" => "leads",
                "follower" | "observer" => "follows",
                _ => "silent",
            };
            let from = text::moment(span.from);
            let words = format!("{} {}, epoch {}, from {from}", server.name, span.mode, span.epoch);
            let (x, until) = (scale.x(span.from), scale.x(span.until));
            svg.rect(class, (x, y, (until - x).max(marks::PIXEL), 9.0), &words);
        }
    }
}

/// A triangle above the moment at which each anomaly was complete.
fn anomalies(svg: &mut Svg, model: &RunModel<'_>, scale: &TimeScale, y: f64, bottom: f64) {
    for (time, anomaly) in model.completed_anomalies() {
        let x = scale.x(time);
        let class = if anomaly.advisory { "flag advisory" } else { "flag" };
        svg.path(class, &format!("M{:.1} {y:.1}h10l-5 9z", x - 5.0));
        if !anomaly.advisory {
            svg.line("moment", (x, y + 9.0), (x, bottom));
        }
    }
}

fn phases(svg: &mut Svg, model: &RunModel<'_>, scale: &TimeScale, bottom: f64) {
    let mut free = f64::MIN;
    for phase in &model.phases {
        let (x, width) = (scale.x(phase.from), super::text_width(&phase.name));
        svg.line("phase", (x, bottom), (x, bottom + 17.0));
        if x > free && x + width < scale.right + 8.0 {
            svg.text("axis", (x + 3.0, bottom + 26.0), &phase.name);
            free = x + width + 8.0;
        }
    }
}
