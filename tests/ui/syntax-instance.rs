use adk::prelude::*;

workflow! {
    pub Writing(draft: String) {
        agent critic -> criticism: String { instruction: "Review {draft}." }

        critic(draft) as a;
        critic(draft: draft) as b;
        critic(draft = "A text.") as c;
        critic(draft = ) as d;
        critic as e(draft = draft);
        critic -> criticism as f;
        critic as g -> criticism: String;
        critic as h -> ();
        critic as i -> ;
        critic as j -> "criticism";
        critic
    }
}

fn main() {}
