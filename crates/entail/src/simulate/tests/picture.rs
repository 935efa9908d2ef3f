//! Tests that the picture of the screen in the guide is up to date.

use super::{Looks, draw, root, type_in, with_session};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use std::fmt::Write as _;
use std::fs;

const CELL: (u16, u16) = (9, 18);

/// To draw it again: `ENTAIL_PICTURES=draw cargo test -p entail picture`.
#[test]
fn the_picture_in_the_guide_is_what_is_drawn() {
    let path = root().join("docs/pictures/simulate.svg");
    let text = fs::read_to_string(root().join("examples/peterson-wrong.pml")).unwrap();
    let mut svg = String::new();
    with_session(&text, |session| {
        session.title = "peterson-wrong.pml, seed 1".to_owned();
        let mut looks = Looks::default();
        type_in("1122b", session, &mut looks);
        let mut terminal = Terminal::new(TestBackend::new(100, 30)).unwrap();
        terminal.draw(|frame| draw(frame, session, &mut looks)).unwrap();
        svg = picture(terminal.backend().buffer());
    });
    if std::env::var_os("ENTAIL_PICTURES").is_some() {
        fs::write(&path, &svg).unwrap();
    }
    let shown = fs::read_to_string(&path).unwrap_or_default();
    assert!(shown == svg, "docs/pictures/simulate.svg is out of date: draw it again with ENTAIL_PICTURES=draw");
}

/// Groups adjacent characters of the same style.
fn picture(buffer: &Buffer) -> String {
    let (columns, rows) = (buffer.area.width, buffer.area.height);
    let (width, height) = (columns * CELL.0, rows * CELL.1);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"monospace\" font-size=\"15\" fill=\"#ddd\">\n<rect width=\"100%\" height=\"100%\" fill=\"#111\"/>\n"
    );
    for row in 0..rows {
        let cells: Vec<&Cell> = (0..columns).map(|column| &buffer[(column, row)]).collect();
        let mut column = 0;
        for alike in cells.chunk_by(|one, other| (one.fg, one.modifier) == (other.fg, other.modifier)) {
            let text: String = alike.iter().map(|cell| cell.symbol()).collect();
            let (x, y, length) = (column * CELL.0, row * CELL.1, alike.len() as u16 * CELL.0);
            column += alike.len() as u16;
            if text.trim().is_empty() {
                continue;
            }
            let look = alike[0].modifier;
            let mut style = match alike[0].fg {
                Color::Red => "fill=\"#f66\"",
                Color::Green => "fill=\"#6d6\"",
                Color::Yellow => "fill=\"#fd5\"",
                Color::Cyan => "fill=\"#5cf\"",
                _ => "",
            }
            .to_owned();
            if look.contains(Modifier::REVERSED) {
                let _ = writeln!(svg, "<rect x=\"{x}\" y=\"{y}\" width=\"{length}\" height=\"{}\"/>", CELL.1);
                style = "fill=\"#111\"".to_owned();
            }
            if look.contains(Modifier::BOLD) {
                style += " font-weight=\"bold\"";
            }
            if look.contains(Modifier::DIM) {
                style += " opacity=\"0.6\"";
            }
            let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            let y = y + CELL.1 - 5;
            let _ = writeln!(
                svg,
                "<text x=\"{x}\" y=\"{y}\" textLength=\"{length}\" xml:space=\"preserve\" {style}>{text}</text>"
            );
        }
    }
    svg + "</svg>\n"
}
