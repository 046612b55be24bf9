//! Colours, from the palette of Okabe and Ito, which stay apart for colour-blind readers; shapes and labels always say
//! the same. The page takes them from its style sheet, under the same names.

use crate::model::{Outcome, Role};

/// Red, green, blue.
pub type Rgb = (u8, u8, u8);

const ORANGE: Rgb = (230, 159, 0);
const SKY: Rgb = (86, 180, 233);
const GREEN: Rgb = (0, 158, 115);
const BLUE: Rgb = (0, 114, 178);
const VERMILLION: Rgb = (213, 94, 0);
const PURPLE: Rgb = (204, 121, 167);
const OLIVE: Rgb = (138, 125, 0);
/// Two more, from Tol's dark ones: a hairline of them is still seen.
const WINE: Rgb = (136, 34, 85);
const INDIGO: Rgb = (75, 47, 176);
const GREY: Rgb = (120, 120, 120);

/// What marks a violation.
pub const VIOLATION: Rgb = VERMILLION;
/// A client that holds.
pub const HOLD: Rgb = GREEN;

/// Colours of series, by number.
pub const SERIES: [Rgb; 8] = [BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILLION, GREY, (184, 168, 0)];

/// The colour of a kind of fault.
pub fn fault(kind: &str) -> Rgb {
    match fault_class(kind) {
        "f-pause" => ORANGE,
        "f-kill" => VERMILLION,
        "f-partition" => PURPLE,
        "f-drop" => WINE,
        "f-cut" => INDIGO,
        _ => GREY,
    }
}

/// The style sheet's name for a kind of fault: names from a record never become class names.
pub fn fault_class(kind: &str) -> &'static str {
    match kind {
        "pause" => "f-pause",
        "kill" => "f-kill",
        "partition" => "f-partition",
        "drop-reply" => "f-drop",
        "cut" => "f-cut",
        _ => "f-other",
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
pub fn outcome(outcome: Outcome) -> Rgb {
    match outcome {
        Outcome::Ok => BLUE,
        Outcome::Fail => ORANGE,
        Outcome::Info => PURPLE,
        Outcome::Pending => GREY,
    }
}
