//! Decisions of every store, from values that it has read: who may write for a run, and which
//! waits are due.

use adk_journal::StateDelta;
use adk_journal::engine::{ClaimId, DueWaits, RunStatus, Waiting, from_text, refuse};
use adk_model::Result;

/// Returns the claim that follows the last one of a run, from the status in the row of the run.
/// `is_held` says that a living process holds the last claim.
///
/// # Errors
/// [`refuse::cancelled`], and [`refuse::run_busy`] when the claim is held. A run that an engine
/// above the store drives is refused even after its end, because its recorded calls are not in this
/// store.
pub fn next_claim(last: ClaimId, status: &str, is_held: bool) -> Result<ClaimId> {
    if status == "cancelled" {
        return Err(refuse::cancelled(last.run_id));
    }
    if last.is_driven_above() || is_held {
        return Err(refuse::run_busy(last.run_id));
    }
    Ok(ClaimId {
        epoch: last.epoch + 1,
        ..last
    })
}

/// Reports whether a claim may write, from the owner and the number of the last claim in the row of
/// its run. `owner` is the name of the process. Returns `false` if the run has no row, because it
/// has not begun: a store ignores the write.
///
/// # Errors
/// [`refuse::fenced`] when another claim is the current one. [`refuse::unknown_run`] when the row
/// of a run that an engine above the store drives is missing: it was deleted, and its driver may be
/// in a process that does not know of the deletion.
pub fn is_current(claim: ClaimId, owner: &str, row: Option<(Option<&str>, u64)>) -> Result<bool> {
    match row {
        None if claim.is_driven_above() => Err(refuse::unknown_run(claim.run_id)),
        None => Ok(false),
        Some(row) if row == (Some(owner), claim.epoch) => Ok(true),
        Some(_) => Err(refuse::fenced(claim.run_id)),
    }
}

/// Reports whether an engine above the store drives or has driven a run. Such a run has epoch 0,
/// and a cancellation adds 1. The first claim of a process has epoch 1.
pub fn is_driven_above(epoch: u64, status: &RunStatus) -> bool {
    epoch == 0 || (epoch == 1 && *status == RunStatus::Cancelled)
}

/// Reads the `temp:` keys of an event.
///
/// # Errors
/// When the text cannot be read.
pub fn temp_from_text(text: Option<&str>) -> Result<StateDelta> {
    text.map_or(Ok(StateDelta::default()), |text| {
        from_text(text, "the `temp:` keys of an event")
    })
}

/// Adds a wait to the due ones, in the order of deadlines. Returns `false` when the search ends:
/// the deadline is not over, or `most` waits are due.
pub fn add_due(
    due: &mut DueWaits,
    deadline: u64,
    wait: Result<Waiting>,
    now: u64,
    most: usize,
) -> bool {
    if deadline > now || due.waits.len() == most {
        due.next = Some(deadline);
        return false;
    }
    // An unreadable wait is left out, because the next claim of its run reports it.
    due.waits.extend(wait.ok());
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use adk_model::{ErrorKind, RunId};

    #[test]
    fn a_claim_follows_the_last_one() {
        let run_id = RunId::new();
        let next = |epoch, status, is_held| next_claim(ClaimId { run_id, epoch }, status, is_held);
        assert_eq!(
            next(3, "paused", false).ok().map(|next| next.epoch),
            Some(4)
        );
        for (status, epoch, is_held, kind) in [
            ("cancelled", 0, true, ErrorKind::Cancelled),
            ("running", 3, true, ErrorKind::RunBusy),
            ("finished", 0, false, ErrorKind::RunBusy),
        ] {
            let error = next(epoch, status, is_held).map_err(|error| error.kind());
            assert_eq!(error, Err(kind));
        }
    }

    #[test]
    fn only_the_current_claim_writes() {
        let claim = ClaimId {
            run_id: RunId::new(),
            epoch: 2,
        };
        let above = ClaimId::driven_above(claim.run_id);
        assert_eq!(
            is_current(claim, "me", Some((Some("me"), 2))).ok(),
            Some(true)
        );
        assert_eq!(is_current(claim, "me", None).ok(), Some(false));
        for row in [(Some("me"), 3), (Some("you"), 2), (None, 2)] {
            assert!(is_current(claim, "me", Some(row)).is_err(), "{row:?}");
        }
        assert!(is_current(above, "@", None).is_err());
        assert!(is_driven_above(0, &RunStatus::Running));
        assert!(is_driven_above(1, &RunStatus::Cancelled));
        assert!(!is_driven_above(1, &RunStatus::Running));
    }
}
