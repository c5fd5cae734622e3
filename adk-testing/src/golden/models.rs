//! [`GoldenModels`]: finds models by name: the real ones to record, and none that answers to
//! replay.

use super::RunMode;
use adk_core::model::{
    Model, ModelError, ModelErrorKind, ModelProvider, ModelRequest, ModelStream,
};
use std::sync::Arc;

/// Makes the provider of real models.
pub(super) type MakeProvider = Arc<dyn Fn() -> Arc<dyn ModelProvider> + Send + Sync>;

/// The provider of a golden test.
pub(super) struct GoldenModels {
    /// The provider of real models; `None` to replay, which needs no key.
    real: Option<Arc<dyn ModelProvider>>,
    schema_beside_tools: Vec<String>,
}

impl GoldenModels {
    pub(super) fn new(mode: RunMode, make: &MakeProvider, schema_beside_tools: &[String]) -> Self {
        Self {
            real: (mode != RunMode::Check).then(|| make()),
            schema_beside_tools: schema_beside_tools.to_vec(),
        }
    }
}

impl ModelProvider for GoldenModels {
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, ModelError> {
        match &self.real {
            Some(real) => real.model(name),
            None => Ok(Arc::new(AbsentModel {
                name: name.to_owned(),
                answers_in_schema: self.schema_beside_tools.iter().any(|other| other == name),
            })),
        }
    }
}

/// A model that is never asked, because the record answers for it.
struct AbsentModel {
    name: String,
    answers_in_schema: bool,
}

impl Model for AbsentModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn answers_in_schema_beside_tools(&self) -> bool {
        self.answers_in_schema
    }

    fn check_provider_tool(&self, _: &str, _: bool) -> Result<(), ModelError> {
        Ok(())
    }

    fn generate(&self, _: Arc<ModelRequest>) -> ModelStream {
        let message = format!("`{}` is asked only to record", self.name);
        let error = ModelError::new(ModelErrorKind::Other, message);
        Box::pin(futures_util::stream::iter([Err(error)]))
    }
}
