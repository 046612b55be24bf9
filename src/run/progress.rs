//! What a run does at the moment, on stderr.

use crate::backends::BackendKind;
use crate::output::{Level, keep_below, says};
use crate::planning::case::Case;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};
use zooquake_engine::RunStatus;

/// The line while operations and faults go on.
const OPS: &str = "[{bar:16}] {pos}/{len} s {wide_msg}";

/// The line at other times.
const OTHER: &str = "{spinner} {wide_msg}";

/// Shows what a run does at the moment: on a terminal one line that renews itself and is cleared at the end, elsewhere
/// a line now and then.
#[derive(Debug)]
pub struct Progress {
    /// Whether nothing is printed.
    silent: bool,
    /// The line that renews itself.
    line: Option<ProgressBar>,
    backend: &'static BackendKind,
    last: Option<Instant>,
}

impl Progress {
    /// The progress on stderr of a run that takes place there; a quiet one prints nothing.
    pub fn new(backend: &'static BackendKind, quiet: bool) -> Self {
        let line = || {
            let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            line.with_style(style(OTHER)).with_message("bringing everything up")
        };
        let silent = quiet || !says(Level::Progress);
        let line = (!silent && std::io::stderr().is_terminal()).then(line);
        if line.is_some() {
            keep_below(line.clone());
        }
        Self {
            silent,
            line,
            backend,
            last: None,
        }
    }

    /// Takes the line that renews itself away.
    pub fn end(&mut self) {
        if self.line.take().is_some() {
            keep_below(None);
        }
    }

    /// Prints a line that stays, unless the run is silent.
    pub fn say(&mut self, text: &str) {
        if self.silent {
            return;
        }
        eprintln!("{}{text}", self.prefix());
    }

    /// Prints a line that stays, at [`Level::Detail`] only.
    pub fn detail(&mut self, text: impl FnOnce() -> String) {
        if says(Level::Detail) {
            self.say(&text());
        }
    }

    /// What goes before a line whose times are virtual.
    fn prefix(&self) -> String {
        match self.backend.capabilities.virtual_time {
            true => format!("{}: ", self.backend.adjective),
            false => String::new(),
        }
    }

    /// Renews the line, unless it was renewed just before.
    pub fn tick(&mut self, status: impl FnOnce() -> RunStatus) {
        // The user's time, which a simulated run does not live in.
        let (now, every) = (
            Instant::now(),
            Duration::from_millis(if self.line.is_some() { 250 } else { 10_000 }),
        );
        if self.silent || self.last.is_some_and(|last| now - last < every) {
            return;
        }
        self.last = Some(now);
        let RunStatus { text, ops } = status();
        let text = format!("{}{}", self.prefix(), crate::terminal::line(&text));
        match (&self.line, ops) {
            (Some(line), Some((elapsed, all))) => {
                line.set_style(style(OPS));
                line.set_length(all.as_secs());
                line.set_position(elapsed.min(all).as_secs());
                line.set_message(text);
            }
            (Some(line), None) => {
                line.set_style(style(OTHER));
                line.set_message(text);
                line.tick();
            }
            (None, Some((elapsed, all))) => {
                eprintln!("{text}, {} s left", all.saturating_sub(elapsed).as_secs());
            }
            (None, None) => eprintln!("{text}"),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

/// In ASCII: terminals do not agree on how wide lines and blocks are.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .expect("the template is right")
        .progress_chars("=> ")
        .tick_chars("|/-\\ ")
}

/// What a run is to do, and about how long a real ensemble takes for it.
pub fn intent(case: &Case) -> String {
    /// Seconds that bringing up, recovery, the last reads and clearing away take.
    const AROUND: u64 = 20;
    let plan = case.plan();
    let servers = plan.cluster.servers + plan.cluster.observers;
    if !plan.scenes.is_empty() {
        return format!("{} scenes on {servers} servers", plan.scenes.len());
    }
    let faults = match plan.faults.as_slice() {
        [] => "without faults".to_owned(),
        faults => format!("under {}", faults.join(", ")),
    };
    let seconds = plan.time_ms.div_ceil(1000);
    let about = match case.backend().capabilities.virtual_time {
        true => String::new(),
        false => format!(", about {} s in all", seconds + AROUND),
    };
    let hosts = match plan.cluster.hosts.len() {
        0 => String::new(),
        hosts => format!(" on {hosts} hosts"),
    };
    format!(
        "{servers} servers, {} clients{hosts}, {seconds} s {faults}{about}",
        plan.cluster.clients
    )
}

#[cfg(test)]
mod tests {
    use super::{OPS, OTHER, style};

    #[test]
    fn the_templates_are_right() {
        for template in [OPS, OTHER] {
            style(template);
        }
    }
}
