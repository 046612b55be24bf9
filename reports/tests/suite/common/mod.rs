//! A made-up run of 60 s: five clients of a lock under pauses, kills and partitions, one of which writes too late.

#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod build;
pub mod families;
pub mod hostile;
pub mod index;
pub mod lock;
pub mod networks;
pub mod results;

use build::Builder;
use serde_json::Value;
use zooquake_checkers::{AnomalySpan, Results};
use zooquake_history::Record;
use zooquake_reports::Extras;

/// What a report is made from.
#[derive(Default)]
pub struct Run {
    pub record: Record,
    pub results: Results,
    pub extras: Extras,
}

impl Run {
    /// Lets each anomaly have come about between the first and the last event of its witness, as most do.
    pub fn spans(&mut self) {
        let events = &self.record.history.events;
        for anomaly in &mut self.results.anomalies {
            let times = || anomaly.witness.iter().map(|&at| events[at].time);
            anomaly.span = times()
                .min()
                .zip(times().max())
                .map(|(from, until)| AnomalySpan::Between(from, until));
        }
    }

    /// Adds the events of a fault at the end of the history.
    pub fn fault(&mut self, id: usize, fault: &str, target: &str, from: u64, until: u64) {
        let mut b = Builder::default();
        b.fault(id, fault, target, from, until);
        let events = &mut self.record.history.events;
        for mut event in b.finish().0.events {
            event.index = events.len();
            events.push(event);
        }
    }

    /// Writes its report into a fresh folder, which is removed with the returned value.
    pub fn write(&self, name: &str) -> ReportFolder {
        let folder = ReportFolder::new(name);
        zooquake_reports::write_all(&self.record, &self.results, &self.extras, &folder.0).unwrap();
        folder
    }

    /// Writes only the page of its report: the pictures take most of the time.
    pub fn write_page(&self, name: &str) -> ReportFolder {
        let folder = ReportFolder::new(name);
        let path = folder.0.join("report.html");
        zooquake_reports::write_page(&self.record, &self.results, &self.extras, &path).unwrap();
        folder
    }

    /// The page of its report.
    pub fn page(&self, name: &str) -> String {
        self.write_page(name).page()
    }

    /// The first screen of its report, without scripts: all before the whole run.
    pub fn first_screen(&self, name: &str) -> String {
        first_screen(&self.page(name))
    }
}

/// A folder with a report, removed with this.
pub struct ReportFolder(pub std::path::PathBuf);

impl ReportFolder {
    /// An empty one.
    pub fn new(name: &str) -> Self {
        let folder = Self(std::env::temp_dir().join(format!("zooquake-reports-{}-{name}", std::process::id())));
        let _ = std::fs::remove_dir_all(&folder.0);
        std::fs::create_dir_all(&folder.0).unwrap();
        folder
    }

    pub fn page(&self) -> String {
        std::fs::read_to_string(self.0.join("report.html")).unwrap()
    }
}

impl Drop for ReportFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The page as a browser without scripts has it: no script elements at all.
pub fn without_scripts(page: &str) -> String {
    let mut out = String::new();
    let mut rest = page;
    while let Some(start) = rest.find("<script") {
        out.push_str(&rest[..start]);
        let end = rest[start..].find("</script>").expect("every script ends");
        rest = &rest[start + end + "</script>".len()..];
    }
    out + rest
}

/// The first screen of a page, without scripts.
pub fn first_screen(page: &str) -> String {
    between(&without_scripts(page), "<header", "</header>").to_owned()
}

/// The text from the first of these, which is left out, to the next end.
pub fn between<'a>(page: &'a str, begin: &str, end: &str) -> &'a str {
    let (_, rest) = page.split_once(begin).expect(begin);
    rest.split_once(end).expect(end).0
}

/// The data that the timeline of a page is drawn from.
pub fn data(page: &str) -> Value {
    serde_json::from_str(between(page, "id=\"data\">", "</script>")).expect("JSON")
}

/// Asserts that a page with so many scripts shows what is hostile in a record, and only as text.
#[track_caller]
pub fn assert_harmless(page: &str, scripts: usize) {
    assert!(!page.contains("<img"), "markup from a value");
    assert_eq!(page.matches("</script>").count(), scripts, "a script ended by a value");
    assert_eq!(page.matches("</style>").count(), 1);
    let odd = |c: &char| (c.is_control() && *c != '\n') || matches!(c, '\u{202e}' | '\u{2028}');
    assert_eq!(page.chars().find(odd), None);
    assert!(page.contains("&lt;/script&gt;"), "it is still shown");
}

/// Asserts that the page contains all of these texts.
#[track_caller]
pub fn shows(page: &str, all: &[&str]) {
    for said in all {
        assert!(page.contains(said), "it does not say: {said}\n{page}");
    }
}
