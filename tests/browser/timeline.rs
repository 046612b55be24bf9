//! The timeline: zooms, moves, filters, shows what is under the mouse, and leads to what proves an anomaly.

use crate::common::results;
use crate::pages::open;
use crate::tab::{PageReader, Tab};

/// The range in the timeline's caption: from, until (in seconds), number of operations.
fn range(tab: &Tab) -> (f64, f64, usize) {
    // It is drawn when the browser next draws.
    tab.wait_until("document.getElementById('range').textContent");
    let text = tab.text("#range");
    let (span, count) = text.split_once(": ").expect("a span and a count");
    let (from, until) = span.split_once(" – ").expect("two moments");
    let seconds = |s: &str| s.trim_end_matches(" s").parse().expect("seconds");
    let count = count.split(' ').next().expect("a number").parse();
    (seconds(from), seconds(until), count.expect("a count of operations"))
}

/// Does something to the page, and returns what it shows then, which must be something else.
fn after(tab: &Tab, action: impl FnOnce()) -> (f64, f64, usize) {
    let before = tab.text("#range");
    action();
    tab.wait_until(&format!("document.getElementById('range').textContent !== {before:?}"));
    range(tab)
}

/// A place on the canvas: that share of the time shown, so many pixels from the top.
fn at(tab: &Tab, share: f64, y: f64) -> (f64, f64) {
    tab.place("#canvas");
    let b = tab.js("(() => { const b = canvas.getBoundingClientRect(); return [b.x, b.y, b.width]; })()");
    let n = |i: usize| b[i].as_f64().expect("a number");
    (n(0) + 64.0 + share * (n(2) - 72.0), n(1) + y)
}

#[test]
fn keys_and_wheel_zoom_and_move() {
    let folder = results::invalid().write_page("browser-zoom");
    let tab = open(&folder, PageReader::default());
    let (from, whole, all) = range(&tab);
    assert_eq!(from, 0.0);
    // The keyboard alone gets there.
    for _ in 0..60 {
        tab.key("Tab");
        if tab.js("document.activeElement.id") == "canvas" {
            break;
        }
    }
    assert_eq!(
        tab.js("document.activeElement.id"),
        "canvas",
        "the keyboard does not get there"
    );
    let (from, until, few) = after(&tab, || tab.key("+"));
    assert!(
        until - from < 0.51 * whole && few < all,
        "{from} to {until}: {few} of {all}"
    );
    let (later, ..) = after(&tab, || tab.key("ArrowRight"));
    assert!(later > from);
    let (earlier, ..) = after(&tab, || tab.key("ArrowLeft"));
    assert_eq!(earlier, from);
    assert_eq!(after(&tab, || tab.key("0")), (0.0, whole, all));

    let middle = at(&tab, 0.5, 60.0);
    let (from, until, _) = after(&tab, || tab.wheel(middle, -300.0));
    assert!(until - from < 0.9 * whole, "{from} to {until}");
    let around = (from + until) / 2.0 - whole / 2.0;
    assert!(around.abs() < 0.01 * whole, "it zooms in on where the mouse is");
    let (from, until, _) = after(&tab, || tab.wheel(middle, 3000.0));
    assert_eq!((from, until), (0.0, whole));
}

#[test]
fn a_drag_moves_and_the_strip_leads_anywhere() {
    let folder = results::invalid().write_page("browser-drag");
    let tab = open(&folder, PageReader::default());
    let (_, whole, _) = range(&tab);
    tab.place("#navigator");
    let b = tab.js("(() => { const b = document.getElementById('navigator').getBoundingClientRect(); return [b.x, b.y, b.width]; })()");
    let n = |i: usize| b[i].as_f64().expect("a number");
    let strip = |share: f64| (n(0) + 64.0 + share * (n(2) - 72.0), n(1) + 30.0);
    let (from, until, _) = after(&tab, || tab.drag(strip(0.5), strip(0.75)));
    assert!((from - whole * 0.5).abs() < 0.01 * whole && (until - whole * 0.75).abs() < 0.01 * whole);
    let (dragged, ..) = after(&tab, || tab.drag(at(&tab, 0.2, 60.0), at(&tab, 0.6, 60.0)));
    assert!(
        (from - dragged - 0.4 * (until - from)).abs() < 0.01 * whole,
        "{from}, then {dragged}"
    );
}

#[test]
fn filters_hide_clients_operations_and_outcomes() {
    let folder = results::invalid().write_page("browser-filter");
    let tab = open(&folder, PageReader::default());
    let (.., all) = range(&tab);
    let height = tab.js("canvas.clientHeight").as_f64();
    let boxes = "#filters details:nth-child(N)";
    let hide = |group: usize, entry: &str| {
        let group = boxes.replace('N', &group.to_string());
        let entries = tab.js(&format!(
            "[...document.querySelectorAll('{group} label')].map((l) => l.textContent.trim())"
        ));
        let all = entries.as_array().expect("entries").iter();
        let place = all
            .into_iter()
            .position(|e| e == entry)
            .unwrap_or_else(|| panic!("{entry} in {entries}"));
        after(&tab, || {
            tab.click(&format!("{group} summary"));
            tab.click(&format!("{group} label:nth-child({}) input", place + 1));
        })
        .2
    };
    let without_client = hide(1, "c1");
    assert!(without_client < all && without_client > 0);
    assert!(
        tab.js("canvas.clientHeight").as_f64() < height,
        "its row is still there"
    );
    let without_operation = hide(2, "acquire");
    assert!(without_operation < without_client);
    let without_ok = hide(3, "ok");
    assert!(without_ok < without_operation, "ok is still shown");
    assert!(tab.text("#filters").contains("outcome (1 hidden)"));
    assert_eq!(tab.complaints(), Vec::<String>::new());
}

#[test]
fn an_anomaly_shows_only_the_events_that_prove_it_numbered_as_in_the_text() {
    let run = results::invalid();
    let witness = run.results.anomalies[1].witness.len();
    let folder = run.write_page("browser-anomaly");
    let tab = open(&folder, PageReader::default());
    let whole = range(&tab);
    let (from, until, proof) = after(&tab, || tab.click("#a2 [data-anomaly]"));
    assert!(until - from < whole.1 / 2.0, "its window, not the whole run");
    assert!(
        (1..=witness).contains(&proof),
        "{proof} operations for {witness} events"
    );
    assert!(tab.text("#chosen").contains("Anomaly 2 of 2: stale-holder"));
    assert_eq!(
        tab.text("#proof"),
        tab.text("#a2 .steps"),
        "the same steps with the same numbers"
    );
    assert_eq!(tab.js("document.activeElement.id"), "canvas", "keys go on from there");
    let (.., around) = after(&tab, || tab.click("#around"));
    assert!(around > proof);
    assert_eq!(after(&tab, || tab.click("#around")), (from, until, proof));
    tab.js("canvas.focus()");
    let other = after(&tab, || tab.key("n"));
    assert!(tab.text("#chosen").contains("Anomaly 1 of 2: stale-write"), "{other:?}");
    assert_eq!(after(&tab, || tab.key("Escape")), whole);
    assert_eq!(tab.js("document.getElementById('chosen').checkVisibility()"), false);
    // The first screen leads there as well.
    let first = after(&tab, || tab.click("#first [data-anomaly]"));
    assert_eq!(first, other);
    assert_eq!(tab.complaints(), Vec::<String>::new());
}

#[test]
fn what_is_shown_is_a_link_that_leads_there_again() {
    let folder = results::invalid().write_page("browser-link");
    let tab = open(&folder, PageReader::default());
    let whole = range(&tab);
    assert_eq!(tab.js("location.hash"), "");
    let part = after(&tab, || tab.click("[data-do=in]"));
    tab.wait_until("location.hash.startsWith('#t=')");
    tab.reload();
    assert_eq!(range(&tab), part);
    let other = after(&tab, || {
        tab.js("location.hash = '#t=24-27.4'");
    });
    assert_eq!((other.0, other.1), (24.0, 27.4));
    after(&tab, || {
        tab.js("location.hash = '#a2'");
    });
    assert!(tab.text("#chosen").contains("Anomaly 2 of 2"));
    tab.reload();
    tab.wait_until("document.getElementById('chosen').checkVisibility()");
    assert!(tab.text("#chosen").contains("Anomaly 2 of 2"));
    tab.js("canvas.focus()");
    tab.key("n");
    tab.wait_until("location.hash === '#a1'");
    assert_eq!(after(&tab, || tab.key("0")), whole);
    tab.wait_until("location.hash === ''");
    // What is no place of the run moves nothing.
    tab.js("location.hash = '#t=x-7'");
    tab.js("location.hash = '#a99'");
    assert_eq!(range(&tab), whole);
    assert_eq!(tab.complaints(), Vec::<String>::new());
}

#[test]
fn the_mouse_learns_what_a_bar_and_a_band_are() {
    let folder = results::invalid().write_page("browser-hover");
    let tab = open(&folder, PageReader::default());
    let (_, whole, _) = range(&tab);
    // c3 was paused from 24 s to 27.4 s while it worked; its row is the third.
    tab.point(at(&tab, 25.5 / whole, 40.0 + 2.0 * 40.0 + 30.0));
    tab.wait_until("document.getElementById('tip').classList.contains('on')");
    let tip = tab.text("#tip");
    assert!(tip.starts_with("c3 write") && tip.contains("took"), "{tip}");
    tab.point(at(&tab, 25.5 / whole, 12.0));
    tab.wait_until("document.getElementById('tip').textContent.includes('pause c3')");
    assert!(
        tab.text("#tip")
            .contains("23.988 s – 27.400 s, verified at 24.000 s, counts")
    );
}

#[test]
fn fifty_thousand_operations_are_drawn() {
    let folder = results::many(50_000).write_page("browser-many");
    let size = folder.page().len();
    assert!(size < 2_000_000, "{size} bytes");
    let tab = open(&folder, PageReader::default());
    tab.wait_until("document.getElementById('range').textContent");
    let (.., shown) = range(&tab);
    assert!(shown >= 49_998, "{shown} operations");
    let loaded = tab.js("performance.getEntriesByType('navigation')[0].loadEventEnd");
    // A loaded machine may take any time, so that the time is printed, not asserted.
    println!("{size} bytes, {shown} operations, loaded after {loaded} ms");
    assert_eq!(tab.complaints(), Vec::<String>::new());
}
