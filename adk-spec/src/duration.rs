//! Durations as text: `"72h"`.

/// Parses a number with a unit (`ms`, `s`, `m` or `h`) as milliseconds: `"1.5s"` is 1500. Returns
/// `None` for any other text, and for values that do not fit into a `u64`.
///
/// ```
/// assert_eq!(adk_spec::duration::millis("72h"), Some(259_200_000));
/// assert_eq!(adk_spec::duration::millis("1.5 s"), Some(1_500));
/// assert_eq!(adk_spec::duration::millis("72"), None);
/// ```
pub fn millis(text: &str) -> Option<u64> {
    let text = text.trim();
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at_checked(unit_at)?;
    let factor: u64 = match unit.trim() {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = u32::try_from(fraction.len())
        .ok()
        .filter(|digits| (1..=9).contains(digits))?;
    let part = fraction.parse::<u64>().ok()?.checked_mul(factor)? / 10_u64.checked_pow(digits)?;
    whole
        .parse::<u64>()
        .ok()?
        .checked_mul(factor)?
        .checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::millis;

    #[test]
    fn a_number_needs_a_unit_and_fits() {
        let all = [
            "250ms",
            "30s",
            " 2 m ",
            "0s",
            "0.5h",
            "s",
            "",
            "1.s",
            ".5s",
            "1d",
            "-1s",
            "99999999999999999999s",
        ];
        let some = |n| Some(n);
        let expected = [
            some(250),
            some(30_000),
            some(120_000),
            some(0),
            some(1_800_000),
            None,
            None,
            None,
            None,
            None,
            None,
            None,
        ];
        assert_eq!(all.map(millis), expected);
    }
}
