//! Loops over slices and ranges, which const evaluation lacks.

/// Runs a block for each element of a slice.
macro_rules! each {
    ($item:ident in $list:expr => $block:block) => {
        let mut rest: &[_] = $list;
        while let [$item, more @ ..] = rest {
            rest = more;
            $block
        }
    };
}

/// Returns whether a condition holds for any element of a slice.
macro_rules! any {
    ($item:ident in $list:expr => $condition:expr) => {{
        let (mut rest, mut found): (&[_], _) = ($list, false);
        while !found && let [$item, more @ ..] = rest {
            (rest, found) = (more, $condition);
        }
        found
    }};
}

/// Returns the first number of a range for which a condition holds.
#[cfg(feature = "workflow")]
macro_rules! find {
    ($number:ident in $from:expr, $to:expr => $condition:expr) => {{
        let (mut $number, end) = ($from, $to);
        while $number < end && !$condition {
            $number += 1;
        }
        if $number < end { Some($number) } else { None }
    }};
}

/// Returns the last number below a limit for which a condition holds.
#[cfg(feature = "workflow")]
macro_rules! rfind {
    ($number:ident below $end:expr => $condition:expr) => {{
        let (mut $number, mut found) = ($end, None);
        while $number > 0 && found.is_none() {
            $number -= 1;
            found = if $condition { Some($number) } else { None };
        }
        found
    }};
}

/// Returns the first `Some` of an expression over the elements of a slice.
#[cfg(feature = "workflow")]
macro_rules! first {
    ($item:ident in $list:expr => $option:expr) => {{
        let (mut rest, mut found): (&[_], _) = ($list, None);
        while found.is_none()
            && let [$item, more @ ..] = rest
        {
            (rest, found) = (more, $option);
        }
        found
    }};
}
