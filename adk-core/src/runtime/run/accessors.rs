//! [`accessors`]: the methods that all contexts have for the agent, the run, its user and its
//! resources. They are methods of each type, so that users import no trait and find them on the
//! page of the type.

/// Implements the methods for a context, given how its run, its agent and its path are reached.
macro_rules! accessors {
    ($context:ty, $self:ident => $run:expr, $agent:expr, $path:expr) => {
        impl $context {
            /// Returns the name of the agent or block, which is the author of its events. Inside of
            /// an instance of a workflow (`as second`), the name of the instance is its prefix, as
            /// in `second::critic`.
            pub fn agent_name(&$self) -> &str {
                $agent
            }

            /// Returns the path of the agent or block in the tree, with rounds.
            pub fn path(&$self) -> &crate::Path {
                $path
            }

            /// Returns the round of the innermost loop, or the attempt of a `try` inside of it,
            /// counted from 0; `None` outside of both.
            pub fn iteration(&$self) -> Option<u32> {
                $path.iteration()
            }

            /// Returns the id of the run.
            pub fn run_id(&$self) -> crate::RunId {
                $run.id()
            }

            /// Returns the user who began the run.
            pub fn user(&$self) -> &str {
                &$run.session().key().user
            }

            /// Returns the id of the session of the run.
            pub fn session(&$self) -> &str {
                &$run.session().key().id
            }

            /// Returns the app of the run.
            pub fn app(&$self) -> &str {
                &$run.session().key().app
            }

            /// Returns the resource of that type, see [`Resources`](crate::Resources).
            ///
            /// # Errors
            /// [`ErrorKind::ResourceMissing`](crate::ErrorKind::ResourceMissing) when the runner
            /// has none.
            pub fn resource<T: Send + Sync + 'static>(&$self) -> crate::Result<&T> {
                let found = $run.services.resources.get();
                found.map_err(|error| error.at($path))
            }
        }
    };
}

pub(crate) use accessors;
