//! The mistakes of new users, one in each `newcomer-*.rs`.

use super::{files, folder, messages};

#[test]
fn the_first_error_of_19_mistakes_in_20_names_a_remedy() {
    let mistakes = files(&folder("."), "stderr").into_iter();
    let (good, bad): (Vec<_>, Vec<_>) = mistakes
        .filter(|(case, _)| case.starts_with("newcomer-"))
        .partition(|(_, output)| {
            messages(output)
                .next()
                .is_some_and(|first| first.contains("help: "))
        });
    let bad: Vec<_> = bad.into_iter().map(|(case, _)| case).collect();
    assert!(
        good.len() >= 38 && bad.len() * 20 <= good.len() + bad.len(),
        "without a remedy: {bad:?}"
    );
}
