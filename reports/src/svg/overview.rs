//! The picture of the whole run: every client, every fault, every anomaly, and the clients' sessions.

use super::legend::key;
use super::scale::TimeScale;
use super::{Svg, WIDTH, marks};
use crate::model::{DrawnOperation, OperationOutcome, RunModel, SessionLane, SessionMarks};
use crate::{palette, text};
use maud::{Markup, html};
use zooquake_checkers::analysis::SessionEnd;

const LEFT: f64 = 72.0;
const ROW: f64 = 19.0;
/// Height of a server's row.
const SERVER: f64 = 12.0;
/// Height of the row of a client's sessions.
const SESSION: f64 = 12.0;

/// Draws the whole run.
pub fn draw(model: &RunModel<'_>, id: &str) -> Markup {
    let scale = TimeScale::whole(model, LEFT);
    let servers = model.servers.len() as f64 * SERVER + if model.servers.is_empty() { 0.0 } else { 6.0 };
    let below = servers + sessions_height(&model.sessions);
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
    session_rows(&mut svg, &model.sessions, &scale, rows_end + servers);
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

/// The height of all rows of sessions.
fn sessions_height(lanes: &[SessionLane]) -> f64 {
    lanes.len() as f64 * SESSION + if lanes.is_empty() { 0.0 } else { 6.0 }
}

/// Draws a row for each client that has sessions.
fn session_rows(svg: &mut Svg, lanes: &[SessionLane], scale: &TimeScale, top: f64) {
    for (i, lane) in lanes.iter().enumerate() {
        let y = top + i as f64 * SESSION;
        svg.text(
            "lane end small",
            (scale.left - 6.0, y + 9.0),
            &format!("{} session", lane.client),
        );
        for session in &lane.sessions {
            let (x, end) = (scale.x(session.from), scale.x(session.until.unwrap_or(u64::MAX)));
            // The next one is to be seen apart from it.
            let width = (end - x - 1.0).max(marks::PIXEL);
            svg.rect("session", (x, y + 1.0, width, 7.0), &session.words);
            for &(from, until) in &session.away {
                let (from, until) = (scale.x(from), scale.x(until));
                svg.rect("away", (from, y + 1.0, (until - from).max(marks::PIXEL), 7.0), "");
            }
        }
        // Later bars must not cover them.
        for session in &lane.sessions {
            for at in &session.moves {
                let x = scale.x(*at);
                svg.path("moved", &format!("M{x:.1} {:.1}l4 4.5l-4 4.5l-4-4.5z", y));
            }
            let end = scale.x(session.until.unwrap_or(u64::MAX));
            match session.end {
                Some(SessionEnd::Expired) => {
                    svg.path("badend", &format!("M{:.1} {:.1}l6 6m0-6l-6 6", end - 3.0, y + 1.5));
                }
                Some(_) => svg.line("sessionend", (end, y), (end, y + 9.0)),
                None => {}
            }
        }
    }
}

/// What the marks of sessions mean, of those that occur; nothing without sessions.
pub fn sessions_legend(lanes: &[SessionLane]) -> Markup {
    let occur = SessionMarks::new(lanes);
    html! {
        @if !lanes.is_empty() { (key("session", "", "has a session")) }
        @if occur.away { (key("away", "", "not connected")) }
        @if occur.moved { (key("moved", "◆", "moved to another server")) }
        @if occur.expired { (key("bad", "×", "at the end of a session: expired by the ensemble")) }
        @if occur.closed { (key("sessionend", "|", "closed")) }
        @if occur.ended && !occur.closed { (key("sessionend", "|", "closed or expired")) }
    }
}
