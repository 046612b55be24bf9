//! Pictures for places that show no pages.
//!
//! The font is embedded, so that a picture needs no fonts of the machine and is the same on all.

pub mod charts;
pub mod figures;
mod frame;
pub mod measurement;
pub mod messages;
pub mod timeline;

use crate::model::RunModel;
use crate::palette::Rgb;
use crate::text;
use ::png::{AdaptiveFilterType, BitDepth, ColorType, Compression, Encoder};
use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::path::Path;
use zooquake_history::FaultKind;

/// A picture, or a part of one.
type Area<'a> = DrawingArea<BitMapBackend<'a>, Shift>;

const FONT: &str = "zooquake";
const WIDTH: u32 = 1200;
const HEIGHT: u32 = 700;
const LEGEND: u32 = 40;
/// Room for the title and the line below it.
const HEADING: u32 = 58;
/// From one row of a legend to the next.
const LEGEND_ROW: u32 = 22;

const INK: RGBColor = RGBColor(27, 31, 36);
const FAINT: RGBColor = RGBColor(89, 99, 110);
const LINE: RGBColor = RGBColor(223, 227, 232);

/// The legend of one colour.
enum Key {
    /// A filled box, with its opacity.
    Box(Rgb, f64),
    /// A mark: a dot, a cross, a ring or a triangle.
    Mark(char, Rgb),
    /// A box whose left half is paler.
    Strike(Rgb),
}

type KeyWithWords = (Key, String);

/// Draws a picture of a run, and writes it.
fn picture(
    path: &Path,
    model: &RunModel<'_>,
    what: &str,
    keys: &[KeyWithWords],
    plot: impl FnOnce(&Area<'_>) -> Result<()>,
) -> Result<()> {
    picture_of(path, model, (what, (WIDTH, HEIGHT - HEADING - LEGEND)), keys, plot)
}

/// The same with room of a given size for the plot.
fn picture_of(
    path: &Path,
    model: &RunModel<'_>,
    (what, (width, height)): (&str, (u32, u32)),
    keys: &[KeyWithWords],
    plot: impl FnOnce(&Area<'_>) -> Result<()>,
) -> Result<()> {
    let title = format!("{} – {what}", text::clip(&model.record.plan.workload.name(), 60));
    let verdict = format!("{} · {}", model.results.verdict, text::clip(&model.extras.run_name, 60));
    sized(path, (width, height + HEADING + LEGEND), (&title, &verdict), keys, plot)
}

/// Draws a picture with a title above and a legend below, and writes it. Its height grows with each further row of the
/// legend.
fn sized(
    path: &Path,
    (width, height): (u32, u32),
    (title, subtitle): (&str, &str),
    keys: &[KeyWithWords],
    plot: impl FnOnce(&Area<'_>) -> Result<()>,
) -> Result<()> {
    plotters::style::register_font(
        FONT,
        FontStyle::Normal,
        include_bytes!("../../assets/DejaVuSans-subset.ttf"),
    )
    .map_err(|_| anyhow!("the embedded font is damaged"))?;
    let keys = legend(width as i32, keys);
    let whole_height = height + keys.last().map_or(0, |(_, (_, row))| *row as u32) * LEGEND_ROW;
    let mut pixels = vec![0; (3 * width * whole_height) as usize];
    let root = BitMapBackend::with_buffer(&mut pixels, (width, whole_height)).into_drawing_area();
    root.fill(&WHITE)?;
    write_text(&root, title, (16, 12), 21, INK)?;
    write_text(&root, subtitle, (16, 38), 14, FAINT)?;
    let (_, below) = root.split_vertically(HEADING);
    let (middle, legend) = below.split_vertically(height - HEADING - LEGEND);
    plot(&middle)?;
    for (key, place) in keys {
        draw_key(&legend, key, place)?;
    }
    root.present()?;
    drop((root, below, middle, legend));
    encode(path, (width, whole_height), &pixels)
}

/// Writes pixels of three bytes each, red, green and blue, row by row from the top, as a PNG. `Err` if the file cannot
/// be written, or the number of pixels is not `width` times `height`.
fn encode(path: &Path, (width, height): (u32, u32), pixels: &[u8]) -> Result<()> {
    let mut picture = Vec::new();
    let mut encoder = Encoder::new(&mut picture, width, height);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Fast);
    encoder.set_adaptive_filter(AdaptiveFilterType::Adaptive);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(crate::publish(path, picture)?)
}

/// The column and the row of each key in a legend of this width.
fn legend(room: i32, keys: &[KeyWithWords]) -> Vec<(&KeyWithWords, (i32, i32))> {
    const LEFT: i32 = 70;
    let (mut x, mut row) = (LEFT, 0);
    let mut places = Vec::new();
    for key in keys {
        let width = 26 + text_width(&key.1, 14) + 14;
        if x + width > room && x > LEFT {
            (x, row) = (LEFT, row + 1);
        }
        places.push((key, (x, row)));
        x += width;
    }
    places
}

fn draw_key(area: &Area<'_>, (key, words): &KeyWithWords, (x, row): (i32, i32)) -> Result<()> {
    let y = row * LEGEND_ROW as i32;
    match *key {
        Key::Box(color, opacity) => {
            let place = [(x, y + 12), (x + 18, y + 25)];
            area.draw(&Rectangle::new(place, rgb(color).mix(opacity).filled()))?;
            area.draw(&Rectangle::new(place, rgb(color).stroke_width(1)))?;
        }
        Key::Strike(color) => {
            for (left, right, opacity) in [(x, x + 9, 0.2), (x + 9, x + 18, 0.6)] {
                let half = [(left, y + 12), (right, y + 25)];
                area.draw(&Rectangle::new(half, rgb(color).mix(opacity).filled()))?;
            }
        }
        Key::Mark(mark, color) => draw_mark(area, mark, (x + 10, y + 18), rgb(color))?,
    }
    write_text(area, words, (x + 26, y + 13), 14, INK)
}

/// Writes a text whose letters have this size, with its upper left corner at a place.
fn write_text(area: &Area<'_>, words: &str, place: (i32, i32), size: i32, color: RGBColor) -> Result<()> {
    let style = (FONT, size).into_font().color(&color);
    area.draw(&Text::new(printable(words), place, style))?;
    Ok(())
}

fn draw_mark(area: &Area<'_>, mark: char, at: (i32, i32), color: RGBColor) -> Result<()> {
    match mark {
        '×' => area.draw(&Cross::new(at, 4, color.stroke_width(2)))?,
        '○' => area.draw(&Circle::new(at, 4, color.stroke_width(1)))?,
        '◆' => {
            let diamond = vec![(at.0, at.1 - 5), (at.0 + 4, at.1), (at.0, at.1 + 5), (at.0 - 4, at.1)];
            area.draw(&Polygon::new(diamond, color.filled()))?;
        }
        '|' => area.draw(&PathElement::new(vec![(at.0, at.1 - 5), (at.0, at.1 + 5)], color))?,
        '▼' => area.draw(&Polygon::new(triangle(at), color.filled()))?,
        _ => area.draw(&Circle::new(at, 3, color.filled()))?,
    }
    Ok(())
}

/// A triangle that points down, around a place.
fn triangle((x, y): (i32, i32)) -> Vec<(i32, i32)> {
    vec![(x - 7, y - 6), (x + 7, y - 6), (x, y + 7)]
}

fn rgb((r, g, b): Rgb) -> RGBColor {
    RGBColor(r, g, b)
}

/// Text with a replacement for what the embedded font lacks.
fn printable(s: &str) -> String {
    let has = |c: char| matches!(c, ' '..='~' | 'µ' | '·' | '×' | '–' | '—' | '…' | '→' | '✓' | '✗');
    s.chars().map(|c| if has(c) { c } else { '\u{fffd}' }).collect()
}

/// Roughly how wide a text is.
fn text_width(s: &str, size: i32) -> i32 {
    s.chars().count() as i32 * size * 58 / 100
}

/// The kinds of fault of the run, for a legend, and what a paler part of a fault means, if one has it.
fn fault_keys(model: &RunModel<'_>) -> impl Iterator<Item = KeyWithWords> {
    let kinds = model.fault_kinds().into_iter();
    let paler = model.bands.iter().any(|band| band.verified != Some(band.from));
    let strike = (Key::Strike((90, 90, 90)), "paler: not verified yet".to_owned());
    let kinds = kinds.map(|k| (Key::Box(FaultKind::by_name(k).colour, 0.3), text::clip(k, 16)));
    kinds.chain(Some(strike).filter(|_| paler))
}

/// Nanoseconds as seconds.
fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
