//! One file of a recipe's folder.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// What is in it.
    pub content: Vec<u8>,
    /// Whether it may be executed.
    pub executable: bool,
}

impl SourceFile {
    /// Its mode where it is written.
    pub fn mode(&self) -> u32 {
        if self.executable { 0o755 } else { 0o644 }
    }
}
