//! Traces and metrics of runs, exported over OTLP.
//!
//! The runtime creates the spans; this crate passes them to OpenTelemetry. Attributes and metrics
//! have the names of OpenTelemetry's conventions for generative AI. A resumed run continues its
//! first trace.
//!
//! [`Otel::install`] is the only call that a program needs:
//!
//! ```no_run
//! # fn main() -> adk_core::Result<()> {
//! let _otel = adk_otel::Otel::install("my-service")?;
//! // Start runs here. Dropping `_otel` sends the spans that are still buffered.
//! # Ok(())
//! # }
//! ```
//!
//! The exporter reads OpenTelemetry's environment variables: `OTEL_EXPORTER_OTLP_ENDPOINT` is the
//! address, by default `http://localhost:4318`; `OTEL_EXPORTER_OTLP_HEADERS` may hold a key.

mod carrier;
mod conventional;
mod metrics;

pub use {opentelemetry, opentelemetry_sdk};

use adk_core::{Error, ErrorKind, Result};
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{MetricExporter, SpanExporter};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::exporter::PushMetricExporter;
use opentelemetry_sdk::metrics::{MeterProviderBuilder, PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::SdkTracerProvider;
use std::fmt::Display;
use tracing::{Subscriber, level_filters::LevelFilter};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, Registry, layer::SubscriberExt};

/// The instrumentation scope of all spans and metrics.
const SCOPE: &str = "adk";

/// The export of spans and metrics. Dropping it sends the buffered data and may block for a few
/// seconds.
#[derive(Debug)]
#[must_use = "dropping it ends the export"]
pub struct Otel {
    tracers: SdkTracerProvider,
    meters: SdkMeterProvider,
}

impl Otel {
    /// Exports all spans of level `INFO` and the metrics over OTLP, under the name of a service.
    ///
    /// This function sets the subscriber of the process. A program that has a subscriber adds
    /// [`layer`](Self::layer) to it instead. The variable `OTEL_SERVICE_NAME` overrides the name.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if the process has a subscriber, or an address in the environment
    /// cannot be read.
    pub fn install(service: impl Into<String>) -> Result<Self> {
        let this = Self::otlp(service)?;
        this.subscribe()?;
        Ok(this)
    }

    /// Creates the OTLP export without setting a subscriber.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if an address in the environment cannot be read.
    pub fn otlp(service: impl Into<String>) -> Result<Self> {
        let address = |error| {
            config_error("cannot export over OTLP", error)
                .with_help("check the variables `OTEL_EXPORTER_OTLP_...`")
        };
        let spans = SpanExporter::builder()
            .with_http()
            .build()
            .map_err(address)?;
        let metrics = MetricExporter::builder()
            .with_http()
            .build()
            .map_err(address)?;
        Ok(Self::with_metrics(service, spans, metrics))
    }

    /// Exports spans with a custom exporter, such as an in-memory one, and no metrics.
    pub fn new(
        service: impl Into<String>,
        spans: impl opentelemetry_sdk::trace::SpanExporter + 'static,
    ) -> Self {
        Self::build(service.into(), spans, SdkMeterProvider::builder())
    }

    /// Exports spans and metrics with custom exporters.
    pub fn with_metrics(
        service: impl Into<String>,
        spans: impl opentelemetry_sdk::trace::SpanExporter + 'static,
        metrics: impl PushMetricExporter,
    ) -> Self {
        let metrics = PeriodicReader::builder(metrics).build();
        Self::build(
            service.into(),
            spans,
            SdkMeterProvider::builder().with_reader(metrics),
        )
    }

    fn build(
        service: String,
        spans: impl opentelemetry_sdk::trace::SpanExporter + 'static,
        meters: MeterProviderBuilder,
    ) -> Self {
        let mut resource = Resource::builder();
        if std::env::var_os("OTEL_SERVICE_NAME").is_none() {
            resource = resource.with_service_name(service);
        }
        let resource = resource.build();
        let spans = conventional::Conventional(spans);
        let tracers = SdkTracerProvider::builder()
            .with_batch_exporter(spans)
            .with_resource(resource.clone());
        Self {
            tracers: tracers.build(),
            meters: meters.with_resource(resource).build(),
        }
    }

    /// Sets a subscriber of the process that exports all spans of level `INFO`.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if the process has a subscriber.
    pub fn subscribe(&self) -> Result<()> {
        let layer = self.layer().with_filter(LevelFilter::INFO);
        tracing::subscriber::set_global_default(Registry::default().with(layer)).map_err(|error| {
            config_error("this process already has a `tracing` subscriber", error)
                .with_help("add `Otel::otlp(...)?.layer()` to that subscriber")
        })
    }

    /// Returns the layer for a subscriber of the program. Filter it to `INFO`; otherwise it also
    /// exports the spans of the HTTP client.
    pub fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
    {
        adk_core::set_trace_carrier(carrier::TraceParent);
        let spans = tracing_opentelemetry::layer()
            .with_tracer(self.tracers.tracer(SCOPE))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false);
        spans.and_then(metrics::Metrics::new(&self.meters.meter(SCOPE)))
    }

    /// Sends all spans that have ended, and the metrics. It may block for a few seconds.
    ///
    /// # Errors
    /// [`ErrorKind::Agent`] if the exporter cannot send them.
    pub fn flush(&self) -> Result<()> {
        self.tracers
            .force_flush()
            .and_then(|()| self.meters.force_flush())
            .map_err(Error::other)
    }
}

impl Drop for Otel {
    fn drop(&mut self) {
        // `drop` cannot return the error of the shutdown; OpenTelemetry logs it.
        let _ = self.tracers.shutdown();
        let _ = self.meters.shutdown();
    }
}

fn config_error(fact: &str, error: impl Display) -> Error {
    Error::new(ErrorKind::Config, format!("{fact}: {error}"))
}
