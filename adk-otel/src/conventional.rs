//! [`Conventional`]: an exporter that converts the attributes that OpenTelemetry's conventions
//! define as lists. `tracing` has no list values, so the runtime records the only element of each
//! list.

use opentelemetry::{Array, Value};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use std::time::Duration;

const LISTS: [&str; 1] = ["gen_ai.response.finish_reasons"];

#[derive(Debug)]
pub(crate) struct Conventional<E>(pub(crate) E);

impl<E: SpanExporter> SpanExporter for Conventional<E> {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        let attributes = batch.iter_mut().flat_map(|span| &mut span.attributes);
        for attribute in attributes.filter(|attribute| LISTS.contains(&attribute.key.as_str())) {
            if let Value::String(one) = &attribute.value {
                attribute.value = Value::Array(Array::String(vec![one.clone()]));
            }
        }
        self.0.export(batch).await
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.0.set_resource(resource);
    }
}
