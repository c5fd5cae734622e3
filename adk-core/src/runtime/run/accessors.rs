//! [`accessors`]: the methods that all contexts have, about the run, its user and its resources.

/// Implements them for a context with a `run` and a `path`, where its fields are visible.
macro_rules! accessors {
    ($context:ty) => {
        impl $context {
            /// The round of the innermost loop, or the attempt of a `try` inside of it, counted from 0; `None` outside of both.
            pub fn iteration(&self) -> Option<u32> {
                self.path().iteration()
            }

            /// The run.
            pub fn run_id(&self) -> crate::RunId {
                self.run.id
            }

            /// The user who began the run.
            pub fn user(&self) -> &str {
                &self.run.session().key().user
            }

            /// The id of the session of the run.
            pub fn session(&self) -> &str {
                &self.run.session().key().id
            }

            /// The app of the run.
            pub fn app(&self) -> &str {
                &self.run.session().key().app
            }

            /// What the program gives of that type, see [`Resources`](crate::Resources).
            ///
            /// # Errors
            /// [`ErrorKind::ResourceMissing`](crate::ErrorKind::ResourceMissing) when the runner gives none.
            pub fn resource<T: Send + Sync + 'static>(&self) -> crate::Result<&T> {
                self.run.services.resources.get().map_err(|error| error.at(self.path()))
            }
        }
    };
}

pub(crate) use accessors;
