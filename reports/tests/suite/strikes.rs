//! Faults begin in the pictures with their strike; what was not verified yet is paler.

use crate::common::build::{Builder, MS};
use crate::common::{Run, between, families, results};
use crate::pictures::colours;

/// A lock's run in which a pause strikes at 1 s, and is verified at 1.5 s and healed at 3 s.
fn paused() -> Run {
    let mut b = Builder::default();
    b.struck(1, ("pause", "c2"), 1000 * MS, (1500 * MS, 3000 * MS));
    b.tell(
        "900 c1 invoke acquire grant=g1 @asks
         3200 c1 ok acquire grant=g1 @granted",
    );
    families::invalid("lock", "predecessor", "lost-wakeup", b)
}

#[test]
fn a_band_is_paler_from_the_strike_until_the_effect_was_verified() {
    let first = paused().first_screen("strike");
    let picture = between(&first, "<svg id=\"witness\"", "</svg>");
    let place = |class: &str| {
        let rect = between(picture, &format!("<rect class=\"{class} f-pause\""), "/rect>");
        let number = |name: &str| between(rect, &format!("{name}=\""), "\"").parse::<f64>().expect(name);
        (number("x"), number("width"))
    };
    let ((struck, paler), (sure, rest)) = (place("band struck"), place("band"));
    assert!((struck + paler - sure).abs() < 0.2, "{struck} + {paler}, then {sure}");
    assert!((rest / paler - 3.0).abs() < 0.05, "0.5 s to 1.5 s: {paler}, {rest}");
    assert_eq!(picture.matches("class=\"verified f-pause\"").count(), 1);
    assert!(first.contains("pause c2, 1.000 s – 2.985 s, seen healed at 3.000 s (window 1, verified at 1.500 s"));
    assert!(first.contains("paler: struck, effect not verified yet</span>"));
}

#[test]
fn a_fault_that_was_never_verified_is_paler_to_its_end() {
    let mut run = paused();
    let mut events = run.record.history.events.iter_mut();
    let on = events
        .find(|event| event.phase() == Some("on"))
        .expect("a verification");
    on.value["phase"] = "unclear".into();
    let first = run.first_screen("unverified");
    assert!(first.contains("<rect class=\"band struck f-pause\""));
    assert!(!first.contains("<rect class=\"band f-pause\""));
    assert!(first.contains("(window 1, not verified"));
}

#[test]
fn the_pictures_for_a_chat_show_the_strike_too() {
    let pixel = |part: f64, colour: u8| (255.0 - part * (255.0 - f64::from(colour))).round() as i32;
    // On white, of the colour of a pause.
    let paint = |part: f64| [230, 159, 0].map(|colour| pixel(part, colour));
    let folder = paused().write("strike-png");
    let colours = colours(&folder.0.join("rate.png"), 0);
    for part in [0.07, 0.17] {
        let near = |(colour, _): &(&[u8; 3], &usize)| {
            let apart = colour.iter().zip(paint(part)).map(|(a, b)| (i32::from(*a) - b).abs());
            apart.max() <= Some(1)
        };
        let pixels: usize = colours.iter().filter(near).map(|(_, n)| n).sum();
        assert!(pixels > 1000, "{pixels} pixels of {:?}", paint(part));
    }
}

#[test]
fn the_table_of_windows_has_strike_and_verification() {
    let page = results::invalid().page("strike-table");
    let table = between(&page, "<table class=\"windows\">", "</table>");
    assert!(table.contains("<th scope=\"col\">struck</th><th scope=\"col\">verified</th>"));
    assert!(table.contains("<td>23.988 s</td><td>24.000 s</td><td>27.400 s</td>"));
}
