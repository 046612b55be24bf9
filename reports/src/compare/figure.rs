//! What is drawn: figures of rows, one for each subject and faults, with marks along an axis; and how a page draws
//! them, from classes only, of which the style sheet gives the colours.

use super::Comparison;
use super::pool::{MeasuredComparison, Pool};
use super::statistics::Estimate;
use super::words::{capital, number};
use crate::svg::Svg;
use crate::svg::marks::PIXEL;
use crate::text;
use maud::Markup;
use zooquake_checkers::sample::FamilyMeasures;

/// The frame of a figure that has the width of a page.
pub const WIDE: FigureFrame = FigureFrame {
    width: 1320.0,
    left: 250.0,
    right: 30.0,
};
const ROW: f64 = 17.0;
/// Room between subjects.
const GAP: f64 = 8.0;

#[derive(Debug)]
pub struct Figure {
    /// What it shows.
    pub title: String,
    /// What its marks mean.
    pub caption: String,
    /// The same in a few words, for a picture without a page.
    pub hint: &'static str,
    /// The unit of its axis.
    pub unit: &'static str,
    /// Whether the axis is logarithmic.
    pub log: bool,
    /// Its rows, those of a subject together.
    pub rows: Vec<Row>,
}

/// The names of what the rows of figures stand for.
#[derive(Debug)]
pub struct FigureLabels<'a> {
    /// By [`Row::subject`].
    pub subjects: Vec<&'a str>,
    /// By [`Row::faults`].
    pub faults: Vec<&'a str>,
}

impl<'a> FigureLabels<'a> {
    /// Those of a comparison.
    pub fn new(comparison: &'a Comparison) -> Self {
        let subjects = comparison.subjects.iter();
        Self {
            subjects: subjects.map(|subject| subject.label.as_str()).collect(),
            faults: comparison.faults.iter().map(String::as_str).collect(),
        }
    }
}

#[derive(Debug)]
pub struct Row {
    /// Index of what it belongs to, such as a subject of a comparison; rows of one are drawn together.
    pub subject: usize,
    /// Index of its series, such as the faults of a comparison, which gives its colour.
    pub faults: usize,
    pub marks: Vec<Mark>,
    /// The words where there is nothing to draw.
    pub without: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mark {
    /// A bar from the axis' beginning.
    Bar(f64),
    /// A thin line between two values.
    Range(f64, f64),
    /// A filled dot.
    Dot(f64),
    Ring(f64),
    /// A short upright line.
    Tick(f64),
    /// The value in digits, behind its place.
    Number(f64),
    /// The same with a star.
    Starred(f64),
}

impl Mark {
    /// What is written behind its place; `None` if nothing is.
    pub fn digits(self) -> Option<String> {
        match self {
            Self::Number(value) => Some(short(value)),
            Self::Starred(value) => Some(format!("{}*", short(value))),
            _ => None,
        }
    }

    /// The greatest value.
    fn end(self) -> f64 {
        match self {
            Self::Bar(x)
            | Self::Dot(x)
            | Self::Ring(x)
            | Self::Tick(x)
            | Self::Number(x)
            | Self::Starred(x)
            | Self::Range(_, x) => x,
        }
    }

    /// The smallest value that is not the beginning of the axis.
    fn start(self) -> f64 {
        match self {
            Self::Range(x, _) => x,
            other => other.end(),
        }
    }
}

impl Figure {
    /// Its axis: from and to; nothing is outside.
    fn axis(&self) -> (f64, f64) {
        let marks = || self.rows.iter().flat_map(|row| &row.marks);
        let high = marks().map(|mark| mark.end()).fold(0.0, f64::max);
        if !self.log {
            return (0.0, if high > 0.0 { high * 1.05 } else { 1.0 });
        }
        let starts = marks().map(|mark| mark.start()).filter(|start| *start > 0.0);
        let low = starts.fold(f64::INFINITY, f64::min).min(high);
        if !low.is_finite() || low <= 0.0 {
            return (1.0, 10.0);
        }
        (low * 0.8, (high * 1.2).max(low * 2.0))
    }

    /// Where a value is on the axis, from 0 to 1.
    pub fn place(&self, value: f64) -> f64 {
        let (low, high) = self.axis();
        let share = match self.log {
            true => (value.max(low).ln() - low.ln()) / (high.ln() - low.ln()),
            false => (value - low) / (high - low),
        };
        share.clamp(0.0, 1.0)
    }

    /// Round values to label the axis with.
    pub fn labels(&self) -> Vec<f64> {
        let (low, high) = self.axis();
        if self.log {
            let powers = (-3..7).map(|power| 10f64.powi(power));
            let round = powers.flat_map(|power| [power, 2.0 * power, 5.0 * power]);
            let all: Vec<f64> = round.filter(|value| (low..=high).contains(value)).collect();
            // Where there are many, powers of ten will do.
            let tens = |value: &f64| (value.log10() - value.log10().round()).abs() < 1e-9;
            return match all.len() > 8 {
                true => all.into_iter().filter(tens).collect(),
                false => all,
            };
        }
        let step = crate::svg::scale::nice_step(high - low, 6.0);
        (0..12)
            .map(|n| f64::from(n) * step)
            .filter(|value| *value <= high)
            .collect()
    }
}

/// The figures of a comparison.
pub fn all(measured: &MeasuredComparison<'_>) -> Vec<Figure> {
    let kind = measured.comparison.kind;
    let rows = |without: &'static str, marks: &dyn Fn(&Pool) -> Vec<Mark>| -> Vec<Row> {
        let mut rows = Vec::new();
        for (subject, pools) in measured.each.iter().enumerate() {
            let row = |(faults, pool): (usize, &Pool)| Row {
                subject,
                faults,
                marks: marks(pool),
                without,
            };
            rows.extend(pools.iter().enumerate().map(row));
        }
        rows
    };
    let costs = costs(kind, rows("not recorded", &cost_marks));
    if measured.comparison.virtual_time {
        return vec![costs];
    }
    let mut figures = vec![waits(kind, rows("n too small", &wait_marks))];
    let faulty = measured.all.iter().any(|pool| !pool.after.timeouts.is_empty());
    if faulty {
        figures.push(Figure {
            title: format!("Time to the next {} after each fault", kind.unit),
            caption: "A ring for each fault window; filled where it struck a holder whose term ended with it.".into(),
            hint: "filled: it ended a hold",
            unit: "session timeouts",
            log: false,
            rows: rows("no fault", &after_marks),
        });
    }
    figures.push(Figure {
        title: format!("{} a second", capital(kind.units)),
        caption: "The bar covers all runs together, the line the range from the lower to the upper end.".into(),
        hint: "all runs together, and the range",
        unit: "",
        log: false,
        rows: rows("no run", &|pool| bar(pool.rate)),
    });
    figures.push(costs);
    figures
}

fn waits(kind: &FamilyMeasures, rows: Vec<Row>) -> Figure {
    Figure {
        title: format!("{}: median, p95 and p99", capital(kind.wait)),
        hint: "filled: median; ring: p95; upright: p99",
        caption: format!(
            "Filled: the median, with its interval; ring: p95; upright: p99, where there are observations enough. It is the \
             time {}.",
            kind.wait_sentence
        ),
        unit: "ms",
        log: true,
        rows,
    }
}

fn wait_marks(pool: &Pool) -> Vec<Mark> {
    let mut marks = Vec::new();
    if let Some(median) = pool.waits[0] {
        marks.push(Mark::Range(median.low, median.high));
        marks.push(Mark::Dot(median.value));
    }
    marks.extend(pool.waits[1].map(|p95| Mark::Ring(p95.value)));
    marks.extend(pool.waits[2].map(|p99| Mark::Tick(p99.value)));
    marks
}

fn after_marks(pool: &Pool) -> Vec<Mark> {
    let all = pool.after.timeouts.iter().map(|x| Mark::Ring(*x));
    all.chain(pool.after.struck.iter().map(|x| Mark::Dot(*x))).collect()
}

fn bar(estimate: Option<Estimate>) -> Vec<Mark> {
    estimate.map_or_else(Vec::new, |e| vec![Mark::Bar(e.value), Mark::Range(e.low, e.high)])
}

fn costs(kind: &FamilyMeasures, rows: Vec<Row>) -> Figure {
    Figure {
        title: format!("What one {} costs ZooKeeper", kind.unit),
        hint: "bar: requests; ring: watch events; filled: transactions",
        caption: "Bar: requests of the clients; ring: watch events; filled: transactions that the ensemble agreed on."
            .into(),
        unit: "",
        log: false,
        rows,
    }
}

fn cost_marks(pool: &Pool) -> Vec<Mark> {
    let value = |estimate: Option<Estimate>| estimate.map(|e| e.value);
    let bars = value(pool.requests).map(Mark::Bar);
    let rings = value(pool.watch_events).map(Mark::Ring);
    bars.into_iter()
        .chain(rings)
        .chain(value(pool.transactions).map(Mark::Dot))
        .collect()
}

/// The width of a figure and its margins, in its own units.
#[derive(Debug)]
pub struct FigureFrame {
    /// Its whole width.
    pub width: f64,
    /// Room for labels on the left.
    pub left: f64,
    /// Room on the right.
    pub right: f64,
}

/// Draws a figure, by its place among those of its page.
pub fn picture(frame: &FigureFrame, labels: &FigureLabels<'_>, number: usize, figure: &Figure) -> Markup {
    let mut svg = Svg::new(frame.width);
    let faults = labels.faults.len();
    let bottom = labels.subjects.len() as f64 * (faults as f64 * ROW + GAP);
    draw_axis(&mut svg, frame, figure, bottom);
    for row in &figure.rows {
        let top = row.subject as f64 * (faults as f64 * ROW + GAP);
        let y = top + row.faults as f64 * ROW + ROW / 2.0;
        if row.faults == 0 {
            svg.text("lane", (0.0, y + 4.0), &text::clip(labels.subjects[row.subject], 26));
            svg.line(
                "row",
                (0.0, top - GAP / 2.0),
                (frame.width - frame.right, top - GAP / 2.0),
            );
        }
        let under = text::clip(labels.faults[row.faults], 18);
        svg.text("axis end", (frame.left - 10.0, y + 4.0), &under);
        draw_marks(&mut svg, frame, figure, (row, y));
    }
    svg.finish(&format!("figure-{number}"), bottom + 22.0, &figure.title)
}

impl FigureFrame {
    /// Where a value of a figure is.
    fn x(&self, figure: &Figure, value: f64) -> f64 {
        self.left + (self.width - self.left - self.right) * figure.place(value)
    }
}

fn draw_axis(svg: &mut Svg, frame: &FigureFrame, figure: &Figure, bottom: f64) {
    for value in figure.labels() {
        let at = frame.x(figure, value);
        svg.line("grid", (at, 0.0), (at, bottom));
        let unit = if figure.unit == "ms" { " ms" } else { "" };
        svg.text("axis mid", (at, bottom + 13.0), &format!("{}{unit}", short(value)));
    }
}

fn draw_marks(svg: &mut Svg, frame: &FigureFrame, figure: &Figure, (row, y): (&Row, f64)) {
    let left = frame.left;
    if row.marks.is_empty() {
        svg.text("axis", (left + 6.0, y + 4.0), row.without);
    }
    // On a bar its own colour would not show.
    let on_bar = row.marks.iter().any(|mark| matches!(mark, Mark::Bar(_)));
    let bar = row.faults % 8;
    let colour = if on_bar { "ink".to_string() } else { format!("k{bar}") };
    for mark in &row.marks {
        match *mark {
            Mark::Bar(value) => {
                let width = (frame.x(figure, value) - left).max(PIXEL);
                svg.rect(&format!("bar k{bar}"), (left, y - 5.0, width, 10.0), &number(value));
            }
            Mark::Range(low, high) => svg.line("between", (frame.x(figure, low), y), (frame.x(figure, high), y)),
            Mark::Dot(value) => svg.disc(&format!("dot {colour}"), (frame.x(figure, value), y), 4.0),
            Mark::Ring(value) => svg.disc(&format!("ring {colour}"), (frame.x(figure, value), y), 4.0),
            Mark::Tick(value) => {
                let at = frame.x(figure, value);
                svg.line(&format!("tick {colour}"), (at, y - 6.0), (at, y + 6.0));
            }
            Mark::Number(value) | Mark::Starred(value) => {
                let digits = mark.digits().unwrap_or_default();
                svg.text("axis", (frame.x(figure, value) + 6.0, y + 4.0), &digits);
            }
        }
    }
}

/// A round number of an axis, without the zeros behind it.
pub fn short(value: f64) -> String {
    let rounded = (value * 1e6).round() / 1e6;
    rounded.to_string()
}
