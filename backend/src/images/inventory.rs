//! What there is of images, and how to get rid of it.

use anyhow::{Context as _, Result};
use testcontainers::bollard::{Docker, models::ImageSummary};

use super::ImageRequest;
use super::engine::{ContainerEngine, LABEL};
use super::{tools::Tools, zookeeper};

/// One image, as `zooquake images` lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InventoryEntry {
    /// What it is for: `zookeeper`, `tools`, `tools-base`, `base`, `client`, `recipe`, `chromium`.
    pub role: String,
    /// Its name and tag.
    pub name: String,
    /// Where it comes from: `built by zooquake`, `pulled or loaded`.
    pub origin: &'static str,
    /// The engine's ID of it.
    pub id: String,
    /// Its size in bytes, with the layers that it shares with others.
    pub size: u64,
    /// A run started now would use it.
    pub used: bool,
}

impl InventoryEntry {
    /// An image that was built just now, or before, and that no run uses unless it is asked for.
    pub(super) async fn built(engine: &ContainerEngine, role: &str, name: String) -> Result<Self> {
        let about = engine.about(&name).await?;
        let (id, size) = about.with_context(|| format!("{name} was removed as soon as it was there"))?;
        Ok(Self {
            role: role.to_owned(),
            name,
            origin: "built by zooquake",
            id,
            size,
            used: false,
        })
    }
}

/// What `remove_all` did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removal {
    /// Names of the images that are gone.
    pub removed: Vec<String>,
    /// Images that stay, each with the reason.
    pub kept: Vec<(String, String)>,
}

/// Lists the images that a run would use and those that zooquake has built.
pub async fn status(docker: &Docker, request: &ImageRequest) -> Result<Vec<InventoryEntry>> {
    let engine = ContainerEngine::new(docker);
    let used = [
        engine.first_of(zookeeper::candidates(request)).await?,
        Some(Tools::running()?.image),
    ];
    let mut entries = Vec::new();
    for image in engine.ours(None).await? {
        let role = image.labels.get(LABEL).cloned().unwrap_or_default();
        // Without a name: layers below the named ones.
        for name in image.repo_tags.iter().filter(|name| is_ours(name)) {
            entries.push(InventoryEntry {
                role: role.clone(),
                name: name.clone(),
                origin: "built by zooquake",
                id: image.id.clone(),
                size: u64::try_from(image.size).unwrap_or_default(),
                used: used.iter().flatten().any(|one| one == name),
            });
        }
    }
    if let Some(name) = used[0]
        .clone()
        .filter(|name| !entries.iter().any(|entry| entry.name == *name))
        && let Some((id, size)) = engine.about(&name).await?
    {
        entries.push(InventoryEntry {
            role: "zookeeper".to_owned(),
            name,
            origin: "pulled or loaded",
            id,
            size,
            used: true,
        });
    }
    entries.sort_by(|a, b| (!a.used, &a.role, &a.name).cmp(&(!b.used, &b.role, &b.name)));
    Ok(entries)
}

/// Removes every image that zooquake has built, and what is left of builds that failed. Images in use stay.
pub async fn remove_all(docker: &Docker) -> Result<Removal> {
    let engine = ContainerEngine::new(docker);
    let mut removal = Removal::default();
    // An image goes only after those built on it, so the rounds end when one removes nothing.
    loop {
        let before = removal.removed.len();
        removal.kept.clear();
        for image in engine.ours(None).await? {
            // Somebody's own image on top of ours has inherited the label; it is theirs.
            if image.repo_tags.iter().any(|name| !is_ours(name) && name != UNNAMED) {
                continue;
            }
            let names: Vec<String> = image.repo_tags.iter().filter(|name| is_ours(name)).cloned().collect();
            let names = if names.is_empty() {
                vec![image.id.clone()]
            } else {
                names
            };
            for name in names {
                match engine.remove(&name).await {
                    Ok(()) => removal.removed.push(name),
                    Err(error) => removal.kept.push((name, format!("{error:#}"))),
                }
            }
        }
        if removal.removed.len() == before || removal.kept.is_empty() {
            break;
        }
    }
    removal.removed.retain(|name| is_ours(name));
    removal.kept.retain(|(name, _)| is_ours(name));
    Ok(removal)
}

/// Removes the images of a role that `meant` selects, but for the `kept` newest. An image that a container has stays,
/// and no failure is reported.
pub(super) async fn remove_outdated(
    engine: &ContainerEngine,
    role: &str,
    kept: usize,
    meant: impl Fn(&ImageSummary) -> bool,
) {
    let images = engine.ours(Some(role)).await.unwrap_or_default();
    for image in images.iter().filter(|image| meant(image)).skip(kept) {
        // In use, or gone meanwhile: either way nothing to do about it now.
        let _ = engine.remove(&image.id).await;
    }
}

const UNNAMED: &str = "<none>:<none>";

fn is_ours(name: &str) -> bool {
    name.starts_with("zooquake-")
}
