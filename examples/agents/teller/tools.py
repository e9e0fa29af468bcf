"""The trial's tools over plain HTTP."""

import json
import os
import urllib.error
import urllib.request


class Tools:
    def __init__(self) -> None:
        self.url = os.environ["TRIALBED_GATEWAY"]
        self.headers = {"authorization": f"Bearer {os.environ['TRIALBED_TOKEN']}", "content-type": "application/json"}

    def call(self, tool: str, **args: object) -> dict:
        """Carries out a call and gives its answer: operation, state, result, problem."""
        request = urllib.request.Request(f"{self.url}/tools/{tool}", json.dumps(args).encode(), self.headers)
        try:
            with urllib.request.urlopen(request) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            # A call that did not commit is told in the same form, with a status of its own.
            return json.load(error)

    def read(self, tool: str, **args: object) -> dict | None:
        """What a read gives, or None where it gave nothing."""
        answer = self.call(tool, **args)
        return answer["result"] if answer["state"] == "committed" else None
