//! Vector pictures inside the page. They are drawn from classes only; the style sheet gives the colours.

pub mod charts;
pub mod legend;
pub mod marks;
pub mod overview;
mod places;
mod row;
pub mod scale;
pub mod window;

use crate::text;
use std::fmt::Write;

/// A picture in the making.
pub struct Svg {
    body: String,
    width: f64,
}

impl Svg {
    /// An empty picture of that width, in its own units.
    pub fn new(width: f64) -> Self {
        Self {
            body: String::new(),
            width,
        }
    }

    /// A rectangle; `title` is shown when the mouse rests on it.
    pub fn rect(&mut self, class: &str, (x, y, w, h): (f64, f64, f64, f64), title: &str) {
        let (w, h) = (w.max(0.0), h.max(0.0));
        let _ = write!(
            self.body,
            r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{w:.1}" height="{h:.1}""#
        );
        if title.is_empty() {
            self.body.push_str("/>");
        } else {
            let _ = write!(self.body, "><title>{}</title></rect>", text::html(title, text::LONG));
        }
    }

    /// A path in SVG's own notation.
    pub fn path(&mut self, class: &str, d: &str) {
        if !d.is_empty() {
            let _ = write!(self.body, r#"<path class="{class}" d="{d}"/>"#);
        }
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        self.path(class, &format!("M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}"));
    }

    pub fn disc(&mut self, class: &str, (x, y): (f64, f64), r: f64) {
        let _ = write!(
            self.body,
            r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="{r}"/>"#
        );
    }

    /// A line of text; the class also says where it is anchored.
    pub fn text(&mut self, class: &str, (x, y): (f64, f64), content: &str) {
        let _ = write!(
            self.body,
            r#"<text class="{class}" x="{x:.1}" y="{y:.1}">{}</text>"#,
            text::html(content, 160)
        );
    }

    /// The finished picture; `label` is what a screen reader says.
    pub fn finish(self, id: &str, height: f64, label: &str) -> String {
        let (width, label) = (self.width, text::html(label, 400));
        format!(
            r#"<svg id="{id}" class="picture" viewBox="0 0 {width:.0} {height:.0}" role="img" aria-label="{label}">{}</svg>"#,
            self.body
        )
    }
}

/// Room that a text takes at the size of the pictures' labels.
pub fn text_width(s: &str) -> f64 {
    s.chars().count() as f64 * 6.3
}
