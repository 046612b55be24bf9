//! `membership/*`: what each client shows of its group, and what becomes of its own entry when replies and sessions are
//! lost.

mod entries;
mod views;

use serde_json::{Value, json};
use zooquake_workloads::zk::CreateMode;
use zooquake_workloads::zk::sim::Ensemble;

use crate::driven::{ClientTestBed, DrivenClient};

const VARIANTS: [&str; 2] = ["cached", "tutorial"];

fn bed() -> ClientTestBed {
    let bed = ClientTestBed::new();
    bed.net.server().ensure("/members");
    bed
}

/// The members that a client shows, each with its value.
fn shown(client: &mut DrivenClient) -> Option<Vec<(String, i64)>> {
    let answer = client.ok("view", json!({}));
    let members = answer["view"]["members"].as_array()?.iter();
    let entry = |member: &Value| {
        let name = member["member"].as_str().unwrap();
        assert_eq!(member["path"], format!("/members/{name}"));
        (name.to_string(), member["value"].as_i64().unwrap())
    };
    Some(members.map(entry).collect())
}

fn members<const N: usize>(members: [(&str, i64); N]) -> Option<Vec<(String, i64)>> {
    Some(members.map(|(name, value)| (name.to_string(), value)).into())
}

fn register(client: &mut DrivenClient, member: &str, value: i64) -> Value {
    client.ok("register", json!({"member": member, "value": value}))
}

/// The members in the tree, each with its data.
fn tree(bed: &ClientTestBed) -> Vec<(String, String)> {
    let server = bed.net.server();
    let mut members = Vec::new();
    for name in server.children("/members").unwrap() {
        let (data, _) = server.get(&format!("/members/{name}")).unwrap();
        members.push((name, String::from_utf8(data).unwrap()));
    }
    members
}

fn enter(server: &mut Ensemble, member: &str, value: &[u8]) {
    let path = format!("/members/{member}");
    server.create(0, &path, value, CreateMode::Persistent).unwrap();
}
