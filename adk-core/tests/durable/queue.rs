//! Runs that wait for the turn of their session, in memory.

use super::cancel::Memory;
use crate::support::queued;

#[tokio::test(start_paused = true)]
async fn a_run_that_waits_for_its_session_is_a_run() {
    queued::is_a_run(&Memory::default()).await;
}

#[tokio::test(start_paused = true)]
async fn runs_that_waited_begin_in_the_order_in_which_they_came() {
    queued::begins_in_order(&Memory::default()).await;
}

#[tokio::test(start_paused = true)]
async fn a_resumed_run_that_waits_for_its_turn_is_cancelled_at_once() {
    queued::ends_when_it_is_resumed(&Memory::default()).await;
}

#[tokio::test(start_paused = true)]
async fn the_id_of_a_run_is_taken_once() {
    queued::takes_an_id_once(&Memory::default()).await;
}

#[tokio::test(start_paused = true)]
async fn a_run_is_not_queued_inside_of_the_run_that_has_the_turn() {
    queued::is_refused_inside(&Memory::default()).await;
}
