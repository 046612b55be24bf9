//! Fault windows: those that count for the verdict, and those that do not, with the reason.

use crate::model::RunModel;
use crate::palette;
use crate::text;
use zooquake_checkers::results::WindowResult;

/// How many are listed.
const SHOWN: usize = 500;

pub fn section(model: &RunModel<'_>) -> String {
    let windows = &model.results.windows;
    let counted = windows.iter().filter(|w| w.counts).count();
    let mut body = String::new();
    if windows.is_empty() {
        body.push_str("<p>None were planned.</p>\n");
    } else {
        // What did not count comes first: it is what a reader has to act upon.
        let (counting, others): (Vec<_>, Vec<_>) = windows.iter().partition(|w| w.counts);
        let order = others.into_iter().chain(counting);
        let heads = ["no.", "fault", "target", "from", "until", "lasted", "counts", "why"];
        body.push_str(&super::table("windows", heads, order.take(SHOWN).map(row)));
    }
    if windows.len() > SHOWN {
        body.push_str(&format!(
            "<p>And {}, in results.json.</p>\n",
            text::count(windows.len() - SHOWN, "more window")
        ));
    }
    super::titled(
        "windows",
        &format!("Fault windows ({counted} of {} counted)", windows.len()),
        &body,
    )
}

fn row(w: &WindowResult) -> [String; 8] {
    let moment = |t: Option<u64>| t.map_or("–".into(), text::moment);
    let lasted = w.from.zip(w.until).map(|(f, u)| text::duration(u.saturating_sub(f)));
    let class = palette::fault_class(&w.fault);
    [
        w.id.to_string(),
        format!("<i class=\"key fault {class}\"></i>{}", text::html(&w.fault, 40)),
        text::html(&w.target, 60),
        moment(w.from),
        if w.from.is_some() {
            w.until.map_or("never healed".into(), text::moment)
        } else {
            "–".into()
        },
        lasted.unwrap_or_else(|| "–".into()),
        if w.counts {
            "<b class=\"yes\">✓ counts</b>".into()
        } else {
            "<b class=\"no\">✗ does not</b>".into()
        },
        text::html(&w.why, 300),
    ]
}
