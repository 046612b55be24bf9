//! `zooquake images` and `zooquake clean`

use super::args::{CleanOptions, ImagesOptions};
use super::exit::Code;
use anyhow::Result;
use futures_util::future::try_join_all;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use zooquake_backend::docker::{DockerBackend, SweepCount};
use zooquake_backend::images::{ImageRequest, InventoryEntry};

/// Prepares the images, or removes those that zooquake built.
///
/// # Errors
/// If no engine answers, or an image cannot be prepared.
pub async fn images(options: &ImagesOptions) -> Result<Code> {
    let engine = DockerBackend::connect().await?;
    if options.remove {
        let removal = engine.remove_images().await?;
        if options.json {
            println!("{}", json!({ "removed": removal.removed, "kept": removal.kept }));
        } else {
            removal.removed.iter().for_each(|name| println!("removed {name}"));
            removal
                .kept
                .iter()
                .for_each(|(name, why)| println!("kept {name}: {why}"));
        }
        return Ok(Code::Valid);
    }
    let found = if options.chromium {
        vec![engine.chromium().await?]
    } else if options.client {
        vec![engine.client_base().await?]
    } else {
        engine.with_images(options.zookeeper.as_deref()).await?;
        engine
            .list_images(&ImageRequest::from_name(options.zookeeper.as_deref()))
            .await?
    };
    if options.json {
        println!("{}", json!({ "images": found.iter().map(as_json).collect::<Vec<_>>() }));
    } else {
        for image in &found {
            let used = if image.used { "used" } else { "not used" };
            let megabytes = image.size / 1_000_000;
            println!(
                "{:<10} {} ({}, {megabytes} MB, {used})",
                image.role, image.name, image.origin
            );
        }
    }
    Ok(Code::Valid)
}

fn as_json(image: &InventoryEntry) -> Value {
    let InventoryEntry {
        role,
        name,
        origin,
        id,
        size,
        used,
    } = image;
    json!({ "role": role, "name": name, "origin": origin, "id": id, "size": size, "used": used })
}

/// Removes what runs left behind that are not going on any more; goes on past what it cannot remove.
///
/// # Errors
/// If no engine answers.
pub async fn clean(options: &CleanOptions) -> Result<Code> {
    let engine = DockerBackend::connect_to_clean(options.hosts.clone()).await?;
    let mut runs = engine.runs().await?;
    runs.retain(|run| options.run.as_ref().is_none_or(|only| only == run));
    let alive = match options.force || runs.is_empty() {
        true => BTreeSet::new(),
        false => engine.leased(options.run.as_deref()).await?,
    };
    let (going_on, dead): (Vec<String>, Vec<String>) = runs.into_iter().partition(|run| alive.contains(run));
    let swept = match options.dry_run {
        false => engine.sweep(dead).await,
        true => {
            let inventories = try_join_all(dead.iter().map(|run| engine.inventory(run))).await?;
            dead.into_iter().zip(inventories).collect()
        }
    };
    match options.json {
        true => println!("{}", cleaned_as_json(options.dry_run, &swept, &going_on)),
        false => say_cleaned(options, &swept, &going_on),
    }
    match swept.values().all(|swept| swept.left.is_empty()) {
        true => Ok(Code::Valid),
        false => Ok(Code::Harness),
    }
}

fn cleaned_as_json(dry_run: bool, swept: &BTreeMap<String, SweepCount>, going_on: &[String]) -> Value {
    let done = if dry_run { "would_remove" } else { "removed" };
    let runs = swept.iter().map(|(run, swept)| {
        let mut entry = json!({ "run": run, "left": swept.left });
        entry[done] = json!(swept);
        entry
    });
    json!({ "runs": runs.collect::<Vec<_>>(), "going_on": going_on })
}

fn say_cleaned(options: &CleanOptions, swept: &BTreeMap<String, SweepCount>, going_on: &[String]) {
    let done = if options.dry_run { "would remove" } else { "removed" };
    for (run, swept) in swept {
        println!("run {run}: {done} {}", amounts(swept));
        swept
            .left
            .iter()
            .for_each(|left| println!("run {run}: could not remove {left}"));
        for network in &swept.kept {
            println!(
                "run {run}: the engine keeps its network {network}, and lists nothing of the run in it: a later run uses it again"
            );
        }
    }
    for run in going_on {
        println!("run {run}: going on, left alone (`zooquake clean --run {run} --force` removes it)");
    }
    let remain = swept.values().filter(|swept| !swept.left.is_empty()).count();
    if remain > 0 {
        eprintln!(
            "zooquake: of {remain} of {} runs something remains, which is named above",
            swept.len()
        );
    }
    if swept.is_empty() && going_on.is_empty() {
        let of = options
            .run
            .as_ref()
            .map(|run| format!(" of a run {run}"))
            .unwrap_or_default();
        println!("nothing to remove{of}");
    }
}

/// Such as `16 containers, 1 network`.
fn amounts(swept: &SweepCount) -> String {
    let SweepCount {
        containers,
        networks,
        volumes,
        disconnected,
        kept: _,
        left: _,
    } = swept;
    let counts = [(containers, "container"), (networks, "network"), (volumes, "volume")];
    let mut parts: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| **count > 0)
        .map(|(count, name)| format!("{count} {name}{}", if *count == 1 { "" } else { "s" }))
        .collect();
    if parts.is_empty() {
        parts.push("nothing".to_string());
    }
    if *disconnected > 0 {
        parts.push(format!(
            "after taking {disconnected} foreign endpoints out of its network"
        ));
    }
    parts.join(", ")
}
