//! Histories made to break a page render, and run nothing of their own.

use crate::common::{Run, hostile};
use crate::pages::open;
use crate::tab::{PageReader, Tab};

/// Opens the page, and lets the reader do what shows texts: point everywhere, choose an anomaly, open the filters.
fn harmless(run: &Run, name: &str) -> Tab {
    let folder = run.write_page(&format!("browser-{name}"));
    let tab = open(&folder, PageReader::default());
    tab.js("document.querySelectorAll('details').forEach((details) => details.open = true)");
    let (x, y) = tab.place("#canvas");
    for step in -6..=6 {
        tab.point((x + f64::from(step) * 90.0, y + f64::from(step) * 12.0));
    }
    if tab.js("!!document.querySelector('[data-anomaly]')") == true {
        tab.click("[data-anomaly]");
        tab.wait_until("document.querySelector('#proof li')");
    }
    assert_eq!(tab.complaints(), Vec::<String>::new(), "{name}");
    assert_eq!(
        tab.js("document.querySelectorAll('script, style').length"),
        3,
        "{name}: its own only"
    );
    assert_eq!(
        tab.js("document.querySelectorAll('img, iframe, object').length"),
        0,
        "{name}"
    );
    tab
}

#[test]
fn text_that_ends_elements_stays_text() {
    let tab = harmless(&hostile::poisoned(), "poison");
    assert!(
        tab.text("#first")
            .contains("</script></style><img src=x onerror=alert(1)>")
    );
    let filters = tab.js("document.getElementById('filters').textContent").to_string();
    assert!(filters.contains("write</script>"), "{filters}");
}

#[test]
fn megabytes_are_cut() {
    let tab = harmless(&hostile::huge(), "huge");
    let length = tab.js("document.body.innerText.length").as_u64();
    assert!(length < Some(400_000), "{length:?}");
}

#[test]
fn a_million_processes_share_few_rows() {
    let tab = harmless(&hostile::processes(1_000_000), "processes");
    assert!(tab.text("#timeline .note").contains("of 1000000 operations"));
    assert_eq!(
        tab.js("document.querySelectorAll('#filters details:first-child input').length"),
        40
    );
}
