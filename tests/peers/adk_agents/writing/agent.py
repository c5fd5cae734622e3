"""The workflow `writing` of adk-web/tests/it/fixtures.rs."""

from google.adk.agents import BaseAgent, LoopAgent, SequentialAgent
from google.adk.events import Event, EventActions
from google.genai import types


def says(ctx, agent, text, **actions):
    content = types.Content(role="model", parts=[types.Part(text=text)])
    return Event(
        invocation_id=ctx.invocation_id, author=agent.name, branch=ctx.branch, content=content,
        actions=EventActions(**actions),
    )


class Writer(BaseAgent):
    async def _run_async_impl(self, ctx):
        yield says(ctx, self, "A cat sat.", state_delta={"draft": "A cat sat.", "user:wrote": 1, "temp:t": 1})


class Critic(BaseAgent):
    async def _run_async_impl(self, ctx):
        own = [event for event in ctx.session.events if event.invocation_id == ctx.invocation_id]
        if any(event.author == self.name for event in own):
            yield says(ctx, self, "Fine.", escalate=True)
        else:
            yield says(ctx, self, "Longer.", state_delta={"advice": "longer"})


class Publisher(BaseAgent):
    async def _run_async_impl(self, ctx):
        version = await ctx.artifact_service.save_artifact(
            app_name=ctx.app_name, user_id=ctx.user_id, session_id=ctx.session.id, filename="out/post.txt",
            artifact=types.Part(inline_data=types.Blob(mime_type="text/plain", data=b"A cat sat.")),
        )
        yield says(ctx, self, "Published.", artifact_delta={"out/post.txt": version})


root_agent = SequentialAgent(
    name="writing",
    description="Writes about a topic.",
    sub_agents=[
        Writer(name="writer", description="Writes."),
        LoopAgent(name="polish", max_iterations=3, sub_agents=[Critic(name="critic", description="Judges.")]),
        Publisher(name="publisher", description="Publishes."),
    ],
)
