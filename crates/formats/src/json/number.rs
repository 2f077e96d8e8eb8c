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

/// Parses a JSON number, and returns it multiplied by 10 to the power of `decimals`. With four
/// decimals, `0.5` is 5000.
///
/// Returns `None` if the value is not a number, has more decimals, or if the result is not an
/// int64.
pub(super) fn parse_scaled(text: &str, decimals: i64) -> Option<i64> {
    // Only a number begins in this way; strings, objects and the literals do not.
    let is_number = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    if !is_number {
        return None;
    }
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_negative = whole.starts_with('-');

    let digits = [whole.trim_start_matches('-'), fraction].concat();
    let significant_digits = digits.trim_end_matches('0');
    // Zero stays zero with any exponent, even with one that is too long to be parsed.
    if significant_digits.is_empty() {
        return Some(0);
    }

    let exponent: i64 = exponent.parse().ok()?;
    let fraction_length = i64::try_from(fraction.len()).ok()?;
    let removed_zero_count = i64::try_from(digits.len() - significant_digits.len()).ok()?;
    // The result is the significant digits with this many zeros after them. If the count is
    // negative, the number has too many decimals.
    let zero_count = exponent
        .checked_sub(fraction_length)?
        .checked_add(removed_zero_count + decimals)?;
    let power = 10_i128.checked_pow(u32::try_from(zero_count).ok()?)?;
    let significant: i128 = significant_digits.parse().ok()?;
    let scaled = significant.checked_mul(power)?;
    i64::try_from(if is_negative { -scaled } else { scaled }).ok()
}
