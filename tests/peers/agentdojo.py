"""Prints the published injections of AgentDojo for the tests, one line of JSON each.

The injection tasks of every version of the suites meet every attack that has a goal. The package
also needs the clients of many providers. Only its pipelines import them, and no pipeline runs here,
so two of its modules stay empty.
"""

import importlib.util
import json
import pathlib
import sys
import types

# Python would find this file in place of the package.
sys.path.remove(str(pathlib.Path(__file__).resolve().parent))
package = pathlib.Path(importlib.util.find_spec("agentdojo").origin).parent
pipelines = types.ModuleType("agentdojo.agent_pipeline")
pipelines.__path__ = [str(package / "agent_pipeline")]
client = types.ModuleType("agentdojo.agent_pipeline.llms.google_llm")
client.EMPTY_FUNCTION_NAME = ""
sys.modules |= {module.__name__: module for module in (pipelines, client)}

from agentdojo.attacks.attack_registry import ATTACKS
from agentdojo.attacks.base_attacks import FixedJailbreakAttack
from agentdojo.task_suite.load_suites import _SUITES

# The tests have a place of their own for the text, instead of those in the suites.
FixedJailbreakAttack.get_injection_candidates = lambda self, task: ["place"]


class Pipeline:
    """The attacked program, which some attacks call by the name of its model."""

    name = "gpt-4o-2024-05-13"


def injections(suite):
    """Yields the goal and the text of each injection."""
    user_task = next(iter(suite.user_tasks.values()))
    for kind in ATTACKS.values():
        # The other attacks read a text from a terminal, or only stop an agent.
        if issubclass(kind, FixedJailbreakAttack):
            attack = kind(suite, Pipeline())
            for task in suite.injection_tasks.values():
                yield task.GOAL, attack.attack(user_task, task)["place"]


# Most tasks are equal in several versions.
found = {text: goal for suites in _SUITES.values() for suite in suites.values() for goal, text in injections(suite)}
for text, goal in found.items():
    print(json.dumps({"goal": goal, "text": text}))
