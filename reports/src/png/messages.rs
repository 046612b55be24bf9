//! `messages.png`: the space-time diagram of a run's messages.

use super::{Area, FONT, INK, Key, picture_of, printable, rgb, write_text};
use crate::consensus::ConsensusPicture;
use crate::messages::{Anchor, DiagramInk, DiagramShape, DiagramStroke, Point, layout};
use crate::model::RunModel;
use crate::{lists, palette, text};
use anyhow::Result;
use plotters::prelude::*;
use std::path::Path;

/// Size of letters.
const LETTERS: i32 = 12;
/// Room for each line below the diagram.
const LINE_HEIGHT: i32 = 18;
/// How many characters a line below it has.
const LINE: usize = 150;

/// Writes the picture of a diagram, with its sentences below it.
pub fn write(model: &RunModel<'_>, picture: &ConsensusPicture, path: &Path) -> Result<()> {
    let layout = layout(&picture.diagram);
    let lines: Vec<String> = picture.lines().flat_map(|sentence| broken(&sentence)).collect();
    let below = lines.len() as i32 * LINE_HEIGHT + 10;
    let size = (
        (layout.width.ceil() as u32 + 24).max(super::WIDTH),
        layout.height.ceil() as u32 + below.unsigned_abs(),
    );
    let kinds = picture
        .diagram
        .spans
        .iter()
        .map(|span| (span.fault.name, span.fault.colour));
    let kinds = lists::distinct(kinds, usize::MAX).into_iter();
    let keys = kinds.map(|(name, colour)| (Key::Box(colour, 0.3), text::clip(name, 16)));
    picture_of(path, model, ("messages", size), &keys.collect::<Vec<_>>(), |area| {
        layout.shapes.iter().try_for_each(|shape| one(area, shape))?;
        for (nth, line) in lines.iter().enumerate() {
            let at = (16, layout.height.ceil() as i32 + 6 + nth as i32 * LINE_HEIGHT);
            write_text(area, line, at, 14, INK)?;
        }
        Ok(())
    })
}

/// A sentence in lines.
fn broken(sentence: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text::clip(sentence, 1000).split(' ') {
        let last = lines.last_mut().expect("there is a line");
        if !last.is_empty() && last.chars().count() + word.chars().count() >= LINE {
            lines.push(word.to_owned());
            continue;
        }
        if !last.is_empty() {
            last.push(' ');
        }
        last.push_str(word);
    }
    lines
}

fn colour(ink: DiagramInk) -> RGBAColor {
    const ROUNDS: [palette::Rgb; 3] = [palette::SERIES[4], palette::SERIES[3], palette::SERIES[7]];
    let whole = |colour: palette::Rgb| rgb(colour).mix(1.0);
    match ink {
        DiagramInk::Ink => INK.mix(1.0),
        DiagramInk::Faint => super::FAINT.mix(1.0),
        DiagramInk::Lane => super::FAINT.mix(0.6),
        DiagramInk::Paper => WHITE.mix(1.0),
        DiagramInk::Violation => whole((185, 63, 0)),
        DiagramInk::First => whole(palette::SERIES[0]),
        DiagramInk::Second => whole((192, 82, 0)),
        DiagramInk::Round(number) => rgb(ROUNDS[number % ROUNDS.len()]).mix(0.09),
        DiagramInk::RoundBar(number) => whole(ROUNDS[number % ROUNDS.len()]),
        DiagramInk::Fault(fault) => whole(fault.colour),
    }
}

fn pixel((x, y): Point) -> (i32, i32) {
    (x.round() as i32 + 12, y.round() as i32)
}

fn one(area: &Area<'_>, shape: &DiagramShape) -> Result<()> {
    match shape {
        DiagramShape::Line { ink, stroke, points } => line(area, colour(*ink), *stroke, points),
        DiagramShape::Polygon { ink, points } => {
            let points: Vec<(i32, i32)> = points.iter().map(|point| pixel(*point)).collect();
            area.draw(&Polygon::new(points, colour(*ink).filled()))?;
            Ok(())
        }
        DiagramShape::Disc {
            ink,
            middle,
            radius,
            filled,
        } => {
            let (at, radius) = (pixel(*middle), radius.round() as i32);
            if *filled {
                area.draw(&Circle::new(at, radius, colour(*ink).filled()))?;
            } else {
                area.draw(&Circle::new(at, radius, WHITE.filled()))?;
                area.draw(&Circle::new(at, radius, colour(*ink).stroke_width(1)))?;
            }
            Ok(())
        }
        DiagramShape::Hatch { fault, corner, size } => hatch(area, fault.colour, *corner, *size),
        DiagramShape::Words {
            ink, at, anchor, words, ..
        } => written(area, colour(*ink), (*at, *anchor), words),
    }
}

/// A line; one that is not whole in parts of some pixels.
fn line(area: &Area<'_>, colour: RGBAColor, stroke: DiagramStroke, points: &[Point]) -> Result<()> {
    let (width, pattern) = match stroke {
        DiagramStroke::Thin => (1, None),
        DiagramStroke::Bold => (2, None),
        DiagramStroke::Dashed => (1, Some((6.0, 4.0))),
        DiagramStroke::Dotted => (1, Some((1.5, 3.5))),
    };
    let style = colour.stroke_width(width);
    let Some((on, off)) = pattern else {
        let points: Vec<(i32, i32)> = points.iter().map(|point| pixel(*point)).collect();
        area.draw(&PathElement::new(points, style))?;
        return Ok(());
    };
    for part in points.windows(2) {
        let (from, to) = (part[0], part[1]);
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let place = |along: f64| {
            let share = (along / length.max(1.0)).min(1.0);
            pixel((from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share))
        };
        for nth in 0..(length / (on + off)).ceil().max(0.0) as u32 {
            let begin = f64::from(nth) * (on + off);
            area.draw(&PathElement::new(vec![place(begin), place(begin + on)], style))?;
        }
    }
    Ok(())
}

/// Slanted lines on a paler ground.
fn hatch(area: &Area<'_>, fault: palette::Rgb, (x, y): Point, (width, height): Point) -> Result<()> {
    let corners = [pixel((x, y)), pixel((x + width, y + height))];
    area.draw(&Rectangle::new(corners, rgb(fault).mix(0.3).filled()))?;
    for nth in 0..(height / 6.0).max(0.0) as u32 {
        let top = y + f64::from(nth) * 6.0;
        let slant = vec![pixel((x, top + 6.0)), pixel((x + width, top))];
        area.draw(&PathElement::new(slant, rgb(fault).stroke_width(1)))?;
    }
    Ok(())
}

/// A text on a ground that hides what lies below it.
fn written(area: &Area<'_>, colour: RGBAColor, (at, anchor): (Point, Anchor), words: &str) -> Result<()> {
    let words = printable(words);
    let style = (FONT, LETTERS).into_font().color(&colour);
    let width = area.estimate_text_size(&words, &style)?.0 as i32;
    let (x, y) = pixel(at);
    let left = match anchor {
        Anchor::Start => x,
        Anchor::Middle => x - width / 2,
        Anchor::End => x - width,
    };
    let paper = colour == WHITE.mix(1.0);
    if !paper {
        let corners = [(left, y - 9), (left + width, y + 1)];
        area.draw(&Rectangle::new(corners, WHITE.mix(0.75).filled()))?;
    }
    area.draw(&Text::new(words, (left, y - 11), style))?;
    Ok(())
}
