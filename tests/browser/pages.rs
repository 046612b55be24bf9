//! Every kind of page: nothing goes wrong, in light and dark, with and without JavaScript.

use crate::common::{ReportFolder, Run, families, results};
use crate::tab::{PageReader, Tab};
use serde_json::json;

/// Opens the page of a report.
pub fn open(folder: &ReportFolder, reader: PageReader) -> Tab {
    Tab::open(&folder.0.join("report.html"), reader)
}

#[test]
fn no_page_makes_the_browser_complain_or_fetch() {
    let runs: [(&str, Run); 7] = [
        ("claimed", families::claimed()),
        ("double-barrier", families::double_barrier()),
        ("commit", families::commit()),
        ("register", families::register()),
        ("invalid", results::invalid()),
        ("valid", results::valid()),
        ("unknown", results::unknown()),
    ];
    for (name, run) in runs {
        let folder = run.write_page(&format!("browser-{name}"));
        let tab = open(&folder, PageReader::default());
        assert_eq!(tab.complaints(), Vec::<String>::new(), "{name}");
        tab.wait_until("document.getElementById('range').textContent");
        let shown = tab.text("#range");
        assert!(
            shown.starts_with("0.000 s – ") && !shown.contains(": 0 op"),
            "{name}: {shown}"
        );
        // Letters and lines would be black on transparent where colours were not read.
        let painted = tab.js("(() => { const c = document.getElementById('canvas'); \
             const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; const seen = new Set(); \
             for (let i = 0; i < d.length; i += 4) if (d[i + 3]) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); \
             return seen.size; })()");
        assert!(painted.as_u64() > Some(4), "{name}: {painted} colours");
    }
}

/// The invalid pages of the gallery.
fn invalid_pages() -> Vec<std::path::PathBuf> {
    let gallery = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("reports/gallery");
    let pages = std::fs::read_dir(gallery).expect("the gallery");
    let pages = pages.map(|page| page.expect("a page").path());
    let invalid = |page: &std::path::PathBuf| {
        page.extension().is_some_and(|extension| extension == "html")
            && std::fs::read_to_string(page)
                .expect("a page")
                .contains("<body class=\"is-invalid\"")
    };
    pages.filter(invalid).collect()
}

#[test]
fn what_broke_why_and_the_whole_picture_are_seen_at_once() {
    let pages = invalid_pages();
    assert!(pages.len() >= 8, "{pages:?}");
    for page in pages {
        let tab = Tab::open(&page, PageReader::default());
        let screen = json!({"width": 1000, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        tab.call("Emulation.setDeviceMetricsOverride", screen);
        let bottom = |selector: &str| {
            let end = tab.js(&format!(
                "document.querySelector({selector:?})?.getBoundingClientRect().bottom"
            ));
            end.as_f64().unwrap_or_else(|| panic!("{page:?}: no {selector}"))
        };
        let picture = bottom("#first svg.picture.desk, #first .diagram svg");
        let above = [
            bottom("#first .sentence"),
            bottom("#first .why"),
            bottom("#first .mend"),
        ];
        assert!(above.iter().all(|end| *end < picture), "{page:?}: {above:?}, {picture}");
        assert!(picture <= 900.0, "{page:?}: the first picture ends at {picture} px");
    }
}
