//! [`stem`]: Porter's stemmer as in NLTK, with the extensions that NLTK uses by default.
//!
//! The original algorithm and Porter2 give other stems: `always` is `alway` here and `alwai` there.
//! So the rules are a table of their own.

/// Irregular words with their stems.
const IRREGULAR: &[(&str, &str)] = &[
    ("sky", "sky"),
    ("skies", "sky"),
    ("dying", "die"),
    ("lying", "lie"),
    ("tying", "tie"),
    ("news", "news"),
    ("innings", "inning"),
    ("inning", "inning"),
    ("outings", "outing"),
    ("outing", "outing"),
    ("cannings", "canning"),
    ("canning", "canning"),
    ("howe", "howe"),
    ("proceed", "proceed"),
    ("exceed", "exceed"),
    ("succeed", "succeed"),
];

/// A rule: the suffix, its replacement, and the condition on the stem before the suffix.
type Rule = (&'static str, &'static str, fn(&str) -> bool);

/// The first rule whose suffix matches decides, also if its condition does not hold.
const PLURALS: &[Rule] = &[
    ("sses", "ss", always),
    ("ies", "i", always),
    ("ss", "ss", always),
    ("s", "", always),
];

const DOUBLE_SUFFIXES: &[Rule] = &[
    ("ational", "ate", has_measure),
    ("tional", "tion", has_measure),
    ("enci", "ence", has_measure),
    ("anci", "ance", has_measure),
    ("izer", "ize", has_measure),
    ("bli", "ble", has_measure),
    ("alli", "al", has_measure),
    ("entli", "ent", has_measure),
    ("eli", "e", has_measure),
    ("ousli", "ous", has_measure),
    ("ization", "ize", has_measure),
    ("ation", "ate", has_measure),
    ("ator", "ate", has_measure),
    ("alism", "al", has_measure),
    ("iveness", "ive", has_measure),
    ("fulness", "ful", has_measure),
    ("ousness", "ous", has_measure),
    ("aliti", "al", has_measure),
    ("iviti", "ive", has_measure),
    ("biliti", "ble", has_measure),
    ("fulli", "ful", has_measure),
    // NLTK measures the stem with the `l` of the suffix.
    ("logi", "log", |stem| measure(&format!("{stem}l")) > 0),
];

const ADJECTIVES: &[Rule] = &[
    ("icate", "ic", has_measure),
    ("ative", "", has_measure),
    ("alize", "al", has_measure),
    ("iciti", "ic", has_measure),
    ("ical", "ic", has_measure),
    ("ful", "", has_measure),
    ("ness", "", has_measure),
];

const ENDINGS: &[Rule] = &[
    ("al", "", is_long),
    ("ance", "", is_long),
    ("ence", "", is_long),
    ("er", "", is_long),
    ("ic", "", is_long),
    ("able", "", is_long),
    ("ible", "", is_long),
    ("ant", "", is_long),
    ("ement", "", is_long),
    ("ment", "", is_long),
    ("ent", "", is_long),
    ("ion", "", |stem| {
        is_long(stem) && stem.ends_with(['s', 't'])
    }),
    ("ou", "", is_long),
    ("ism", "", is_long),
    ("ate", "", is_long),
    ("iti", "", is_long),
    ("ous", "", is_long),
    ("ive", "", is_long),
    ("ize", "", is_long),
];

/// Returns the stem of a lower-case ASCII word.
pub(super) fn stem(word: &str) -> String {
    if let Some((_, stem)) = IRREGULAR.iter().find(|(irregular, _)| *irregular == word) {
        return (*stem).to_owned();
    }
    if word.len() <= 2 {
        return word.to_owned();
    }
    let word = without_plural(word);
    let word = without_participle(&word);
    let word = with_final_i(word);
    let word = with_single_suffix(word);
    let word = apply(&word, ADJECTIVES);
    let word = apply(&word, ENDINGS);
    without_final_l(without_final_e(word))
}

/// Applies the first rule whose suffix the word has.
fn apply(word: &str, rules: &[Rule]) -> String {
    for (suffix, replacement, holds) in rules {
        if let Some(stem) = word.strip_suffix(suffix) {
            return if holds(stem) {
                format!("{stem}{replacement}")
            } else {
                break;
            };
        }
    }
    word.to_owned()
}

/// Step 1a: `cats` to `cat`, `ponies` to `poni`, but `ties` to `tie`.
fn without_plural(word: &str) -> String {
    match word.strip_suffix("ies") {
        Some(stem) if word.len() == 4 => format!("{stem}ie"),
        _ => apply(word, PLURALS),
    }
}

/// Step 1b: `plastered` to `plaster`, `hopping` to `hop`, `filing` to `file`.
fn without_participle(word: &str) -> String {
    if let Some(stem) = word.strip_suffix("ied") {
        let ending = if word.len() == 4 { "ie" } else { "i" };
        return format!("{stem}{ending}");
    }
    if let Some(stem) = word.strip_suffix("eed") {
        return if has_measure(stem) {
            format!("{stem}ee")
        } else {
            word.to_owned()
        };
    }
    let stripped = ["ed", "ing"].iter().find_map(|suffix| {
        let stem = word.strip_suffix(suffix)?;
        has_vowel(stem).then_some(stem)
    });
    let Some(stem) = stripped else {
        return word.to_owned();
    };
    if stem.ends_with("at") || stem.ends_with("bl") || stem.ends_with("iz") {
        return format!("{stem}e");
    }
    if ends_in_double_consonant(stem) {
        let keeps_both = stem.ends_with(['l', 's', 'z']);
        let end = stem.len() - usize::from(!keeps_both);
        return stem[..end].to_owned();
    }
    if measure(stem) == 1 && ends_in_short_syllable(stem) {
        format!("{stem}e")
    } else {
        stem.to_owned()
    }
}

/// Step 1c: `happy` to `happi`, but `enjoy` stays.
fn with_final_i(word: String) -> String {
    match word.strip_suffix('y') {
        Some(stem) if stem.len() > 1 && consonants(stem).last() == Some(&true) => {
            format!("{stem}i")
        }
        _ => word,
    }
}

/// Step 2: `relational` to `relate`.
fn with_single_suffix(mut word: String) -> String {
    while let Some(stem) = word.strip_suffix("alli")
        && has_measure(stem)
    {
        word = format!("{stem}al");
    }
    apply(&word, DOUBLE_SUFFIXES)
}

/// Step 5a: `probate` to `probat`, `cease` to `ceas`, but `rate` stays.
fn without_final_e(word: String) -> String {
    match word.strip_suffix('e') {
        Some(stem) if is_long(stem) || has_measure(stem) && !ends_in_short_syllable(stem) => {
            stem.to_owned()
        }
        _ => word,
    }
}

/// Step 5b: `controll` to `control`, but `roll` stays.
fn without_final_l(word: String) -> String {
    match word.strip_suffix('l') {
        Some(stem) if stem.ends_with('l') && is_long(stem) => stem.to_owned(),
        _ => word,
    }
}

fn always(_: &str) -> bool {
    true
}

fn has_measure(stem: &str) -> bool {
    measure(stem) > 0
}

fn is_long(stem: &str) -> bool {
    measure(stem) > 1
}

fn has_vowel(stem: &str) -> bool {
    consonants(stem).contains(&false)
}

/// Counts the places where a consonant follows a vowel.
fn measure(stem: &str) -> usize {
    let letters = consonants(stem);
    letters
        .windows(2)
        .filter(|pair| *pair == [false, true])
        .count()
}

/// Returns for each letter if it is a consonant. A `y` is one at the begin and after a vowel.
fn consonants(word: &str) -> Vec<bool> {
    let mut flags = Vec::with_capacity(word.len());
    for letter in word.bytes() {
        flags.push(match letter {
            b'a' | b'e' | b'i' | b'o' | b'u' => false,
            b'y' => flags.last().is_none_or(|before| !before),
            _ => true,
        });
    }
    flags
}

fn ends_in_double_consonant(word: &str) -> bool {
    let letters = word.as_bytes();
    let is_double = letters.len() >= 2 && letters[letters.len() - 1] == letters[letters.len() - 2];
    is_double && consonants(word).last() == Some(&true)
}

/// Returns true for consonant, vowel, consonant at the end, where the last is not `w`, `x` or `y`;
/// also for a vowel and a consonant that are the whole word.
fn ends_in_short_syllable(word: &str) -> bool {
    match consonants(word)[..] {
        [.., true, false, true] => !word.ends_with(['w', 'x', 'y']),
        [false, true] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_are_those_of_nltk() {
        let words = "always:alway skies:sky ties:tie died:die cried:cri agreed:agre feed:feed \
            plastered:plaster bled:bled motoring:motor sing:sing conflated:conflat sized:size \
            hopping:hop falling:fall filing:file failing:fail happy:happi enjoy:enjoy \
            relational:relat rationally:ration geology:geolog theology:theolog \
            hopefully:hope generalizations:gener controller:control roll:roll cease:ceas \
            rate:rate adoption:adopt replacement:replac flying:fli proceed:proceed \
            typically:typic yyyy:yyyi oing:o 1234:1234 abc1ing:abc1";
        for pair in words.split_ascii_whitespace() {
            let (word, expected) = pair.split_once(':').unwrap();
            assert_eq!(stem(word), expected, "{word}");
        }
    }
}
