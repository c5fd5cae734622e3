//! [`accessors`]: the methods that all contexts have for the run, its user and its resources.

/// Implements the methods for a context with a `run` and a `path`, in the module of the context.
macro_rules! accessors {
    ($context:ty) => {
        impl $context {
            /// Returns the round of the innermost loop, or the attempt of a `try` inside of it,
            /// counted from 0; `None` outside of both.
            pub fn iteration(&self) -> Option<u32> {
                self.path().iteration()
            }

            /// Returns the id of the run.
            pub fn run_id(&self) -> crate::RunId {
                self.run.id()
            }

            /// Returns the user who began the run.
            pub fn user(&self) -> &str {
                &self.run.session().key().user
            }

            /// Returns the id of the session of the run.
            pub fn session(&self) -> &str {
                &self.run.session().key().id
            }

            /// Returns the app of the run.
            pub fn app(&self) -> &str {
                &self.run.session().key().app
            }

            /// Returns the resource of that type, see [`Resources`](crate::Resources).
            ///
            /// # Errors
            /// [`ErrorKind::ResourceMissing`](crate::ErrorKind::ResourceMissing) when the runner
            /// has none.
            pub fn resource<T: Send + Sync + 'static>(&self) -> crate::Result<&T> {
                self.run
                    .services
                    .resources
                    .get()
                    .map_err(|error| error.at(self.path()))
            }
        }
    };
}

pub(crate) use accessors;
