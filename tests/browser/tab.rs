//! A tab with one of our pages, and what a reader does in it.

use crate::chromium::{CHROMIUM, PATIENCE};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// How a page is opened.
#[derive(Clone, Copy, Default)]
pub struct PageReader {
    /// Prefers dark colours.
    pub dark: bool,
    /// Has switched JavaScript off.
    pub no_scripts: bool,
}

impl PageReader {
    /// One who prefers these colours.
    pub fn of_colours(dark: bool) -> Self {
        let no_scripts = false;
        Self { dark, no_scripts }
    }

    /// One without JavaScript.
    pub const PLAIN: Self = Self {
        dark: false,
        no_scripts: true,
    };
}

/// A page that is open.
pub struct Tab {
    session: String,
    target: String,
    reader: PageReader,
    events: Receiver<Value>,
    seen: Mutex<Vec<Value>>,
}

impl Tab {
    /// Opens the page of a file and waits until it is loaded.
    pub fn open(page: &Path, reader: PageReader) -> Self {
        let (session, target, events) = CHROMIUM.tab();
        let tab = Self {
            session,
            target,
            reader,
            events,
            seen: Mutex::default(),
        };
        for domain in ["Page.enable", "Runtime.enable", "Log.enable", "Network.enable"] {
            tab.call(domain, json!({}));
        }
        // Several tabs are open at once; each must draw and take keys as if it were in front.
        tab.call("Emulation.setFocusEmulationEnabled", json!({"enabled": true}));
        let screen = json!({"width": 1400, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        tab.call("Emulation.setDeviceMetricsOverride", screen);
        let scheme = if reader.dark { "dark" } else { "light" };
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        tab.call("Emulation.setEmulatedMedia", media);
        if reader.no_scripts {
            tab.call("Emulation.setScriptExecutionDisabled", json!({"value": true}));
        }
        tab.call("Page.navigate", json!({"url": CHROMIUM.take_in(page)}));
        tab.wait_for_event("Page.loadEventFired");
        tab
    }

    /// Loads the page again.
    pub fn reload(&self) {
        self.call("Page.reload", json!({}));
        self.wait_for_event("Page.loadEventFired");
    }

    /// A command to this tab.
    pub fn call(&self, method: &str, params: Value) -> Value {
        CHROMIUM.call(Some(&self.session), method, params)
    }

    fn wait_for_event(&self, method: &str) {
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let event = self.events.recv_timeout(left);
            let event = event.unwrap_or_else(|e| panic!("no {method}: {e}"));
            let found = event["method"] == method;
            self.seen.lock().unwrap().push(event);
            if found {
                return;
            }
        }
    }

    /// The value of an expression. DevTools can evaluate also where the page's own scripts are switched off.
    pub fn js(&self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut answer = self.call("Runtime.evaluate", params);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {}",
            answer["exceptionDetails"]
        );
        answer["result"]["value"].take()
    }

    /// The text of the first element that matches.
    pub fn text(&self, selector: &str) -> String {
        let text = self.js(&format!("document.querySelector({selector:?})?.innerText"));
        text.as_str().unwrap_or_else(|| panic!("no {selector}")).to_owned()
    }

    /// Waits until an expression is true; the page may draw a little later than the call that causes it.
    pub fn wait_until(&self, expression: &str) {
        let until = Instant::now() + PATIENCE;
        while self.js(&format!("!!({expression})")) != true {
            assert!(Instant::now() < until, "never: {expression}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Where the middle of the first element that matches is, scrolled into view.
    pub fn place(&self, selector: &str) -> (f64, f64) {
        let place = self.js(&format!(
            "(() => {{ const e = document.querySelector({selector:?}); e.scrollIntoView({{block: 'center'}}); \
             const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; }})()"
        ));
        let at = |i: usize| place[i].as_f64().unwrap_or_else(|| panic!("no {selector}"));
        (at(0), at(1))
    }

    fn mouse(&self, kind: &str, (x, y): (f64, f64), more: Value) {
        let mut params = json!({"type": kind, "x": x, "y": y});
        for (name, value) in more.as_object().expect("fields") {
            params[name] = value.clone();
        }
        self.call("Input.dispatchMouseEvent", params);
    }

    /// Moves the mouse there.
    pub fn point(&self, place: (f64, f64)) {
        self.mouse("mouseMoved", place, json!({}));
    }

    /// Clicks there.
    pub fn click_at(&self, place: (f64, f64)) {
        self.point(place);
        let button = json!({"button": "left", "clickCount": 1});
        self.mouse("mousePressed", place, button.clone());
        self.mouse("mouseReleased", place, button);
    }

    /// Clicks on the first element that matches.
    pub fn click(&self, selector: &str) {
        self.click_at(self.place(selector));
    }

    /// Drags from one place to another.
    pub fn drag(&self, from: (f64, f64), to: (f64, f64)) {
        let button = json!({"button": "left", "buttons": 1, "clickCount": 1});
        self.point(from);
        self.mouse("mousePressed", from, button.clone());
        self.mouse("mouseMoved", ((from.0 + to.0) / 2.0, from.1), button.clone());
        self.mouse("mouseMoved", to, button.clone());
        self.mouse("mouseReleased", to, button);
    }

    /// Turns the wheel there.
    pub fn wheel(&self, place: (f64, f64), by: f64) {
        self.mouse("mouseWheel", place, json!({"deltaX": 0, "deltaY": by}));
    }

    /// Presses a key, by its name (`ArrowLeft`) or as a character.
    pub fn key(&self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "Escape" => 27,
            "ArrowLeft" => 37,
            "ArrowRight" => 39,
            _ => 0,
        };
        let mut down = json!({"type": "keyDown", "key": key, "windowsVirtualKeyCode": code});
        if key.chars().count() == 1 {
            down["text"] = json!(key);
        } else if key == "Enter" {
            down["text"] = json!("\r");
        }
        self.call("Input.dispatchKeyEvent", down);
        let up = json!({"type": "keyUp", "key": key, "windowsVirtualKeyCode": code});
        self.call("Input.dispatchKeyEvent", up);
    }

    /// Everything the browser complained about, and every address the page asked for that is not its own file.
    pub fn complaints(&self) -> Vec<String> {
        // The browser's events about what the page did before this answer come before it.
        match self.reader.no_scripts {
            true => self.js("0"),
            false => self.js("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"),
        };
        let mut seen = self.seen.lock().unwrap();
        seen.extend(self.events.try_iter());
        let output = seen.iter().filter_map(|event| {
            let params = &event["params"];
            match event["method"].as_str()? {
                "Runtime.exceptionThrown" => Some(params["exceptionDetails"].to_string()),
                "Runtime.consoleAPICalled" => Some(format!("console: {}", params["args"])),
                "Log.entryAdded" => Some(params["entry"]["text"].to_string()),
                "Page.javascriptDialogOpening" => Some(format!("a dialog: {}", params["message"])),
                "Network.requestWillBeSent" => {
                    let address = params["request"]["url"].as_str()?;
                    let own = address.starts_with("file://") && params["type"] == "Document";
                    (!own && !address.starts_with("data:")).then(|| format!("fetches {address}"))
                }
                _ => None,
            }
        });
        output.collect()
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        // A test that has failed already may have lost the browser.
        if !std::thread::panicking() {
            CHROMIUM.call(None, "Target.closeTarget", json!({"targetId": self.target}));
        }
    }
}
