//! [`tokens`]: the tokenizer of google-adk's `response_match_score`.
//!
//! The tables of Unicode are those of the crates. A Python with an older Unicode reads characters
//! that it does not know as separators.

use super::stem::stem;
use unicode_normalization::UnicodeNormalization as _;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory as _};

/// Words of at most this length are not stemmed.
const LONGEST_UNSTEMMED: usize = 3;

/// Splits a text into lower-case tokens. ASCII words are stemmed, other words stay as they are.
pub(super) fn tokens(text: &str) -> Vec<String> {
    let normal: String = text.nfkc().collect();
    let mut words = String::with_capacity(normal.len());
    for char in normal.to_lowercase().chars() {
        match Script::of(char) {
            Script::Ideograph => words.extend([' ', char, ' ']),
            Script::Base => words.extend([' ', char]),
            Script::Word => words.push(char),
            Script::Separator => words.push(' '),
        }
    }
    let token = |word: &str| {
        if word.is_ascii() && word.len() > LONGEST_UNSTEMMED {
            stem(word)
        } else {
            word.to_owned()
        }
    };
    words.split_ascii_whitespace().map(token).collect()
}

/// The part of a token that a character is.
enum Script {
    /// A token by itself: an ideograph, kana or a Hangul syllable.
    Ideograph,
    /// The begin of a token in a script without spaces: Thai, Lao, Khmer, Myanmar.
    Base,
    /// A character of the current word, marks included.
    Word,
    /// A character between words.
    Separator,
}

impl Script {
    fn of(char: char) -> Self {
        let group = char.general_category_group();
        match char {
            '\u{4E00}'..='\u{9FFF}' | '\u{3040}'..='\u{30FF}' | '\u{AC00}'..='\u{D7AF}' => {
                Self::Ideograph
            }
            _ if group == GeneralCategoryGroup::Mark => Self::Word,
            '\u{0E00}'..='\u{0EFF}' | '\u{1780}'..='\u{17FF}' | '\u{1000}'..='\u{109F}' => {
                Self::Base
            }
            _ => match group {
                GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number => Self::Word,
                _ => Self::Separator,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_by_script() {
        for (text, expected) in [
            ("The Cats' mats!", vec!["the", "cat", "mat"]),
            ("ﬁsh Ⅳ ①", vec!["fish", "iv", "1"]),
            ("東京タワー", vec!["東", "京", "タ", "ワ", "ー"]),
            ("ที่นี่ x", vec!["ที่", "นี่", "x"]),
            ("नमस्ते दुनिया", vec!["नमस्ते", "दुनिया"]),
            ("ΟΔΟΣ ὈΔΥΣΣΕΎΣ", vec!["οδος", "ὀδυσσεύς"]),
            ("a\u{a0}b\u{2028}c\td", vec!["a", "b", "c", "d"]),
            (" \n\0", vec![]),
        ] {
            assert_eq!(tokens(text), expected, "{text:?}");
        }
    }
}
