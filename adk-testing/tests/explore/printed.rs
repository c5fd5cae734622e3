//! The test that a report prints, with the lines that only its author knows.

use crate::payment;

#[rustfmt::skip]
pub async fn paying_is_bad() -> adk::Result<()> {
    adk::explore(&payment::careless::Paying::default(), "the bill")
        // `answers`, `check` and the rest as in adk-testing/tests/explore/payment.rs
        .resources(payment::World::default) // added
        .answers(payment::model("pay")) // added
        .check(|world| world.calls("pay") <= 1) // added
        .waits("fine", [true])
        .replay([
            "13: the process dies after the call `paying/payer:tool.pay@0` was made, before it is recorded",
        ])
        .await?;
    Ok(())
}
