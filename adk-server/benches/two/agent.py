"""Two agents without a model in sequence: the same workflow as `two` of the example `load`."""

from google.adk.agents import BaseAgent, SequentialAgent
from google.adk.events import Event, EventActions
from google.genai import types


class First(BaseAgent):
    async def _run_async_impl(self, ctx):
        draft = f"About {ctx.user_content.parts[0].text}."
        yield text_event(self, ctx, "draft", draft)


class Second(BaseAgent):
    async def _run_async_impl(self, ctx):
        yield text_event(self, ctx, "post", ctx.session.state["draft"].upper())


def text_event(agent, ctx, key, text):
    return Event(
        author=agent.name,
        invocation_id=ctx.invocation_id,
        content=types.Content(role="model", parts=[types.Part(text=text)]),
        actions=EventActions(state_delta={key: text}),
    )


root_agent = SequentialAgent(name="two", sub_agents=[First(name="first"), Second(name="second")])
