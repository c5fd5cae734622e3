//! Runs that an engine above the store drives. Two stores on one file play two processes of the
//! engine.

use crate::support::Folder;
use crate::trees::driven;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_slot_is_filled_once() {
    driven::fills_each_slot_once(&Folder::new()).await;
}

#[tokio::test]
async fn branches_are_executed_by_two_processes() {
    driven::takes_branches_of_two(&Folder::new()).await;
}

#[tokio::test]
async fn waits_are_kept_until_they_are_answered() {
    driven::keeps_waits(&Folder::new()).await;
}

#[tokio::test]
async fn any_process_closes_the_run() {
    driven::closes(&Folder::new()).await;
}

#[tokio::test]
async fn a_cancel_fences_all_processes() {
    driven::is_fenced_by_a_cancel(&Folder::new()).await;
}

#[tokio::test]
async fn processes_on_the_plain_store_do_not_claim_such_runs() {
    driven::is_left_alone(&Folder::new()).await;
}

#[tokio::test]
async fn open_sessions_see_events_of_other_processes() {
    driven::is_seen_by_readers(&Folder::new()).await;
}

#[tokio::test]
async fn random_interleavings_fill_each_slot_once() {
    driven::interleaved::interleaves(&Folder::new(), 8).await;
}

#[tokio::test]
async fn a_run_that_is_queued_begins_with_its_first_event() {
    driven::begins_when_queued(&Folder::new()).await;
}
