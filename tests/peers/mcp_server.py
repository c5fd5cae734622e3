"""A server for the tests of the MCP client, with the official SDK for Python."""

import asyncio
import json
import os
import sys

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

server = MCPServer("python")
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002000001e221bc33"
    "0000000049454e44ae426082"
)


class Forecast(BaseModel):
    city: str
    degrees: float


# A test changes the annotations of a tool.
HINTS = os.environ.get("FORECAST_HINTS")


@server.tool(annotations=ToolAnnotations(**json.loads(HINTS)) if HINTS else None)
def forecast(city: str, days: int = Field(default=1, ge=1, le=7)) -> list[Forecast]:
    """Forecasts the weather."""
    return [Forecast(city=city, degrees=20.5 + day) for day in range(days)]


@server.tool()
def picture() -> Image:
    """Gives a picture."""
    return Image(data=PIXEL, format="png")


@server.tool()
def refuse() -> str:
    """Fails."""
    raise ValueError("no such city")


@server.tool()
async def work(steps: int, ctx: Context) -> str:
    """Works, and reports its progress."""
    for step in range(steps):
        await ctx.report_progress(step + 1, steps, f"step {step + 1}")
        await asyncio.sleep(0.01)
    return "done"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
    else:
        server.run()
