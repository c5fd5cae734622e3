use adk::prelude::*;

/// Grades.
#[agent(writes = score)]
fn grade(topic: &str) -> u32 {
    topic.len() as u32
}

// What follows the word of another language is one thing, whatever its condition compares.
workflow! {
    pub Conditions(topic: String) -> last: String {
        agent critic -> criticism: String { instruction: "Criticise {topic}." }
        agent closer -> last: String { instruction: "Close {topic}." }

        grade;
        if score > 3 < critic as high >
        if score < 3 && topic.len() >= 2 < critic as low; grade as again > else < critic as other >
        while score > 3 { critic as more }
        when score > 3 => critic as when;
        do < critic as once > while score < 3;
        refinement: loop(max = 3) < critic as round; if score > 3 < break > critic as behind >
        unless score > 3 < critic as rarely >
        closer
    }
}

// Steps in parentheses are the steps of the block.
workflow! {
    pub Parentheses(topic: String) -> last: String {
        agent critic -> criticism: String { instruction: "Criticise {topic}." }
        agent closer -> last: String { instruction: "Close {topic}." }

        parallel(grade, critic);
        sequence(grade as second_grade, critic as second_critic)
        loop(max = 2, grade as third_grade, critic as third_critic);
        SequentialAgent(grade as fourth_grade, critic as fourth_critic);
        closer
    }
}

fn main() {}
