//! Records the trace and the requests of a case in their order.

use super::outline;
use super::views::RequestView;
use adk::model::ModelRequest;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The recorder that all scripted parts of a case share.
#[derive(Debug, Default)]
pub struct Recorder(Mutex<Recorded>);

#[derive(Debug, Default)]
struct Recorded {
    trace: Vec<String>,
    requests: Vec<RequestView>,
    calls: HashMap<String, usize>,
}

impl Recorder {
    fn open(&self) -> MutexGuard<'_, Recorded> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line to the trace.
    pub fn trace(&self, line: String) {
        self.open().trace.push(line);
    }

    /// Records a model request.
    pub fn record_request(&self, request: &ModelRequest) {
        let mut recorded = self.open();
        let agent = request.info.agent.to_string();
        let calls = recorded.calls.entry(agent.clone()).or_default();
        let call = *calls;
        *calls += 1;
        recorded.requests.push(outline::request(request, call));
        recorded.trace.push(format!("model:{agent}"));
    }

    /// Returns all records, and clears the recorder.
    pub fn take(&self) -> (Vec<String>, Vec<RequestView>) {
        let recorded = std::mem::take(&mut *self.open());
        (recorded.trace, recorded.requests)
    }
}
