//! Writes a run's folder with a valid history of so many events, to measure `check` with:
//! `recorded lock|queue|commit|barrier|register EVENTS FOLDER`. Ten clients work one after the other, without faults.

use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use zooquake_history::Node;

type Failure = Box<dyn std::error::Error>;

/// Writes the operations of one round, by its number.
type Round = fn(&mut HistoryFile, u64) -> Result<(), Failure>;

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [family, events, folder] = args.as_slice() else {
        return Err("give FAMILY EVENTS FOLDER".into());
    };
    let (variant, round): (&str, Round) = match family.as_str() {
        "lock" => ("predecessor", lock),
        "queue" => ("fifo", queue),
        "commit" => ("coordinated", commit),
        "barrier" => ("double", barrier),
        "register" => ("sync-read", register),
        other => return Err(format!("there is no family {other}").into()),
    };
    let (events, folder) = (events.parse()?, Path::new(folder));
    std::fs::create_dir_all(folder)?;
    let contenders: &[&str] = if family == "lock" { &["/lock"] } else { &[] };
    let plan = json!({
        "format": 1, "seed": 1, "time_ms": 10_000, "faults": [], "windows": [], "clients": vec![json!({"cycles": []}); CLIENTS as usize],
        "workload": {"family": family, "variant": variant, "promise": "measured", "resource": "external", "fenced": false,
                     "accepted": [], "contenders": contenders},
        "cluster": {"servers": 3, "clients": CLIENTS, "image": null,
                    "timing": {"tick_ms": 250, "init_limit": 20, "sync_limit": 4, "session_ms": 2000}},
    });
    std::fs::write(folder.join("plan.json"), plan.to_string())?;
    let file = BufWriter::new(File::create(folder.join("history.jsonl"))?);
    let mut lines = HistoryFile { file, index: 0 };
    let mut number = 0;
    while lines.index < events {
        round(&mut lines, number)?;
        number += 1;
    }
    Ok(lines.file.flush()?)
}

const CLIENTS: u64 = 10;

/// The file of a history, line by line.
struct HistoryFile {
    file: BufWriter<File>,
    index: u64,
}

impl HistoryFile {
    fn event(&mut self, client: u64, kind: &str, f: &str, value: &Value) -> Result<(), Failure> {
        let (index, time, process, node) = (
            self.index,
            40_000 * self.index,
            client,
            Node::client(client as usize + 1).to_string(),
        );
        let event = json!({"index": index, "time": time, "process": process, "type": kind, "f": f, "value": value, "node": node});
        self.index += 1;
        Ok(writeln!(self.file, "{event}")?)
    }

    fn done(&mut self, client: u64, f: &str, asked: &Value, told: &Value) -> Result<(), Failure> {
        self.event(client, "invoke", f, asked)?;
        self.event(client, "ok", f, told)
    }
}

/// The session of a client.
fn session(client: u64) -> String {
    format!("0x10000{client:011x}")
}

fn lock(lines: &mut HistoryFile, number: u64) -> Result<(), Failure> {
    let (client, grant, czxid) = (number % CLIENTS, format!("g{number}"), 4_294_967_296 + 3 * number);
    let path = format!("/lock/x-{number:010}");
    let granted = json!({"grant": grant, "path": path, "czxid": czxid, "session": session(client)});
    lines.done(client, "acquire", &json!({"grant": grant}), &granted)?;
    let asked = json!({"grant": grant, "value": number, "work_ms": 20});
    lines.done(
        client,
        "write",
        &asked,
        &json!({"grant": grant, "value": number, "token": null, "accepted": true}),
    )?;
    let released = json!({"grant": grant, "removed": {"path": path, "czxid": czxid}});
    lines.done(client, "release", &json!({"grant": grant}), &released)
}

fn queue(lines: &mut HistoryFile, number: u64) -> Result<(), Failure> {
    let (client, czxid) = (number % CLIENTS, 4_294_967_296 + 3 * number);
    let made = json!({"item": number, "path": format!("/queue/item-{number:010}"), "czxid": czxid});
    lines.done(client, "enqueue", &json!({"item": number}), &made)?;
    let taker = (client + 1) % CLIENTS;
    lines.done(taker, "dequeue", &json!({}), &json!({"item": number}))
}

fn commit(lines: &mut HistoryFile, number: u64) -> Result<(), Failure> {
    let tx = format!("t{number}");
    let begin = json!({"tx": tx, "sites": ["c2", "c3", "c4"]});
    lines.done(0, "begin", &begin, &json!({"tx": tx}))?;
    for site in 1..4 {
        lines.done(
            site,
            "vote",
            &json!({"tx": tx, "vote": "yes"}),
            &json!({"tx": tx, "voted": "yes"}),
        )?;
    }
    lines.done(0, "decide", &begin, &json!({"tx": tx, "decision": "commit"}))?;
    for site in 1..4 {
        lines.done(
            site,
            "decided",
            &json!({"tx": tx}),
            &json!({"tx": tx, "decision": "commit"}),
        )?;
    }
    Ok(())
}

fn barrier(lines: &mut HistoryFile, number: u64) -> Result<(), Failure> {
    for f in ["enter", "leave"] {
        let asked = |client: u64| json!({"round": number, "member": format!("m{number}-{client}"), "members": CLIENTS});
        for client in 0..CLIENTS {
            lines.event(client, "invoke", f, &asked(client))?;
        }
        for client in 0..CLIENTS {
            let told = json!({"round": number, "member": format!("m{number}-{client}"), "session": session(client)});
            lines.event(client, "ok", f, &told)?;
        }
    }
    Ok(())
}

fn register(lines: &mut HistoryFile, number: u64) -> Result<(), Failure> {
    let (client, mzxid) = (number % CLIENTS, 4_294_967_296 + number);
    let reader = (client + 1) % CLIENTS;
    lines.done(
        client,
        "write",
        &json!({"value": number + 1}),
        &json!({"value": number + 1, "mzxid": mzxid, "session": session(client)}),
    )?;
    lines.done(
        reader,
        "read",
        &json!({}),
        &json!({"value": number + 1, "mzxid": mzxid, "session": session(reader)}),
    )
}
