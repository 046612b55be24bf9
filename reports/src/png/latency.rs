//! stub
use crate::model::Story;
use anyhow::Result;
use std::path::Path;
/// stub
pub fn write(_story: &Story<'_>, path: &Path) -> Result<()> {
    std::fs::write(path, b"")?;
    Ok(())
}
