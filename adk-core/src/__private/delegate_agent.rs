//! Agents that wrap another agent.

/// Implements the methods of `DynAgent`, except `meta`, by another agent:
/// `delegate_agent!(self => self.agent)`.
#[doc(hidden)]
#[macro_export]
macro_rules! __delegate_agent {
    ($self:ident => $agent:expr) => {
        fn run_dyn<'a>(
            &'a $self,
            cx: &'a mut $crate::Context,
        ) -> $crate::BoxFuture<'a, $crate::Result<$crate::Flow>> {
            $agent.run_dyn(cx)
        }

        fn prepare_dyn(&$self, prepare: &mut $crate::Prepare<'_>) {
            $agent.prepare_dyn(prepare);
        }

        fn handover_dyn(&$self) -> $crate::Handover<'_> {
            $agent.handover_dyn()
        }

        fn callbacks_dyn(&$self) -> Option<&$crate::callback::AgentCallbacks> {
            $agent.callbacks_dyn()
        }

        fn stand_in_dyn(&$self, content: $crate::Content) -> $crate::Result<$crate::Event> {
            $agent.stand_in_dyn(content)
        }

        fn announced_dyn(&$self) -> $crate::AnnouncedKeys {
            $agent.announced_dyn()
        }

        fn as_any(&$self) -> Option<&dyn ::std::any::Any> {
            $agent.as_any()
        }
    };
}
