//! A key that has another type than the patterns of its `match` is one message, however many patterns there are.

use adk::prelude::*;

#[data]
enum Ask {
    Refund { amount: u32 },
    Question { urgency: u8 },
}

#[agent]
fn refund(ask: &Ask) {
    let _ = format!("{ask:?}");
}

#[agent]
fn perhaps(ask: Option<Ask>) {
    let _ = format!("{ask:?}");
}

#[agent]
fn log(message: &str) {
    let _ = message;
}

// Nobody else says that it is an `Ask`.
workflow! {
    pub Alone(message: String) {
        agent classifier -> ask: String { instruction: "{message}" }
        classifier;
        match ask <
            Ask::Refund { amount } if amount < 50 => log,
            Ask::Question { urgency } if urgency > 7 => log as second,
            _ => ()
        >
    }
}

// What reads it is told of it.
workflow! {
    pub Read(message: String) {
        agent classifier -> ask: String { instruction: "{message}" }
        classifier;
        perhaps;
        match ask < Ask::Refund { amount } if amount < 50 => refund, Ask::Refund { .. } => log, Ask::Question { .. } => () >
    }
}

workflow! {
    pub Texts(message: String, ask: Ask) { match ask < "refund" => log, "question" => log as second, _ => () > }
}

workflow! {
    pub Numbers(message: String) { match message < 1 => log, 2 | 3 => log as second, _ => () > }
}

workflow! {
    pub Options(message: String, ask: Ask) {
        match ask < Some(Ask::Refund { .. }) => log, Some(_) => log as second, None => () >
    }
}

fn main() {}
