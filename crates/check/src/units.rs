//! Human-readable sizes, durations and counts.

use std::path::Path;
use std::time::Duration;

/// `18.2 MB`, to about three digits.
pub fn show_bytes(bytes: u64) -> String {
    let units = ["bytes", "KB", "MB", "GB", "TB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} bytes") } else { format!("{value:.1} {}", units[unit]) }
}

/// `0.004 s`, `12.3 s`, `5 min 20 s`, `2 h 5 min`.
pub fn show_duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..=9 => format!("{:.3} s", duration.as_secs_f64()),
        10..=59 => format!("{:.1} s", duration.as_secs_f64()),
        60..=3599 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600.. => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// `1 067 376`: digits in groups of three.
pub fn show_count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// `99.98%`, rounded down, with more digits the closer it is to 100%, which it never reaches.
pub fn show_share(share: f64) -> String {
    let share = share.clamp(0.0, 1.0 - 1e-9);
    let digits = (-(1.0 - share).log10()).clamp(2.0, 8.0) as usize;
    let scale = 10_f64.powi(digits as i32);
    format!("{:.digits$}%", (100.0 * share * scale).floor() / scale)
}

/// Quotes a word for a shell if necessary.
pub fn shell_word(word: impl AsRef<Path>) -> String {
    let word = word.as_ref().display().to_string();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_./:=@%+,-".contains(letter);
    let is_plain = !word.is_empty() && word.chars().all(is_plain);
    // A leading dash would make it an option.
    let word = if word.starts_with('-') { format!("./{word}") } else { word };
    if is_plain { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// `1 state`, `2 states`.
pub fn plural(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{} {noun}s", show_count(count)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_for_people() {
        assert_eq!(show_count(1_067_376), "1 067 376");
        assert_eq!(show_count(999), "999");
        assert_eq!(show_bytes(1023), "1023 bytes");
        assert_eq!(show_bytes(19_083_000), "18.2 MB");
        assert_eq!(show_duration(Duration::from_millis(4)), "0.004 s");
        assert_eq!(show_duration(Duration::from_secs(7500)), "2 h 5 min");
        assert_eq!(show_share(0.5), "50.00%");
        assert_eq!(show_share(0.998_75), "99.87%");
        assert_eq!(show_share(0.999_998_75), "99.99987%");
        assert_eq!(show_share(1.0), "99.99999990%");
        assert_eq!(plural(1, "step"), "1 step");
        assert_eq!(plural(1200, "state"), "1 200 states");
    }
}
