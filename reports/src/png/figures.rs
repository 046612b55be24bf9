//! The picture of a comparison: its figures beside each other, rows of marks along an axis.

use super::{Area, FAINT, HEADING, INK, Key, KeyWithWords, LEGEND, LINE, rgb, sized, text_width, write_text};
use crate::compare::figure::{Figure, FigureLabels, Mark, Row, short};
use crate::palette;
use crate::text;
use anyhow::Result;
use plotters::prelude::*;
use std::path::Path;

const LEFT: i32 = 130;
const RIGHT: i32 = 24;
const TOP: i32 = 30;
const WIDTH: u32 = 1400;

/// A picture in the making.
pub struct FigureSheet<'a> {
    pub title: &'a str,
    /// The line below the title.
    pub subtitle: &'a str,
    /// The names of what rows stand for.
    pub labels: FigureLabels<'a>,
    /// Its figures, two beside each other.
    pub figures: Vec<&'a Figure>,
    /// The room for each figure, in pixels.
    pub height: u32,
}

/// Writes the picture, in which there is room for `rows` pairs of figures.
pub fn write(sheet: &FigureSheet<'_>, rows: u32, path: &Path) -> Result<()> {
    let key = |(n, faults): (usize, &&str)| (Key::Box(palette::series(n), 1.0), text::clip(faults, 24));
    let keys: Vec<KeyWithWords> = sheet.labels.faults.iter().enumerate().map(key).collect();
    let height = HEADING + LEGEND + rows * sheet.height;
    sized(path, (WIDTH, height), (sheet.title, sheet.subtitle), &keys, |area| {
        let parts = area.split_evenly((rows as usize, 2));
        for (part, figure) in parts.iter().zip(&sheet.figures) {
            draw(part, &sheet.labels, figure)?;
        }
        Ok(())
    })
}

fn draw(area: &Area<'_>, labels: &FigureLabels<'_>, figure: &Figure) -> Result<()> {
    let (width, height) = area.dim_in_pixel();
    let (width, bottom) = (width as i32, height as i32 - 34);
    let unit = if figure.unit.is_empty() {
        String::new()
    } else {
        format!(" ({})", figure.unit)
    };
    let title = format!("{}{unit}", figure.title);
    write_text(area, &title, (16, 4), 16, INK)?;
    write_text(area, figure.hint, (16 + text_width(&title, 16) + 10, 6), 13, FAINT)?;
    let x = |value: f64| LEFT + (f64::from(width - LEFT - RIGHT) * figure.place(value)) as i32;
    for value in figure.labels() {
        let at = x(value);
        area.draw(&PathElement::new(vec![(at, TOP), (at, bottom)], LINE))?;
        let label = short(value);
        write_text(area, &label, (at - 4 * label.len() as i32, bottom + 4), 12, FAINT)?;
    }
    let subjects = labels.subjects.len().max(1) as i32;
    let faults = labels.faults.len().max(1) as i32;
    let block = f64::from(bottom - TOP) / f64::from(subjects);
    let step = ((block - 8.0) / f64::from(faults)).clamp(2.0, 26.0);
    for row in &figure.rows {
        let top = TOP + (block * row.subject as f64) as i32;
        let y = top + 4 + (step * (row.faults as f64 + 0.5)) as i32;
        if row.faults == 0 {
            area.draw(&PathElement::new(vec![(16, top), (width - RIGHT, top)], LINE))?;
            let label = text::clip(labels.subjects[row.subject], 18);
            write_text(area, &label, (16, top + 6), 13, INK)?;
        }
        marks(area, row, y, ((step * 0.32) as i32).clamp(1, 6), &x)?;
    }
    Ok(())
}

fn marks(area: &Area<'_>, row: &Row, y: i32, size: i32, x: &dyn Fn(f64) -> i32) -> Result<()> {
    let bar = rgb(palette::series(row.faults));
    // On a bar its own colour would not show.
    let on_bar = row.marks.iter().any(|mark| matches!(mark, Mark::Bar(_)));
    let colour = if on_bar { INK } else { bar };
    if row.marks.is_empty() {
        write_text(area, row.without, (LEFT + 4, y - 6), 11, FAINT)?;
    }
    for mark in &row.marks {
        match *mark {
            Mark::Bar(value) => {
                let corners = [(LEFT, y - size), (x(value), y + size)];
                area.draw(&Rectangle::new(corners, bar.mix(0.75).filled()))?;
            }
            Mark::Range(low, high) => {
                area.draw(&PathElement::new(vec![(x(low), y), (x(high), y)], INK.stroke_width(1)))?;
            }
            Mark::Dot(value) => area.draw(&Circle::new((x(value), y), size.min(4), colour.filled()))?,
            Mark::Ring(value) => area.draw(&Circle::new((x(value), y), size.min(4), colour.stroke_width(1)))?,
            Mark::Tick(value) => {
                let at = x(value);
                let line = vec![(at, y - size - 1), (at, y + size + 1)];
                area.draw(&PathElement::new(line, colour.stroke_width(2)))?;
            }
            Mark::Number(value) | Mark::Starred(value) => {
                write_text(area, &mark.digits().unwrap_or_default(), (x(value) + 6, y - 6), 11, INK)?;
            }
        }
    }
    Ok(())
}
