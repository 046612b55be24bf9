//! Colours, from the palette of Okabe and Ito, which stay apart for colour-blind readers; shapes and labels always mean
//! the same. The page takes them from its style sheet, under the same names.

use crate::model::{OperationOutcome, Role};
use maud::{Markup, html};
pub use zooquake_history::fault::Rgb;
use zooquake_history::fault::{FaultKind, Hatch, KINDS, OTHER};

const ORANGE: Rgb = (230, 159, 0);
const SKY: Rgb = (86, 180, 233);
const GREEN: Rgb = (0, 158, 115);
const BLUE: Rgb = (0, 114, 178);
const VERMILLION: Rgb = (213, 94, 0);
const PURPLE: Rgb = (204, 121, 167);
const YELLOW: Rgb = (240, 228, 66);
const OLIVE: Rgb = (138, 125, 0);
const GREY: Rgb = (120, 120, 120);

/// What marks a violation.
pub const VIOLATION: Rgb = VERMILLION;

/// Colours of series, by number.
pub const SERIES: [Rgb; 8] = [BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILLION, GREY, (184, 168, 0)];

/// The colour of a series; of many some share one.
pub fn series(number: usize) -> Rgb {
    SERIES[number % SERIES.len()]
}

/// The style sheet's name for a kind of fault: names from a record never become class names.
pub fn fault_class(kind: &str) -> String {
    class(FaultKind::by_name(kind))
}

fn class(kind: &FaultKind) -> String {
    format!("f-{}", kind.name)
}

/// The style sheet's rules for all kinds of fault.
pub fn fault_styles() -> String {
    fault_styles_of(KINDS.iter().chain([&OTHER]))
}

/// The style sheet's rules for some kinds of fault.
pub fn fault_styles_of<'k>(kinds: impl Iterator<Item = &'k FaultKind>) -> String {
    let hex = |(red, green, blue): Rgb| format!("#{red:02x}{green:02x}{blue:02x}");
    let (mut light, mut dark, mut rules) = (String::new(), String::new(), String::new());
    for kind in kinds {
        let (class, name) = (class(kind), kind.name);
        light += &format!("--{class}: {}; ", hex(kind.colour));
        dark += &format!("--{class}: {}; ", hex(kind.dark));
        rules += &format!(
            ".{class} {{ fill: var(--{class}); stroke: var(--{class}); }}\n\
             .hatch.{class} {{ fill: url(#h-{name}); }}\n\
             .key.{class} {{ background: var(--{class}); }}\n\
             pattern .line.{class} {{ stroke: var(--{class}); }}\n"
        );
    }
    format!(":root {{ {light}}}\n@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark}}} }}\n{rules}")
}

/// Hatches for kinds of fault, and for views that differ from the truth, for all pictures of a page; must stand in it
/// once.
pub fn hatches() -> Markup {
    html! {
        svg.defs width="0" height="0" aria-hidden="true" {
            defs {
                @for kind in KINDS.iter().chain([&OTHER]) { (pattern(kind)) }
                pattern #h-late width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                    path.lateline d="M1 0v5" {}
                }
            }
        }
    }
}

/// The hatch of a kind of fault.
pub fn pattern(kind: &FaultKind) -> Markup {
    let Hatch {
        size,
        turned,
        path,
        line,
        ..
    } = &kind.hatch;
    html! {
        pattern #{ "h-" (kind.name) } width=(size) height=(size) patternUnits="userSpaceOnUse"
            patternTransform={ "rotate(" (turned) ")" } {
            path class={ (class(kind)) @if *line { " line" } } d=(path) {}
        }
    }
}

/// The colour of an operation by what it is for.
pub fn role(role: Role) -> Rgb {
    match role {
        Role::Wait => SKY,
        Role::Work => BLUE,
        Role::Take => OLIVE,
        Role::Leave | Role::Other => GREY,
    }
}

/// The colour of a hold.
pub fn hold(shared: bool) -> Rgb {
    if shared { YELLOW } else { GREEN }
}

/// The style sheet's name for a hold.
pub fn hold_class(shared: bool) -> &'static str {
    if shared { "hold shared" } else { "hold" }
}

/// The style sheet's name for the bars of operations of a role.
pub fn role_class(role: Role) -> &'static str {
    match role {
        Role::Wait => "wait",
        Role::Work => "workbar",
        Role::Take => "take",
        Role::Leave => "leave",
        Role::Other => "other",
    }
}

/// The colour of an outcome.
pub fn outcome(outcome: OperationOutcome) -> Rgb {
    match outcome {
        OperationOutcome::Ok => BLUE,
        OperationOutcome::Fail => ORANGE,
        OperationOutcome::Info => PURPLE,
        OperationOutcome::Pending => GREY,
    }
}
