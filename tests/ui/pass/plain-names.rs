//! Constants and methods with plain names: expansions of adk's macros contain no parameter and call
//! no method of these names.

macro_rules! names {
    ($use:ident) => {
        $use! {
            add_tool after any arg arg_or as_dyn ask before begin begin_blocking blocks build call callbacks defined described
            description faulty field finish finish_non_exhaustive flow give held inputs itself json lets limits load
            make matched max max_turns named ok on_error on_unimplemented optional otherwise outputs pairs prompt prompts
            raise read reads renames set settings slot sources states steps take take_or timeout tool_metas tools transfer
            unnamed value wait writes
        }
    };
}

mod constants {
    #![allow(non_upper_case_globals, reason = "they have the names of parameters")]

    use adk::prelude::*;
    use std::sync::Arc;

    macro_rules! constants {
        ($($name:ident)*) => { $(const $name: u8 = 1;)* };
    }

    constants! {
        a answers app args at b begin body branch c call cx e err error event f facts fits given h i id input inputs it item
        items j k key keys kind m me meta n name number o of one ok or other out output outputs p pair part path prompt
        q r read result retry round rounds run s session set settings slot state step steps stop t text timeout tool tools
        ty user v value values w what work x y z
    }

    include!("plain-names/program.rs");
}

/// Methods of all types, which borrow the value.
mod borrowing {
    use adk::prelude::*;
    use std::sync::Arc;

    macro_rules! methods {
        ($($name:ident)*) => {
            trait Plain {
                $(fn $name(&self) {})*
            }
            impl<T: ?Sized> Plain for T {}
        };
    }

    names! { methods }
    include!("plain-names/program.rs");
}

/// Methods of all types, which take the value and so have priority over methods that borrow.
mod taking {
    use adk::prelude::*;
    use std::sync::Arc;

    macro_rules! methods {
        ($($name:ident)*) => {
            #[allow(clippy::wrong_self_convention, reason = "what takes a value has the name of what borrows it")]
            trait Plain: Sized {
                $(fn $name(self) {})*
            }
            impl<T> Plain for T {}
        };
    }

    names! { methods }
    include!("plain-names/program.rs");
}
