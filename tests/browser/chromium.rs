//! A headless Chromium in a container, driven over the DevTools protocol: messages of JSON, each ended by a zero byte,
//! through the container's stdin and stdout.

use crate::program::{EnsembleSlot, output_of, zooquake};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

/// How long an answer may take: far more than any needs, so that only a browser that hangs is given up.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The browser ends when this process closes the pipe, however it ends, and the engine removes the container then. The
/// shell waits for that, so that the turn is not passed on before; it also removes a browser that hangs.
const SHELL: &str = r#"name=$1; shift; docker run --name="$name" "$@"
exec >/dev/null 2>&1; docker rm --force "$name"; while docker inspect "$name"; do sleep 0.1; done"#;

/// The container reaches nothing, and may do nothing that a page does not need.
const CONTAINER: [&str; 9] = [
    "--rm",
    "--init",
    "--interactive",
    "--network=none",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--pids-limit=1000",
    // Pages of many operations are drawn in shared memory, of which a container has 64 MB by default.
    "--shm-size=1g",
    "--log-driver=none",
];

/// The browser that all tests share, each with tabs of its own: it takes a second to start.
pub static CHROMIUM: LazyLock<Chromium> = LazyLock::new(Chromium::start);

/// The receivers of answers to commands, by number, and of the events of tabs, by session.
#[derive(Default)]
struct Listeners {
    answers: HashMap<u64, Sender<Value>>,
    tabs: HashMap<String, Sender<Value>>,
}

/// A running browser.
pub struct Chromium {
    /// The name of its container.
    name: String,
    commands: Mutex<ChildStdin>,
    listeners: Arc<Mutex<Listeners>>,
    next: AtomicU64,
    // Waiting for it would keep the tests from ending: it ends when they have.
    _container: Child,
}

impl Chromium {
    fn start() -> Self {
        let image = image();
        EnsembleSlot::shared().inherit();
        let name = format!("zooquake-browser-{}", std::process::id());
        let mut container = Command::new("sh")
            .args(["-c", SHELL, "sh", &name])
            .args(CONTAINER)
            .arg(format!("--label=zooquake.run={name}"))
            .arg(format!("--label=zooquake.owner={name}"))
            .arg(image)
            .arg("--hide-scrollbars")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a shell");
        let listeners = Arc::<Mutex<Listeners>>::default();
        let (heard, messages) = (listeners.clone(), container.stdout.take().expect("its messages"));
        std::thread::spawn(move || listen(BufReader::new(messages), &heard));
        let errors = BufReader::new(container.stderr.take().expect("its errors"));
        std::thread::spawn(move || {
            errors
                .lines()
                .map_while(Result::ok)
                .for_each(|line| eprintln!("{line}"))
        });
        let chromium = Self {
            name,
            commands: Mutex::new(container.stdin.take().expect("its commands")),
            listeners,
            next: AtomicU64::new(1),
            _container: container,
        };
        chromium.call(None, "Browser.getVersion", json!({}));
        chromium
    }

    /// Copies a page into the container, and returns its address there.
    pub fn take_in(&self, page: &Path) -> String {
        let path = format!("/tmp/{}.html", self.next.fetch_add(1, Ordering::Relaxed));
        let copied = Command::new("docker")
            .args([
                "exec",
                "--interactive",
                &self.name,
                "sh",
                "-c",
                r#"cat > "$1""#,
                "sh",
                &path,
            ])
            .stdin(File::open(page).expect("the page"))
            .status();
        assert!(
            copied.expect("the docker program").success(),
            "copying {}",
            page.display()
        );
        format!("file://{path}")
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

    /// Opens a tab; its session, its target, and the receiver of its events.
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

/// Dispatches the browser's messages until it ends.
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

/// The name of Chromium's image, which is prepared if it is not there.
fn image() -> String {
    let mut prepare = zooquake("images --chromium --json");
    let images = output_of(prepare.stderr(Stdio::inherit())).ends(0).json();
    images["images"][0]["name"].as_str().expect("its name").to_owned()
}
