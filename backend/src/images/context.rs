//! Build contexts: a Dockerfile and its files, compiled into the executable, so that it can build its images anywhere.

use anyhow::{Context as _, Result};

use super::hash::Hash;

/// A file of a build context.
pub(super) struct ContextFile {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
    pub(super) mode: u32,
}

/// One folder of `docker/`.
pub(super) struct BuildContext {
    /// How long its image takes to build, about.
    pub(super) seconds: u64,
    pub(super) files: &'static [ContextFile],
}

macro_rules! file {
    ($folder:literal, $name:literal, $mode:literal) => {
        ContextFile {
            name: $name,
            text: include_str!(concat!("../../docker/", $folder, "/", $name)),
            mode: $mode,
        }
    };
}

/// `docker/zookeeper`.
pub(super) const ZOOKEEPER: BuildContext = BuildContext {
    seconds: 50,
    files: &[
        file!("zookeeper", "Dockerfile", 0o644),
        file!("zookeeper", "archive-classes.sh", 0o755),
        file!("zookeeper", "docker-entrypoint.sh", 0o755),
        file!("zookeeper", "zk-java.sh", 0o755),
        file!("zookeeper", "zkCli.sh", 0o755),
        file!("zookeeper", "zkServer.sh", 0o755),
    ],
};

/// `docker/tools`, without the executable.
pub(super) const TOOLS: BuildContext = BuildContext {
    seconds: 10,
    files: &[file!("tools", "Dockerfile", 0o644)],
};

/// `docker/client`, the base of clients in other languages.
pub(super) const CLIENT: BuildContext = BuildContext {
    seconds: 15,
    files: &[file!("client", "Dockerfile", 0o644)],
};

/// `docker/chromium`.
pub(super) const CHROMIUM: BuildContext = BuildContext {
    seconds: 60,
    files: &[file!("chromium", "Dockerfile", 0o644)],
};

/// The Dockerfile that lays the executable on top of the tools.
pub(super) const EXECUTABLE_DOCKERFILE: &str = include_str!("../../docker/tools/executable.Dockerfile");

/// The Dockerfile that lays a recipe's files on top of its image.
pub(super) const RECIPE_DOCKERFILE: &str = include_str!("../../docker/client/recipe.Dockerfile");

/// Starts a program of a recipe with the loader and the libraries of the host that made it.
pub(super) const WITH_LIBRARIES: &str = include_str!("../../docker/client/with-libraries.sh");

/// The launcher of the executable in the image.
pub(super) const LAUNCHER: &str = include_str!("../../docker/tools/zooquake.sh");

/// `docker/bootstrap.sh`.
pub(super) const BOOTSTRAP: &str = include_str!("../../docker/bootstrap.sh");

impl BuildContext {
    /// Names the context's content: another Dockerfile is another image.
    pub(super) fn tag(&self) -> String {
        self.files
            .iter()
            .fold(Hash::new(), |hash, file| {
                hash.part(file.name.as_bytes()).part(file.text.as_bytes())
            })
            .tag()
    }

    /// The context as the engine wants it.
    pub(super) fn tar(&self) -> Result<Vec<u8>> {
        let mut archive = Archive::new();
        for file in self.files {
            archive.file(file.name, file.text.as_bytes(), file.mode)?;
        }
        archive.finish()
    }
}

/// A tar in memory whose bytes depend on nothing but the files: the engine's build cache goes by them.
pub(super) struct Archive(tar::Builder<Vec<u8>>);

impl Archive {
    pub(super) fn new() -> Self {
        Archive(tar::Builder::new(Vec::new()))
    }

    pub(super) fn file(&mut self, path: &str, content: &[u8], mode: u32) -> Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(mode);
        self.0
            .append_data(&mut header, path, content)
            .with_context(|| format!("packing {path}"))
    }

    pub(super) fn folder(&mut self, path: &str) -> Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Directory);
        header.set_mode(0o755);
        header.set_size(0);
        self.0
            .append_data(&mut header, path, std::io::empty())
            .with_context(|| format!("packing the folder {path}"))
    }

    pub(super) fn link(&mut self, path: &str, target: &str) -> Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_mode(0o777);
        header.set_size(0);
        self.0
            .append_link(&mut header, path, target)
            .with_context(|| format!("packing the link {path}"))
    }

    pub(super) fn finish(self) -> Result<Vec<u8>> {
        self.0.into_inner().context("packing a build context")
    }
}
