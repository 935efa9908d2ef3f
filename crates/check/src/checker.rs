//! The entry points of the library.

use crate::check::Job;
use crate::config::{Config, TrailFile};
use crate::contradictions::Contradiction;
use crate::keep::{Checkpoint, CheckpointWriter};
use crate::load::{self, Input, ReadModel};
use crate::log::LogFile;
use crate::observer::Observer;
use crate::output::{self, Content, Outputs};
use crate::plan::{Plan, SearchControl};
use crate::report::Report;
use crate::trail_files::{TrailFiles, default_trail};
use crate::witness::dot;
use entail_front::{Asked, ModelSource, Property, PropertyKind, SAFETY};
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Checks a model. Contradictory options are an error.
///
/// A [`Checker`] does the same, and can be observed, interrupted and resumed.
pub fn check(input: &Input, config: &Config) -> Result<Report, Contradiction> {
    Ok(Checker::new(config.clone())?.check(input))
}

/// Checks models in sequence, with the same options.
pub struct Checker<'o> {
    config: Config,
    observer: &'o dyn Observer,
    stop: &'o AtomicBool,
    /// The models, which no output file may replace.
    models: Vec<PathBuf>,
    /// The log file that all models share.
    log: LogFile,
    /// The search to resume, until it is resumed.
    kept: RefCell<Option<Checkpoint>>,
}

/// The default for `stop`; never set.
static NEVER: AtomicBool = AtomicBool::new(false);

impl<'o> Checker<'o> {
    /// Creates a checker. Contradictory options are an error.
    pub fn new(config: Config) -> Result<Checker<'o>, Contradiction> {
        config.validate()?;
        let (models, log, kept) = (Vec::new(), LogFile::default(), RefCell::default());
        Ok(Checker { config, observer: &(), stop: &NEVER, models, log, kept })
    }

    /// Resumes a search from a checkpoint. See [`Checkpoint::completed`] for the options.
    pub fn resumed(kept: Checkpoint, config: Config) -> Result<Checker<'o>, Contradiction> {
        Ok(Checker { kept: RefCell::new(Some(kept)), ..Checker::new(config)? })
    }

    /// Sets the observer.
    #[must_use]
    pub fn observed_by(self, observer: &'o dyn Observer) -> Checker<'o> {
        Checker { observer, ..self }
    }

    /// Sets a flag that interrupts the search; the search still reports its result.
    #[must_use]
    pub fn stopped_by(self, stop: &'o AtomicBool) -> Checker<'o> {
        Checker { stop, ..self }
    }

    /// Protects these files from being replaced: they are further models to check.
    #[must_use]
    pub fn sparing(self, models: Vec<PathBuf>) -> Checker<'o> {
        Checker { models, ..self }
    }

    /// The options.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Tests whether all output files can be written, so that this fails before a long search and not after it.
    pub fn try_out(&self) -> Result<(), String> {
        output::try_out(&self.config, &output::of_check(&self.config, &self.models))
    }

    /// Checks a model.
    pub fn check(&self, input: &Input) -> Report {
        self.check_with(input, None)
    }

    /// Checks a model in which this value overrides that of a constant.
    pub fn check_with(&self, input: &Input, constant: Option<(&str, i32)>) -> Report {
        let mut config = self.config.clone();
        config.reading.fixed.extend(constant.map(|(name, value)| format!("{name}={value}")));
        let mut report = Report::new(input.path(), &config);
        report.constant = constant.map(|(name, value)| (name.to_owned(), value));
        if let Err(error) = self.fill(&mut report, input, &config) {
            report.refuse(error, self.observer);
        }
        report
    }

    /// Checks the model and completes the report. An error is the reason why the check cannot continue.
    fn fill(&self, report: &mut Report, input: &Input, config: &Config) -> Result<(), String> {
        let started = Instant::now();
        config.validate().map_err(|contradiction| contradiction.to_string())?;
        let asked = load::asked(&config.asked)?;
        let wanted = &config.properties;
        let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
        let read = load::read(input, &config.reading, &asked, is_wanted, self.observer);
        let ReadModel { model, sources, warnings, errors } = read;
        (report.warnings, report.errors) = (warnings, errors);
        let Some(model) = model else { return Ok(()) };
        report.language = Some(model.language);
        report.has_claims = model.properties.iter().any(is_claim);
        let outputs = output::of_check(config, &self.models).sparing([input.path()]).sparing(&sources.paths);
        output::try_out(config, &outputs)?;
        let selected: Vec<&str> = config.properties.iter().map(String::as_str).collect();
        let added: Vec<String> = asked.iter().map(Asked::name).collect();
        let selection = Selection::of(&selected, &added, &model)?;
        let keeping = self.keeping(input, config)?;
        if let Some(keeping) = &keeping {
            keeping.of(&selection.names())?;
        }
        let trails = self.trails(input, config, &selection, &outputs);
        let job = Job {
            input,
            config,
            plan: &Plan::of(config),
            model: &model,
            sources: &sources,
            fingerprint: model.fingerprint,
            asked: &asked,
            outputs: &outputs,
            trails: trails.as_ref(),
            observer: self.observer,
            control: SearchControl { stop: self.stop, keeping: keeping.as_ref(), log: &self.log },
            started,
            read: started.elapsed(),
        };
        job.check(&selection, report);
        if let Some(path) = &config.evidence {
            let searched = report.properties.iter().filter_map(|property| property.searched.as_ref());
            let arguments = searched.filter_map(|searched| searched.argument.as_ref());
            let graphs = arguments.map(dot::graph).collect::<String>();
            if let Err(problem) = outputs.write(path, Content::Graph, graphs.as_bytes()) {
                outputs.failed(problem, self.observer);
            }
        }
        report.unwritten = outputs.failures();
        Ok(())
    }

    /// The writer of checkpoints, if the options ask for one.
    fn keeping(&self, input: &Input, config: &Config) -> Result<Option<CheckpointWriter<'o>>, String> {
        let Some(file) = &config.checkpoint else { return Ok(None) };
        Ok(Some(match self.kept.take() {
            Some(kept) => CheckpointWriter::resumed(file, config, kept, self.observer),
            None => CheckpointWriter::new(file, config, input.path(), self.observer)?,
        }))
    }

    /// The trail files, if trails are written.
    fn trails(
        &self,
        input: &Input,
        config: &Config,
        selection: &Selection,
        outputs: &Outputs,
    ) -> Option<TrailFiles> {
        let base = match &config.trail {
            TrailFile::None => return None,
            TrailFile::Beside => default_trail(input.path()),
            TrailFile::File(path) => path.clone(),
        };
        if let Err(problem) = outputs.check(&base, Content::Trail) {
            self.observer.warning(format!("a counterexample would be lost: {problem}"));
        }
        Some(TrailFiles::new(base, selection.names().len() == 1))
    }
}

fn is_claim(property: &Property) -> bool {
    match property.kind {
        PropertyKind::Ltl | PropertyKind::Never => true,
        PropertyKind::Acceptance
        | PropertyKind::Progress
        | PropertyKind::Trace
        | PropertyKind::Notrace
        | PropertyKind::Ctl => false,
    }
}

/// The properties to check.
pub struct Selection<'m> {
    /// Whether to check safety.
    pub safety: bool,
    /// The other properties.
    pub named: Vec<&'m Property>,
}

impl<'m> Selection<'m> {
    /// The `selected` properties, or the default ones if there are none, and those that were `added`.
    pub fn of(selected: &[&str], added: &[String], model: &'m ModelSource) -> Result<Selection<'m>, String> {
        let known = |name: &&&str| **name == SAFETY || model.properties.iter().any(|known| known.name == **name);
        if let Some(unknown) = selected.iter().find(|name| !known(name)) {
            let known: Vec<_> = model.properties.iter().map(|property| property.name.as_str()).collect();
            let known = [&[SAFETY], &known[..]].concat().join(", ");
            return Err(format!("the model has no property `{unknown}`; it has: {known}"));
        }
        let wanted = |name: &str, by_default| {
            if selected.is_empty() { by_default } else { selected.contains(&name) }
        };
        let is_wanted =
            |property: &&Property| wanted(&property.name, property.by_default) || added.contains(&property.name);
        let named = model.properties.iter().filter(is_wanted).collect();
        Ok(Selection { safety: wanted(SAFETY, true), named })
    }

    /// Their names.
    pub fn names(&self) -> Vec<&'m str> {
        let named = self.named.iter().map(|property| property.name.as_str());
        self.safety.then_some(SAFETY).into_iter().chain(named).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::Message;
    use crate::report::Verdict;
    use entail_model::Progress;
    use std::sync::Mutex;
    use std::time::Duration;

    const WRONG: &str = "byte x; active proctype P() { do :: x < 9 -> x++ :: x == 9 -> assert(false) od }";
    /// A million states.
    const LARGE: &str = "byte a, b, c; active proctype P() { do :: a++ :: b++ :: c = (c + 1) % 16 od }";

    /// Without passes: no property depends on the variables, so the passes would remove them.
    fn as_written() -> Config {
        Config { no_opt: true, ..Config::default() }
    }

    #[derive(Default)]
    struct TraceStep {
        messages: Mutex<Vec<String>>,
        searches: Mutex<Vec<&'static str>>,
    }

    impl Observer for TraceStep {
        fn message(&self, message: Message) {
            self.messages.lock().unwrap().push(match message {
                Message::Error(text) | Message::Warning(text) | Message::Note(text) => text.to_owned(),
                Message::Problems(problems, _) => problems[0].message.clone(),
            });
        }

        fn search_begins(&self) {
            self.searches.lock().unwrap().push("begins");
        }

        fn progress(&self, _: Progress) {
            let mut searches = self.searches.lock().unwrap();
            if searches.last() != Some(&"goes on") {
                searches.push("goes on");
            }
        }

        fn search_ends(&self) {
            self.searches.lock().unwrap().push("ends");
        }
    }

    #[test]
    fn a_report_is_the_document_that_the_command_line_prints() {
        let folder = tempfile::tempdir().unwrap();
        let report = check(&Input::text(folder.path().join("m.pml"), WRONG), &Config::default()).unwrap();
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["properties"][0]["verdict"], "violated");
        assert_eq!(json["properties"][0]["counterexample"]["kind"], "assertion");
        assert_eq!(json["properties"][0]["counterexample"]["trail"], serde_json::Value::Null);
        assert_eq!(json["language"], "promela");
        // The library writes no files by default.
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        assert!(report.properties[0].counterexample().unwrap().source.as_ref().unwrap().contains("assert(false)"));
    }

    #[test]
    fn every_language_can_be_read_from_a_text() {
        for (name, text) in [
            ("nowhere/desk.esml", include_str!("../../entail/tests/cli/languages.in/desk.esml")),
            ("nowhere/lamp.bir", include_str!("../../entail/tests/cli/languages.in/lamp.bir")),
            ("nowhere/wrong.pml", WRONG),
        ] {
            let report = check(&Input::text(name, text), &Config::default()).unwrap();
            assert!(report.errors.is_empty() && !report.properties.is_empty(), "{name}: {:?}", report.errors);
        }
    }

    #[test]
    fn a_check_can_be_watched_and_interrupted() {
        let (told, stop) = (TraceStep::default(), AtomicBool::new(true));
        let checker = Checker::new(as_written()).unwrap().observed_by(&told);
        let report = checker.stopped_by(&stop).check(&Input::text("m.pml", LARGE));
        assert_eq!(report.properties[0].verdict, Verdict::Inconclusive("interrupted".into()));
        let config = Config { search: Some(crate::config::Search::DepthFirst), ..as_written() };
        let report = Checker::new(config).unwrap().observed_by(&told).check(&Input::text("m.pml", LARGE));
        assert_eq!(report.properties[0].verdict, Verdict::Holds);
        assert_eq!(*told.searches.lock().unwrap(), ["begins", "ends", "begins", "goes on", "ends"]);
    }

    #[test]
    fn what_is_wrong_with_a_model_is_told_and_in_the_report() {
        let told = TraceStep::default();
        let checker = Checker::new(Config::default()).unwrap().observed_by(&told);
        let report = checker.check(&Input::text("m.pml", "active proctype P() { y = 1 }"));
        assert!(report.language.is_none() && report.properties.is_empty());
        let (messages, [error]) = (told.messages.lock().unwrap(), &report.errors[..]) else { panic!("one error") };
        assert!(error.starts_with("m.pml:1:") && error.contains(&messages[0]), "{error}: {messages:?}");
    }

    #[test]
    fn contradictory_options_are_refused_before_anything_is_read() {
        let config: Config = serde_json::from_str(r#"{"no_opt": true, "reduce": "ample"}"#).unwrap();
        let contradiction = check(&Input::file("nowhere.pml"), &config).expect_err("a contradiction");
        assert_eq!(contradiction.options, ["--no-opt", "--reduce"]);
        // Including those that a constant enables.
        let mut config = Config::default();
        config.reading.defines.push("N=1".into());
        let report = Checker::new(config).unwrap().check_with(&Input::text("m.pml", WRONG), Some(("N", 2)));
        assert!(report.errors[0].contains("`-D N=1` and `--for`"), "{:?}", report.errors);
    }

    #[test]
    fn a_search_that_was_kept_goes_on_with_the_options_it_began_with() {
        let folder = tempfile::tempdir().unwrap();
        let (model, file) = (folder.path().join("m.pml"), folder.path().join("kept"));
        std::fs::write(&model, LARGE).unwrap();
        let (checkpoint, time) = (Some(file.clone()), Some(Duration::from_millis(20)));
        let config = Config { no_end: true, seed: 7, checkpoint, time, ..as_written() };
        let report = check(&Input::file(&model), &config).unwrap();
        assert_eq!(
            report.properties[0].searched.as_ref().and_then(|searched| searched.checkpoint.clone()),
            config.checkpoint
        );
        let kept = Checkpoint::open(&file, &()).unwrap();
        assert_eq!((kept.config(), kept.model()), (&config, Ok(model.clone())));
        let other = Config { seed: 8, ..Config::default() };
        let refused = kept.completed(&other, |option| option == "--seed").unwrap_err();
        assert!(refused.contains("`--seed` was `7` when the search began, and is `8` now"), "{refused}");
        let completed = kept.completed(&Config::default(), |_| false).unwrap();
        assert_eq!((completed.seed, completed.no_end), (7, true));
        let report = Checker::resumed(kept, completed).unwrap().check(&Input::file(&model));
        assert_eq!(report.properties[0].verdict, Verdict::Holds);
    }
}
