"""Messages that the language model could not read when they came, read again and learnt from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.pending_extraction import ExtractionFailure, PendingExtraction
from ebbing.privacy.guarding.trust import TrustTier
from ebbing.remember.add import store_extraction
from ebbing.remember.add_deps import AddDeps
from ebbing.remember.extraction.extractor import Extraction, filter_statements, is_redacted
from ebbing.remember.facts.drafts import DraftContext
from ebbing.remember.facts.new_fact import trust_of
from ebbing.remember.intake.screening import ScreenedMessage
from ebbing.remember.llm.retry_queue import retry_extraction
from ebbing.remember.reconcile.known_messages import KnownMessages


async def reextract(deps: AddDeps, unread: PendingExtraction) -> ExtractionFailure | None:
    """Read stored messages again and store what they say; return why the model failed again, or None.

    What is learnt counts as said when the message was: what is known since is not overruled.

    Raises:
        StoreError: it could not be stored.
    """
    now = deps.clock.now()

    def rules(messages: Sequence[Message]) -> list[Fact]:
        own = [ScreenedMessage(message, TrustTier.USER) for message in messages]
        return filter_statements(own, now=now, agent_facts=unread.agent_facts, known_places=())

    again = await retry_extraction(deps.store, unread, nominate=rules, llm=deps.llm, now=now)
    extraction = again.extraction
    facts = tuple(fact for fact in extraction.facts if not is_redacted(fact))
    if facts:
        screened = [
            ScreenedMessage(message, trust_of(episode))
            for message, episode in zip(again.messages, again.episodes, strict=True)
        ]
        context = DraftContext(unread.scope, again.episodes[0].metadata, now=now, ids=deps.ids)
        asking = deps.llm if extraction.failed is None else None
        await store_extraction(
            replace(deps, mode=unread.mode),
            Extraction(facts, extraction.failed, asking),
            screened=screened,
            episodes=(),
            known_messages=KnownMessages(evidence=tuple(episode.id for episode in again.episodes)),
            context=context,
        )
    return extraction.failed
