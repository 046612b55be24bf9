//! Diagrams of other things than consensus protocols: the requests, watches and sessions of a lock.

use super::arrows::{LabelBox, line, words_width};
use super::layout::{DiagramPlaces, ROW};
use super::{
    Anchor, ArrowEnd, DiagramArrow, DiagramInk, DiagramLane, DiagramShape, DiagramStroke, DiagramTone, FaultBracket,
    FaultSpan, LaneMark, MarkSign, MessageDiagram, MessageOmission, Point, RoundBand, draw, file, layout,
};
use zooquake_history::FaultKind;

const MS: u64 = 1_000_000;

fn request((from, to): (usize, usize), sent: u64, end: ArrowEnd, label: &str) -> DiagramArrow {
    DiagramArrow {
        from,
        to,
        sent: sent * MS,
        end,
        label: label.into(),
        copy: false,
        tone: DiagramTone::Plain,
    }
}

fn mark(lane: usize, time: u64, label: &str, sign: MarkSign, step: Option<(usize, bool)>) -> LaneMark {
    LaneMark {
        lane: Some(lane),
        time: time * MS,
        label: label.into(),
        sign,
        step,
    }
}

/// `c1` holds a lock and freezes; its session expires, and the watch of `c2` fires, which holds then too.
fn lock() -> MessageDiagram {
    let lanes = ["c1", "n1", "c2"].map(|name| DiagramLane {
        name: name.into(),
        tones: Vec::new(),
    });
    let received = |at: u64| ArrowEnd::Received(at * MS);
    MessageDiagram {
        lanes: lanes.into(),
        arrows: vec![
            request((0, 1), 1, received(2), "create /lock/n-1"),
            request((1, 0), 2, received(3), "ok"),
            request((2, 1), 4, received(5), "create /lock/n-2"),
            request((2, 1), 6, received(7), "exists /lock/n-1, watch"),
            request((0, 1), 8, ArrowEnd::Lost(8 * MS), "ping"),
            DiagramArrow {
                tone: DiagramTone::First,
                ..request((1, 2), 2_010, received(2_011), "watch: /lock/n-1 deleted")
            },
            request((0, 1), 2_600, ArrowEnd::OnItsWay, "set /resource"),
        ],
        bands: vec![RoundBand {
            label: "session 1".into(),
            from: MS,
            until: 2_010 * MS,
        }],
        marks: vec![
            mark(0, 3, "holds", MarkSign::Decision, Some((1, false))),
            mark(1, 2_010, "session 1 expires", MarkSign::Change, None),
            mark(2, 2_011, "holds", MarkSign::Decision, Some((2, true))),
        ],
        spans: vec![FaultSpan {
            lane: 0,
            fault: FaultKind::by_name("pause"),
            from: Some(9 * MS),
            until: Some(2_500 * MS),
        }],
        brackets: vec![FaultBracket {
            label: "loss".into(),
            fault: FaultKind::by_name("loss"),
            from: MS,
            until: 8 * MS,
        }],
        omissions: vec![MessageOmission {
            before: 2_010 * MS,
            words: "… 12 more messages until 2.010 s: ping 12 …".into(),
        }],
    }
}

/// The texts of a diagram, with their places.
fn words(shapes: &[DiagramShape]) -> Vec<(&str, (f64, f64))> {
    let words = shapes.iter().filter_map(|shape| match shape {
        DiagramShape::Words { words, at, .. } => Some((words.as_str(), *at)),
        _ => None,
    });
    words.collect()
}

#[test]
fn requests_watches_and_sessions_of_a_lock_are_drawn_too() {
    let layout = layout(&lock());
    let words = words(&layout.shapes);
    let place = |text: &str| {
        words
            .iter()
            .find(|(words, _)| *words == text)
            .unwrap_or_else(|| panic!("{text}: {words:?}"))
            .1
    };
    let down = [
        "create /lock/n-1",
        "exists /lock/n-1, watch",
        "session 1 expires",
        "set /resource",
    ];
    let heights: Vec<f64> = down.iter().map(|text| place(text).1).collect();
    assert!(heights.is_sorted(), "{heights:?}");
    assert!(place("c1").0 < place("n1").0 && place("n1").0 < place("c2").0);
    for text in [
        "session 1",
        "pause",
        "loss",
        "watch: /lock/n-1 deleted",
        "… 12 more messages until 2.010 s: ping 12 …",
    ] {
        place(text);
    }
    assert!(
        words
            .iter()
            .all(|(_, (x, y))| (0.0..layout.width).contains(x) && (0.0..layout.height).contains(y))
    );
}

/// The texts of a diagram through which a line goes that nothing hides behind them, other than the number of a step,
/// which lies on its sign.
pub fn crossed(shapes: &[DiagramShape]) -> Vec<String> {
    let mut texts = Vec::new();
    let mut lines: Vec<(Point, Point)> = Vec::new();
    for (at, shape) in shapes.iter().enumerate() {
        match shape {
            DiagramShape::Line { points, .. } => lines.extend(points.windows(2).map(|ends| (ends[0], ends[1]))),
            DiagramShape::Words { ink, .. } if *ink == DiagramInk::Paper => {}
            DiagramShape::Words { words, .. } => {
                let grounded = matches!(
                    &shapes[at - 1],
                    DiagramShape::Polygon {
                        ink: DiagramInk::Paper,
                        ..
                    }
                );
                texts.push((area_of(shape), words, if grounded { lines.len() } else { 0 }));
            }
            _ => {}
        }
    }
    let is_struck =
        |(area, _, hidden): &(LabelBox, &String, usize)| lines[*hidden..].iter().any(|line| area.is_crossed(*line));
    let struck = texts.into_iter().filter(is_struck);
    struck.map(|(_, words, _)| words.clone()).collect()
}

/// The rectangle of a text.
fn area_of(shape: &DiagramShape) -> LabelBox {
    let DiagramShape::Words {
        at,
        anchor,
        bold,
        words,
        ..
    } = shape
    else {
        panic!("{shape:?} is no text");
    };
    let width = words_width(words, *bold);
    let left = match anchor {
        Anchor::Start => at.0,
        Anchor::Middle => at.0 - width / 2.0,
        Anchor::End => at.0 - width,
    };
    LabelBox::at((left, at.1), width)
}

#[test]
fn no_line_goes_through_a_text() {
    assert_eq!(crossed(&layout(&lock()).shapes), Vec::<String>::new());
}

#[test]
fn what_arrives_and_is_not_received_ends_at_the_lane() {
    let mut arrives = lock();
    arrives.arrows[4].end = ArrowEnd::Lost(9 * MS);
    let (places, arrow) = (DiagramPlaces::new(&arrives, ROW), &arrives.arrows[4]);
    let (_, end) = line(arrow, &places);
    assert!((places.x(arrow.to) - end.0 - 8.0).abs() < 0.1, "{end:?}");
}

#[test]
fn what_is_lost_ends_with_a_cross_and_what_stands_still_is_hatched() {
    let layout = layout(&lock());
    let bold = |shape: &&DiagramShape| matches!(shape, DiagramShape::Line { ink: DiagramInk::Ink, stroke: DiagramStroke::Bold, points } if (points[0].0 - points[1].0).abs() < 9.0);
    assert_eq!(
        layout.shapes.iter().filter(bold).count(),
        2,
        "the two lines of one cross"
    );
    let dotted = |shape: &&DiagramShape| {
        matches!(
            shape,
            DiagramShape::Line {
                ink: DiagramInk::Ink,
                stroke: DiagramStroke::Dotted,
                ..
            }
        )
    };
    assert_eq!(layout.shapes.iter().filter(dotted).count(), 1, "what is on its way");
    let hatches = layout.shapes.iter().filter_map(|shape| match shape {
        DiagramShape::Hatch { fault, size, .. } => Some((fault.name, size.0)),
        _ => None,
    });
    assert_eq!(
        hatches.collect::<Vec<_>>(),
        [("pause", 12.0)],
        "across the lane of who does nothing"
    );
}

#[test]
fn a_file_has_its_colours_and_hatches_in_itself_and_texts_are_escaped() {
    let mut hostile = lock();
    hostile.lanes[0].name = "<script>c1".into();
    hostile.arrows[0].label = "\"</svg>&".into();
    let picture = file(&hostile, "a lock");
    assert!(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    assert!(!picture.contains("<script>") && picture.matches("</svg>").count() == 1);
    assert!(picture.contains("id=\"h-pause\"") && picture.contains("url(#h-pause)"));
    for variable in picture.split("var(").skip(1) {
        let name = variable.split(')').next().expect("a name");
        assert!(picture.contains(&format!("{name}: ")), "{name} has no colour");
    }
    assert!(draw(&hostile, "messages", "a lock").0.contains("&lt;script&gt;c1"));
}
