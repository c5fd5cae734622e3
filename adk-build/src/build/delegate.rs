//! [`delegate`]: agents that wrap another agent.

/// Implements the methods of `DynAgent`, except `meta`, by the agent in a field.
macro_rules! delegate {
    ($agent:tt) => {
        fn run_dyn<'a>(
            &'a self,
            cx: &'a mut adk_core::Context,
        ) -> adk_core::BoxFuture<'a, adk_core::Result<adk_core::Flow>> {
            self.$agent.run_dyn(cx)
        }

        fn prepare_dyn(&self, prepare: &mut adk_core::Prepare<'_>) {
            self.$agent.prepare_dyn(prepare);
        }

        fn handover_dyn(&self) -> adk_core::Handover<'_> {
            self.$agent.handover_dyn()
        }

        fn callbacks_dyn(&self) -> Option<&adk_core::callback::AgentCallbacks> {
            self.$agent.callbacks_dyn()
        }

        fn stand_in_dyn(&self, content: adk_core::Content) -> adk_core::Result<adk_core::Event> {
            self.$agent.stand_in_dyn(content)
        }

        fn announced_dyn(&self) -> adk_core::AnnouncedKeys {
            self.$agent.announced_dyn()
        }

        fn as_any(&self) -> Option<&dyn std::any::Any> {
            self.$agent.as_any()
        }
    };
}
pub(super) use delegate;
