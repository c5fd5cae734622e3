//! Runs in memory that wait for the turn of their session.

use super::cancel::Memory;
use crate::support::queued;

#[tokio::test(start_paused = true)]
async fn a_queued_run_is_listed_as_a_run() {
    queued::is_a_run(&Memory::default()).await;
}

#[tokio::test(start_paused = true)]
async fn queued_runs_start_in_the_order_of_their_requests() {
    queued::begins_in_order(&Memory::default()).await;
}

#[tokio::test(start_paused = true)]
async fn a_resumed_queued_run_is_cancelled_at_once() {
    queued::ends_when_it_is_resumed(&Memory::default()).await;
}

#[tokio::test(start_paused = true)]
async fn the_id_of_a_run_is_used_once() {
    queued::takes_an_id_once(&Memory::default()).await;
}

#[tokio::test(start_paused = true)]
async fn a_run_is_not_queued_inside_the_run_that_has_the_turn() {
    queued::is_refused_inside(&Memory::default()).await;
}
