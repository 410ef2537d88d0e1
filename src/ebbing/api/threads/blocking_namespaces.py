"""The namespaces of `Memory`: those of `AsyncMemory`, for code that does not await."""

from __future__ import annotations

from ebbing.api.admin.api_keys import ApiKeysApi
from ebbing.api.admin.audit import AuditApi
from ebbing.api.assistant.assistant import AssistantApi
from ebbing.api.events.webhooks import WebhooksApi
from ebbing.api.forgetting.changes import ChangesApi
from ebbing.api.forgetting.reviews import ReviewsApi
from ebbing.api.overview.overview import OverviewApi
from ebbing.api.people.identities import IdentitiesApi
from ebbing.api.people.profiles import ProfilesApi
from ebbing.api.threads.blocking import Blocking, blocking
from ebbing.api.upkeep.jobs import JobsApi
from ebbing.api.upkeep.maintenance import MaintenanceApi


class BlockingProfilesApi(Blocking[ProfilesApi]):
    """`memory.profiles`: what is known of an owner in short, from memories and by hand."""

    get = blocking(ProfilesApi.get)
    rebuild = blocking(ProfilesApi.rebuild)
    update = blocking(ProfilesApi.update)
    import_ = blocking(ProfilesApi.import_)
    set_defaults = blocking(ProfilesApi.set_defaults)
    suggest_questions = blocking(ProfilesApi.suggest_questions)


class BlockingIdentitiesApi(Blocking[IdentitiesApi]):
    """`memory.identities`: who comes from which channel, and which users are the same person."""

    resolve = blocking(IdentitiesApi.resolve)
    link = blocking(IdentitiesApi.link)
    unlink = blocking(IdentitiesApi.unlink)
    list = blocking(IdentitiesApi.list)
    merge = blocking(IdentitiesApi.merge)
    unmerge = blocking(IdentitiesApi.unmerge)
    list_merges = blocking(IdentitiesApi.list_merges)


class BlockingAssistantApi(Blocking[AssistantApi]):
    """`memory.assistant`: when to recall unasked, who answers, what is offered, and how it is said."""

    recall = blocking(AssistantApi.recall)
    route = blocking(AssistantApi.route)
    rank = blocking(AssistantApi.rank)
    style = blocking(AssistantApi.style)


class BlockingChangesApi(Blocking[ChangesApi]):
    """`memory.changes`: what was written about an owner."""

    list = blocking(ChangesApi.list)


class BlockingOverviewApi(Blocking[OverviewApi]):
    """`memory.overview`: for people who look into a memory."""

    owners = blocking(OverviewApi.owners)
    memories = blocking(OverviewApi.memories)
    facets = blocking(OverviewApi.facets)
    content = blocking(OverviewApi.content)
    retention = blocking(OverviewApi.retention)
    neighbours = blocking(OverviewApi.neighbours)
    timeline = blocking(OverviewApi.timeline)
    differences = blocking(OverviewApi.differences)
    forecast = blocking(OverviewApi.forecast)
    ask = blocking(OverviewApi.ask)


class BlockingReviewsApi(Blocking[ReviewsApi]):
    """`memory.reviews`: what waits for the decision of a person."""

    list = blocking(ReviewsApi.list)
    resolve = blocking(ReviewsApi.resolve)


class BlockingMaintenanceApi(Blocking[MaintenanceApi]):
    """`memory.maintenance`: work that no caller waits for, and the state of the store."""

    run = blocking(MaintenanceApi.run)
    merge_duplicates = blocking(MaintenanceApi.merge_duplicates)
    derive_habits = blocking(MaintenanceApi.derive_habits)
    apply_forgetting = blocking(MaintenanceApi.apply_forgetting)
    split_merged = blocking(MaintenanceApi.split_merged)
    retry_failed_extractions = blocking(MaintenanceApi.retry_failed_extractions)
    list_owners = blocking(MaintenanceApi.list_owners)
    stats = blocking(MaintenanceApi.stats)
    backup = blocking(MaintenanceApi.backup)
    verify = blocking(MaintenanceApi.verify)
    diagnose = blocking(MaintenanceApi.diagnose)
    vacuum = blocking(MaintenanceApi.vacuum)


class BlockingJobsApi(Blocking[JobsApi]):
    """`memory.jobs`: the queue of the store, and the worker."""

    run_worker = blocking(JobsApi.run_worker)
    list = blocking(JobsApi.list)
    get = blocking(JobsApi.get)
    retry = blocking(JobsApi.retry)


class BlockingWebhooksApi(Blocking[WebhooksApi]):
    """`memory.webhooks`: addresses that are told of the events of this tenant."""

    create = blocking(WebhooksApi.create)
    list = blocking(WebhooksApi.list)
    update = blocking(WebhooksApi.update)
    delete = blocking(WebhooksApi.delete)


class BlockingApiKeysApi(Blocking[ApiKeysApi]):
    """`memory.api_keys`: the keys that open the service for this tenant."""

    create = blocking(ApiKeysApi.create)
    list = blocking(ApiKeysApi.list)
    revoke = blocking(ApiKeysApi.revoke)


class BlockingAuditApi(Blocking[AuditApi]):
    """`memory.audit`: who administered what in this tenant."""

    record = blocking(AuditApi.record)
    list = blocking(AuditApi.list)
