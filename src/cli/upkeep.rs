//! `zooquake images` and `zooquake clean`

use super::args::{CleanOptions, ImagesOptions};
use super::exit::Code;
use crate::cluster::engine;
use crate::cluster::sweep::{self, Swept};
use crate::{alive, images};
use anyhow::{Context, Result};
use serde_json::{Value, json};

/// Prepares the images, or removes those that zooquake built.
///
/// # Errors
/// If no engine answers, or an image cannot be prepared.
pub async fn images(options: &ImagesOptions) -> Result<Code> {
    let docker = engine().await?;
    if options.remove {
        let removal = images::remove_all(&docker).await?;
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
    let progress = |text: &str| eprintln!("{text}");
    let found = if options.chromium {
        vec![images::chromium(&docker, &progress).await?]
    } else {
        let request = images::Request::of(options.zookeeper.as_deref());
        images::ensure(&docker, &request, &progress).await?;
        images::status(&docker, &request).await?
    };
    if options.json {
        let all: Vec<Value> = found.iter().map(as_json).collect();
        println!("{}", json!({ "images": all }));
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

fn as_json(image: &images::Entry) -> Value {
    let images::Entry {
        role,
        name,
        origin,
        id,
        size,
        used,
    } = image;
    json!({ "role": role, "name": name, "origin": origin, "id": id, "size": size, "used": used })
}

/// Removes whatever runs left behind that are not going on any more.
///
/// # Errors
/// If no engine answers, or something cannot be removed.
pub async fn clean(options: &CleanOptions) -> Result<Code> {
    let docker = engine().await?;
    let (mut removed, mut left) = (Vec::new(), Vec::new());
    for run in sweep::runs(&docker).await? {
        if alive::is_alive(&run) {
            left.push(run);
            continue;
        }
        let swept = sweep::sweep(&docker, Some(&run))
            .await
            .with_context(|| format!("removing the run {run}"))?;
        alive::forget(&run);
        removed.push((run, swept));
    }
    if options.json {
        let removed: Vec<Value> = removed
            .iter()
            .map(|(run, swept)| json!({ "run": run, "removed": swept }))
            .collect();
        println!("{}", json!({ "runs": removed, "going_on": left }));
        return Ok(Code::Valid);
    }
    for (
        run,
        Swept {
            containers,
            networks,
            volumes,
        },
    ) in &removed
    {
        println!("run {run}: removed {containers} containers, {networks} networks, {volumes} volumes");
    }
    left.iter()
        .for_each(|run| println!("run {run}: still going on, left alone"));
    if removed.is_empty() && left.is_empty() {
        println!("nothing to remove");
    }
    Ok(Code::Valid)
}
