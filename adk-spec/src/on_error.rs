//! [`OnError`] and [`SkipLimit`]: the effect of a failed branch or element on its block.

use std::fmt;

/// The effect of a failed branch or element on its parallel block or `each`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "workflow",
    derive(serde::Serialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum OnError {
    /// The block fails too, and its other branches or elements are cancelled.
    #[default]
    Fail,
    /// The block continues without the failed branch or element.
    Skip,
    /// An `each` continues without the failed elements, and fails as soon as more elements than
    /// this limit have failed. For a parallel block this is [`Skip`](Self::Skip).
    SkipAtMost(SkipLimit),
}

impl OnError {
    /// Returns whether the block leaves out failed branches or elements.
    pub const fn skips(&self) -> bool {
        !matches!(self, Self::Fail)
    }
}

/// The largest number of failed elements that an `each` leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "workflow",
    derive(serde::Serialize),
    serde(rename_all = "snake_case")
)]
pub enum SkipLimit {
    /// A number: `max = 5`.
    Elements(u32),
    /// A percentage of all elements for which the block runs: `max = "10 %"`.
    Percent(u32),
}

impl SkipLimit {
    /// Reads a percentage from 1 to 100, such as `10 %`. Returns `None` for any other text.
    ///
    /// ```
    /// # use adk_spec as adk;
    /// use adk::spec::SkipLimit;
    /// assert_eq!(SkipLimit::percentage("10 %"), Some(SkipLimit::Percent(10)));
    /// assert_eq!(SkipLimit::percentage("110 %"), None);
    /// ```
    pub fn percentage(text: &str) -> Option<Self> {
        let number = text.trim().strip_suffix('%')?.trim_end();
        let is_number = number.bytes().all(|digit| digit.is_ascii_digit());
        let percent = number.parse().ok().filter(|_| is_number)?;
        (1..=100)
            .contains(&percent)
            .then_some(Self::Percent(percent))
    }

    /// Returns how many of a number of elements may be left out. A percentage is rounded down.
    ///
    /// ```
    /// # use adk_spec as adk;
    /// use adk::spec::SkipLimit;
    /// assert_eq!(SkipLimit::Percent(10).of_elements(39), 3);
    /// ```
    pub fn of_elements(self, elements: usize) -> usize {
        let most = match self {
            Self::Elements(most) => u128::from(most),
            Self::Percent(percent) => elements as u128 * u128::from(percent) / 100,
        };
        usize::try_from(most).unwrap_or(usize::MAX)
    }
}

/// The limit as in the source of a workflow: `5` or `"10 %"`.
impl fmt::Display for SkipLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elements(most) => write!(f, "{most}"),
            Self::Percent(percent) => write!(f, "\"{percent} %\""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SkipLimit;

    #[test]
    fn percentages_are_whole_numbers_to_one_hundred() {
        for (text, percent) in [("1 %", 1), ("10%", 10), (" 100 % ", 100), ("007 %", 7)] {
            let read = SkipLimit::percentage(text);
            assert_eq!(read, Some(SkipLimit::Percent(percent)), "{text}");
        }
        for text in [
            "",
            "%",
            "10",
            "0 %",
            "101 %",
            "110 %",
            "-1 %",
            "+1 %",
            "2.5 %",
            "ten",
            "ten %",
            "10 % %",
            "99999999999 %",
            "1 0 %",
            "10 ％",
        ] {
            assert_eq!(SkipLimit::percentage(text), None, "{text}");
        }
    }

    #[test]
    fn percentages_are_rounded_down() {
        for (limit, elements, most) in [
            (SkipLimit::Percent(10), 9, 0),
            (SkipLimit::Percent(10), 10, 1),
            (SkipLimit::Percent(10), 300, 30),
            (SkipLimit::Percent(33), 3, 0),
            (SkipLimit::Percent(34), 3, 1),
            (SkipLimit::Percent(100), usize::MAX, usize::MAX),
            (SkipLimit::Percent(50), 0, 0),
            (SkipLimit::Elements(5), 3, 5),
        ] {
            assert_eq!(limit.of_elements(elements), most, "{limit} of {elements}");
        }
    }
}
