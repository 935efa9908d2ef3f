//! The events of a search, as text and as a page with a slider.

use super::draw::picture;
use super::explore::{End, StateGraph};
use super::label::Wording;
use super::search::{Event, search};
use crate::args::Order;
use crate::picture::{self, Layout, escaped};
use serde::Serialize;
use std::fmt::Write;

/// An event, for the page.
#[derive(Serialize)]
struct Frame {
    event: &'static str,
    /// The state of the event.
    state: usize,
    /// The explored edge.
    arrow: Option<usize>,
    text: String,
}

/// A line for each event, with the frontier.
pub fn text(space: &StateGraph, order: Order, wording: &Wording) -> String {
    let waits = match order {
        Order::DepthFirst => "stack",
        Order::BreadthFirst => "queue",
    };
    let mut text = String::new();
    let mut waiting: Vec<usize> = Vec::new();
    for (number, event) in (1..).zip(search(wording.interpreter, space, order)) {
        match event {
            Event::Push { state } => waiting.push(state),
            Event::Take { .. } => drop(waiting.remove(0)),
            Event::Pop { .. } => drop(waiting.pop()),
            Event::Try { .. } | Event::Match { .. } | Event::Wrong { .. } | Event::Stuck { .. } => {}
        }
        let list: Vec<String> = waiting.iter().map(usize::to_string).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "frame={number} {} {waits}={}", keywords(space, event, wording), list.join(","));
    }
    text
}

fn keywords(space: &StateGraph, event: Event, wording: &Wording) -> String {
    let name = name(event);
    match event {
        Event::Push { state } | Event::Take { state } | Event::Pop { state } => {
            format!("event={name} state={state}")
        }
        Event::Try { arrow } => {
            let to = space.arrows[arrow].to.map_or("none".to_owned(), |to| to.to_string());
            let from = space.arrows[arrow].from;
            format!("event={name} state={from} to={to} step={:?}", step(space, arrow, wording))
        }
        Event::Match { state, closes_cycle } => {
            format!("event={name} state={state} cycle={}", if closes_cycle { "yes" } else { "no" })
        }
        Event::Wrong { arrow } => {
            format!("event={name} state={} message={:?}", space.arrows[arrow].from, message(space, event))
        }
        Event::Stuck { state } => format!("event={name} state={state} message={:?}", message(space, event)),
    }
}

fn name(event: Event) -> &'static str {
    match event {
        Event::Push { .. } => "push",
        Event::Take { .. } => "take",
        Event::Try { .. } => "try",
        Event::Match { .. } => "match",
        Event::Pop { .. } => "pop",
        Event::Wrong { .. } | Event::Stuck { .. } => "error",
    }
}

fn step(space: &StateGraph, arrow: usize, wording: &Wording) -> String {
    wording.steps(space, &space.arrows[arrow]).join("; ").replace(":; ", ": ")
}

fn message(space: &StateGraph, event: Event) -> &str {
    let violation = match event {
        Event::Wrong { arrow } => space.arrows[arrow].violation.as_ref(),
        Event::Stuck { state } => match &space.states[state].end {
            End::Invalid(violation) => Some(violation),
            End::Not | End::Valid | End::Cut => None,
        },
        Event::Push { .. } | Event::Take { .. } | Event::Try { .. } | Event::Match { .. } | Event::Pop { .. } => {
            None
        }
    };
    violation.map_or("", |violation| &violation.message)
}

/// A self-contained page.
pub fn html(space: &StateGraph, order: Order, wording: &Wording, title: &str) -> String {
    let frames: Vec<Frame> =
        search(wording.interpreter, space, order).into_iter().map(|event| frame(space, event, wording)).collect();
    let frames = serde_json::to_string(&frames).expect("strings and numbers only");
    // The text `</script` would end the script.
    let frames = frames.replace("</", "<\\/").replace("<!--", "<\\!--");
    let drawn = picture::svg(&picture(space, wording), Layout::Own).unwrap_or_default();
    let (kind, waits) = match order {
        Order::DepthFirst => ("depth first", "stack"),
        Order::BreadthFirst => ("breadth first", "queue"),
    };
    let page = include_str!("page.html");
    // Texts from the model are inserted last, so that placeholders in them are not replaced.
    let (head, rest) = page.split_once("@picture@").unwrap_or((page, ""));
    let (middle, tail) = rest.split_once("@frames@").unwrap_or((rest, ""));
    let head = head.replace("@kind@", kind).replace("@waits@", waits);
    let (before, after) = head.split_once("@title@").unwrap_or((&head, ""));
    [before, &escaped(title), after, &drawn, middle, &frames, tail].concat()
}

fn frame(space: &StateGraph, event: Event, wording: &Wording) -> Frame {
    let text = match event {
        Event::Push { state } => format!("state {state} is new"),
        Event::Take { state } => format!("state {state} is expanded"),
        Event::Try { arrow } => step(space, arrow, wording),
        Event::Match { state, closes_cycle: true } => format!("state {state} is on the stack: a cycle"),
        Event::Match { state, closes_cycle: false } => format!("state {state} is known"),
        Event::Pop { state } => format!("back from state {state}"),
        Event::Wrong { .. } | Event::Stuck { .. } => message(space, event).to_owned(),
    };
    let (state, arrow) = match event {
        Event::Push { state }
        | Event::Take { state }
        | Event::Match { state, .. }
        | Event::Pop { state }
        | Event::Stuck { state } => (state, None),
        Event::Try { arrow } | Event::Wrong { arrow } => (space.arrows[arrow].from, Some(arrow)),
    };
    Frame { event: name(event), state, arrow, text }
}
