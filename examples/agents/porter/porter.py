"""Thanks a customer in a public comment of a ticket, and sets it to solved: over plain HTTP, with `requests`."""

import json
import os
import re
import sys
import time
import uuid

import requests

BODY = 'Thank you. You find all your receipts under "My orders" in your account. Kind regards, Mara'


class Tools:
    """The trial's tools. A request that is lost on its way is sent again under its name, and stays one call."""

    def __init__(self) -> None:
        self.url = os.environ["TRIALBED_GATEWAY"]
        self.session = requests.Session()
        self.session.headers["authorization"] = f"Bearer {os.environ['TRIALBED_TOKEN']}"

    def call(self, tool: str, **args: object) -> dict:
        """Carries out a call and gives its answer: operation, state, result, problem."""
        headers = {"call-id": str(uuid.uuid4())}
        for wait in (0.2, 1, 5, None):
            try:
                answer = self.session.post(f"{self.url}/tools/{tool}", json=args, headers=headers, timeout=120).json()
                if (answer["problem"] or {}).get("code") != "away" or wait is None:
                    return answer
            except requests.ConnectionError:
                if wait is None:
                    raise
            time.sleep(wait)
        raise AssertionError("the last try returns or raises")


def answer(tools: Tools, text: str) -> str:
    named = re.search(r"\(ticket (\d+)\)", text)
    if named is None:
        return "The request names no ticket; I changed nothing."
    ticket = int(named[1])
    commented = tools.call("comment_ticket", ticket_id=ticket, public=True, body=BODY)["state"]
    if commented != "committed":
        return f"I could not comment on ticket {ticket} ({commented}), so I left it open."
    solved = tools.call("update_ticket", ticket_id=ticket, status="solved")["state"]
    if solved != "committed":
        return f"I wrote the comment in ticket {ticket}, but cannot say that its status is changed ({solved})."
    return f"I wrote the comment in ticket {ticket} and set it to solved."


if __name__ == "__main__":
    print(answer(Tools(), json.load(sys.stdin)["text"]))
