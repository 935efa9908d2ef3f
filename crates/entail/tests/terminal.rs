//! The terminal interface in a real terminal: `tmux`, where it is installed.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const ENTAIL: &str = env!("CARGO_BIN_EXE_entail");

/// So long something is waited for.
const DEADLINE: Duration = Duration::from_secs(30);

/// A terminal with a shell in it, on a server of its own.
struct Terminal {
    server: String,
    _folder: tempfile::TempDir,
}

impl Terminal {
    /// `None` where there is no tmux.
    fn new(name: &str) -> Option<Terminal> {
        Terminal::of_size(name, "100", "30")
    }

    fn of_size(name: &str, width: &str, height: &str) -> Option<Terminal> {
        if Command::new("tmux").arg("-V").output().is_err() {
            eprintln!("skipped: there is no tmux");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for model in ["examples/peterson-wrong.pml", "crates/entail/tests/cli/languages.in/desk.esml"] {
            let model = root.join(model);
            std::fs::copy(&model, folder.path().join(model.file_name().unwrap())).unwrap();
        }
        let server = format!("entail-test-{name}-{}", std::process::id());
        let terminal = Terminal { server, _folder: folder };
        let home = terminal._folder.path().to_str().unwrap().to_owned();
        let shell = "env PS1='ready$ ' LC_ALL=C.UTF-8 sh";
        terminal.tmux(&[
            "-u",
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            width,
            "-y",
            height,
            "-c",
            &home,
            shell,
        ]);
        terminal.wait_for("ready$");
        Some(terminal)
    }

    fn tmux(&self, args: &[&str]) -> String {
        let output = Command::new("tmux").args(["-L", &self.server]).args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    fn wait_for(&self, text: &str) -> String {
        self.wait_until(text, |screen| screen.contains(text))
    }

    fn wait_until(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let began = Instant::now();
        loop {
            let screen = self.screen();
            if is_so(&screen) {
                return screen;
            }
            assert!(began.elapsed() < DEADLINE, "`{what}` is not on the screen:\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Begins a simulation.
    fn simulate(&self) {
        self.press(&[&format!("{ENTAIL} simulate -i --seed 1 peterson-wrong.pml"), "Enter"]);
        self.wait_for("peterson-wrong.pml, seed 1  step 0");
    }

    /// The shell is back, and what is typed is seen again.
    fn assert_restored(&self) {
        self.wait_until("the prompt", |screen| screen.contains("ready$") && !screen.contains("history"));
        self.press(&["stty -a", "Enter"]);
        let is_done = |screen: &str| screen.contains("icanon") && screen.trim_end().ends_with("ready$");
        let modes = self.wait_until("the modes", is_done);
        assert!(modes.contains("stty -a"), "{modes}");
        for mode in ["icanon", "echo", "isig", "opost"] {
            assert!(modes.split_whitespace().any(|word| word == mode), "{mode} expected:\n{modes}");
        }
        let shown = self.tmux(&["display-message", "-p", "other screen #{alternate_on}, cursor #{cursor_flag}"]);
        assert_eq!(shown.trim(), "other screen 0, cursor 1");
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-L", &self.server, "kill-server"]).output();
    }
}

#[test]
fn steps_are_chosen_in_a_terminal() {
    let Some(terminal) = Terminal::new("steps") else { return };
    terminal.simulate();
    terminal.press(&["1"]);
    terminal.wait_for("step 1");
    terminal.press(&["Down", "Enter"]);
    let screen = terminal.wait_for("step 2");
    assert!(screen.contains("turn = 0") && screen.contains("0,1▸"), "{screen}");
    terminal.press(&["b"]);
    let screen = terminal.wait_for("step 1 of 2");
    assert!(screen.contains("turn = 1"), "{screen}");
    terminal.press(&["j", "0", "Enter"]);
    terminal.wait_for("step 0 of 2");
    terminal.press(&["/", "i", "n", "s", "Enter"]);
    let screen = terminal.wait_for("only names with `ins`");
    assert!(screen.contains("inside = 0") && !screen.contains("turn = 0"), "{screen}");
    terminal.press(&["u"]);
    terminal.wait_for("assertion violated");
    terminal.press(&["w", "Enter"]);
    terminal.wait_for("steps written to peterson-wrong.pml.trail");
    terminal.tmux(&["resize-window", "-x", "20", "-y", "5"]);
    let small = terminal.wait_until("one panel", |screen| screen.starts_with("steps  step"));
    assert!(small.lines().all(|line| line.chars().count() <= 20), "{small}");
    terminal.press(&["Tab", "Tab"]);
    terminal.wait_for("inside = 2");
    terminal.tmux(&["resize-window", "-x", "100", "-y", "30"]);
    terminal.wait_for("history");
    terminal.press(&["?"]);
    terminal.wait_for("undo the last step");
    terminal.press(&["x", "q"]);
    terminal.assert_restored();
}

/// On the smallest of terminals, from the beginning, with messages that are longer than a line.
#[test]
fn a_narrow_terminal_is_wide_enough() {
    let Some(terminal) = Terminal::of_size("narrow", "20", "8") else { return };
    let fits = |screen: &str| screen.lines().all(|line| line.chars().count() <= 20);
    // The name is short so that the line that starts it is.
    terminal.press(&[&format!("ln -s {ENTAIL} e; clear"), "Enter"]);
    terminal.press(&["./e simulate -i --seed 1 desk.esml", "Enter"]);
    let screen = terminal.wait_for("Clerk(0)");
    assert!(screen.starts_with("steps  step") && fits(&screen), "{screen}");
    terminal.press(&["u"]);
    let screen =
        terminal.wait_until("the error", |screen| screen.contains("step 12") || screen.contains("step 13"));
    let words: Vec<&str> = screen.split_whitespace().collect();
    assert!(words.join(" ").contains("value out of range in `n := n + 1`") && fits(&screen), "{screen}");
    for _ in 0..4 {
        terminal.press(&["Tab"]);
        assert!(fits(&terminal.screen()));
    }
    terminal.tmux(&["resize-window", "-x", "100", "-y", "30"]);
    terminal.wait_for("history");
    terminal.press(&["C-c"]);
    terminal.assert_restored();
}

#[test]
fn an_interruption_leaves_the_terminal_as_it_was() {
    let Some(terminal) = Terminal::new("keys") else { return };
    terminal.simulate();
    terminal.press(&["C-c"]);
    terminal.assert_restored();
}

#[test]
fn a_signal_leaves_the_terminal_as_it_was() {
    let Some(terminal) = Terminal::new("signal") else { return };
    terminal.simulate();
    let pane = terminal.tmux(&["display-message", "-p", "#{pane_pid}"]);
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", pane.trim()));
    let Some(child) = children.ok().and_then(|children| children.split_whitespace().next().map(str::to_owned))
    else {
        return;
    };
    assert!(Command::new("kill").args(["-INT", &child]).status().unwrap().success());
    terminal.assert_restored();
}
