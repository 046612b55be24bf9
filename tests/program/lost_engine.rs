//! The engine's API is gone for a while, and its containers live on.

use crate::common::{EnsembleSlot, Runs, assert_nothing_left_of, document, ended, history, recorded, until, zooquake};
use serde_json::Value;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A way to the engine that can be cut.
struct EngineProxy {
    address: String,
    cut: Arc<AtomicBool>,
    open: Arc<Mutex<Vec<UnixStream>>>,
}

impl EngineProxy {
    /// Passes on what comes to a socket in this folder.
    fn listen(folder: &Path) -> Self {
        let socket = folder.join("engine.sock");
        let listener = UnixListener::bind(&socket).expect("a socket");
        let proxy = Self {
            address: format!("unix://{}", socket.display()),
            cut: Arc::default(),
            open: Arc::default(),
        };
        let (cut, open) = (Arc::clone(&proxy.cut), Arc::clone(&proxy.open));
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let connection = connection.expect("a connection");
                // A cut waits for the lock: none slips through while it is made.
                let mut open = open.lock().unwrap();
                if !cut.load(Ordering::SeqCst) {
                    let engine = UnixStream::connect("/var/run/docker.sock").expect("the engine");
                    open.extend(both_ways(connection, engine));
                }
            }
        });
        proxy
    }

    /// Ends all connections and takes no new ones.
    fn cut(&self) {
        let mut open = self.open.lock().unwrap();
        self.cut.store(true, Ordering::SeqCst);
        for stream in open.drain(..) {
            // It may have ended.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn mend(&self) {
        self.cut.store(false, Ordering::SeqCst);
    }
}

/// Passes on what comes from either end to the other one; returns both.
fn both_ways(one: UnixStream, other: UnixStream) -> [UnixStream; 2] {
    for (from, to) in [(&one, &other), (&other, &one)] {
        let (from, to) = (from.try_clone().expect("a stream"), to.try_clone().expect("a stream"));
        std::thread::spawn(move || pass_on(from, to));
    }
    [one, other]
}

fn pass_on(mut from: UnixStream, mut to: UnixStream) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match from.read(&mut buffer) {
            Ok(read @ 1..) => to.write_all(&buffer[..read])?,
            Ok(0) | Err(_) => return to.shutdown(Shutdown::Write),
        }
    }
}

#[test]
fn an_engine_that_is_lost_for_a_while_ends_no_run_and_its_windows_do_not_count() {
    let _turn = EnsembleSlot::shared();
    let (sockets, runs) = (Runs::new("engine-socket"), Runs::new("lost-engine"));
    let proxy = EngineProxy::listen(sockets.path());
    let mut command = zooquake("run lock/fenced --faults kill --time 15s --seed 3 --out");
    command.arg(runs.path()).env("DOCKER_HOST", &proxy.address);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.expect("starting zooquake");
    recorded(&runs, &["\"phase\":\"on\"", "\"verified\":true"]);
    proxy.cut();
    recorded(&runs, &["\"unreachable\"", "Docker engine"]);
    proxy.mend();
    recorded(&runs, &["\"unreachable\"", "\"engines\":[]"]);
    // All clients were lost, and all are started again.
    let mut again = false;
    until(
        "a second process of each client, or the end of the run",
        Duration::from_secs(60),
        || {
            again = (1..=5).all(|client| restarted(&history(&runs), client));
            (again || child.try_wait().expect("its state").is_some()).then_some(())
        },
    );
    let output = ended(child);
    assert!(again, "{output}");
    assert_nothing_left_of(&runs.id());
    assert!(matches!(output.code, Some(0 | 2)), "{output}");
    let results = document(&runs.only(), "results.json");
    let windows = results["windows"].as_array().expect("a list");
    let lost = |window: &&Value| {
        window["why"]
            .as_str()
            .is_some_and(|why| why.contains("the loss of the Docker engine"))
    };
    let lost: Vec<&Value> = windows.iter().filter(lost).collect();
    assert!(!lost.is_empty(), "{windows:?}");
    assert!(lost.iter().all(|window| window["counts"] == false), "{lost:?}");
}

/// Whether the history has the `hello` of a later process of this client than its first.
fn restarted(history: &str, client: usize) -> bool {
    let of = format!("\"process\":\"c{client}\"");
    let hello = |line: &&str| line.contains(&of) && line.contains("\"hello\"");
    history.lines().filter(hello).count() > 1
}
