//! Which runs are going on: each holds a lock on a file of its own, which the kernel lets go of when it dies.

use anyhow::{Context, Result};
use std::fs::{File, TryLockError};
use std::path::PathBuf;

/// A run's lock; it is free again as soon as this is dropped or the process ends.
#[derive(Debug)]
pub struct Alive {
    _locked: File,
    path: PathBuf,
}

fn path_of(run: &str) -> PathBuf {
    std::env::temp_dir().join(format!("zooquake-run-{run}.lock"))
}

impl Alive {
    /// Marks the run as going on.
    ///
    /// # Errors
    /// If the file cannot be made or locked.
    pub fn mark(run: &str) -> Result<Self> {
        let path = path_of(run);
        let file = File::create(&path).with_context(|| format!("creating {}", path.display()))?;
        file.lock().with_context(|| format!("locking {}", path.display()))?;
        Ok(Self { _locked: file, path })
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        // A file that stays is harmless: its lock is free.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Whether a run of this machine is going on. Runs of other machines on the same engine are not seen.
pub fn is_alive(run: &str) -> bool {
    let Ok(file) = File::open(path_of(run)) else {
        return false;
    };
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// Removes the lock file of a run that has died.
pub fn forget(run: &str) {
    // It may have been removed already, or belong to another machine.
    let _ = std::fs::remove_file(path_of(run));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_lives_as_long_as_its_lock() {
        let run = format!("test-{}", std::process::id());
        assert!(!is_alive(&run));
        let alive = Alive::mark(&run).unwrap();
        assert!(is_alive(&run));
        drop(alive);
        assert!(!is_alive(&run));
    }
}
