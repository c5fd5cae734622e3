"""The scenarios of the table on google-adk: `google_adk.py SCENARIO WIDTH SIZE` prints nanoseconds per unit."""

import asyncio
import logging
import sys
import time
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

from google.adk.agents import BaseAgent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.events import Event, EventActions
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

TURNS = 20


def content(role, *parts):
    return types.Content(role=role, parts=list(parts))


def text(words):
    return types.Part(text=words)


class Custom(BaseAgent):
    emits: str

    async def _run_async_impl(self, ctx):
        if self.emits == "nothing":
            return
        actions = EventActions(state_delta={"counter": 1}) if self.emits == "key" else EventActions()
        yield Event(
            invocation_id=ctx.invocation_id,
            author=self.name,
            branch=ctx.branch,
            content=content("model", text("hello world 1234")),
            actions=actions,
        )


class Scripted(BaseLlm):
    """A model that calls `tools` tools in every second reply. Without tools, each reply is text."""

    model: str = "scripted"
    tools: int = 0
    calls: int = 0

    async def generate_content_async(self, llm_request, stream=False):
        self.calls += 1
        if self.tools and self.calls % 2 == 1:
            call = types.FunctionCall(name="add", args={"a": 1, "b": 2})
            parts = [types.Part(function_call=call.model_copy()) for _ in range(self.tools)]
        else:
            parts = [text("a short draft of the document")]
        yield LlmResponse(content=content("model", *parts))


class Chunks(BaseLlm):
    model: str = "chunks"
    count: int

    async def generate_content_async(self, llm_request, stream=False):
        for _ in range(self.count):
            yield LlmResponse(content=content("model", text("word ")), partial=True)
        yield LlmResponse(content=content("model", text("word " * self.count)))


def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


def pair(emits):
    return [Custom(name="a", emits=emits), Custom(name="b", emits=emits)]


def llm(name, instruction, key, contents, model=None, **fields):
    return LlmAgent(
        name=name,
        model=model or Scripted(),
        instruction=instruction,
        output_key=key,
        include_contents=contents,
        disallow_transfer_to_parent=True,
        disallow_transfer_to_peers=True,
        **fields,
    )


def writer_and_critic(contents):
    return [
        llm("writer", "Refine the draft: {criticism?}", "draft", contents),
        llm("critic", "Criticise the draft: {draft?}", "criticism", contents),
    ]


async def drive(runner, session, parts, mode=StreamingMode.NONE):
    """Returns the seconds of a run. The run must yield this number of parts, which shows that all work is done."""
    found = 0
    config = RunConfig(max_llm_calls=0, streaming_mode=mode)
    start = time.perf_counter()
    async for event in runner.run_async(
        user_id="user", session_id=session, new_message=content("user", text("go")), run_config=config
    ):
        found += len(event.content.parts or []) if event.content else 0
    seconds = time.perf_counter() - start
    if found != parts:
        raise RuntimeError(f"{parts} parts of events expected, found {found}")
    return seconds


async def create(runner, session):
    await runner.session_service.create_session(app_name=runner.app_name, user_id="user", session_id=session)


async def alone(agent, parts, mode=StreamingMode.NONE):
    """Returns the seconds of a run in a new session."""
    runner = InMemoryRunner(agent=agent, app_name="app")
    await create(runner, "session")
    return await drive(runner, "session", parts, mode)


async def looped(agents, rounds, parts):
    return await alone(LoopAgent(name="loop", sub_agents=agents, max_iterations=rounds), rounds * parts)


async def in_a_session(before):
    runner = InMemoryRunner(agent=SequentialAgent(name="pair", sub_agents=pair("text")), app_name="app")
    await create(runner, "session")
    for _ in range(before):
        await drive(runner, "session", 2)
    return sum([await drive(runner, "session", 2) for _ in range(TURNS)])


async def runs(count):
    runner = InMemoryRunner(agent=Custom(name="a", emits="key"), app_name="app")
    start = time.perf_counter()
    for i in range(count):
        await create(runner, f"s{i}")
        await drive(runner, f"s{i}", 1)
    return time.perf_counter() - start


def in_blocks(levels):
    agent = Custom(name="a", emits="text")
    for i in range(levels):
        agent = SequentialAgent(name=f"level{i}", sub_agents=[agent])
    return agent


async def measure(scenario, width, size):
    """Returns seconds and the number of units. The first run of a process also loads modules."""
    await looped([*pair("text"), *writer_and_critic("none")], 1, 4)
    if scenario == "text":
        return await looped(pair("text"), size // 2, 2), size
    if scenario == "key":
        return await looped(pair("key"), size // 2, 2), size
    if scenario == "silent":
        return await looped(pair("nothing"), size // 2, 0), size
    if scenario == "blocks":
        return await looped([in_blocks(width)], size, 1), size
    if scenario == "history":
        return await looped(writer_and_critic("default"), size // 2, 2), size
    if scenario == "no-history":
        return await looped(writer_and_critic("none"), size // 2, 2), size
    if scenario == "tools":
        worker = llm("worker", "Add.", "answer", "none", Scripted(tools=width), tools=[add])
        return await looped([worker, Custom(name="b", emits="text")], size, 2 * width + 2), size
    if scenario == "parallel":
        agents = lambda: [Custom(name=f"w{i}", emits="text") for i in range(width)]
        seconds = [await alone(ParallelAgent(name="all", sub_agents=agents()), width) for _ in range(size)]
        return sum(seconds), width * size
    if scenario == "session":
        return await in_a_session(size), TURNS
    if scenario == "run":
        return await runs(size), size
    if scenario == "chunks":
        agents = [llm("worker", "Answer.", "answer", "default", Chunks(count=width)) for _ in range(size)]
        return sum([await alone(agent, width + 1, StreamingMode.SSE) for agent in agents]), width * size
    sys.exit(f"google-adk has no {scenario}")


seconds, units = asyncio.run(measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
print(seconds * 1e9 / units, 0, 0, 0)
