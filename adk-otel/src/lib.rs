//! Traces and metrics of runs, exported over OTLP.
//!
//! The spans are those of the runtime; this crate gives them to OpenTelemetry. Attributes and metrics have the names of its
//! conventions for generative AI. A resumed run continues the trace that it began.
//!
//! [`Otel::install`] is the one call that a program needs:
//!
//! ```no_run
//! # fn main() -> adk_core::Result<()> {
//! let _otel = adk_otel::Otel::install("my-service")?;
//! // Runs go here. What they left is sent when `_otel` is dropped.
//! # Ok(())
//! # }
//! ```
//!
//! The address comes from the environment, as OpenTelemetry has it: `OTEL_EXPORTER_OTLP_ENDPOINT`, by default
//! `http://localhost:4318`, and `OTEL_EXPORTER_OTLP_HEADERS` for a key.

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

/// The name under which spans and metrics are reported.
const SCOPE: &str = "adk";

/// The export of spans and metrics. Dropping it sends what is left, and blocks for up to a few seconds until then.
#[derive(Debug)]
#[must_use = "dropping it ends the export"]
pub struct Otel {
    tracers: SdkTracerProvider,
    meters: SdkMeterProvider,
}

impl Otel {
    /// Exports all spans of level `INFO` and the metrics over OTLP, as a service of that name.
    ///
    /// It sets the subscriber of the process. A program that has one adds [`layer`](Self::layer) to it instead. The variable
    /// `OTEL_SERVICE_NAME` replaces the name.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if the process has a subscriber, or an address in the environment cannot be read.
    pub fn install(service: impl Into<String>) -> Result<Self> {
        let this = Self::otlp(service)?;
        this.subscribe()?;
        Ok(this)
    }

    /// The same export without a subscriber.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if an address in the environment cannot be read.
    pub fn otlp(service: impl Into<String>) -> Result<Self> {
        let address = |error| {
            failed("cannot export over OTLP", error)
                .with_help("look at the variables `OTEL_EXPORTER_OTLP_...`")
        };
        let spans = SpanExporter::builder().with_http().build().map_err(address)?;
        let metrics = MetricExporter::builder().with_http().build().map_err(address)?;
        Ok(Self::with_metrics(service, spans, metrics))
    }

    /// Exports spans with another exporter, such as one in memory, and no metrics.
    pub fn new(
        service: impl Into<String>,
        spans: impl opentelemetry_sdk::trace::SpanExporter + 'static,
    ) -> Self {
        Self::build(service.into(), spans, SdkMeterProvider::builder())
    }

    /// Exports spans and metrics with other exporters.
    pub fn with_metrics(
        service: impl Into<String>,
        spans: impl opentelemetry_sdk::trace::SpanExporter + 'static,
        metrics: impl PushMetricExporter,
    ) -> Self {
        let metrics = PeriodicReader::builder(metrics).build();
        Self::build(service.into(), spans, SdkMeterProvider::builder().with_reader(metrics))
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
        let tracers = SdkTracerProvider::builder().with_batch_exporter(spans).with_resource(resource.clone());
        Self { tracers: tracers.build(), meters: meters.with_resource(resource).build() }
    }

    /// Makes this the subscriber of the process, for all spans of level `INFO`.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if the process has a subscriber.
    pub fn subscribe(&self) -> Result<()> {
        let layer = self.layer().with_filter(LevelFilter::INFO);
        tracing::subscriber::set_global_default(Registry::default().with(layer)).map_err(|error| {
            failed("this process has a subscriber of `tracing` already", error)
                .with_help("add `Otel::otlp(...)?.layer()` to that one")
        })
    }

    /// The layer for a subscriber of the program. Filter it to `INFO`, or it exports the spans of the HTTP client as well.
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

    /// Sends what has ended so far. It blocks for up to a few seconds.
    ///
    /// # Errors
    /// [`ErrorKind::Agent`] if it cannot be sent.
    pub fn flush(&self) -> Result<()> {
        self.tracers.force_flush().and_then(|()| self.meters.force_flush()).map_err(Error::other)
    }
}

impl Drop for Otel {
    fn drop(&mut self) {
        // Nobody can act on an error here; OpenTelemetry logs it.
        let _ = self.tracers.shutdown();
        let _ = self.meters.shutdown();
    }
}

fn failed(what: &str, error: impl Display) -> Error {
    Error::new(ErrorKind::Config, format!("{what}: {error}"))
}
