//! Numbers in JSON, which are parsed exactly, without floating point.

use serde_json::value::RawValue;

/// Parses a JSON number as an integer, as JSON Schema defines it: `1.0` and `1e2` are integers, and
/// `1.5` is not. Returns `None` if the value is not an int64.
pub fn as_integer(value: &RawValue) -> Option<i64> {
    parse_integer(value.get())
}

/// Parses the text of any JSON value, like [`as_integer`].
pub fn parse_integer(text: &str) -> Option<i64> {
    parse_scaled(text, 0)
}

/// Parses a number with at most `decimals` digits after the point, and returns it in units of the
/// last of them: with four decimals, `0.5` is 5000. Returns `None` if the text is not a number, has
/// more decimals, or if the result is not an int64.
pub(super) fn parse_scaled(text: &str, decimals: i64) -> Option<i64> {
    let is_number = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    if !is_number {
        return None;
    }
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_negative = whole.starts_with('-');

    let digits = [whole.trim_start_matches('-'), fraction].concat();
    let significant_digits = digits.trim_end_matches('0');
    if significant_digits.is_empty() {
        return Some(0);
    }

    // The result is the significant digits with this many zeros after them. If the count is negative,
    // the number has too many decimals.
    let trailing_zero_count = digits.len() - significant_digits.len();
    let zero_count = exponent
        .parse::<i64>()
        .ok()?
        .checked_sub(i64::try_from(fraction.len()).ok()?)?
        .checked_add(i64::try_from(trailing_zero_count).ok()? + decimals)?;
    let power = 10_i128.checked_pow(u32::try_from(zero_count).ok()?)?;
    let amount = significant_digits
        .parse::<i128>()
        .ok()?
        .checked_mul(power)?;
    i64::try_from(if is_negative { -amount } else { amount }).ok()
}
