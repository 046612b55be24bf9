//! Packing and unpacking.

use super::*;
use std::os::unix::fs::PermissionsExt;

fn temporary() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("run/logs")).unwrap();
    folder
}

#[test]
fn what_was_packed_is_unpacked_as_it_was_and_goes_away() {
    let base = temporary();
    let base = base.path();
    let run = base.join("run");
    fs::write(run.join("plan.json"), r#"{"broken"#).unwrap();
    fs::write(run.join("history.jsonl"), "").unwrap();
    fs::write(run.join("logs/n1.log"), [0, 159, 146, 150]).unwrap();
    fs::write(run.join("program"), "#!/bin/sh").unwrap();
    fs::set_permissions(run.join("program"), fs::Permissions::from_mode(0o755)).unwrap();
    let Pack { file, bytes, .. } = write(&run, Some(&base.join(format!("x{SUFFIX}")))).unwrap();
    assert!(bytes > 0);
    let opened = open(&file).unwrap();
    let unpacked = opened.folder.path.clone();
    assert_eq!(opened.folder.name(), "run");
    assert_eq!(fs::read(unpacked.join("logs/n1.log")).unwrap(), [0, 159, 146, 150]);
    assert_eq!(fs::read(unpacked.join("plan.json")).unwrap(), br#"{"broken"#);
    let executable = |name| fs::metadata(unpacked.join(name)).unwrap().permissions().mode() & 0o111 != 0;
    assert!(executable("program") && !executable("plan.json"));
    drop(opened);
    assert!(!unpacked.exists());
}

#[test]
fn what_is_no_run_is_not_packed() {
    let base = temporary();
    let base = base.path();
    assert!(
        write(&base.join("run"), None)
            .unwrap_err()
            .to_string()
            .contains("lacks")
    );
}

#[test]
fn a_pack_in_the_folder_that_is_packed_is_no_part_of_it() {
    let base = temporary();
    let base = base.path();
    let run = base.join("run");
    fs::write(run.join("plan.json"), "{}").unwrap();
    // Larger than what is buffered: a draft in the folder would be read while it grows.
    let noise: Vec<u8> = std::iter::repeat_with(|| fastrand::u8(..)).take(1 << 20).collect();
    fs::write(run.join("history.jsonl"), noise).unwrap();
    for name in [&format!("run{SUFFIX}"), "other.tar.gz"] {
        let Pack { file, bytes, .. } = write(&run, Some(&run.join(name))).unwrap();
        assert!(bytes < 3 << 20, "{bytes}");
        // Again, now that it is there.
        assert_eq!(write(&run, Some(&file)).unwrap().bytes, bytes);
        let opened = open(&file).unwrap();
        let mut names = files(&opened.folder.path, Path::new("none")).unwrap();
        names.retain(|path| !path.ends_with("other.tar.gz"));
        assert!(opened.folder.file(readme::NAME).exists());
        assert_eq!(names, ["history.jsonl", "plan.json"].map(PathBuf::from));
    }
}

/// A pack of these entries, of which each has a kind, a path and bytes.
fn pack(at: &Path, entries: &[(tar::EntryType, &str, &[u8])]) {
    let mut tar = tar::Builder::new(GzEncoder::new(File::create(at).unwrap(), Compression::fast()));
    for (kind, path, bytes) in entries {
        let mut header = tar::Header::new_gnu();
        header.as_mut_bytes()[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        tar.append(&header, *bytes).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap();
}

fn zipped(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    std::io::Write::write_all(&mut gzip, bytes).unwrap();
    gzip.finish().unwrap()
}

#[test]
fn evidence_that_is_compressed_by_itself_is_read_from_a_pack() {
    let base = temporary();
    let base = base.path();
    let thin = base.join("thin.tar.gz");
    let history = zipped(b"{}\n");
    let kinds = (tar::EntryType::Directory, tar::EntryType::Regular);
    let entries = [
        (kinds.0, "./r/logs/", &b""[..]),
        (kinds.1, "./r/plan.json", b"{}"),
        (kinds.1, "./r/history.jsonl.gz", &history),
    ];
    pack(&thin, &entries);
    let opened = open(&thin).unwrap();
    assert_eq!(fs::read(opened.folder.file("history.jsonl")).unwrap(), b"{}\n");
    assert_eq!(opened.folder.name(), "r");
}

#[test]
fn a_pack_that_expands_beyond_its_bound_is_refused_by_name() {
    use tar::EntryType::Regular;
    let base = temporary();
    let base = base.path();
    let file = base.join("bomb.tar.gz");
    let zeros = vec![0; 32 << 20];
    let (once, twice) = (zipped(&zeros), zipped(&zipped(&zeros)));
    let empty: Vec<String> = (0..5_000).map(|n| format!("r/{n}")).collect();
    let many: Vec<_> = empty.iter().map(|name| (Regular, name.as_str(), &b""[..])).collect();
    let packs = [
        (vec![(Regular, "r/history.jsonl", &zeros[..])], "history.jsonl"),
        (vec![(Regular, "r/history.jsonl.gz", &once[..])], "history.jsonl.gz"),
        (vec![(tar::EntryType::GNULongName, "r", &zeros[..])], "larger"),
        (many, "larger"),
    ];
    for (entries, named) in packs {
        pack(&file, &entries);
        let error = format!("{:#}", open(&file).unwrap_err());
        assert!(error.contains("larger than") && error.contains(named), "{error}");
        assert!(error.contains("bomb.tar.gz"), "{error}");
    }
    let run = base.join("run");
    fs::write(run.join("plan.json"), "{}").unwrap();
    fs::write(run.join("history.jsonl.gz"), &once).unwrap();
    let error = format!("{:#}", Folder { path: run }.load().unwrap_err());
    assert!(
        error.contains("history.jsonl.gz") && error.contains("larger than"),
        "{error}"
    );
    pack(&file, &[(Regular, "r/history.jsonl.gz.gz", &twice)]);
    let error = format!("{:#}", open(&file).unwrap_err());
    assert!(error.contains("compressed twice"), "{error}");
}

#[test]
fn a_pack_that_is_cut_off_or_holds_more_than_files_of_a_run_is_refused() {
    use tar::EntryType::{Fifo, Link, Regular, Symlink};
    let base = temporary();
    let base = base.path();
    let file = base.join("odd.tar.gz");
    fs::write(&file, [0x1f, 0x8b, 8, 0, 0]).unwrap();
    assert!(open(&file).is_err());
    for (entries, said) in [
        (&[(Regular, "../outlaw", &b""[..])][..], "would leave"),
        (&[(Regular, "r/../../outlaw", b"")], "would leave"),
        (&[(Regular, "/tmp/outlaw", b"")], "would leave"),
        (&[(Symlink, "r/plan.json", b"")], "neither a file"),
        (&[(Link, "r/plan.json", b"")], "neither a file"),
        (&[(Fifo, "r/plan.json", b"")], "neither a file"),
        (&[(Regular, "r/a", b""), (Regular, "r/a", b"")], "twice"),
        (&[(Regular, "r/a", b""), (Regular, "s/a", b"")], "one run"),
        (&[(Regular, "plan.json", b"")], "does not lie"),
        (&[(Regular, "r\u{1b}[2J/a", b"")], "control characters"),
        (&[], "no run"),
    ] {
        pack(&file, entries);
        let error = format!("{:#}", open(&file).unwrap_err());
        assert!(error.contains(said) && !error.contains('\u{1b}'), "{said}: {error}");
    }
    assert!(!base.join("outlaw").exists() && !std::env::temp_dir().join("outlaw").exists());
}

#[test]
fn a_pack_explains_itself_and_leaves_a_file_of_the_users_as_it_is() {
    let base = temporary();
    let base = base.path();
    let run = base.join("run");
    fs::write(run.join("plan.json"), "{}").unwrap();
    fs::write(run.join("history.jsonl"), "").unwrap();
    let pack_and_read = |run: &Path, to: &str| {
        let packed = write(run, Some(&base.join(to))).unwrap();
        fs::read_to_string(open(&packed.file).unwrap().folder.file(readme::NAME)).unwrap()
    };
    let explained = pack_and_read(&run, "one.tar.gz");
    assert!(
        explained.contains("tar xzf one.tar.gz") && explained.contains("plan.json"),
        "{explained}"
    );
    assert!(!run.join(readme::NAME).exists(), "the run stays as it is");
    // What was unpacked by hand is packed anew, under another name.
    fs::write(run.join(readme::NAME), &explained).unwrap();
    assert_eq!(
        pack_and_read(&run, "two.tar.gz"),
        explained.replace("one.tar.gz", "two.tar.gz")
    );
    fs::write(run.join(readme::NAME), "mine").unwrap();
    assert_eq!(pack_and_read(&run, "three.tar.gz"), "mine");
}
