//! A diagram as a vector picture.

use super::shapes::{Anchor, DiagramInk, DiagramShape, DiagramStroke, Point};
use super::{MessageDiagram, layout};
use crate::html::{COLOUR_STYLE, MESSAGES_STYLE};
use crate::palette;
use crate::svg::Svg;
use crate::text;
use maud::{Markup, PreEscaped, html};
use std::fmt::Write;
use zooquake_history::FaultKind;

/// How many colours the rounds take turns in.
const ROUNDS: usize = 3;
/// The style of hatches where no page gives it.
const HATCH_STYLE: &str = ".hatch { stroke: none; fill-opacity: .55; }\n";

/// Draws a diagram as a file that needs no page: it has its colours, and the hatches of its faults, in itself.
pub fn file(diagram: &MessageDiagram, label: &str) -> String {
    let layout = layout(diagram);
    let mut svg = Svg::new(layout.width);
    layout.shapes.iter().for_each(|shape| one(&mut svg, shape));
    let mut kinds: Vec<&FaultKind> = diagram.spans.iter().map(|span| span.fault).collect();
    kinds.extend(diagram.brackets.iter().map(|bracket| bracket.fault));
    kinds.sort_by_key(|kind| kind.name);
    kinds.dedup_by_key(|kind| kind.name);
    let style = [
        COLOUR_STYLE,
        &palette::fault_styles_of(kinds.iter().copied()),
        HATCH_STYLE,
        MESSAGES_STYLE,
    ]
    .concat();
    let (width, height) = (format!("{:.0}", layout.width), format!("{:.0}", layout.height));
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" class="messages" width=(width) height=(height)
            viewBox={ "0 0 " (width) " " (height) } role="img" aria-label=(text::clip(label, 400)) {
            style { (PreEscaped(style)) }
            defs { @for kind in kinds { (palette::pattern(kind)) } }
            rect width="100%" height="100%" style="fill: var(--paper)" {}
            (svg.content())
        }
    };
    format!("{}\n", picture.0)
}

/// Draws a diagram in a box that scrolls where a screen is too narrow for it. `label` is what a screen reader reads
/// out.
pub fn draw(diagram: &MessageDiagram, id: &str, label: &str) -> Markup {
    let layout = layout(diagram);
    let mut svg = Svg::new(layout.width);
    layout.shapes.iter().for_each(|shape| one(&mut svg, shape));
    let (width, height) = (format!("{:.0}", layout.width), format!("{:.0}", layout.height));
    html! {
        div.chart {
            svg id=[Some(id).filter(|id| !id.is_empty())] class="messages" width=(width) height=(height)
                viewBox={ "0 0 " (width) " " (height) } role="img" aria-label=(text::clip(label, 400)) {
                (svg.content())
            }
        }
    }
}

fn class(ink: DiagramInk) -> String {
    match ink {
        DiagramInk::Ink => "m-ink".into(),
        DiagramInk::Faint => "m-faint".into(),
        DiagramInk::Lane => "m-lane".into(),
        DiagramInk::Paper => "m-paper".into(),
        DiagramInk::Violation => "m-violation".into(),
        DiagramInk::First => "m-first".into(),
        DiagramInk::Second => "m-second".into(),
        DiagramInk::Round(number) => format!("m-round m-r{}", number % ROUNDS),
        DiagramInk::RoundBar(number) => format!("m-r{}", number % ROUNDS),
        DiagramInk::Fault(fault) => palette::fault_class(fault.name),
    }
}

fn stroke_class(stroke: DiagramStroke) -> &'static str {
    match stroke {
        DiagramStroke::Thin => "m-line",
        DiagramStroke::Bold => "m-line m-wide",
        DiagramStroke::Dashed => "m-line m-dashed",
        DiagramStroke::Dotted => "m-line m-dotted",
    }
}

fn one(svg: &mut Svg, shape: &DiagramShape) {
    match shape {
        DiagramShape::Line { ink, stroke, points } => {
            svg.path(&format!("{} {}", stroke_class(*stroke), class(*ink)), &path(points));
        }
        DiagramShape::Polygon { ink, points } => {
            svg.path(&format!("m-area {}", class(*ink)), &format!("{}z", path(points)));
        }
        DiagramShape::Disc {
            ink,
            middle,
            radius,
            filled,
        } => {
            let form = if *filled { "m-area" } else { "m-ring" };
            svg.disc(&format!("{form} {}", class(*ink)), *middle, *radius);
        }
        DiagramShape::Hatch {
            fault,
            corner: (x, y),
            size: (width, height),
        } => {
            let fault = palette::fault_class(fault.name);
            svg.rect(&format!("m-tint {fault}"), (*x, *y, *width, *height), "");
            svg.rect(&format!("hatch {fault}"), (*x, *y, *width, *height), "");
        }
        DiagramShape::Words {
            ink,
            at,
            anchor,
            bold,
            words,
        } => {
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Middle => " mid",
                Anchor::End => " end",
            };
            let bold = if *bold { " m-bold" } else { "" };
            svg.text(&format!("{}{anchor}{bold}", class(*ink)), *at, words);
        }
    }
}

fn path(points: &[Point]) -> String {
    let mut path = String::new();
    for (nth, (x, y)) in points.iter().enumerate() {
        let _ = write!(path, "{}{x:.1} {y:.1}", if nth == 0 { 'M' } else { 'L' });
    }
    path
}
