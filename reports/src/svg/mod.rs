//! Vector pictures inside the page. They are drawn from classes only; the style sheet gives the colours.

pub mod charts;
pub mod legend;
pub mod marks;
pub mod overview;
pub mod scale;
pub mod window;

use crate::html::plain;
use crate::text;
use maud::{Markup, PreEscaped, html};
use std::fmt::Write;

/// Width of the pictures that have one drawing and show time from left to right.
pub const WIDTH: f64 = Screen::Desk.width();

/// For what a picture is drawn that a page has several drawings of, of which the style sheet shows one.
#[derive(Debug, Clone, Copy)]
pub enum Screen {
    Phone,
    /// A window beside others, and paper.
    Desk,
    Wide,
}

impl Screen {
    pub const ALL: [Self; 3] = [Self::Wide, Self::Desk, Self::Phone];

    /// The width of the drawing, in pixels.
    pub const fn width(self) -> f64 {
        match self {
            Self::Phone => 360.0,
            Self::Desk => 940.0,
            Self::Wide => 1200.0,
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Phone => "picture phone",
            Self::Desk => "picture desk",
            Self::Wide => "picture wide",
        }
    }
}

/// A picture in the making. Its elements are written as they come, because there are many of them: texts are markup,
/// which is escaped by its type, and all else is numbers, paths and names of classes of ours.
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
            let title = html! { title { (text::clip(title, text::LONG)) } };
            let _ = write!(self.body, ">{}</rect>", title.0);
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

    /// What has been drawn, for a picture that has a frame of its own.
    pub fn content(self) -> Markup {
        PreEscaped(self.body)
    }

    /// A filled circle.
    pub fn disc(&mut self, class: &str, (x, y): (f64, f64), r: f64) {
        let _ = write!(
            self.body,
            r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="{r}"/>"#
        );
    }

    /// A line of text; the class also decides where it is anchored.
    pub fn text(&mut self, class: &str, (x, y): (f64, f64), content: &str) {
        let _ = write!(
            self.body,
            r#"<text class="{class}" x="{x:.1}" y="{y:.1}">{}</text>"#,
            plain(text::clip(content, 160)).0
        );
    }

    /// The finished picture in a box that scrolls where a screen is too narrow for it; without an id if that is empty.
    /// `label` is what a screen reader reads out.
    pub fn finish(self, id: &str, height: f64, label: &str) -> Markup {
        html! { div.chart { (self.element("picture", id, height, label)) } }
    }

    /// The finished picture for one kind of screen. The widest alone has the id.
    pub fn finish_for(self, screen: Screen, id: &str, height: f64, label: &str) -> Markup {
        let id = if matches!(screen, Screen::Wide) { id } else { "" };
        self.element(screen.class(), id, height, label)
    }

    fn element(self, class: &str, id: &str, height: f64, label: &str) -> Markup {
        let view = format!("0 0 {:.0} {height:.0}", self.width);
        html! {
            svg id=[Some(id).filter(|id| !id.is_empty())] class=(class) viewBox=(view) role="img" aria-label=(text::clip(label, 400)) {
                (PreEscaped(self.body))
            }
        }
    }
}

/// Room that a text takes at the size of the pictures' labels.
pub fn text_width(s: &str) -> f64 {
    s.chars().count() as f64 * 6.3
}

#[cfg(test)]
mod tests {
    #[test]
    fn letters_have_eleven_units_and_a_unit_on_a_screen_is_never_less_than_a_pixel() {
        let style = include_str!("../../assets/picture.css");
        let sizes = style.split("font-size: ").skip(1).map(|rest| rest.split("px").next());
        let sizes: Vec<f64> = sizes
            .map(|size| size.and_then(|size| size.parse().ok()).expect("a size"))
            .collect();
        assert!(sizes.len() > 5 && sizes.iter().all(|size| *size >= 11.0), "{sizes:?}");
        assert!(style.contains(".picture { display: block; width: 100%; height: auto;"));
        let (_, screen) = style.split_once("@media screen {").expect("rules for a screen");
        let (screen, _) = screen.split_once("\n}").expect("their end");
        assert!(screen.contains(".picture { min-width: 940px; max-width: 1200px; }"));
        assert!(screen.contains(".picture.wide { min-width: 1200px; max-width: none; }"));
        assert!(screen.contains(".picture.phone { min-width: 360px; }"));
        assert!(screen.contains(".chart { overflow-x: auto;"));
    }
}
