//! The rows of the clients' sessions.

use super::scale::TimeScale;
use super::{Svg, legend::key, marks};
use crate::model::{SessionLane, SessionMarks};
use maud::{Markup, html};
use zooquake_checkers::analysis::SessionEnd;

/// Height of a row.
const ROW: f64 = 12.0;

/// The height of all rows.
pub fn height(lanes: &[SessionLane]) -> f64 {
    lanes.len() as f64 * ROW + if lanes.is_empty() { 0.0 } else { 6.0 }
}

/// Draws a row for each client that has sessions.
pub fn draw(svg: &mut Svg, lanes: &[SessionLane], scale: &TimeScale, top: f64) {
    for (i, lane) in lanes.iter().enumerate() {
        let y = top + i as f64 * ROW;
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

/// What the marks mean, of those that occur; nothing without sessions.
pub fn legend(lanes: &[SessionLane]) -> Markup {
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
