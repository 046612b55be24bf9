//! Pages of histories of others: they open at the proof, with its values.

use crate::program::{Runs, output_of, without_engine};
use crate::readers::FAINT;
use crate::tab::{PageReader, Tab};
use serde_json::json;
use std::path::PathBuf;

/// The page of a history in which a violation of a model is planted.
fn page(runs: &Runs, model: &str, operations: usize) -> PathBuf {
    let call = |line: &str| output_of(without_engine(line).current_dir(runs.path()));
    let name = model.replace(':', "-");
    call(&format!(
        "generate --model {model} --ops {operations} --violation --seed 2 --out {name}.jsonl"
    ))
    .ends(0);
    call(&format!("check {name}.jsonl --model {model} --page {name}.html")).ends(1);
    runs.path().join(format!("{name}.html"))
}

/// What of the proof is not to be seen when the page opens, and the words that are wider than their bars.
const HIDDEN: &str = r##"(() => {
  const within = (one, box) => one.left >= box.left - 1 && one.right <= box.right + 1 && one.top >= box.top - 1 && one.bottom <= box.bottom + 1;
  const place = (element) => element.getBoundingClientRect();
  const named = (element) => `${element.textContent.slice(0, 80)} at ${JSON.stringify(place(element))}`;
  const screen = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  const marked = document.querySelector("[id^=stuck-proof-]");
  const words = marked.querySelector(".words");
  const seen = [document.querySelector("h1"), document.querySelector("#why p"), marked.querySelector(".cannot"), words];
  const hidden = seen.filter((e) => !within(place(e), screen) || (marked.contains(e) && !within(place(e), place(e.closest(".chart")))));
  const cut = [...document.querySelectorAll(".bar")].filter((bar) => bar.checkVisibility()).map((bar) => {
    const words = bar.querySelector(".words"), shape = bar.querySelector("rect, path");
    return words.getComputedTextLength() > shape.getBBox().width - 7 ? words : null;
  });
  return [...hidden, ...cut.filter((e) => e)].map(named);
})()"##;

#[test]
fn the_verdict_the_proof_and_its_values_are_seen_at_once() {
    let runs = Runs::new("browser-history");
    let models = ["register", "fifo-queue", "mutex", "set", "semaphore:3"];
    for (model, operations) in models
        .map(|model| (model, 200))
        .into_iter()
        .chain([("cas-register", 1_000)])
    {
        let page = page(&runs, model, operations);
        for (width, height, dark) in [(1000, 900, false), (400, 800, true)] {
            let tab = Tab::open(&page, PageReader::of_colours(dark));
            let screen = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
            tab.call("Emulation.setDeviceMetricsOverride", screen);
            tab.reload();
            assert_eq!(tab.js(HIDDEN), json!([]), "{model} at {width} px");
            assert_eq!(
                tab.js("document.documentElement.scrollWidth > innerWidth"),
                false,
                "{model} at {width} px"
            );
            assert_eq!(tab.js(FAINT), json!([]), "{model}, dark: {dark}");
            assert!(tab.text("h1").starts_with("INVALID"), "{model}");
            assert_eq!(tab.complaints(), Vec::<String>::new(), "{model}");
        }
    }
}

#[test]
fn the_marked_operation_has_the_value_that_the_sentence_names() {
    let runs = Runs::new("browser-history-value");
    let tab = Tab::open(&page(&runs, "fifo-queue", 200), PageReader::default());
    let words = tab.js("document.querySelector('[id^=stuck-proof-] .words').textContent");
    let words = words.as_str().expect("words");
    let value = words.strip_prefix("dequeue → ").unwrap_or_else(|| panic!("{words}"));
    let sentence = tab.text("#why p");
    assert!(
        sentence.contains(&format!("the dequeue of {value} by process")),
        "{sentence}"
    );
}
