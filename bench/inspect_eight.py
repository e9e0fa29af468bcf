"""Samples of eight calls of tools on a dictionary, with a model that only plays them: what Inspect AI takes for them. Prints one JSON object."""

import json
import os
import sys
import time

from inspect_ai import Task, eval as run
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import tool

samples, logs = int(sys.argv[1]), sys.argv[2]
store: dict[str, str] = {}


@tool
def read_item():
    async def execute(key: str) -> str:
        """Reads an item.

        Args:
            key: Its key.
        """
        return store.get(key, "nothing")

    return execute


@tool
def write_item():
    async def execute(key: str, value: str) -> str:
        """Writes an item.

        Args:
            key: Its key.
            value: Its value.
        """
        store[key] = value
        return "done"

    return execute


def played(messages, tools, tool_choice, config):
    output = following(messages)
    # Without figures of its own the stand-in counts tokens, with a vocabulary that it downloads.
    output.usage = ModelUsage(input_tokens=100, output_tokens=10, total_tokens=110)
    return output


def following(messages):
    done = sum(1 for message in messages if message.role == "tool")
    if done < 5:
        return ModelOutput.for_tool_call("mockllm/model", "read_item", {"key": str(done)})
    if done < 8:
        return ModelOutput.for_tool_call("mockllm/model", "write_item", {"key": str(done), "value": "new"})
    return ModelOutput.from_content("mockllm/model", "done")


task = Task(
    dataset=[Sample(input=f"Do it ({n}).", target="done") for n in range(samples)],
    solver=[use_tools(read_item(), write_item()), generate()],
    scorer=includes(),
)
started, used = time.monotonic(), sum(os.times()[:2])
[log] = run(task, model=get_model("mockllm/model", custom_outputs=played), display="none", log_dir=logs, max_samples=50)
seconds, cpu = time.monotonic() - started, sum(os.times()[:2]) - used
if log.status != "success" or log.results is None or log.results.completed_samples != samples:
    sys.exit(f"the samples did not end: {log.status} {log.error and log.error.message}")
print(json.dumps({"per_s": samples / seconds, "cpu_ms": cpu / samples * 1000}))
