//! Faults in words, as the first screen tells them.

use crate::model::{Band, Story};
use crate::text;
use zooquake_checkers::Anomaly;

/// How many are told; of more it is said how many.
const TOLD: usize = 8;

/// The faults near the steps; if there are none, those since what the steps are about began: what never ends after the
/// recovery was broken long before.
pub fn near(story: &Story<'_>, anomaly: &Anomaly, (from, until): (u64, u64)) -> String {
    let timeout = text::duration(story.record.plan.cluster.timing.session_ms.saturating_mul(1_000_000));
    let timeout = timeout.replace(".00 ", " ").replace(".0 ", " ");
    let before = format!("on, or ended less than one session timeout ({timeout}) before");
    let near = told(story, from, until);
    if !near.is_empty() {
        return format!("<b>Faults {before}</b> {near}");
    }
    let none = format!("<b>Faults</b> none {before}.");
    let Some((what, began)) = story.began(anomaly).filter(|(_, began)| *began < from) else {
        return none;
    };
    let what = text::html(&what.to_string(), 40);
    let earlier = match told(story, began, until) {
        earlier if earlier.is_empty() => "none either".into(),
        earlier => earlier,
    };
    format!(
        "{none} <b>Since {what} began</b>, at {}: {earlier}",
        text::moment(began)
    )
}

/// The first of them, and how many more there are.
fn told(story: &Story<'_>, from: u64, until: u64) -> String {
    let bands: Vec<&Band> = story.bands_near(from, until).collect();
    // One that is left out would take no less room than its number does.
    let shown = if bands.len() > TOLD + 1 { TOLD } else { bands.len() };
    let mut told: Vec<String> = bands[..shown]
        .iter()
        .map(|band| text::html(&in_words(story, band), 300))
        .collect();
    if shown < bands.len() {
        let more = text::grouped(bands.len() - shown);
        told.push(format!("<a href=\"#windows\">and {more} more</a>"));
    }
    told.join("; ")
}

/// `pause c3, 9.561 s – 13.999 s (window 2)`; and why it does not count, if it does not.
fn in_words(story: &Story<'_>, band: &Band) -> String {
    let until = band.until.map_or("never healed".into(), text::moment);
    let lost = band.lost.as_ref().map(|lost| format!(" ({lost})")).unwrap_or_default();
    let not = if band.counts {
        String::new()
    } else {
        not(story, band.id)
    };
    format!(
        "{}{lost}, {} – {until} (window {}{not})",
        band.label(),
        text::moment(band.from),
        band.id
    )
}

/// `, does not count: hit c2 between two operations`.
fn not(story: &Story<'_>, id: usize) -> String {
    let window = story.results.windows.iter().find(|window| window.id == id);
    match window.map(|window| window.why.as_str()).filter(|why| !why.is_empty()) {
        Some(why) => format!(", does not count: {}", text::clip(why, 120)),
        None => ", does not count".into(),
    }
}
