//! The methods that add callbacks, on everything that has them.

/// Writes methods that add callbacks: `setters!([ATTRIBUTES] (RECEIVER) -> RESULT, (PLACE); METHOD(impl HOOK<M>), ...)`. The
/// place begins with `self` and has the lists `callbacks`, `model_callbacks` and `tool_callbacks`, as far as the hooks need
/// them.
macro_rules! setters {
    ($attrs:tt $receiver:tt -> $result:ty, $place:tt; $($method:ident(impl $hook:ident $($m:tt)+)),+ $(,)?) => {
        $($crate::runtime::callback::setters!(@$hook [$attrs $receiver $result, $place; $method $hook $($m)+]);)+
    };
    (@BeforeAgent $to:tt) => {
        $crate::runtime::callback::setters! {
            @one callbacks before $to
            "Adds a callback that is called before it runs. Content of it takes the place of the run, which is left out."
        }
    };
    (@AfterAgent $to:tt) => {
        $crate::runtime::callback::setters! {
            @one callbacks after $to
            "Adds a callback that is called after it ran, of a block also when it was left. Content of it is one more event."
        }
    };
    (@BeforeModel $to:tt) => {
        $crate::runtime::callback::setters! {
            @one model_callbacks before $to
            "Adds a callback that is called before each call of the model. See [`ModelCallbacks::before`]."
        }
    };
    (@AfterModel $to:tt) => {
        $crate::runtime::callback::setters! {
            @one model_callbacks after $to
            "Adds a callback that is called with each response of the model. See [`ModelCallbacks::after`]."
        }
    };
    (@OnModelError $to:tt) => {
        $crate::runtime::callback::setters! {
            @one model_callbacks on_error $to
            "Adds a callback that is called when a call of the model has failed. See [`ModelCallbacks::on_error`]."
        }
    };
    (@BeforeTool $to:tt) => {
        $crate::runtime::callback::setters! {
            @one tool_callbacks before $to
            "Adds a callback that is called before each call of a tool. See [`ToolCallbacks::before`]."
        }
    };
    (@AfterTool $to:tt) => {
        $crate::runtime::callback::setters! {
            @one tool_callbacks after $to
            "Adds a callback that is called with each result of a tool. See [`ToolCallbacks::after`]."
        }
    };
    (@OnToolError $to:tt) => {
        $crate::runtime::callback::setters! {
            @one tool_callbacks on_error $to
            "Adds a callback that is called when a tool has failed. See [`ToolCallbacks::on_error`]."
        }
    };
    (
        @one $list:ident $add:ident
        [[$(#[$attr:meta])*] ($($this:tt)+) $result:ty, ($owner:ident $($place:tt)*); $method:ident $($bound:tt)+]
        $docs:literal
    ) => {
        #[doc = $docs]
        ///
        /// [`ModelCallbacks::before`]: crate::runtime::callback::ModelCallbacks::before
        /// [`ModelCallbacks::after`]: crate::runtime::callback::ModelCallbacks::after
        /// [`ModelCallbacks::on_error`]: crate::runtime::callback::ModelCallbacks::on_error
        /// [`ToolCallbacks::before`]: crate::runtime::callback::ToolCallbacks::before
        /// [`ToolCallbacks::after`]: crate::runtime::callback::ToolCallbacks::after
        /// [`ToolCallbacks::on_error`]: crate::runtime::callback::ToolCallbacks::on_error
        $(#[$attr])*
        pub fn $method<M>($($this)+, callback: impl $($bound)+) -> $result {
            $owner$($place)*.$list.$add(callback);
            $owner
        }
    };
}
pub(crate) use setters;
