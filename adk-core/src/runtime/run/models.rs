//! [`Models`]: the models that agents ask, and the limits of their providers.

use crate::limit::Gate;
use crate::model::{Model, ModelProvider, ModelRef, RateLimit};
use crate::sync::lock;
use crate::{Name, Result};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Finds the models of agents, and caches models that were found by name.
pub(crate) struct Models {
    provider: Arc<dyn ModelProvider>,
    default: Option<Arc<dyn Model>>,
    /// The fallback models of agents without their own.
    fallback: Vec<Arc<dyn Model>>,
    named: Mutex<HashMap<Name, Arc<dyn Model>>>,
    /// The gates of providers, by name.
    gates: HashMap<String, Arc<Gate>>,
}

/// The models of an agent in the order in which they are asked.
#[derive(Clone)]
pub(crate) struct ModelChain {
    pub(crate) first: Arc<dyn Model>,
    pub(crate) fallback: Vec<Arc<dyn Model>>,
}

impl Models {
    pub(crate) fn new(provider: Arc<dyn ModelProvider>) -> Self {
        let (named, gates) = Default::default();
        Self {
            provider,
            default: None,
            fallback: Vec::new(),
            named,
            gates,
        }
    }

    /// Sets the models of agents without their own.
    pub(crate) fn set_default(
        &mut self,
        model: Option<&ModelRef>,
        fallback: &[ModelRef],
    ) -> Result<()> {
        self.default = model.map(|model| self.find(model)).transpose()?;
        self.fallback = self.find_all(fallback)?;
        Ok(())
    }

    pub(crate) fn set_limits(&mut self, limits: HashMap<String, RateLimit>) {
        self.gates = limits
            .into_iter()
            .map(|(provider, limit)| (provider, Gate::new(limit)))
            .collect();
    }

    /// Returns the models of an agent: its own, otherwise the runner's.
    pub(crate) fn chain(
        &self,
        own: Option<&ModelRef>,
        fallback: &[ModelRef],
    ) -> Result<Option<ModelChain>> {
        let first = match own {
            None => self.default.clone(),
            Some(own) => Some(self.find(own)?),
        };
        let fallback = if fallback.is_empty() {
            self.fallback.clone()
        } else {
            self.find_all(fallback)?
        };
        Ok(first.map(|first| ModelChain { first, fallback }))
    }

    fn find_all(&self, models: &[ModelRef]) -> Result<Vec<Arc<dyn Model>>> {
        models.iter().map(|model| self.find(model)).collect()
    }

    fn find(&self, model: &ModelRef) -> Result<Arc<dyn Model>> {
        let name = match model {
            ModelRef::Given(model) => return Ok(model.clone()),
            ModelRef::Named(name) => name,
        };
        if let Some(model) = lock(&self.named).get(name) {
            return Ok(model.clone());
        }
        let model = self.provider.model(name)?;
        lock(&self.named).insert(name.clone(), model.clone());
        Ok(model)
    }

    /// Returns the gate where calls of a model wait for their turn.
    pub(crate) fn gate(&self, model: &dyn Model) -> Option<Arc<Gate>> {
        let provider = Some(model.provider()).filter(|provider| !provider.is_empty());
        self.gates
            .get(provider.unwrap_or_else(|| model.name()))
            .cloned()
    }
}

impl ModelChain {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<dyn Model>> {
        std::iter::once(&self.first).chain(&self.fallback)
    }
}
