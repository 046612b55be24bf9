//! Command lines of the program, and its output.

use serde_json::Value;
use std::fmt;
use std::process::{Child, Command, Output};

/// The program under test, with the words of this line as arguments.
pub fn zooquake(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zooquake"));
    command.args(line.split_whitespace());
    command.env("ZOOQUAKE_OWNER", owner());
    command
}

/// Whose runs those of this test are: tests beside each other neither count nor remove each other's.
pub fn owner() -> String {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("test").replace("::", ".");
    format!("{test}-{}", std::process::id())
}

/// The output of a program, and its exit code; `None` if a signal ended it.
pub struct ProgramOutput {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl ProgramOutput {
    /// The program ended with this exit code.
    #[track_caller]
    pub fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// Asserts that its output contains all of these texts.
    #[track_caller]
    pub fn with(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.has(part), "should say {part:?}: {self}");
        }
        self
    }

    /// Asserts that its output contains none of these texts.
    #[track_caller]
    pub fn without(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(!self.has(part), "should not say {part:?}: {self}");
        }
        self
    }

    /// Whether its stdout or stderr contains this text.
    pub fn has(&self, part: &str) -> bool {
        self.stdout.contains(part) || self.stderr.contains(part)
    }

    /// The JSON on stdout.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self}"))
    }
}

impl From<Output> for ProgramOutput {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl fmt::Display for ProgramOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, stdout, stderr } = self;
        write!(f, "{code:?}: {stdout}{stderr}")
    }
}

/// Runs a program to its end.
pub fn output_of(command: &mut Command) -> ProgramOutput {
    command.output().expect("starting zooquake").into()
}

/// Waits for a program's end.
pub fn ended(child: Child) -> ProgramOutput {
    child.wait_with_output().expect("waiting for zooquake").into()
}

/// The output of the program for this command line.
pub fn call(line: &str) -> ProgramOutput {
    output_of(&mut zooquake(line))
}

/// Asserts that the program refuses this command line as wrong usage, with all of these texts.
#[track_caller]
pub fn refused(line: &str, parts: &[&str]) {
    call(line).ends(254).with(parts);
}

/// A line of the program where no engine answers.
pub fn without_engine(line: &str) -> Command {
    let mut command = zooquake(line);
    command.env("DOCKER_HOST", "unix:///nowhere/docker.sock");
    command
}
