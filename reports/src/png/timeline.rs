//! `timeline.png`: who held, waited and worked when, under which fault, and where it went wrong.

use super::frame::{self, TimeAxis};
use super::{Area, FAINT, INK, Key, KeyWithWords, LINE, draw_mark, fault_keys, picture, rgb, triangle, write_text};
use crate::model::{DrawnOperation, OperationOutcome, Role, RunModel, SessionMarks};
use crate::svg::scale::nice_step;
use crate::{palette, text};
use anyhow::Result;
use plotters::prelude::*;
use std::path::Path;
use zooquake_checkers::analysis::SessionEnd;
use zooquake_history::FaultKind;

const LEFT: i32 = 84;
const RIGHT: i32 = 1180;
const TOP: i32 = frame::LABELS + 20;
const SESSION: RGBColor = RGBColor(107, 118, 129);
/// Of what is only observed.
const ADVISORY: palette::Rgb = (150, 150, 150);
/// Of one whose client is not connected.
const AWAY: RGBColor = RGBColor(226, 181, 160);

/// Writes the picture.
pub fn write(model: &RunModel<'_>, path: &Path) -> Result<()> {
    // Only the words before the comma or colon: a picture has one line for them all.
    let brief = |words: &str| words.split([',', ':']).next().unwrap_or(words).to_owned();
    let holds = model.terms.holds(model.holds.iter()).into_iter();
    let holds = holds.map(|(shared, words)| (Key::Box(palette::hold(shared), 0.3), brief(&words)));
    let roles = model.terms.roles(&model.ops.iter().collect::<Vec<_>>()).into_iter();
    let roles = roles.map(|(role, words)| (Key::Box(palette::role(role), opacity(role)), brief(words)));
    let mut keys: Vec<KeyWithWords> = holds.chain(roles).collect();
    keys.extend([
        (Key::Mark('×', palette::VIOLATION), "fail".to_owned()),
        (Key::Mark('○', palette::VIOLATION), "info".to_owned()),
        (Key::Mark('▼', palette::VIOLATION), "violation".to_owned()),
        (Key::Mark('▼', ADVISORY), "advisory".to_owned()),
    ]);
    if !model.servers.is_empty() {
        keys.push((Key::Box((0, 114, 178), 0.9), "leads the ensemble".to_owned()));
    }
    keys.extend(session_keys(model));
    keys.extend(fault_keys(model));
    picture(path, model, "clients, holds and faults over time", &keys, |area| {
        plot(area, model)
    })
}

/// Waiting is paler than doing.
fn opacity(role: Role) -> f64 {
    if role == Role::Wait { 0.55 } else { 1.0 }
}

fn plot(area: &Area<'_>, model: &RunModel<'_>) -> Result<()> {
    let height = area.dim_in_pixel().1 as i32;
    let servers = model.servers.len() as i32 * 12;
    let sessions = model.sessions.len() as i32 * 12;
    let span = TimeAxis {
        left: LEFT,
        right: RIGHT,
        top: TOP,
        bottom: height - 44,
        end: model.end,
    };
    axis(area, span)?;
    frame::bands(area, model, TimeAxis { top: TOP - 18, ..span })?;
    let rows = model.lanes.names.len().max(1) as i32;
    let row = ((span.bottom - span.top - servers - sessions - 8) / rows).clamp(8, 110);
    let mut by_lane: Vec<Vec<&DrawnOperation>> = vec![Vec::new(); model.lanes.names.len()];
    model.ops.iter().for_each(|op| by_lane[op.lane].push(op));
    for (lane, ops) in by_lane.iter().enumerate() {
        draw_lane(area, model, span, (lane, ops), (span.top + lane as i32 * row, row))?;
    }
    draw_servers(area, model, span, span.top + rows * row + 6)?;
    draw_sessions(area, model, span, span.top + rows * row + 6 + servers)?;
    anomalies(area, model, span)?;
    frame::phases(area, model, span, span.bottom + 24)
}

fn axis(area: &Area<'_>, span: TimeAxis) -> Result<()> {
    let range = span.end as f64 / 1e9;
    let step = nice_step(range, 12.0);
    for n in 0..=(range / step) as u64 {
        let x = span.x((n as f64 * step * 1e9) as u64);
        area.draw(&PathElement::new(vec![(x, span.top - 14), (x, span.bottom)], LINE))?;
        let label = frame::time_label(n as f64 * step, range);
        write_text(area, &label, (x - 10, span.bottom + 6), 13, FAINT)?;
    }
    Ok(())
}

fn draw_lane(
    area: &Area<'_>,
    model: &RunModel<'_>,
    span: TimeAxis,
    (lane, ops): (usize, &[&DrawnOperation<'_>]),
    (y, row): (i32, i32),
) -> Result<()> {
    let name = &model.lanes.names[lane];
    let size = row.clamp(9, 15);
    write_text(area, &text::name(name, 10), (14, y + row / 2 - size / 2), size, INK)?;
    let inner = (y + 2, y + row - 4);
    let bar = (y + row * 3 / 8, y + row * 3 / 4 - 1);
    for band in model.bands.iter().filter(|band| band.hits(name)).take(400) {
        let (x1, x2) = (span.x(band.from), span.x(band.ended()));
        let color = rgb(FaultKind::by_name(&band.fault).colour).mix(0.35);
        area.draw(&Rectangle::new([(x1, inner.0), (x2, inner.1)], color.filled()))?;
    }
    for shared in [false, true] {
        let holds = model.holds.iter().filter(|h| h.lane == lane && h.shared == shared);
        let spans = holds.map(|h| (span.x(h.from), span.x(h.until.unwrap_or(u64::MAX))));
        bars(area, spans, inner, rgb(palette::hold(shared)).mix(0.35))?;
    }
    for role in Role::ALL {
        let some = ops.iter().filter(|op| op.role == role && !op.control);
        let spans = some.map(|op| (span.x(op.start), span.x(op.end.unwrap_or(u64::MAX))));
        bars(area, spans, bar, rgb(palette::role(role)).mix(opacity(role)))?;
    }
    bad_ends(area, ops, span, (bar.0 + bar.1) / 2)?;
    let line = vec![(span.left, y + row - 1), (span.right, y + row - 1)];
    area.draw(&PathElement::new(line, LINE))?;
    Ok(())
}

/// Crosses and rings where operations failed or ended unknown, one a column.
fn bad_ends(area: &Area<'_>, ops: &[&DrawnOperation<'_>], span: TimeAxis, y: i32) -> Result<()> {
    let mut marked = i32::MIN;
    let bad = |op: &&&DrawnOperation<'_>| {
        !op.control && matches!(op.outcome, OperationOutcome::Fail | OperationOutcome::Info)
    };
    for op in ops.iter().filter(bad) {
        let x = span.x(op.end.unwrap_or(op.start));
        if x > marked {
            let failed = op.outcome == OperationOutcome::Fail;
            draw_mark(area, if failed { '×' } else { '○' }, (x, y), rgb(palette::VIOLATION))?;
            marked = x;
        }
    }
    Ok(())
}

/// Bars by their beginnings; each column is painted once, because translucent paint adds up.
fn bars(
    area: &Area<'_>,
    spans: impl Iterator<Item = (i32, i32)>,
    (top, bottom): (i32, i32),
    color: RGBAColor,
) -> Result<()> {
    let mut painted = i32::MIN;
    for (x1, x2) in spans {
        let (x1, x2) = (x1.max(painted), x2.max(x1 + 1));
        if x2 > x1 {
            area.draw(&Rectangle::new([(x1, top), (x2 - 1, bottom)], color.filled()))?;
            painted = x2;
        }
    }
    Ok(())
}

fn draw_servers(area: &Area<'_>, model: &RunModel<'_>, span: TimeAxis, top: i32) -> Result<()> {
    for (i, server) in model.servers.iter().enumerate() {
        let y = top + 12 * i as i32;
        write_text(area, &server.name, (40, y - 1), 11, FAINT)?;
        for part in server.spans.iter().take(2000) {
            let color = match part.mode.as_str() {
                "leader" | "standalone" => RGBColor(0, 114, 178),
                "follower" | "observer" => RGBColor(169, 201, 222),
                _ => RGBColor(226, 181, 160),
            };
            let corners = [(span.x(part.from), y), (span.x(part.until), y + 8)];
            area.draw(&Rectangle::new(corners, color.filled()))?;
        }
    }
    Ok(())
}

/// Each client's sessions: paler where it was not connected, with a mark where it moved or was ended.
fn draw_sessions(area: &Area<'_>, model: &RunModel<'_>, span: TimeAxis, top: i32) -> Result<()> {
    let bar = |from: i32, until: i32, y: i32, color: RGBColor| {
        // A rectangle has both its edges.
        area.draw(&Rectangle::new([(from, y), (until.max(from), y + 7)], color.filled()))
    };
    for (i, lane) in model.sessions.iter().enumerate() {
        let y = top + 12 * i as i32;
        write_text(area, &format!("{} session", lane.client), (16, y - 1), 11, FAINT)?;
        for session in &lane.sessions {
            let end = span.x(session.until.unwrap_or(u64::MAX));
            bar(span.x(session.from), end - 2, y, SESSION)?;
            for &(from, until) in &session.away {
                bar(span.x(from), span.x(until) - 1, y, AWAY)?;
            }
        }
        // Later bars must not cover them.
        for session in &lane.sessions {
            for at in &session.moves {
                let x = span.x(*at);
                let diamond = vec![(x, y - 1), (x + 4, y + 4), (x, y + 8), (x - 4, y + 4)];
                area.draw(&Polygon::new(diamond, INK.filled()))?;
            }
            let end = span.x(session.until.unwrap_or(u64::MAX));
            match session.end {
                Some(SessionEnd::Expired) => draw_mark(area, '×', (end, y + 4), rgb(palette::VIOLATION))?,
                Some(_) => area.draw(&PathElement::new(vec![(end, y - 1), (end, y + 8)], INK))?,
                None => {}
            }
        }
    }
    Ok(())
}

/// What the rows of sessions show, of what occurs in them.
fn session_keys(model: &RunModel<'_>) -> Vec<KeyWithWords> {
    let occur = SessionMarks::new(&model.sessions);
    let color = |RGBColor(red, green, blue): RGBColor| (red, green, blue);
    let all = [
        (
            !model.sessions.is_empty(),
            Key::Box(color(SESSION), 1.0),
            "has a session",
        ),
        (occur.away, Key::Box(color(AWAY), 1.0), "not connected"),
        (occur.expired, Key::Mark('×', palette::VIOLATION), "session expired"),
        (occur.moved, Key::Mark('◆', color(INK)), "moved"),
        (occur.closed || occur.ended, Key::Mark('|', color(INK)), "session ended"),
    ];
    let occurring = all.into_iter().filter(|(occurs, ..)| *occurs);
    occurring.map(|(_, key, words)| (key, words.to_owned())).collect()
}

fn anomalies(area: &Area<'_>, model: &RunModel<'_>, span: TimeAxis) -> Result<()> {
    for (time, anomaly) in model.completed_anomalies() {
        let color = rgb(if anomaly.advisory { ADVISORY } else { palette::VIOLATION });
        let x = span.x(time);
        let line = vec![(x, span.top - 8), (x, span.bottom)];
        area.draw(&PathElement::new(line, color.mix(0.8)))?;
        area.draw(&Polygon::new(triangle((x, span.top - 8)), color.filled()))?;
    }
    Ok(())
}
