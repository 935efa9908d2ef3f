//! Parses sizes, durations and ranges.

use std::time::Duration;

/// `512M`, `8G`, `1.5GiB`, `4096`: bytes, with powers of 1024.
pub fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a size; write it like 4096, 512M or 8G");
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let exponent = match unit.to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 1,
        "M" | "MB" | "MIB" => 2,
        "G" | "GB" | "GIB" => 3,
        "T" | "TB" | "TIB" => 4,
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let bytes = number * 1024f64.powi(exponent);
    if bytes >= 1.0 && bytes < u64::MAX as f64 { Ok(bytes as u64) } else { Err(wrong()) }
}

/// `10s`, `5m`, `1h30m`, `1.5s`, `250ms`; a number alone counts seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a duration; write it like 10s, 5m or 1h30m");
    let mut rest = text;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let factor = match unit {
            "ms" => 0.001,
            "" | "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            "d" => 86400.0,
            _ => return Err(wrong()),
        };
        seconds += number.parse::<f64>().map_err(|_| wrong())? * factor;
        rest = after;
    }
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if !text.is_empty() => Ok(duration),
        Ok(_) | Err(_) => Err(wrong()),
    }
}

/// A constant, and the values for its sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    pub name: String,
    pub low: i32,
    pub high: i32,
}

impl Sweep {
    pub fn is_single(&self) -> bool {
        self.low == self.high
    }
}

/// Like `N=0..255`.
pub fn sweep(text: &str) -> Result<Sweep, String> {
    let parts = text.split_once('=').and_then(|(name, range)| Some((name.trim(), range.split_once("..")?)));
    let Some((name, (low, high))) = parts.filter(|(name, _)| !name.is_empty()) else {
        return Err("expected a name and a range, such as N=1..5".into());
    };
    let number = |text: &str| text.trim().parse::<i32>().map_err(|_| format!("`{}` is not a number", text.trim()));
    let (low, high) = (number(low)?, number(high)?);
    if low > high {
        return Err(format!("the range {low}..{high} is empty"));
    }
    Ok(Sweep { name: name.to_owned(), low, high })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_1024() {
        assert_eq!(size("4096"), Ok(4096));
        assert_eq!(size("512M"), Ok(512 << 20));
        assert_eq!(size("8G"), Ok(8 << 30));
        assert_eq!(size("8gib"), Ok(8 << 30));
        assert_eq!(size("1.5k"), Ok(1536));
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in ["", "G", "8X", "-1", "1..2K", "0", "99999999T", "1 G", "ä"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_add_up() {
        let seconds = |text: &str| duration(text).map(|d| d.as_secs_f64());
        assert_eq!(seconds("10s"), Ok(10.0));
        assert_eq!(seconds("5m"), Ok(300.0));
        assert_eq!(seconds("2h"), Ok(7200.0));
        assert_eq!(seconds("1h30m"), Ok(5400.0));
        assert_eq!(seconds("1.5s"), Ok(1.5));
        assert_eq!(seconds("250ms"), Ok(0.25));
        assert_eq!(seconds("90"), Ok(90.0));
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in ["", "s", "10x", "-3s", "1h-", "10 s", "1e30h", "ä", "99999999999999999999999d"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_sweep_is_a_name_and_a_range() {
        let expected = Sweep { name: "Param.N".to_owned(), low: -1, high: 255 };
        assert_eq!(sweep("Param.N=-1..255"), Ok(expected));
        for wrong in ["", "N", "N=", "N=1", "=1..2", "N=2..1", "N=a..b", "N=1...2"] {
            assert!(sweep(wrong).is_err(), "{wrong}");
        }
    }
}
