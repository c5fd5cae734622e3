//! Agents as roots of runs.

/// Implements `Workflow` for a type of agents that is known only at run time. As the root of a run,
/// the agent takes a message and returns only its events.
#[doc(hidden)]
#[macro_export]
macro_rules! __agent_root {
    ($agent:ty) => {
        /// A live run checks the agent when it begins, because its parts are known only then.
        impl $crate::workflow::LiveIf<true> for $agent {}
        impl<R: ?Sized> $crate::Needs<R> for $agent {}

        /// As the root of a run, the agent takes a message and returns only its events.
        impl $crate::Workflow for $agent {
            type Input = $crate::Content;
            type Output = ();

            fn as_agent(&self) -> &dyn $crate::DynAgent {
                self
            }

            fn is_closed(&self) -> bool {
                false
            }

            fn begin(
                &self,
                input: $crate::Content,
                keys: &mut $crate::workflow::Keys,
            ) -> $crate::Result<()> {
                keys.message(input);
                Ok(())
            }

            fn finish(&self, _: &$crate::workflow::Values<'_>) -> $crate::Result<()> {
                Ok(())
            }

            fn form(&self, form: &mut $crate::workflow::Form) -> Option<$crate::Content> {
                $crate::__private::build::form_message(form)
            }
        }
    };
}
