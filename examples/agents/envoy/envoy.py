"""Thanks a customer in a public comment of a ticket, and sets it to solved: over MCP, with the official client."""

import asyncio
import json
import os
import re
import sys
import uuid

from mcp import Client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

BODY = 'Thank you. You find all your receipts under "My orders" in your account. Kind regards, Mara'


async def main() -> None:
    request = json.load(sys.stdin)
    headers = {"authorization": f"Bearer {os.environ['TRIALBED_TOKEN']}"}
    async with create_mcp_http_client(headers=headers) as http, Client(streamable_http_client(os.environ["TRIALBED_MCP"], http_client=http)) as tools:
        print(await answer(tools, request["text"]))


async def answer(tools: Client, text: str) -> str:
    named = re.search(r"\(ticket (\d+)\)", text)
    offered = {tool.name for tool in (await tools.list_tools()).tools}
    if named is None or not {"comment_ticket", "update_ticket"} <= offered:
        return "I changed nothing: the request names no ticket, or I may not write in it."
    ticket = int(named[1])
    commented = await call(tools, "comment_ticket", ticket_id=ticket, public=True, body=BODY)
    if commented != "committed":
        return f"I could not comment on ticket {ticket} ({commented}), so I left it open."
    solved = await call(tools, "update_ticket", ticket_id=ticket, status="solved")
    if solved != "committed":
        return f"I wrote the comment in ticket {ticket}, but cannot say that its status is changed ({solved})."
    return f"I wrote the comment in ticket {ticket} and set it to solved."


async def call(tools: Client, tool: str, **args: object) -> str:
    """How the call ended, such as `committed`; `unknown` is never success and never plain failure."""
    # A name of its own: the same request again, after a lost connection, is the same call.
    result = await tools.call_tool(tool, args, meta={"trialbed/call-id": str(uuid.uuid4())})
    return result.structured_content["state"]


if __name__ == "__main__":
    asyncio.run(main())
