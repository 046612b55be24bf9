//! Marks that more than one picture uses: faults, bars of operations, numbers.

use super::scale::TimeScale;
use super::{Svg, text_width};
use crate::model::{Band, DrawnOperation, OperationOutcome, Role, RunModel};
use crate::palette;
use std::fmt::Write;
use zooquake_checkers::analysis::numbered;

/// The least width of a bar. Pictures are never shown smaller than in their own units, so that it is a pixel at least.
pub const PIXEL: f64 = 1.0;

/// Where the labels of faults begin.
const TOP: f64 = 2.0;
/// The most rows of labels.
const ROWS: usize = 3;
/// Height of such a row.
const ROW: f64 = 15.0;

/// Draws faults across the whole picture, with labels in rows above it; returns where the rows end, from where the
/// picture has this height.
pub fn bands(svg: &mut Svg, model: &RunModel<'_>, scale: &TimeScale, height: f64) -> f64 {
    let bands = model.bands.iter().filter(|b| scale.shows(b.from, b.until));
    let seen: Vec<&Band> = bands.take(400).collect();
    let mut row_ends: Vec<f64> = Vec::new();
    let mut places = Vec::new();
    for band in &seen {
        let (x1, label) = (scale.x(band.from), label(band, scale));
        let x = x1.min(scale.right - text_width(&label) - 6.0).max(scale.left);
        let row = row_ends.iter().position(|end| *end <= x).unwrap_or(row_ends.len());
        if row < ROWS {
            row_ends.resize(row_ends.len().max(row + 1), 0.0);
            row_ends[row] = x + text_width(&label) + 12.0;
        }
        places.push((row < ROWS).then_some((x, row, label)));
    }
    let rows_end = TOP + row_ends.len() as f64 * ROW;
    for (band, place) in seen.iter().zip(places) {
        let x1 = scale.x(band.from);
        let class = palette::fault_class(&band.fault);
        stretch(svg, band, scale, (rows_end, rows_end + height));
        if let Some((x, row, label)) = place {
            let y = TOP + row as f64 * ROW;
            svg.line(
                &format!("stem {class}"),
                (x1.max(scale.left), y + 2.0),
                (x1.max(scale.left), rows_end),
            );
            svg.rect(
                &format!("tag {class}"),
                (x, y, text_width(&label) + 8.0, 14.0),
                &title(band),
            );
            svg.text("tagtext", (x + 4.0, y + 10.5), &label);
        }
    }
    rows_end
}

/// Draws one fault: paler from its strike until its effect was verified, where a tick stands, and from its healing
/// until that was seen.
fn stretch(svg: &mut Svg, band: &Band, scale: &TimeScale, (top, bottom): (f64, f64)) {
    let class = palette::fault_class(&band.fault);
    let (x1, sure) = (scale.x(band.from), scale.x(band.sure()));
    let x2 = scale.x(band.until.unwrap_or(u64::MAX)).max(x1 + 1.5);
    if sure - x1 >= 0.5 {
        let place = (x1, top, sure.min(x2) - x1, bottom - top);
        svg.rect(&format!("band struck {class}"), place, &title(band));
    }
    if band.verified.is_some() {
        let ended = scale.x(band.ended()).clamp(sure, x2);
        let full = (sure, top, (ended - sure).max(1.5_f64.min(x2 - sure)), bottom - top);
        svg.rect(&format!("band {class}"), full, &title(band));
        if x2 - ended >= 0.5 {
            svg.rect(
                &format!("band struck {class}"),
                (ended, top, x2 - ended, bottom - top),
                &title(band),
            );
        }
        if sure - x1 >= 0.5 && scale.shows(band.sure(), Some(band.sure())) {
            svg.line(&format!("verified {class}"), (sure, top), (sure, bottom));
        }
    }
}

/// Draws on one row that the faults hit its client.
pub fn hatch(svg: &mut Svg, model: &RunModel<'_>, scale: &TimeScale, client: &str, y: f64, height: f64) {
    let hits = |b: &&Band| b.hits(client) && scale.shows(b.from, b.until);
    for band in model.bands.iter().filter(hits).take(400) {
        let (x1, x2) = (scale.x(band.from), scale.x(band.ended()));
        let class = format!("hatch {}", palette::fault_class(&band.fault));
        svg.rect(&class, (x1, y, (x2 - x1).max(2.0), height), "");
    }
}

/// What is written beside a fault: what and whom; when space allows, until when.
fn label(band: &Band, scale: &TimeScale) -> String {
    let seconds = scale.shown() as f64 / 1e9;
    let digits = if seconds < 2.0 { 2 } else { 1 };
    let until = match band.ended() {
        u64::MAX => "never healed".into(),
        until => format!("{:.digits$} s", until as f64 / 1e9),
    };
    let span = format!("{} {:.digits$}–{until}", band.label(), band.from as f64 / 1e9);
    let room = scale.x(band.until.unwrap_or(u64::MAX)) - scale.x(band.from);
    // A hairline: its moment is its span.
    if room < 2.0 && seconds >= 15.0 {
        return format!("{} {:.digits$} s", band.label(), band.from as f64 / 1e9);
    }
    if room > text_width(&span) || seconds < 15.0 {
        span
    } else {
        band.label()
    }
}

/// A fault in words.
fn title(band: &Band) -> String {
    let counts = if band.counts { "counts" } else { "does not count" };
    let (window, course) = (numbered(band.id), band.course());
    format!("{window}: {course}{}, {counts}", band.verification())
}

/// Draws bars of the operations of one row, those of a role as one path.
pub fn op_bars(svg: &mut Svg, ops: &[&DrawnOperation<'_>], scale: &TimeScale, y: f64, height: f64) {
    for role in Role::ALL {
        let ops = ops.iter().filter(|op| op.role == role && !op.control);
        let spans = ops.map(|op| (scale.x(op.start), scale.x(op.end.unwrap_or(u64::MAX))));
        svg.path(palette::role_class(role), &bars(spans, y, height));
    }
}

/// Bars by their beginnings, as one path: each a pixel wide at least, and those too close to distinguish merged.
pub fn bars(spans: impl Iterator<Item = (f64, f64)>, y: f64, height: f64) -> String {
    let mut d = String::new();
    let mut bar = |(x1, x2): (f64, f64)| {
        let _ = write!(d, "M{x1:.1} {y:.1}h{:.1}v{height}h{:.1}z", x2 - x1, x1 - x2);
    };
    let mut open: Option<(f64, f64)> = None;
    for (x1, x2) in spans {
        let x2 = x2.max(x1 + PIXEL);
        open = Some(match open {
            Some((from, until)) if x1 <= until + 0.5 => (from, until.max(x2)),
            Some(done) => {
                bar(done);
                (x1, x2)
            }
            None => (x1, x2),
        });
    }
    open.into_iter().for_each(&mut bar);
    d
}

/// Places where operations ended badly: crosses for `fail`, rings for `info`.
pub fn bad_ends(ops: &[&DrawnOperation<'_>], outcome: OperationOutcome, scale: &TimeScale, y: f64) -> String {
    let mut d = String::new();
    let mut drawn = f64::MIN;
    for op in ops.iter().filter(|op| op.outcome == outcome && !op.control) {
        let x = scale.x(op.end.unwrap_or(op.start));
        if x > drawn + 1.0 {
            let _ = match outcome {
                OperationOutcome::Fail => write!(d, "M{:.1} {:.1}l5 5m0-5l-5 5", x - 2.5, y - 2.5),
                _ => write!(d, "M{:.1} {y:.1}a2.5 2.5 0 1 1 5 0a2.5 2.5 0 1 1-5 0", x - 2.5),
            };
            drawn = x;
        }
    }
    d
}

/// A numbered disc, with a stem to the moment it marks.
pub fn number(svg: &mut Svg, n: usize, last: bool, (x, y): (f64, f64), foot: (f64, f64)) {
    let class = if last { "num last" } else { "num" };
    svg.line(if last { "numstem last" } else { "numstem" }, (x, y + 7.0), foot);
    svg.disc(class, (x, y), number_radius(n));
    svg.text("numtext mid", (x, y + 3.8), &n.to_string());
}

/// The radius of a disc that a number fits into.
pub fn number_radius(n: usize) -> f64 {
    match n {
        0..100 => 8.0,
        100..1000 => 10.5,
        _ => 14.0,
    }
}

/// An arrow to the edge of a disc of that radius.
pub fn arrow(svg: &mut Svg, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64), radius: f64) {
    let (dx, dy) = (x2 - x1, y2 - y1);
    let length = dx.hypot(dy);
    svg.disc(&format!("{class} origin"), (x1, y1), 3.5);
    if length <= radius + 4.0 {
        return;
    }
    let (dx, dy) = (dx / length, dy / length);
    let (tip, back) = ((x2 - dx * radius, y2 - dy * radius), radius + 8.0);
    let (foot_x, foot_y) = (x2 - dx * back, y2 - dy * back);
    svg.line(class, (x1, y1), (foot_x, foot_y));
    let (left, right) = (
        (foot_x - dy * 4.0, foot_y + dx * 4.0),
        (foot_x + dy * 4.0, foot_y - dx * 4.0),
    );
    let head = format!(
        "M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}z",
        tip.0, tip.1, left.0, left.1, right.0, right.1
    );
    svg.path(&format!("{class} head"), &head);
}

#[cfg(test)]
mod tests {
    use super::bars;

    #[test]
    fn a_bar_of_no_width_is_a_pixel_wide() {
        assert_eq!(bars([(5.0, 5.0)].into_iter(), 2.0, 3.0), "M5.0 2.0h1.0v3h-1.0z");
        let two = bars([(5.0, 5.1), (5.2, 5.3)].into_iter(), 2.0, 3.0);
        assert_eq!(two, "M5.0 2.0h1.2v3h-1.2z", "they are one bar");
    }
}
