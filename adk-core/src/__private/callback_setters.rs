//! Builder methods that add callbacks, for all types with callbacks.

/// Defines methods that add callbacks: `setters!([ATTRIBUTES] (RECEIVER) -> RESULT, (PLACE);
/// METHOD(impl HOOK<M>), ...)`. PLACE is an expression that begins with `self`. It has the lists
/// that the hooks need: `callbacks`, `model_callbacks` and `tool_callbacks`.
#[doc(hidden)]
#[macro_export]
macro_rules! __callback_setters {
    (
        $attrs:tt $receiver:tt -> $result:ty, $place:tt;
        $($method:ident(impl $hook:ident $($m:tt)+)),+ $(,)?
    ) => {
        $($crate::__callback_setters!(
            @$hook [$attrs $receiver $result, $place; $method $hook $($m)+]
        );)+
    };
    (@BeforeAgent $to:tt) => {
        $crate::__callback_setters! {
            @one callbacks AgentCallbacks before $to
            "Adds a callback before the agent or block runs. Content that it returns replaces the \
             execution."
        }
    };
    (@AfterAgent $to:tt) => {
        $crate::__callback_setters! {
            @one callbacks AgentCallbacks after $to
            "Adds a callback after the agent or block, also when the block was left. Content that \
             it returns is one more event."
        }
    };
    (@BeforeModel $to:tt) => {
        $crate::__callback_setters! {
            @one model_callbacks ModelCallbacks before $to
            "Adds a callback before each model call."
        }
    };
    (@AfterModel $to:tt) => {
        $crate::__callback_setters! {
            @one model_callbacks ModelCallbacks after $to
            "Adds a callback for each response of the model."
        }
    };
    (@OnModelError $to:tt) => {
        $crate::__callback_setters! {
            @one model_callbacks ModelCallbacks on_error $to
            "Adds a callback for a failed model call."
        }
    };
    (@BeforeTool $to:tt) => {
        $crate::__callback_setters! {
            @one tool_callbacks ToolCallbacks before $to
            "Adds a callback before each tool call."
        }
    };
    (@AfterTool $to:tt) => {
        $crate::__callback_setters! {
            @one tool_callbacks ToolCallbacks after $to
            "Adds a callback for each result of a tool."
        }
    };
    (@OnToolError $to:tt) => {
        $crate::__callback_setters! {
            @one tool_callbacks ToolCallbacks on_error $to
            "Adds a callback for a failed tool call."
        }
    };
    (
        @one $list:ident $callbacks:ident $add:ident
        [
            [$(#[$attr:meta])*] ($($this:tt)+) $result:ty, ($owner:ident $($place:tt)*);
            $method:ident $($bound:tt)+
        ]
        $docs:literal
    ) => {
        #[doc = $docs]
        #[doc = concat!(
            "See [`", stringify!($callbacks), "::", stringify!($add), "`](crate::callback::",
            stringify!($callbacks), "::", stringify!($add), ")."
        )]
        $(#[$attr])*
        pub fn $method<M>($($this)+, callback: impl $($bound)+) -> $result {
            $owner$($place)*.$list.$add(callback);
            $owner
        }
    };
}
