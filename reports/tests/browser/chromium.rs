//! A headless Chromium, driven over the DevTools protocol: messages of JSON, each ended by a zero byte, through a pipe.

use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

/// The names under which systems install it.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// How long an answer may take: far more than any needs, so that only a browser that hangs is given up.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Chromium reads commands at 3 and writes at 4, and our own code may not pass file descriptors: a shell does. It also
/// removes the profile when the browser has ended, which it does when this process closes the pipe, however it ends.
const SHELL: &str = r#"profile=$1; shift; "$@" 3<&0 4>&1 </dev/null >/dev/null 2>"$profile/errors"; rm -rf "$profile""#;

const FLAGS: [&str; 9] = [
    "--headless",
    // Continuous integration runs as root, where Chromium refuses its sandbox; the pages are our own.
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
];

/// The browser that all tests share, each with tabs of its own: it takes a second to start.
pub static CHROMIUM: LazyLock<Chromium> = LazyLock::new(Chromium::start);

/// Who waits for answers to commands, and who listens to the events of a tab.
#[derive(Default)]
struct Listeners {
    answers: HashMap<u64, Sender<Value>>,
    tabs: HashMap<String, Sender<Value>>,
}

/// A running browser.
pub struct Chromium {
    commands: Mutex<ChildStdin>,
    listeners: Arc<Mutex<Listeners>>,
    next: AtomicU64,
    // Waiting for it would keep the tests from ending: it ends when they have.
    _shell: Child,
}

impl Chromium {
    fn start() -> Self {
        let chromium = executable();
        let profile = std::env::temp_dir().join(format!("zooquake-chromium-{}", std::process::id()));
        std::fs::create_dir_all(&profile).expect("a folder for the browser's profile");
        let mut shell = Command::new("sh")
            .args(["-c", SHELL, "sh"])
            .arg(&profile)
            .arg(chromium)
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let listeners = Arc::<Mutex<Listeners>>::default();
        let (heard, messages) = (listeners.clone(), shell.stdout.take().expect("its messages"));
        std::thread::spawn(move || listen(BufReader::new(messages), &heard));
        Self {
            commands: Mutex::new(shell.stdin.take().expect("its commands")),
            listeners,
            next: AtomicU64::new(1),
            _shell: shell,
        }
    }

    /// Sends a command, to the tab of that session if one is given, and returns the result.
    pub fn call(&self, session: Option<&str>, method: &str, params: Value) -> Value {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = channel();
        self.listeners.lock().unwrap().answers.insert(id, sender);
        let mut command = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            command["sessionId"] = json!(session);
        }
        let mut line = command.to_string().into_bytes();
        line.push(0);
        self.commands
            .lock()
            .unwrap()
            .write_all(&line)
            .expect("Chromium has ended");
        let mut answer = answer
            .recv_timeout(PATIENCE)
            .unwrap_or_else(|e| panic!("Chromium does not answer {method}: {e}"));
        assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
        answer["result"].take()
    }

    /// Opens a tab; its session, its target, and what it will tell.
    pub fn tab(&self) -> (String, String, Receiver<Value>) {
        let target = self.call(
            None,
            "Target.createTarget",
            json!({"url": "about:blank", "newWindow": true}),
        );
        let target = target["targetId"].as_str().expect("the tab's name").to_owned();
        let session = self.call(
            None,
            "Target.attachToTarget",
            json!({"targetId": target, "flatten": true}),
        );
        let session = session["sessionId"].as_str().expect("the session's name").to_owned();
        let (sender, events) = channel();
        self.listeners.lock().unwrap().tabs.insert(session.clone(), sender);
        (session, target, events)
    }
}

/// Hands on what the browser says until it ends.
fn listen(mut messages: impl BufRead, listeners: &Mutex<Listeners>) {
    let mut line = Vec::new();
    while matches!(messages.read_until(0, &mut line), Ok(n) if n > 0) {
        line.pop();
        let message: Value = serde_json::from_slice(&line).expect("JSON from Chromium");
        line.clear();
        let mut listeners = listeners.lock().unwrap();
        let to = match (message["id"].as_u64(), message["sessionId"].as_str()) {
            (Some(id), _) => listeners.answers.remove(&id),
            (None, Some(session)) => listeners.tabs.get(session).cloned(),
            (None, None) => None,
        };
        // A tab that was closed listens no more.
        let _ = to.map(|to| to.send(message));
    }
    // Nobody waits for an answer that will not come.
    listeners.lock().unwrap().answers.clear();
}

/// Where Chromium is.
fn executable() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path);
    let mut all = places.flat_map(|place| NAMES.map(|name| place.join(name)));
    all.find(|place| place.is_file()).unwrap_or_else(|| {
        panic!(
            "none of {} is in PATH: the pages are tested in a real browser. Install it, on Debian and Ubuntu with \
             `apt-get install --no-install-recommends chromium`.",
            NAMES.join(", ")
        )
    })
}
