//! Images that are carried from the first machine to those that lack them.

use super::{DockerMachine, Machines};
use crate::images::Images;
use crate::retry::again;
use anyhow::{Context, Result, ensure};
use futures_util::{StreamExt, pin_mut};
use std::time::Duration;
use testcontainers::bollard::Docker;
use testcontainers::bollard::errors::Error;
use testcontainers::bollard::query_parameters::ImportImageOptions;

/// An engine may take this long to take in an image of some hundred megabytes.
const PATIENCE: Duration = Duration::from_secs(1800);

impl Machines {
    /// The same images on all machines, by their ids, which mean the same on each; what is missing is carried there,
    /// which is logged. With one machine alone they stay as they are.
    ///
    /// # Errors
    /// If one cannot be carried.
    pub async fn carry(&self, images: Images) -> Result<Images> {
        if !self.are_several() {
            return Ok(images);
        }
        Ok(Images {
            zookeeper: self.carry_one(&images.zookeeper).await?,
            tools: self.carry_one(&images.tools).await?,
        })
    }

    /// The id of an image of the first machine, which all others have afterwards.
    ///
    /// # Errors
    /// If it cannot be carried.
    pub async fn carry_one(&self, image: &str) -> Result<String> {
        let id = id(self.first(), image)
            .await
            .with_context(|| format!("looking for the image {image}"))?;
        let id = id.with_context(|| format!("the image {image} is gone"))?;
        // One after the other: each is read from the first machine's disk.
        for machine in &self.all[1..] {
            let doing = || format!("carrying the image {image}{}", machine.words());
            self.carry_to(machine, image, &id).await.with_context(doing)?;
        }
        Ok(id)
    }

    async fn carry_to(&self, machine: &DockerMachine, image: &str, id: &str) -> Result<()> {
        if self::id(&machine.docker, id).await?.is_some() {
            return Ok(());
        }
        log::info!("carrying the image {image}{}, once", machine.words());
        // A name that means another image there is left to that one.
        let taken = self::id(&machine.docker, image).await?.is_some();
        let exported = self.first().clone().with_timeout(PATIENCE);
        let named = if taken { id } else { image }.to_owned();
        let (chunks, carried) = tokio::sync::mpsc::channel(4);
        let reading = tokio::spawn(async move {
            let chunks_of = exported.export_image(&named);
            pin_mut!(chunks_of);
            while let Some(chunk) = chunks_of.next().await {
                if chunks.send(chunk).await.is_err() {
                    break;
                }
            }
        });
        let body = futures_util::stream::unfold(carried, |mut carried| async {
            let chunk = carried.recv().await?;
            Some((chunk, carried))
        });
        let importer = machine.docker.clone().with_timeout(PATIENCE);
        let progress = importer.import_image_stream(ImportImageOptions::default(), body, None);
        pin_mut!(progress);
        while let Some(step) = progress.next().await {
            step?;
        }
        reading.await.context("reading the image")?;
        let there = self::id(&machine.docker, id).await?.is_some();
        ensure!(there, "its engine keeps the image under another id: pull {image} there");
        Ok(())
    }
}

/// The engine's id of an image; `None` if it is not there.
async fn id(docker: &Docker, image: &str) -> Result<Option<String>, Error> {
    match again(|| docker.inspect_image(image)).await {
        Ok(found) => Ok(found.id),
        Err(Error::DockerResponseServerError { status_code: 404, .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
