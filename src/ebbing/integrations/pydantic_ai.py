"""Pydantic AI: a capability that recalls before the model is asked and remembers after the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from ebbing.errors import MissingExtraError

try:
    from pydantic_ai import RunContext
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import InstructionPart, ModelMessage, ModelRequest, UserContent, UserPromptPart
    from pydantic_ai.models import ModelRequestContext
    from pydantic_ai.run import AgentRunResult
    from pydantic_ai.tools import AgentDepsT
except ImportError as error:
    raise MissingExtraError("the Pydantic AI door needs pydantic-ai: pip install 'ebbing[pydantic-ai]'") from error

from ebbing.client import HostPolicy
from ebbing.integrations.host_memory import AnyMemory, service_of, user_from


class EbbingMemory(AbstractCapability[AgentDepsT]):
    """Long-term memory for an agent: `Agent(…, capabilities=[EbbingMemory(memory, user_of=…)])`.

    What fits the question of a run stands in the instructions of its requests (`ModelRequest.instructions`), never in a
    message. After the run its question and its answer are remembered. Nothing of this raises, or takes longer than the
    policy allows.

    Args:
        memory: a `Memory` or `AsyncMemory`, or a service or client of `ebbing.client`.
        user_of: gives the user's name out of the run's `deps`; None for nobody, who has no memory.
        agent_id: narrows the memory to this agent; all that is known of the user unless given.
        policy: how much is recalled, and how long anybody waits.
    """

    def __init__(
        self,
        memory: AnyMemory,
        *,
        user_of: Callable[[AgentDepsT], str | None],
        agent_id: str | None = None,
        policy: HostPolicy | None = None,
    ) -> None:
        self._service = service_of(memory, policy)
        self._user_of = user_of
        self._agent_id = agent_id
        self._context: str | None = None
        self._is_recalled = False

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> AbstractCapability[AgentDepsT]:
        """Return a copy for one run, which asks the memory once."""
        run = copy(self)
        run._context, run._is_recalled = None, False  # noqa: SLF001 - of this class
        return run

    async def before_model_request(
        self, ctx: RunContext[AgentDepsT], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Put the recalled memories behind the instructions of a request."""
        if not self._is_recalled:
            self._context, self._is_recalled = await self._recalled(ctx), True
        if self._context is None:
            return request_context
        parameters = request_context.model_request_parameters
        parts = [*(parameters.instruction_parts or ()), InstructionPart(self._context, dynamic=True)]
        return replace(request_context, model_request_parameters=replace(parameters, instruction_parts=parts))

    async def after_run(self, ctx: RunContext[AgentDepsT], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """Remember the question and, where it is a text, the answer."""
        question, user = question_of(ctx.prompt, ctx.messages), user_from(self._user_of, ctx.deps)
        if question and user is not None:
            answer = result.output if isinstance(result.output, str) else None
            await self._service.maybe_write(user, question, assistant_message=answer, agent_id=self._agent_id)
        return result

    async def _recalled(self, ctx: RunContext[AgentDepsT]) -> str | None:
        question, user = question_of(ctx.prompt, ctx.messages), user_from(self._user_of, ctx.deps)
        if not question or user is None:
            return None
        return await self._service.recall_context(user, question, agent_id=self._agent_id)


def question_of(prompt: str | Sequence[UserContent] | None, messages: Sequence[ModelMessage]) -> str:
    """Return the text that the user wrote: the prompt of the run, else the last one in the messages; "" for none."""
    if prompt is None:
        requests = (message for message in reversed(messages) if isinstance(message, ModelRequest))
        prompts = (part for request in requests for part in reversed(request.parts))
        prompt = next((part.content for part in prompts if isinstance(part, UserPromptPart)), "")
    return prompt if isinstance(prompt, str) else "\n".join(part for part in prompt if isinstance(part, str))
