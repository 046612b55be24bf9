//! The index of a folder of runs.

use crate::common::{ReportFolder, index};
use crate::readers::FAINT;
use crate::tab::{PageReader, Tab};
use serde_json::json;

fn open(name: &str, reader: PageReader) -> Tab {
    let folder = ReportFolder::new(name);
    let file = folder.0.join("index.html");
    zooquake_reports::index::write("runs", index::runs(), &file).unwrap();
    Tab::open(&file, reader)
}

/// The seeds of the rows shown, from the top.
fn seeds(tab: &Tab) -> serde_json::Value {
    tab.js("[...document.querySelectorAll('.runs tbody tr')].filter((r) => r.checkVisibility()).map((r) => r.cells[3].textContent)")
}

#[test]
fn it_filters_and_sorts() {
    let tab = open("browser-index", PageReader::default());
    assert_eq!(seeds(&tab), json!(["8", "9", "11", "10", "7", ""]));
    assert!(tab.text("#count").contains("6 of 6"));
    let set = |id: &str, value: &str| {
        tab.js(&format!(
            "(() => {{ const e = document.getElementById('{id}'); e.value = '{value}'; e.dispatchEvent(new Event('input')); }})()"
        ));
    };
    for (id, value, expected) in [
        ("verdict", "invalid", json!(["8", "7"])),
        ("variant", "lock/fenced", json!(["8"])),
        ("fault", "drop-reply", json!(["8"])),
        ("find", "unknown counting", json!(["11"])),
    ] {
        set(id, value);
        assert_eq!(seeds(&tab), expected, "{id}");
        set(id, "");
    }
    tab.click("#new");
    assert_eq!(seeds(&tab), json!(["8"]));
    tab.click("#new");
    // A number is sorted as one, and a second click turns the order.
    tab.click(".runs th:nth-child(4) button");
    assert_eq!(seeds(&tab), json!(["", "7", "8", "9", "10", "11"]));
    tab.click(".runs th:nth-child(4) button");
    assert_eq!(seeds(&tab), json!(["11", "10", "9", "8", "7", ""]));
    tab.click(".runs th:nth-child(6) button");
    assert_eq!(seeds(&tab)[0], "8", "news first");
    assert_eq!(tab.js("document.querySelectorAll('[aria-sort]').length"), 1);
    assert_eq!(tab.complaints(), Vec::<String>::new());
}

#[test]
fn it_is_legible_and_lists_without_scripts() {
    for dark in [false, true] {
        let tab = open("browser-index-light", PageReader::of_colours(dark));
        assert_eq!(tab.js(FAINT), json!([]), "dark: {dark}");
    }
    let tab = open("browser-index-plain", PageReader::PLAIN);
    assert_eq!(seeds(&tab), json!(["8", "9", "11", "10", "7", ""]));
    assert_eq!(tab.js("document.querySelector('form').checkVisibility()"), false);
    assert_eq!(tab.complaints(), Vec::<String>::new());
}
