//! Files that are replaced as a whole.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Writes a file beside its place, brings it to the disk, and gives it its name: a reader finds the one before or this
/// one, whole, whenever a process is killed or a disk is full. What is there and is no regular file, such as a pipe, is
/// written into.
///
/// # Errors
/// If it cannot be written; the one before is still there.
pub fn publish(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    // A link to a file stays one.
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if fs::metadata(&place).is_ok_and(|there| !there.is_file()) {
        return fs::write(place, content);
    }
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let draft = place.with_file_name(format!(".{name}.draft"));
    // What was left by a process that died, or lies in wait.
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let written = File::create_new(&draft).and_then(|mut file| {
        file.write_all(content.as_ref())?;
        file.sync_data()
    });
    let renamed = written.and_then(|()| fs::rename(&draft, &place));
    if renamed.is_err() {
        // The first error is what matters.
        let _ = fs::remove_file(&draft);
    }
    renamed
}

#[cfg(test)]
mod tests {
    use super::publish;
    use std::fs;
    use std::path::Path;
    use tempfile::tempdir;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("the folder");
        entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_and_nothing_is_left_beside_it() {
        let folder = tempdir().expect("a folder");
        let path = folder.path().join("results.json");
        publish(&path, "one").expect("written");
        let open = fs::File::open(&path).expect("the first");
        publish(&path, "two").expect("written");
        assert_eq!(
            std::io::read_to_string(open).expect("it"),
            "one",
            "who has it open has it whole"
        );
        assert_eq!(fs::read_to_string(&path).expect("it"), "two");
        assert_eq!(names(folder.path()), ["results.json"]);
    }

    #[test]
    fn a_draft_that_is_a_link_is_not_written_through_and_a_link_stays_one() {
        let folder = tempdir().expect("a folder");
        let (path, other) = (folder.path().join("a"), folder.path().join("other"));
        fs::write(&other, "other").expect("a file");
        std::os::unix::fs::symlink(&other, folder.path().join(".a.draft")).expect("a link");
        publish(&path, "a").expect("written");
        assert_eq!(fs::read_to_string(&other).expect("it"), "other");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).expect("a link");
        publish(&link, "b").expect("written");
        assert!(link.is_symlink() && fs::read_to_string(&path).expect("it") == "b");
        publish(Path::new("/dev/null"), "c").expect("a device is written into");
        assert!(!Path::new("/dev/null").is_file());
    }
}
