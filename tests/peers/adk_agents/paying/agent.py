"""The workflow `paying` of adk-web/tests/it/fixtures.rs."""

from google.adk.agents import LlmAgent, SequentialAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.tools import FunctionTool
from google.genai import types


class Scripted(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        last = llm_request.contents[-1].parts[-1]
        if last.function_response:
            part = types.Part(text="Paid.")
        else:
            call = types.FunctionCall(name="pay", args={"amount": 7})
            part = types.Part(function_call=call)
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def pay(amount: int) -> str:
    """Pays."""
    return f"paid {amount}"


payer = LlmAgent(
    name="payer",
    description="Pays a bill.",
    model=Scripted(model="scripted"),
    instruction="Pay.",
    tools=[FunctionTool(pay, require_confirmation=True)],
)
root_agent = SequentialAgent(name="paying", description="Pays.", sub_agents=[payer])
