//! Tests that runs are the same on both backends, and that the screen shows the session after any input.

mod picture;

use super::ahead::Ahead;
use super::dice::Dice;
use super::line;
use super::looks::{Looks, Next};
use super::screen::draw;
use super::session::{Act, Session, Stopped};
use super::start;
use super::timeline::Timeline;
use crate::console::Status;
use entail_check::config::Backend;
use entail_check::output::Outputs;
use entail_front::source::Sources;
use entail_front::{Language, ModelSource, Options, bir, esml, load, promela};
use entail_ir::{Interpreter, System};
use entail_model::Fired;
use entail_testkit::files::models_in;
use entail_testkit::rng::Rng;
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::path::{Path, PathBuf};

/// Two users of a counter, and a channel. Neither user ever reads the expected value.
const COUNTER: &str = "chan c = [2] of { byte };\nbyte counter;\nactive [2] proctype user()\n{\n\tbyte mine;\n\
    \tmine = counter;\n\tcounter = mine + 1;\n\tc!counter;\n\tassert(counter == 3)\n}\n";

/// Random runs with both backends, restarted at their ends; returns the number of steps.
fn compare(name: &str, system: &System, steps: usize, seed: u64) -> usize {
    let interpreter = Interpreter::new(system);
    let [mut jit, mut reference] = [Backend::Jit, Backend::Interpret].map(|by| Ahead::new(&interpreter, by));
    let mut dice = Dice::new(seed);
    let mut state = start(&interpreter);
    let mut taken = 0;
    for _ in 0..steps {
        assert_eq!(jit.look(&state), reference.look(&state), "{name}: after {taken} steps with seed {seed}");
        let is_same = |index: &usize| match (jit.outcome(*index), reference.outcome(*index)) {
            // The state after a fault is undefined.
            ((one @ Fired::Broken(_), _), (other, _)) => one == other,
            (one, other) => one == other,
        };
        assert!(
            (0..jit.steps().len()).all(|index| is_same(&index)),
            "{name}: after {taken} steps with seed {seed}"
        );
        state = match dice.choose(jit.steps()).map(|index| jit.outcome(index)) {
            Some((Fired::Done | Fired::Failed(_), next)) => next.to_vec(),
            Some((Fired::Broken(_), _)) | None => start(&interpreter),
        };
        taken += usize::from(!jit.steps().is_empty());
    }
    taken
}

#[test]
fn a_run_of_a_million_steps_is_the_same_on_both_backends() {
    let model = load(&root().join("examples/alternating-bit.pml"), &Options::default()).model.unwrap();
    assert_eq!(compare("alternating-bit", &model.system, 1_000_000, 1), 1_000_000);
}

#[test]
fn runs_of_all_models_are_the_same_on_both_backends() {
    let folders = ["examples", "tests/models", "tests/thesis"];
    let mut taken = 0;
    for (seed, path) in (0..).zip(folders.iter().flat_map(|folder| models_in(&root().join(folder)))) {
        if let Some(model) = load(&path, &Options::default()).model {
            taken += compare(&path.display().to_string(), &model.system, 1000, seed);
        }
    }
    assert!(taken > 50_000, "only {taken} steps");
}

#[test]
fn runs_of_random_models_are_the_same_on_both_backends() {
    let mut taken = 0;
    for seed in 0..600 {
        let rng = &mut Rng::new(seed);
        let (language, text) = match seed % 3 {
            0 => (Language::Promela, entail_testkit::promela::generate(seed).to_string()),
            1 => (Language::Esml, entail_testkit::esml::text(&entail_testkit::esml::generate(rng))),
            _ => (Language::Bir, entail_testkit::bir::text(&entail_testkit::bir::generate(rng))),
        };
        if let (Some(model), _) = read(language, &text) {
            taken += compare(&text, &model.system, 300, seed);
        }
    }
    assert!(taken > 50_000, "only {taken} steps");
}

#[test]
fn steps_are_chosen_and_taken_back() {
    with_session(COUNTER, |session| {
        assert_eq!(session.choices().len(), 2);
        for choice in [1, 1, 2] {
            session.act(Act::Choose(choice)).unwrap();
        }
        let before = session.values();
        assert!(before.iter().any(|value| value.name == "user(0):mine" && value.changed), "{before:?}");
        assert!(before.iter().any(|value| value.name == "user(1):mine" && !value.changed), "{before:?}");
        assert!(before.iter().any(|value| value.name == "counter" && value.value == "1"), "{before:?}");
        session.act(Act::Back(2)).unwrap();
        assert_eq!((session.at(), session.length()), (1, 3));
        session.act(Act::Forward(9)).unwrap();
        assert_eq!((session.at(), session.values()), (3, before));
        // Another choice discards the undone steps; the same choice does not.
        session.act(Act::Jump(0)).unwrap();
        session.act(Act::Choose(1)).unwrap();
        assert_eq!(session.length(), 3);
        session.act(Act::Choose(2)).unwrap();
        assert_eq!((session.at(), session.length()), (2, 2));
    });
}

#[test]
fn what_is_not_there_is_refused_and_changes_nothing() {
    with_session(COUNTER, |session| {
        session.act(Act::Choose(1)).unwrap();
        for act in [Act::Choose(0), Act::Choose(3), Act::Choose(usize::MAX), Act::Jump(2), Act::Forward(1)] {
            assert!(session.act(act.clone()).is_err(), "{act:?}");
            assert_eq!((session.at(), session.length()), (1, 1));
        }
        session.act(Act::Back(usize::MAX)).unwrap();
        assert!(session.act(Act::Back(1)).is_err());
        assert!(session.act(Act::Write(Some("/no/such/folder/trail".into()))).is_err());
    });
}

#[test]
fn a_run_stops_where_something_goes_wrong() {
    with_session("active proctype p() { byte x; do :: x < 100 -> x++ :: else -> assert(false) od }", |session| {
        assert_eq!(session.run(10_000), Stopped::Wrong);
        assert_eq!((session.at(), session.status()), (202, Status::Violated));
        assert_eq!(session.remark().as_deref(), Some("assertion violated: 0"));
        // The run continues after a failed assertion only on request.
        assert_eq!(session.act(Act::Choose(1)), Ok(String::new()));
    });
    with_session("active proctype p() { skip; false }", |session| {
        assert_eq!(session.run(10), Stopped::End);
        assert!(session.remark().unwrap().contains("invalid end state"), "{:?}", session.remark());
        assert_eq!(session.status(), Status::Violated);
    });
    with_session("byte a[2]; byte i = 7; active proctype p() { a[i] = 1; skip }", |session| {
        assert_eq!(session.run(10), Stopped::Wrong);
        assert_eq!((session.at(), session.choices().len()), (1, 0));
        assert_eq!(session.act(Act::Choose(1)), Err("no step is possible".to_owned()));
        session.act(Act::Back(1)).unwrap();
        assert_eq!(session.choices().len(), 1);
    });
}

#[test]
fn a_model_that_cannot_start_can_be_looked_at() {
    let model = "byte a[2]; byte i = 7; byte x = a[i]; active proctype p() { skip }";
    with_session(model, |session| {
        let mut looks = Looks::default();
        drawn(session, &mut looks, 80, 20);
        session.run(3);
        drawn(session, &mut looks, 80, 20);
    });
}

#[test]
fn any_state_of_a_long_run_is_found_again() {
    let model = "byte x, y; active proctype p() { do :: x++ :: y++ :: x = y od }";
    with_session(model, |session| {
        assert_eq!(session.run(70_000), Stopped::Enough);
        let last = session.values();
        for at in [0, 1, 15, 16, 17, 16_384, 16_385, 50_001, 69_999] {
            session.act(Act::Jump(at)).unwrap();
            let next = session.taken_before().expect("it was taken");
            session.act(Act::Choose(next + 1)).unwrap();
            assert_eq!((session.at(), session.length()), (at + 1, 70_000));
        }
        assert_eq!(session.values(), last);
        session.act(Act::Jump(40_000)).unwrap();
        session.run(10);
        assert_eq!(session.length(), 40_010);
        assert_eq!(session.history(40_005, 100).len(), 5);
    });
}

#[test]
fn a_timeline_remembers_what_was_last_done() {
    let (model, _) = read(Language::Promela, "byte x, y; active proctype p() { do :: x++ :: y++ :: x = y od }");
    let system = model.unwrap().system;
    let interpreter = Interpreter::new(&system);
    let mut ahead = Ahead::new(&interpreter, Backend::Interpret);
    let (mut dice, mut rng) = (Dice::new(1), Rng::new(1));
    let mut states = vec![start(&interpreter)];
    let mut timeline = Timeline::new(states[0].clone());
    for _ in 0..60 {
        for _ in 0..rng.below(3000) {
            ahead.look(states.last().unwrap());
            let index = dice.choose(ahead.steps()).unwrap();
            states.push(ahead.outcome(index).1.to_vec());
            timeline.push(ahead.steps()[index], states.last().unwrap());
        }
        let kept = rng.below(states.len());
        timeline.truncate(kept);
        states.truncate(kept + 1);
        for _ in 0..20 {
            let after = rng.below(states.len());
            assert_eq!(timeline.state(after, &interpreter), states[after], "after {after} steps of {kept}");
        }
    }
}

#[test]
fn lines_do_what_keys_do() {
    with_session(COUNTER, |session| {
        let mut out = Vec::new();
        let typed = &b"2\n1\nb\n/ user(0)\nr 99\nh\nnonsense\nj 1\n?\n"[..];
        line::converse(session, (typed, true), &mut out).unwrap();
        let said = String::from_utf8(out).unwrap();
        for expected in [
            "counter.pml; ? for help",
            "    1  user(1)",
            "0> 2\n",
            "user(0):mine = 0",
            "an error occurred",
            "assertion violated",
            "`nonsense` is not a command; ? for help",
            "take this step",
        ] {
            assert!(said.contains(expected), "{expected} expected:\n{said}");
        }
        assert_eq!(session.at(), 1);
    });
}

#[test]
fn the_screen_shows_where_the_run_is() {
    with_session(COUNTER, |session| {
        let mut looks = Looks::default();
        type_in("1", session, &mut looks);
        let screen = drawn(session, &mut looks, 100, 30);
        for expected in [
            "counter.pml  step 1",
            "1▸    counter = mine + 1;",
            "0▸    mine = counter;",
            "c = 0 of 2",
            "user(0):mine = 0",
            "2 user(0)       6  mine = counter",
            "   1 user(1): mine = counter",
            "⏎ take",
            "q quit",
        ] {
            assert!(screen.contains(expected), "{expected} expected:\n{screen}");
        }
        type_in("/counter\n", session, &mut looks);
        let screen = drawn(session, &mut looks, 100, 30);
        assert!(screen.contains("counter = 0") && !screen.contains("mine = 0"), "{screen}");
        type_in("j0\n", session, &mut looks);
        assert!(drawn(session, &mut looks, 100, 30).contains("step 0 of 1"));
        type_in("?", session, &mut looks);
        assert!(drawn(session, &mut looks, 100, 30).contains("undo the last step"));
        type_in("xu", session, &mut looks);
        assert!(drawn(session, &mut looks, 100, 30).contains("press any key to stop"));
        looks.go_on(session);
        let screen = drawn(session, &mut looks, 100, 30);
        assert!(!looks.running && screen.contains("assertion violated: counter == 3"), "{screen}");
    });
}

#[test]
fn every_size_of_screen_is_enough() {
    with_session(COUNTER, |session| {
        let mut looks = Looks::default();
        let mut rng = Rng::new(1);
        for (width, height) in (1..=100).flat_map(|width| (1..=40).map(move |height| (width, height))) {
            looks.press(*rng.pick(&keys()), session);
            if looks.running {
                looks.go_on(session);
            }
            drawn(session, &mut looks, width, height);
        }
        let mut looks = Looks::default();
        session.act(Act::Jump(0)).unwrap();
        let small = drawn(session, &mut looks, 20, 5);
        assert!(small.contains("steps  step 0") && small.contains("1 user(1)"), "{small}");
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    #[test]
    fn whatever_is_typed_can_be_drawn(typed in prop::collection::vec((0..keys().len(), 1u16..100, 1u16..40), 1..60)) {
        with_session(COUNTER, |session| {
            let mut looks = Looks::default();
            for (key, width, height) in typed {
                if looks.press(keys()[key], session) == Next::Quit {
                    looks = Looks::default();
                }
                if looks.running {
                    looks.go_on(session);
                }
                drawn(session, &mut looks, width, height);
                assert!(session.at() <= session.length());
            }
        });
    }
}

/// All keys with a binding, and some without. None writes a file.
fn keys() -> Vec<KeyEvent> {
    let bound = super::keys::BINDINGS.iter().filter(|binding| binding.command != super::keys::Command::Write);
    let bound = bound.flat_map(|binding| binding.keys.iter().copied());
    let more = "12309xu\u{e9}\u{4e2d}\t".chars().map(KeyCode::Char).chain([KeyCode::Delete, KeyCode::BackTab]);
    bound.chain(more).map(|key| KeyEvent::new(key, KeyModifiers::NONE)).collect()
}

fn type_in(text: &str, session: &mut Session, looks: &mut Looks) {
    for c in text.chars() {
        let key = if c == '\n' { KeyCode::Enter } else { KeyCode::Char(c) };
        looks.press(KeyEvent::new(key, KeyModifiers::NONE), session);
    }
}

/// The screen as text.
fn drawn(session: &Session, looks: &mut Looks, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, session, looks)).unwrap();
    terminal.backend().to_string()
}

fn with_session(text: &str, look: impl FnOnce(&mut Session)) {
    let (model, sources) = read(Language::Promela, text);
    let system = model.unwrap().system;
    let interpreter = Interpreter::new(&system);
    let ahead = Ahead::new(&interpreter, Backend::Interpret);
    let trail = PathBuf::from("/no/such/folder/trail");
    look(&mut Session::new(
        "counter.pml".to_owned(),
        (&interpreter, &sources),
        ahead,
        Dice::new(1),
        (trail, Outputs::new(false)),
    ));
}

fn read(language: Language, text: &str) -> (Option<ModelSource>, Sources) {
    let (mut sources, mut problems) = (Sources::default(), Vec::new());
    let options = Options::default();
    let model = match language {
        Language::Promela => promela::load_text("counter.pml", text, &mut sources, &mut problems),
        Language::Esml => esml::load_text("random", text, &options, &mut sources, &mut problems),
        Language::Bir => bir::load_text("random", text, &options, &mut sources, &mut problems),
    };
    (model, sources)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
