//! The images that clients of users' own recipes run in.

use anyhow::{Context as _, Result, ensure};
use std::slice;
use testcontainers::bollard::{Docker, models::ImageSummary};
use zooquake_history::plan::RecipeSource;

use super::context::{self, Archive, RECIPE_DOCKERFILE, WITH_LIBRARIES};
use super::engine::ContainerEngine;
use super::hash::Hash;
use super::host::ProxySettings;
use super::inventory::remove_outdated;
use super::libraries::is_program;
use super::lock::Lock;
use super::{DEFAULT_SUITE, InventoryEntry, Source};

/// The name of the clients' base in Dockerfiles.
const CLIENT: &str = "zooquake-client";

/// How many images of one recipe are kept beside the newest.
const KEPT: usize = 4;

/// Makes sure that the image of a recipe's clients is there: pulled, or built, with its files in it. Returns the
/// engine's id of it.
///
/// The image is built anew when a file of the recipe has changed, or the base of clients.
///
/// # Errors
/// If the image cannot be pulled or built; a build's last lines are in the message.
pub async fn recipe(docker: &Docker, name: &str, recipe: &RecipeSource, source: &Source) -> Result<String> {
    let engine = ContainerEngine::new(docker);
    let wanted = WantedImage { name, recipe, source };
    let image = wanted.image();
    let missing = || format!("the engine lost the image {image} as soon as it was there");
    if wanted.is_made() {
        if !engine.has(&image).await? {
            let _lock = Lock::acquire(&image).await?;
            // Another process may have made it while this one waited.
            if !engine.has(&image).await? {
                wanted.make(&engine).await?;
                wanted.remove_outdated(&engine).await;
            }
        }
    } else if !engine.has(&image).await? {
        pull(&engine, &image).await?;
    }
    let (id, _) = engine.about(&image).await?.with_context(missing)?;
    Ok(id)
}

/// Makes sure that the base of recipe clients is there, `zooquake-client`, for builds that are not zooquake's.
///
/// # Errors
/// If no engine answers, or the image cannot be built.
pub async fn client_base(docker: &Docker) -> Result<InventoryEntry> {
    let engine = ContainerEngine::new(docker);
    let name = client(&engine, &ProxySettings::look().await).await?;
    InventoryEntry::built(&engine, "client", name).await
}

/// The engine's id of the image that a recipe names, if that is there: running it pulls nothing.
///
/// # Errors
/// If no engine answers.
pub async fn id(docker: &Docker, image: &str) -> Result<Option<String>> {
    let about = ContainerEngine::new(docker).about(image).await?;
    Ok(about.map(|(id, _)| id))
}

async fn pull(engine: &ContainerEngine, image: &str) -> Result<()> {
    engine.pull(image).await.with_context(|| {
        format!("the recipe's image {image} is not there and could not be pulled. The way out: `docker load` it from a file, or `build` one")
    })
}

/// A recipe's image, before it is there.
struct WantedImage<'a> {
    name: &'a str,
    recipe: &'a RecipeSource,
    source: &'a Source,
}

impl WantedImage<'_> {
    /// Whether it is built here, rather than taken as it is.
    fn is_made(&self) -> bool {
        self.recipe.image.is_none() || !self.recipe.carried.is_empty()
    }

    fn repository(&self) -> String {
        format!("zooquake-recipe-{}", self.name.to_ascii_lowercase())
    }

    /// Its name; the tag of one that is built names all that goes into it.
    fn image(&self) -> String {
        match &self.recipe.image {
            Some(image) if !self.is_made() => image.clone(),
            _ => format!("{}:{}", self.repository(), self.tag()),
        }
    }

    fn tag(&self) -> String {
        let RecipeSource {
            image, build, carried, ..
        } = self.recipe;
        let mut hash = Hash::new()
            .part(context::CLIENT.tag().as_bytes())
            .part(RECIPE_DOCKERFILE.as_bytes())
            .part(WITH_LIBRARIES.as_bytes());
        for text in image.iter().chain(build).chain(carried) {
            hash = hash.part(text.as_bytes());
        }
        for (path, file) in &self.source.files {
            hash = hash
                .part(path.as_bytes())
                .part(&file.content)
                .part(&[u8::from(file.executable)]);
        }
        hash.tag()
    }

    async fn make(&self, engine: &ContainerEngine) -> Result<()> {
        let host = ProxySettings::look().await;
        let base = match (&self.recipe.image, &self.recipe.build) {
            (Some(image), _) => {
                if !engine.has(image).await? {
                    pull(engine, image).await?;
                }
                image.clone()
            }
            (None, Some(folder)) => self.build(engine, &host, folder).await?,
            (None, None) => client(engine, &host).await?,
        };
        let mut archive = Archive::new();
        archive.file("Dockerfile", RECIPE_DOCKERFILE.as_bytes(), 0o644)?;
        // An empty folder is made as well: the clients start in it.
        archive.folder("recipe")?;
        let loads = self.source.libraries().next().is_some();
        for path in &self.recipe.carried {
            let found = self.source.carried(slice::from_ref(path)).next().is_some();
            ensure!(found, "there is no file {path:?}");
        }
        for (path, file) in self.source.carried(&self.recipe.carried) {
            let to = format!("recipe/{path}");
            if loads && is_program(&file.content) {
                archive.file(&to, WITH_LIBRARIES.as_bytes(), 0o755)?;
                archive.file(&format!("{to}.bin"), &file.content, file.mode())?;
            } else {
                archive.file(&to, &file.content, file.mode())?;
            }
        }
        for (path, file) in self.source.libraries() {
            archive.file(&format!("recipe/{path}"), &file.content, file.mode())?;
        }
        let image = self.image();
        engine.build(&image, &base, archive.finish()?, &host).await?;
        log::info!("packed the recipe {} as {image}", self.name);
        Ok(())
    }

    /// Builds the recipe's own Dockerfile; returns the image's name.
    async fn build(&self, engine: &ContainerEngine, host: &ProxySettings, folder: &str) -> Result<String> {
        let below = |path: &str| match folder {
            "." => Some(path.to_string()),
            folder => path.strip_prefix(folder)?.strip_prefix('/').map(str::to_string),
        };
        let files = self
            .source
            .files
            .iter()
            .filter_map(|(path, file)| Some((below(path)?, file)));
        let mut archive = Archive::new();
        let mut dockerfile = None;
        for (path, file) in files {
            if path == "Dockerfile" {
                dockerfile = Some(String::from_utf8_lossy(&file.content).into_owned());
            }
            archive.file(&path, &file.content, file.mode())?;
        }
        let dockerfile =
            dockerfile.with_context(|| format!("`build` names {folder:?}, in which there is no Dockerfile"))?;
        let base = match dockerfile.contains(CLIENT) {
            true => client(engine, host).await?,
            false => String::new(),
        };
        let image = format!("{}:{}-built", self.repository(), self.tag());
        log::info!("building {image} from the recipe's Dockerfile");
        engine.build(&image, &base, archive.finish()?, host).await?;
        Ok(image)
    }

    /// Each change of a recipe makes an image; all but the newest go, unless a container has one of them.
    async fn remove_outdated(&self, engine: &ContainerEngine) {
        let own = format!("{}:", self.repository());
        let is_own = |image: &ImageSummary| image.repo_tags.iter().any(|name| name.starts_with(&own));
        remove_outdated(engine, "recipe", 1 + KEPT, is_own).await;
    }
}

/// Makes sure that the base of clients is there, also under the name in Dockerfiles ([`CLIENT`]); returns its name.
async fn client(engine: &ContainerEngine, host: &ProxySettings) -> Result<String> {
    let image = format!("{CLIENT}:{DEFAULT_SUITE}-{}", context::CLIENT.tag());
    if !engine.has(&image).await? {
        let _lock = Lock::acquire(&image).await?;
        let built = context::CLIENT.build(engine, &image, DEFAULT_SUITE, host).await;
        built.context(
            "no base for clients. The way out: prepare it on a machine that reaches Debian's packages, and carry it over \
             with `docker save` and `docker load`; or name an `image` that has all that the recipe needs",
        )?;
    }
    engine.name(&image, CLIENT, "latest").await?;
    Ok(image)
}
