//! Times as clients write them.

use jiff::Timestamp;

pub(crate) use crate::domain::clock::to_milliseconds;

/// Parses a time of RFC 3339 with any offset, as a store keeps it. Drops digits after the
/// milliseconds. A leap second is at the end of a day of UTC (RFC 3339, section 5.7). The last hours
/// of the year 9999 are one moment, because no [`Timestamp`] is later.
pub(crate) fn parse(text: &str) -> Option<Timestamp> {
    let (seconds, rest) = text.split_at_checked("0000-00-00T00:00:00".len())?;
    let digits = rest
        .strip_prefix('.')
        .map_or(0, |rest| rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len());
    let (fraction, offset) = match digits {
        0 => ("", rest),
        // Together with the dot.
        _ => rest.split_at(digits + 1),
    };
    let fraction = &fraction[..fraction.len().min(4)];
    // The parser also reads other forms, for example without a separator.
    if !fits(seconds, "0000-00-00T00:00:00") || !matches!(offset, "Z" | "z") && !fits_offset(offset)
    {
        return None;
    }
    let time = format!("{seconds}{fraction}{offset}");
    let time = time.parse().ok().or_else(|| {
        // Valid in the year before, so only too late.
        let year_before = format!("9998{}", time.strip_prefix("9999")?);
        year_before.parse::<Timestamp>().ok().map(|_| Timestamp::MAX)
    })?;
    let is_end_of_day = (time.as_second() + 1) % 86_400 == 0;
    (!seconds.ends_with(":60") || is_end_of_day).then(|| to_milliseconds(time))
}

fn fits_offset(offset: &str) -> bool {
    (fits(offset, "+00:00") || fits(offset, "-00:00")) && &offset[1..3] < "24"
}

/// Whether a text has the digits and other characters of this form.
fn fits(text: &str, form: &str) -> bool {
    text.len() == form.len()
        && text.bytes().zip(form.bytes()).all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            form => byte.eq_ignore_ascii_case(&form),
        })
}

#[cfg(test)]
#[path = "../../tests/inside/json/times.rs"]
mod tests;
