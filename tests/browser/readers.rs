//! Readers who prefer dark colours, have no JavaScript, or print.

use crate::common::results;
use crate::pages::open;
use crate::program::{Runs, output_of, without_engine};
use crate::tab::{PageReader, Tab};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use zooquake_history::Provenance;
use zooquake_reports::RunProgress;

/// Every text whose colour stands out too little from what is behind it, by the formula and bounds of WCAG 2 (AA).
pub const FAINT: &str = r##"(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const contrast = (a, b) => {
    const [high, low] = [light(rgba(a)), light(rgba(b))].sort((p, q) => q - p);
    return (high + 0.05) / (low + 0.05);
  };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = getComputedStyle(e).backgroundColor;
      if (rgba(color)[3] === 255) return color;
    }
    return "white";
  };
  const faint = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || element.closest("svg, script, style") || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    const found = contrast(style.color, behind(element));
    if (found < (large ? 3 : 4.5)) faint.push(`${element.tagName} .${element.className} ${found.toFixed(2)}`);
  }
  const named = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);
  for (const [text, ground] of [["holdline", "hold"], ["paper", "work"], ["paper", "lead"], ["paper", "violation"], ["paper", "ink"]]) {
    const found = contrast(named(text), named(ground));
    if (found < 4.5) faint.push(`${text} on ${ground} ${found.toFixed(2)}`);
  }
  return faint;
})()"##;

fn background(tab: &Tab) -> String {
    tab.js("getComputedStyle(document.body).backgroundColor").to_string()
}

#[test]
fn light_and_dark_are_both_legible() {
    let mut grounds = Vec::new();
    for run in [results::invalid(), results::unknown()] {
        for dark in [false, true] {
            let folder = run.write_page(&format!("browser-dark-{dark}"));
            let tab = open(&folder, PageReader::of_colours(dark));
            assert_eq!(tab.js(FAINT), json!([]), "dark: {dark}");
            grounds.push(background(&tab));
        }
    }
    assert!(grounds[0] != grounds[1] && grounds[..2] == grounds[2..], "{grounds:?}");
}

#[test]
fn the_page_of_a_run_that_goes_on_keeps_its_details_as_they_were() {
    let mut run = results::invalid();
    run.extras.progress = Some(RunProgress::default());
    let tab = open(&run.write_page("browser-ongoing"), PageReader::default());
    const OPEN: &str = "[...document.querySelectorAll('details.anomaly')].map((one) => one.open)";
    let first = tab.js(OPEN);
    tab.js("document.querySelectorAll('details.anomaly').forEach((one) => { one.open = !one.open; })");
    let turned = tab.js(OPEN);
    assert_ne!(first, turned);
    tab.reload();
    assert_eq!(tab.js(OPEN), turned);
}

#[test]
fn the_canvas_follows_when_the_colours_change() {
    let folder = results::invalid().write_page("browser-change");
    let tab = open(&folder, PageReader::default());
    let name = "(() => { const c = document.getElementById('canvas'); \
                const d = c.getContext('2d').getImageData(0, 60, 60, 60).data; let darkest = 255; \
                for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 200) darkest = Math.min(darkest, d[i]); return darkest; })()";
    tab.wait_until(&format!("{name} < 100"));
    let dark = json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]});
    tab.call("Emulation.setEmulatedMedia", dark);
    tab.wait_until(&format!("{name} > 150"));
}

#[test]
fn verdict_story_and_pictures_need_no_scripts() {
    let shown = |tab: &Tab, selector: &str| {
        let height = tab.js(&format!(
            "document.querySelector({selector:?})?.getBoundingClientRect().height"
        ));
        height.as_f64().unwrap_or(0.0) > 50.0
    };
    for (verdict, run) in [
        ("INVALID", results::invalid()),
        ("VALID", results::valid()),
        ("UNKNOWN", results::unknown()),
    ] {
        let folder = run.write_page(&format!("browser-plain-{verdict}"));
        let tab = open(&folder, PageReader::PLAIN);
        assert_eq!(tab.text("h1"), verdict);
        assert!(shown(&tab, "#overview"), "{verdict}: no picture of the whole run");
        assert!(!shown(&tab, "#timeline"), "{verdict}: an empty timeline");
        assert_eq!(
            tab.js("[...document.querySelectorAll('button')].some((b) => b.checkVisibility())"),
            false
        );
        assert!(tab.text("body").contains("needs JavaScript"), "{verdict}");
        if verdict == "INVALID" {
            assert!(shown(&tab, "#witness") && shown(&tab, "#w2"));
            assert!(tab.text(".why").ends_with('.') && tab.text("#first .steps").contains("c3"));
            let evidence = tab.js("document.querySelector('.evidence').textContent.length");
            assert!(evidence.as_u64() > Some(100), "{evidence}");
        }
        assert_eq!(tab.complaints(), Vec::<String>::new(), "{verdict}");
    }
}

/// Every box that is narrower than what is in it, so that it scrolls or is cut, and every picture that is not as wide
/// as its box.
const UNFIT: &str = r##"(() => {
  const shown = (selector) => [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility());
  const named = (e) => `${e.tagName} #${e.id} .${e.getAttribute("class")}: ${e.scrollWidth} in ${e.clientWidth}`;
  const boxes = shown(":root, body, main, section, header, .chart, .wide, pre").filter((e) => e.scrollWidth > e.clientWidth + 1);
  const pictures = shown(".chart > .picture");
  const odd = pictures.filter((e) => Math.abs(e.getBoundingClientRect().width - e.parentElement.clientWidth) > 1);
  return [...boxes, ...odd.map((e) => e.parentElement)].map(named);
})()"##;

/// Shows a page as it is printed: as wide as A4 landscape between its margins of 12 mm.
fn put_on_paper(tab: &Tab, dark: bool) {
    let scheme = if dark { "dark" } else { "light" };
    let paper = json!({"media": "print", "features": [{"name": "prefers-color-scheme", "value": scheme}]});
    tab.call("Emulation.setEmulatedMedia", paper);
    let width = (297 - 2 * 12) * 96 * 10 / 254;
    let sheet = json!({"width": width, "height": 703, "deviceScaleFactor": 1, "mobile": false});
    tab.call("Emulation.setDeviceMetricsOverride", sheet);
    tab.wait_until(&format!("innerWidth === {width}"));
}

#[test]
fn every_kind_of_page_fits_the_width_of_paper() {
    let runs = Runs::new("browser-paper");
    let folder = runs.path();
    let call = |line: &str| drop(output_of(without_engine(line).current_dir(folder)));
    let on = "--on sim --seed 3 --quiet --out";
    call(&format!(
        "run lock/predecessor --faults drop-reply --time 12s {on} lock"
    ));
    call(&format!(
        "run register/quorum-read --faults none --time 2s {on} register"
    ));
    call("report lock/latest register/latest");
    call("report lock");
    let night = "variants = [\"lock/fenced\"]\nseeds = [1]\ntime = \"12s\"\non = \"sim\"\n\
                 faults = [\"none\", \"kill\", \"pause\", \"partition\", \"drop-reply\", \"expire\", \"lag\", \"disconnect,kill\"]\n";
    std::fs::write(folder.join("night.toml"), night).unwrap();
    call("nightly night.toml --out night");
    call("compare lock --variants protected,fenced --faults none --times 1 --time 2s --on sim --out compared");
    for page in [
        "lock/latest/report.html",
        "register/latest/order.html",
        "register/latest/difference.html",
        "lock/index.html",
        "night/index.html",
        "compared/compare.html",
    ] {
        let tab = Tab::open(&folder.join(page), PageReader::default());
        put_on_paper(&tab, false);
        assert_eq!(tab.js(UNFIT), json!([]), "{page}");
        let form = tab.js("document.querySelector('form')?.checkVisibility() ?? false");
        assert_eq!(form, false, "{page}: something to fill in");
    }
}

#[test]
fn paper_has_the_pictures_and_nothing_to_press() {
    let mut run = results::invalid();
    run.results.anomalies.extend(run.results.anomalies.clone());
    let folder = run.write_page("browser-print");
    let tab = open(&folder, PageReader::of_colours(true));
    let screen = background(&tab);
    put_on_paper(&tab, true);
    assert_eq!(tab.js(UNFIT), json!([]));
    assert_ne!(background(&tab), screen, "paper is white");
    assert_eq!(tab.js("document.getElementById('overview').checkVisibility()"), true);
    assert_eq!(
        tab.js("[...document.querySelectorAll('button, canvas')].some((e) => e.checkVisibility())"),
        false
    );
    let drawn = "[...document.querySelectorAll('.anomaly')].filter((a) => a.querySelector(':scope > div > .chart')?.checkVisibility())\
                 .map((a) => a.querySelector('.badge').textContent)";
    let kinds: Vec<Value> = serde_json::from_value(tab.js(drawn)).expect("a list");
    let once: BTreeSet<String> = kinds.iter().map(Value::to_string).collect();
    assert!(
        !kinds.is_empty() && once.len() == kinds.len(),
        "{kinds:?}: one picture of a kind"
    );
    let pdf = tab.call("Page.printToPDF", json!({}));
    assert!(pdf["data"].as_str().is_some_and(|data| data.len() > 20_000));
}

#[test]
fn on_a_narrow_page_the_first_picture_fits_others_scroll_in_their_boxes_and_all_stay_legible() {
    let mut run = results::caused();
    let mut provenance = Provenance::default();
    provenance.set(Provenance::RECIPE, format!("sha256:{}", "8d".repeat(32)).as_str());
    run.record.provenance = Some(provenance);
    let folder = run.write_page("browser-narrow");
    let tab = open(&folder, PageReader::default());
    for width in [400, 1000, 1600] {
        let screen = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        tab.call("Emulation.setDeviceMetricsOverride", screen);
        tab.wait_until(&format!("innerWidth === {width}"));
        let wide = tab.js("document.documentElement.scrollWidth");
        assert!(
            wide.as_u64() <= Some(width),
            "the page itself scrolls: {wide} of {width}"
        );
        let least = tab.js(
            "Math.min(...[...document.querySelectorAll('.picture text')].filter((t) => t.checkVisibility()) \
             .map((t) => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a))",
        );
        assert!(least.as_f64() >= Some(10.99), "letters of {least} px at {width}");
        let boxes = "[...document.querySelectorAll('.chart')].filter((b) => b.checkVisibility())";
        let scroll = |boxes: &str| tab.js(&format!("{boxes}.map((b) => b.scrollWidth > b.clientWidth)"));
        assert_eq!(
            scroll(&format!("{boxes}.slice(0, 1)")),
            json!([false]),
            "the first picture at {width}"
        );
        let latency = format!("{boxes}.filter((b) => b.querySelector('#latency'))");
        assert_eq!(scroll(&latency), json!([width < 980]), "a chart at {width}");
    }
}
