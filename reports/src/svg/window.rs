//! The picture of one anomaly: the clients involved, around the events that prove it.

use super::scale::TimeScale;
use super::{Svg, marks, text_width};
use crate::model::{Hold, Op, Outcome, Role, Step, Story};
use crate::palette;
use crate::text;
use std::collections::BTreeSet;

const WIDTH: f64 = 1200.0;
const LEFT: f64 = 52.0;
const ROW: f64 = 46.0;

/// The span of time that the picture of these steps shows: the steps, the faults that were on, and some air.
pub fn span(story: &Story<'_>, steps: &[Step]) -> (u64, u64) {
    let from = steps.iter().map(|s| s.time).min().unwrap_or(0);
    let until = steps.iter().map(|s| s.time).max().unwrap_or(story.end);
    let air = ((until - from) / 14).max(60_000_000);
    // A fault that began long before, or ends long after, must not squeeze the steps together.
    let reach = ((until - from) / 2).max(500_000_000);
    let (mut first, mut last) = (from, until);
    for band in story.bands_near(from, until) {
        if band.from < from && from - band.from <= reach {
            first = first.min(band.from);
        }
        if let Some(end) = band.until.filter(|end| *end > until && end - until <= reach) {
            last = last.max(end);
        }
    }
    (
        first.saturating_sub(air),
        last.saturating_add(air).min(story.end.max(until)),
    )
}

/// Draws the steps of an anomaly.
pub fn draw(story: &Story<'_>, steps: &[Step], id: &str, label: &str) -> String {
    let (from, until) = span(story, steps);
    let scale = TimeScale {
        from,
        until,
        left: LEFT,
        right: WIDTH - 8.0,
    };
    let rows = rows(story, steps, &scale);
    let leads = leads(story, &scale);
    let lead_height = if leads.is_empty() { 0.0 } else { 20.0 };
    let height = rows.len() as f64 * ROW + lead_height;
    let mut svg = Svg::new(WIDTH);
    let top = marks::bands(&mut svg, story, &scale, 2.0, |rows_end| rows_end + height + 4.0);
    let bottom = top + height + 4.0;
    scale.draw(&mut svg, top, bottom);
    for (i, &lane) in rows.iter().enumerate() {
        row(&mut svg, story, &scale, lane, top + i as f64 * ROW + 2.0);
    }
    for (x1, x2, words) in &leads {
        let y = bottom - 18.0;
        svg.text("lane end", (LEFT - 6.0, y + 11.0), "leader");
        svg.rect("leads", (*x1, y, x2 - x1 - 1.0, 14.0), words);
        if text_width(words) < x2 - x1 {
            svg.text("leadtext", (x1 + 5.0, y + 10.5), words);
        }
    }
    numbers(&mut svg, steps, &rows, &scale, top, bottom);
    svg.finish(id, bottom + 18.0, label)
}

/// The clients to show: those of the steps, those the faults hit, those that held; at most six beside the first.
fn rows(story: &Story<'_>, steps: &[Step], scale: &TimeScale) -> Vec<usize> {
    let mut rows: BTreeSet<usize> = steps.iter().filter_map(|s| s.lane).take(8).collect();
    let hit = story.bands_near(scale.from, scale.until).flat_map(|b| &b.targets);
    let hit = hit.filter_map(|t| story.lanes.row_of(t));
    let held = story
        .holds
        .iter()
        .filter(|h| scale.shows(h.from, h.until))
        .map(|h| h.lane);
    for lane in hit.chain(held) {
        if rows.len() < 5 {
            rows.insert(lane);
        }
    }
    rows.into_iter().collect()
}

/// Who led, as spans of the picture with words for them.
fn leads(story: &Story<'_>, scale: &TimeScale) -> Vec<(f64, f64, String)> {
    let mut leads = Vec::new();
    for server in &story.servers {
        for span in server
            .spans
            .iter()
            .filter(|s| s.mode == "leader" && scale.shows(s.from, Some(s.until)))
            .take(40)
        {
            let words = format!("{} leads, epoch {}", server.name, span.epoch);
            leads.push((scale.x(span.from), scale.x(span.until), words));
        }
    }
    leads
}

/// One client: its holds, what it waited and worked for, and what arrived at the resource.
fn row(svg: &mut Svg, story: &Story<'_>, scale: &TimeScale, lane: usize, y: f64) {
    let name = &story.lanes.names()[lane];
    svg.text("lane end", (LEFT - 6.0, y + 33.0), &text::clip(name, 7));
    svg.line("row", (LEFT, y + ROW - 2.0), (scale.right, y + ROW - 2.0));
    marks::hatch(svg, story, scale, name, y + 1.0, ROW - 4.0);
    for hold in story
        .holds
        .iter()
        .filter(|h| h.lane == lane && scale.shows(h.from, h.until))
        .take(2000)
    {
        draw_hold(svg, scale, hold, y);
    }
    let ops: Vec<&Op> = story
        .ops
        .iter()
        .filter(|op| op.lane == lane && scale.shows(op.start, op.end))
        .collect();
    for (role, class) in [
        (Role::Wait, "wait"),
        (Role::Work, "workbar"),
        (Role::Leave, "leave"),
        (Role::Other, "other"),
    ] {
        svg.path(class, &marks::op_bars(&ops, role, scale, y + 29.0, 11.0));
    }
    for op in ops.iter().filter(|op| op.role != Role::Leave && !op.control).take(400) {
        bar_text(svg, scale, op, y);
    }
    for op in ops
        .iter()
        .filter(|op| op.end.is_some_and(|e| e >= scale.from && e <= scale.until))
        .take(2000)
    {
        arrival(svg, scale, op, y);
    }
}

fn draw_hold(svg: &mut Svg, scale: &TimeScale, hold: &Hold<'_>, y: f64) {
    let (x1, x2) = (scale.x(hold.from), scale.x(hold.until.unwrap_or(u64::MAX)));
    let ended = hold.until.map_or("not ended".into(), |u| {
        format!("{} at {}", hold.ended_by, text::moment(u))
    });
    let grant = text::clip(hold.grant, 24);
    svg.rect(
        "hold",
        (x1, y + 17.0, x2 - x1, 25.0),
        &format!("holds {grant} from {}, {ended}", text::moment(hold.from)),
    );
    let words = [format!("holds {grant}"), grant.clone()]
        .into_iter()
        .find(|w| text_width(w) + 6.0 < x2 - x1);
    if let Some(words) = words {
        svg.text("holdtext", (x1 + 4.0, y + 26.5), &words);
    }
}

fn bar_text(svg: &mut Svg, scale: &TimeScale, op: &Op<'_>, y: f64) {
    let (x1, x2) = (scale.x(op.start), scale.x(op.end.unwrap_or(u64::MAX)));
    let (words, class) = match op.role {
        Role::Wait => ("waits".to_owned(), "waittext"),
        Role::Work => match op.invoke.int("work_ms") {
            Some(ms @ 1..) => (
                format!("works {}", text::duration(ms.unsigned_abs().saturating_mul(1_000_000))),
                "worktext",
            ),
            _ => ("writes".to_owned(), "worktext"),
        },
        _ => (text::clip(op.f, 24), "worktext"),
    };
    if text_width(&words) + 14.0 < x2 - x1 {
        svg.text(class, (x1 + 5.0, y + 38.0), &words);
    }
}

/// What a write came to when it arrived: a tick, a cross, or a question mark.
fn arrival(svg: &mut Svg, scale: &TimeScale, op: &Op<'_>, y: f64) {
    let (x, y) = (scale.x(op.end.unwrap_or(op.start)), y + 34.5);
    match op.accepted() {
        Some(true) => {
            svg.disc("took", (x, y), 6.5);
            svg.path("tick", &format!("M{:.1} {:.1}l2.4 2.6l4.2-5.2", x - 3.2, y + 0.3));
        }
        Some(false) => {
            svg.disc("refused", (x, y), 6.5);
            svg.path("tick", &format!("M{:.1} {:.1}l5 5m0-5l-5 5", x - 2.5, y - 2.5));
        }
        None if op.outcome == Outcome::Fail => svg.path("badend", &marks::bad_ends(&[op], Outcome::Fail, scale, y)),
        None if op.outcome == Outcome::Info && !op.control => {
            svg.disc("unknown", (x, y), 6.5);
            svg.text("numtext mid", (x, y + 3.8), "?");
        }
        None => {}
    }
}

/// The numbers of the steps, side by side where they would cover each other.
fn numbers(svg: &mut Svg, steps: &[Step], rows: &[usize], scale: &TimeScale, top: f64, bottom: f64) {
    let mut taken: Vec<f64> = vec![f64::MIN; rows.len() + 1];
    if let Some(last) = steps.last() {
        let x = scale.x(last.time);
        svg.line("moment", (x, top), (x, bottom));
    }
    for step in steps {
        let row = step.lane.and_then(|l| rows.iter().position(|r| *r == l));
        let slot = row.unwrap_or(rows.len());
        let x = scale.x(step.time);
        let shown = x.max(taken[slot] + 18.0).max(scale.left + 8.0).min(WIDTH - 10.0);
        taken[slot] = shown;
        let y = row.map_or(bottom - 10.0, |r| top + r as f64 * ROW + 10.0);
        marks::number(svg, step.number, step.number == steps.len(), (shown, y), (x, y + 11.0));
    }
}

/// What the marks of the picture mean.
pub fn legend(story: &Story<'_>) -> String {
    let out = String::from(concat!(
        r#"<p class="legend"><span><i class="key hold"></i>holds</span><span><i class="key wait"></i>waits</span>"#,
        r#"<span><i class="key workbar"></i>works, then writes</span><span><i class="key leave"></i>releases</span><span><i class="key took">✓</i>write accepted</span>"#,
        r#"<span><i class="key refused">✗</i>refused</span><span><i class="key unknown">?</i>outcome unknown</span>"#,
        r#"<span><i class="key num">1</i>step below</span>"#
    ));
    out + &fault_keys(story) + "</p>\n"
}

/// The kinds of fault of the run, for a legend.
pub fn fault_keys(story: &Story<'_>) -> String {
    let key = |kind: &str| {
        let class = palette::fault_class(kind);
        format!(
            r#"<span><i class="key fault {class}"></i>{}</span>"#,
            text::html(kind, 30)
        )
    };
    story.fault_kinds().into_iter().map(key).collect()
}
