//! Every kind of page: nothing goes wrong, in light and dark, with and without JavaScript.

use crate::common::{ReportFolder, Run, families, results};
use crate::tab::{PageReader, Tab};

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
