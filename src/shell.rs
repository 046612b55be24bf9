//! Command lines that work as they are printed: quoted for a POSIX shell, on one line, by the program that is running.

use crate::terminal::steers;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The command line that runs this program with these arguments; `None` if one of them cannot be written in a shell: it
/// has a NUL, or ends in a newline.
pub fn line<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Option<String> {
    line_from(program(), arguments)
}

/// The command line that runs a program, given as a shell finds it, with these arguments; `None` as of [`line()`].
pub fn line_from<A: AsRef<OsStr>>(program: &str, arguments: impl IntoIterator<Item = A>) -> Option<String> {
    let mut line = program.to_string();
    for argument in arguments {
        line.push(' ');
        line += &word(argument.as_ref())?;
    }
    Some(line)
}

/// A path as an argument that is no option.
pub fn path(path: &Path) -> OsString {
    let mut text = OsString::new();
    if path.as_os_str().as_bytes().starts_with(b"-") {
        text.push("./");
    }
    text.push(path);
    // A shell drops the newlines at the end of what it substitutes.
    if path.as_os_str().as_bytes().ends_with(b"\n") {
        text.push("/");
    }
    text
}

/// One word of a command line, without control characters.
fn word(text: &OsStr) -> Option<String> {
    match text.to_str() {
        Some(text) if !text.chars().any(steers) => shlex::try_quote(text).ok().map(Into::into),
        _ => spelled(text.as_bytes()),
    }
}

/// A word that `printf` spells out, because its characters must not be shown as they are.
fn spelled(bytes: &[u8]) -> Option<String> {
    if bytes.contains(&0) || bytes.ends_with(b"\n") {
        return None;
    }
    let mut format = String::new();
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'-' if at > 0 => format.push('-'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b':' | b'=' | b'+' | b',' | b' ' => {
                format.push(char::from(byte));
            }
            b'%' => format.push_str("%%"),
            // Writing to a String cannot fail.
            _ => drop(write!(format, "\\{byte:03o}")),
        }
    }
    Some(format!("\"$(printf '{format}')\""))
}

/// This program as a word of the lines here: `zooquake` if that is what a shell finds by this name, else where it lies.
pub fn program() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let running = std::env::current_exe().ok().map(without_mark);
        let found = std::env::var_os("PATH").and_then(|path| find(&path));
        named(running.as_deref(), found.as_deref())
    })
}

/// Linux marks the path of a program whose file was replaced while it runs.
fn without_mark(path: PathBuf) -> PathBuf {
    match path.to_str().and_then(|text| text.strip_suffix(" (deleted)")) {
        Some(text) if !path.exists() => PathBuf::from(text),
        _ => path,
    }
}

/// The file that a shell starts as `zooquake`.
fn find(path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path)
        .map(|folder| folder.join("zooquake"))
        .find(|file| file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok())
}

fn named(running: Option<&Path>, found: Option<&Path>) -> String {
    let real = |path: &Path| path.canonicalize().ok();
    match running {
        Some(running) if found.and_then(real) != real(running) || found.is_none() => {
            word(path(running).as_os_str()).unwrap_or_else(|| "zooquake".to_string())
        }
        _ => "zooquake".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// What a shell makes of the words, separated by NULs.
    fn by_shell(words: &[OsString]) -> Vec<Vec<u8>> {
        let words: Vec<String> = words.iter().map(|text| word(text).unwrap()).collect();
        let line = words.join(" ");
        assert!(!line.chars().any(steers), "{line:?}");
        let output = Command::new("sh")
            .arg("-c")
            .arg(format!("printf '%s\\0' {line}"))
            .output()
            .unwrap();
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{line}: {output:?}"
        );
        let mut parts: Vec<Vec<u8>> = output.stdout.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
        assert_eq!(parts.pop(), Some(vec![]));
        parts
    }

    #[test]
    fn a_shell_reads_every_word_as_it_is() {
        let nasty: Vec<OsString> = [
            "plain/path-1.2",
            "",
            "with space",
            "it's",
            "\"quoted\"",
            "both ' and \"",
            "$(touch x)",
            "`touch x`",
            "$HOME;ls|cat&",
            "a\nb",
            "tab\there",
            "\u{1b}]0;title\u{7}",
            "50%\n100%d",
            "-n\u{1}",
            "back\\slash\n\\134",
            "!history",
            "~",
            "*?[a]",
            "#no comment",
            "{a,b}",
            "ünï\u{202e}cödé",
        ]
        .map(OsString::from)
        .into();
        let bytes: Vec<Vec<u8>> = nasty.iter().map(|text| text.as_bytes().to_vec()).collect();
        assert_eq!(by_shell(&nasty), bytes);
        let invalid = OsStr::from_bytes(b"\xff\xfe").to_os_string();
        assert_eq!(by_shell(std::slice::from_ref(&invalid)), [invalid.as_bytes()]);
    }

    #[test]
    fn what_no_shell_can_be_told_is_no_line() {
        assert_eq!(line(["a\0b"]), None);
        assert_eq!(line(["a\n"]), None);
        assert_eq!(path(Path::new("a\n")), "a\n/", "a folder has another name");
    }

    #[test]
    fn a_path_is_no_option() {
        assert_eq!(path(Path::new("-rf")), "./-rf");
        assert_eq!(path(Path::new("runs/-rf")), "runs/-rf");
    }

    #[test]
    fn the_program_has_its_name_only_where_a_shell_finds_it_by_that() {
        let running = std::env::current_exe().unwrap();
        assert_eq!(named(Some(&running), Some(&running)), "zooquake");
        let other = Path::new("/bin/sh");
        assert_eq!(named(Some(other), Some(&running)), "/bin/sh");
        assert_eq!(named(Some(other), None), "/bin/sh");
        assert_eq!(named(None, None), "zooquake");
        assert_eq!(named(Some(Path::new("/a b/zooquake")), None), "'/a b/zooquake'");
        assert_eq!(without_mark("/bin/sh (deleted)".into()), other);
    }
}
