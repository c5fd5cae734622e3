//! The clock of waits, which follows tokio's virtual time.

use std::time::Instant;

/// Returns microseconds since 1970, by the clock of the system. In a test with tokio's virtual
/// time, the clock moves by the time that the virtual clock was advanced, so that a deadline of
/// days passes at once.
pub fn now_micros() -> u64 {
    let (now, real) = (tokio::time::Instant::now().into_std(), Instant::now());
    let ahead = now.saturating_duration_since(real).as_micros();
    let behind = real.saturating_duration_since(now).as_micros();
    let micros = |all: u128| u64::try_from(all).unwrap_or(u64::MAX);
    crate::session::now_micros()
        .saturating_add(micros(ahead))
        .saturating_sub(micros(behind))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn virtual_time_counts() {
        let before = super::now_micros();
        tokio::time::advance(Duration::from_secs(72 * 3600)).await;
        let passed = super::now_micros() - before;
        // Two clocks are read one after the other.
        assert!(passed.abs_diff(72 * 3_600_000_000) < 1_000_000, "{passed}");
    }
}
