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
            @one callbacks before $to
            "Adds a callback before the agent or block runs. Content that it returns replaces the \
             execution."
        }
    };
    (@AfterAgent $to:tt) => {
        $crate::__callback_setters! {
            @one callbacks after $to
            "Adds a callback after the agent or block, also when the block was left. Content that \
             it returns is one more event."
        }
    };
    (@BeforeModel $to:tt) => {
        $crate::__callback_setters! {
            @one model_callbacks before $to
            "Adds a callback before each model call. See [`ModelCallbacks::before`]."
        }
    };
    (@AfterModel $to:tt) => {
        $crate::__callback_setters! {
            @one model_callbacks after $to
            "Adds a callback for each response of the model. See [`ModelCallbacks::after`]."
        }
    };
    (@OnModelError $to:tt) => {
        $crate::__callback_setters! {
            @one model_callbacks on_error $to
            "Adds a callback for a failed model call. See [`ModelCallbacks::on_error`]."
        }
    };
    (@BeforeTool $to:tt) => {
        $crate::__callback_setters! {
            @one tool_callbacks before $to
            "Adds a callback before each tool call. See [`ToolCallbacks::before`]."
        }
    };
    (@AfterTool $to:tt) => {
        $crate::__callback_setters! {
            @one tool_callbacks after $to
            "Adds a callback for each result of a tool. See [`ToolCallbacks::after`]."
        }
    };
    (@OnToolError $to:tt) => {
        $crate::__callback_setters! {
            @one tool_callbacks on_error $to
            "Adds a callback for a failed tool call. See [`ToolCallbacks::on_error`]."
        }
    };
    (
        @one $list:ident $add:ident
        [
            [$(#[$attr:meta])*] ($($this:tt)+) $result:ty, ($owner:ident $($place:tt)*);
            $method:ident $($bound:tt)+
        ]
        $docs:literal
    ) => {
        #[doc = $docs]
        ///
        /// [`ModelCallbacks::before`]: crate::callback::ModelCallbacks::before
        /// [`ModelCallbacks::after`]: crate::callback::ModelCallbacks::after
        /// [`ModelCallbacks::on_error`]: crate::callback::ModelCallbacks::on_error
        /// [`ToolCallbacks::before`]: crate::callback::ToolCallbacks::before
        /// [`ToolCallbacks::after`]: crate::callback::ToolCallbacks::after
        /// [`ToolCallbacks::on_error`]: crate::callback::ToolCallbacks::on_error
        $(#[$attr])*
        pub fn $method<M>($($this)+, callback: impl $($bound)+) -> $result {
            $owner$($place)*.$list.$add(callback);
            $owner
        }
    };
}
